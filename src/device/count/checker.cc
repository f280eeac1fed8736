/* SPDX-License-Identifier: MIT */
/*
 * The checker: of every word of 4 bytes it knows who has written it last and who has read it, and when. Two threads
 * that touch a word, at least one of them with a plain write, must be kept apart by a barrier of their block, a
 * __syncwarp of their warp, or atomic accesses: one of the writer's block after the write, and later one of the
 * reader's before the read. Through which address they went is not asked, nor with which memory order.
 *
 * Accesses of 1 and 2 bytes are looked at for bounds and content only: they share their words with others.
 *
 * Of the readers of a word two are kept, the first and the latest: a writer that is neither of them meets both.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/count/seen.h"

#define WIDE __attribute__((target_clones("avx2", "default"), optimize("O3")))

uintptr_t memory_base;
uint64_t memory_device_bytes, memory_all_bytes;

/* By word of the device's memory and of the arenas behind it. NOT_THERE, NO_CONTENT and FROM_HOST stand in `written`.
 */
static uint32_t *written, *writer, *read_first, *reader_first, *read_last, *reader_last;
static uint16_t *write_place, *place_first, *place_last;
static uint64_t words, words_used; /* up to the highest that was ever there */

static void *reserve(uint64_t bytes)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "scanbench: the count build cannot reserve %llu MiB beside the device's memory (--memory)\n",
                static_cast<unsigned long long>(bytes >> 20));
        abort();
    }
    return memory;
}

static void *whole;
static uint64_t whole_bytes;

void checker_open(void)
{
    words = memory_all_bytes / 4;
    const uint64_t sectors = memory_device_bytes / 32 + 1;
    whole_bytes = words * (6 * sizeof(uint32_t) + 3 * sizeof(uint16_t)) + sectors * 2 * sizeof(uint32_t);
    whole = reserve(whole_bytes);
    written = static_cast<uint32_t *>(whole);
    writer = written + words;
    read_first = writer + words;
    reader_first = read_first + words;
    read_last = reader_first + words;
    reader_last = read_last + words;
    uint32_t *loaded = reader_last + words;
    write_place = reinterpret_cast<uint16_t *>(loaded + 2 * sectors);
    place_first = write_place + words;
    place_last = place_first + words;
    requests_open(loaded, loaded + sectors);
    words_used = 0;
    stamp_now = FIRST_STAMP;
}

void checker_close(void)
{
    munmap(whole, whole_bytes);
    memory_base = 0;
    memory_device_bytes = memory_all_bytes = 0;
}

void checker_mark(uintptr_t address, uint64_t bytes, uint32_t stamp)
{
    const uint64_t offset = address - memory_base;
    if (offset >= memory_all_bytes)
        return;
    const uint64_t end = (offset + bytes + 3) / 4;
    for (uint64_t w = offset / 4; w < end; w++)
        written[w] = stamp;
    if (offset < memory_device_bytes && end > words_used)
        words_used = end;
}

void checker_move(uintptr_t to, uintptr_t from, uint64_t bytes)
{
    const uint64_t t = (to - memory_base) / 4, f = (from - memory_base) / 4;
    for (uint64_t w = 0; w < (bytes + 3) / 4; w++)
        written[t + w] = written[f + w] == NO_CONTENT ? uint32_t(NO_CONTENT) : uint32_t(FROM_HOST);
}

void checker_trust(void)
{
    for (uint64_t w = 0; w < words_used; w++)
        if (written[w] == NO_CONTENT)
            written[w] = FROM_HOST;
}

/* ---------------------------------------------------------------------------------------------- order */

/* When threads of a block have stored or fenced atomically, since the launch began: the latest few. */
struct releases {
    uint32_t stamp[7];
    uint32_t count;
};
static struct releases *releases; /* by block of the grid; NULL before the first atomic access of a launch */
static uint64_t releases_of;      /* launch */
static uint32_t releases_room;

static struct releases *releases_by(uint32_t block)
{
    if (releases_of != launch_number) {
        free(releases);
        releases_room = launch_blocks;
        releases = static_cast<struct releases *>(calloc(launch_blocks, sizeof *releases));
        releases_of = launch_number;
    }
    return releases && block < releases_room ? &releases[block] : nullptr;
}

/* Has the block stored atomically after `stamp` and before `until`? */
static bool released(uint32_t block, uint32_t stamp, uint32_t until)
{
    const struct releases *r = releases_of == launch_number ? releases_by(block) : nullptr;
    if (!r || until <= stamp)
        return false;
    const uint32_t kept = sizeof r->stamp / sizeof *r->stamp;
    for (uint32_t i = 0; i < r->count && i < kept; i++)
        if (r->stamp[i] > stamp && r->stamp[i] < until)
            return true;
    return r->count > kept; /* it did not keep them all: no report without a proof */
}

void checker_atomic(struct counting *c, unsigned thread, bool reads, bool writes)
{
    stamp_now++;
    if (writes) {
        struct releases *r = releases_by(uint32_t(c->index));
        if (r)
            r->stamp[r->count++ % (sizeof r->stamp / sizeof *r->stamp)] = stamp_now;
    }
    if (reads)
        c->acquired[thread] = stamp_now;
}

/* What one thread has acquired comes before what the others do after the meeting. */
static void share_acquired(struct counting *c, unsigned first, unsigned count, uint32_t lanes)
{
    uint32_t latest = 0;
    for (unsigned i = 0; i < count; i++)
        if (count > WARP || (lanes >> i & 1))
            latest = c->acquired[first + i] > latest ? c->acquired[first + i] : latest;
    for (unsigned i = 0; i < count && latest; i++)
        if (count > WARP || (lanes >> i & 1))
            c->acquired[first + i] = latest;
}

void checker_barrier(struct counting *c)
{
    c->interval = ++stamp_now;
    if (releases_of == launch_number)
        share_acquired(c, 0, MAX_THREADS, FULL_MASK);
}

void checker_syncwarp(struct counting *c, unsigned warp, uint32_t lanes, bool all)
{
    ++stamp_now;
    if (all)
        c->warp_sync[warp] = stamp_now;
    for (unsigned i = 0; i < WARP; i++) {
        if (lanes >> i & 1) {
            c->sync[warp * WARP + i] = stamp_now;
            c->sync_lanes[warp * WARP + i] = lanes;
        }
    }
    if (releases_of == launch_number)
        share_acquired(c, warp * WARP, WARP, lanes);
}

void checker_launch(void)
{
    /* Long before stamps come to their end, all that is past becomes one moment. */
    if (stamp_now > 0xf0000000u) {
        for (uint64_t w = 0; w < words_used; w++)
            if (written[w] > FROM_HOST)
                written[w] = FROM_HOST;
        memset(read_first, 0, words_used * sizeof *read_first);
        memset(read_last, 0, words_used * sizeof *read_last);
        for (uint32_t *array : {written, read_first, read_last})
            madvise(array + memory_device_bytes / 4, memory_all_bytes - memory_device_bytes, MADV_DONTNEED);
        stamp_now = FIRST_STAMP;
    }
    launch_begun = ++stamp_now;
}

/* Does what `other` did at `stamp` come before what thread `i` of the block does now? */
static bool comes_before(const struct counting *c, unsigned i, bool shared, uint32_t stamp, uint32_t other)
{
    if (stamp < (shared ? c->interval : launch_begun))
        return true;
    const uint32_t in_block = other - c->first_thread;
    if (in_block < launch_threads) {
        if (in_block == i || stamp < c->interval)
            return true;
        if (in_block / WARP == i / WARP &&
            (stamp < c->warp_sync[i / WARP] || (stamp < c->sync[i] && (c->sync_lanes[i] >> in_block % WARP & 1))))
            return true;
    }
    return released(other / launch_threads, stamp, c->acquired[i]);
}

/* ---------------------------------------------------------------------------------------------- 32 lanes at once */

/* Words w, w + 1, ... of `count` lanes side by side, 1 << shift words each; thread `me` is the first lane. False:
 * something has to be looked at more closely, and nothing was noted. */
WIDE static bool note_reads(uint64_t w, unsigned count, unsigned shift, uint32_t me, uint32_t least, uint32_t floor,
                            uint32_t now, uint16_t place)
{
    const uint32_t *wrote = written + w, *by = writer + w;
    uint32_t *first = read_first + w, *first_by = reader_first + w;
    uint16_t *first_place = place_first + w;
    uint32_t odd = 0, second = 0;
    for (unsigned j = 0; j < count; j++) {
        odd |= (wrote[j] < least) | ((wrote[j] >= floor) & (by[j] != me + (j >> shift)));
        second |= (first[j] >= floor) & (first_by[j] != me + (j >> shift));
    }
    if (odd)
        return false;
    if (!second) {
        for (unsigned j = 0; j < count; j++) {
            first[j] = now;
            first_by[j] = me + (j >> shift);
        }
        for (unsigned j = 0; j < count; j++)
            first_place[j] = place;
        return true;
    }
    uint32_t *last = read_last + w, *last_by = reader_last + w;
    uint16_t *last_place = place_last + w;
    for (unsigned j = 0; j < count; j++) {
        const bool other = (first[j] >= floor) & (first_by[j] != me + (j >> shift));
        last[j] = other ? now : last[j];
        last_by[j] = other ? me + (j >> shift) : last_by[j];
        first[j] = other ? first[j] : now;
        first_by[j] = other ? first_by[j] : me + (j >> shift);
        last_place[j] = other ? place : last_place[j];
        first_place[j] = other ? first_place[j] : place;
    }
    return true;
}

WIDE static bool note_writes(uint64_t w, unsigned count, unsigned shift, uint32_t me, uint32_t floor, uint32_t now,
                             uint16_t place)
{
    uint32_t *wrote = written + w, *by = writer + w;
    uint16_t *by_place = write_place + w;
    const uint32_t *first = read_first + w, *first_by = reader_first + w, *last = read_last + w,
                   *last_by = reader_last + w;
    uint32_t odd = 0;
    for (unsigned j = 0; j < count; j++) {
        const uint32_t i = me + (j >> shift);
        odd |= (wrote[j] == NOT_THERE) | ((wrote[j] >= floor) & (by[j] != i)) |
               ((first[j] >= floor) & (first_by[j] != i)) | ((last[j] >= floor) & (last_by[j] != i));
    }
    if (odd)
        return false;
    for (unsigned j = 0; j < count; j++) {
        wrote[j] = now;
        by[j] = me + (j >> shift);
    }
    for (unsigned j = 0; j < count; j++)
        by_place[j] = place;
    return true;
}

WIDE static bool side_by_side(const uint32_t *offset, uint32_t bytes)
{
    uint32_t apart = 0;
    for (unsigned i = 0; i < WARP; i++)
        apart |= offset[i] ^ (offset[0] + i * bytes);
    return !apart && offset[0] % 4 == 0;
}

/* ---------------------------------------------------------------------------------------------- one lane */

/* One access of one thread. */
struct look {
    const struct counting *c;
    unsigned thread; /* in the block */
    uint64_t word;   /* number */
    uintptr_t address;
    unsigned bytes;
    bool shared, atomic;
    uint16_t place;
};

static unsigned long long block_of(const struct counting *c)
{
    return c->index;
}

static void tell_race(const struct look *l, const char *did, const char *did_before, uint32_t other, uint16_t place)
{
    const uintptr_t site = site_of(l->place), other_site = site_of(place);
    const enum report_kind kind = l->shared ? RACE_SHARED : RACE_GLOBAL;
    if (!report_is_new(kind, site < other_site ? site : other_site, site < other_site ? other_site : site))
        return;
    char whose[48] = "";
    if (other / launch_threads != l->c->index)
        snprintf(whose, sizeof whose, " of block %u", other / launch_threads);
    report_add(kind,
               "kernel %s, block %llu: thread %u %s %s at %s, and thread %u%s %s it at %s: nothing orders the two",
               launch_name, block_of(l->c), l->thread, did, memory_text(l->c, l->address, l->bytes), place_text(site),
               other % launch_threads, whose, did_before, place_text(other_site));
}

/* How far from the next word that is there? */
static void tell_out_of_bounds(const struct look *l, bool write)
{
    const uintptr_t site = site_of(l->place);
    if (!report_is_new(OUT_OF_BOUNDS, site, 0))
        return;
    char where[96] = "far from every array";
    const uint64_t low = l->shared ? l->word - (l->address - reinterpret_cast<uintptr_t>(l->c->block->shared)) / 4 : 0;
    for (uint64_t d = 1; d < 1 << 16; d++) {
        if (l->word >= low + d && written[l->word - d] != NOT_THERE) {
            snprintf(where, sizeof where, "%llu bytes behind the end of an array",
                     static_cast<unsigned long long>(4 * (d - 1)));
            break;
        }
        if (l->word + d < words && written[l->word + d] != NOT_THERE) {
            snprintf(where, sizeof where, "%llu bytes before the start of an array",
                     static_cast<unsigned long long>(4 * d));
            break;
        }
    }
    report_add(OUT_OF_BOUNDS, "kernel %s, block %llu: thread %u %s %u bytes of %s memory at %s, %s", launch_name,
               block_of(l->c), l->thread, write ? "writes" : "reads", l->bytes, l->shared ? "shared" : "global",
               place_text(site), where);
}

static void tell_uninitialised(const struct look *l)
{
    const uintptr_t site = site_of(l->place);
    if (report_is_new(UNINITIALISED, site, 0))
        report_add(UNINITIALISED, "kernel %s, block %llu: thread %u reads %s at %s, which nobody has written",
                   launch_name, block_of(l->c), l->thread, memory_text(l->c, l->address, l->bytes), place_text(site));
}

static void look_at_read(const struct look *l, uint32_t least, uint32_t me)
{
    const uint64_t w = l->word;
    if (written[w] == NOT_THERE) {
        tell_out_of_bounds(l, false);
        return;
    }
    if (written[w] < least) {
        tell_uninitialised(l);
        written[w] = least; /* once is enough */
        writer[w] = me;
        write_place[w] = l->place;
    } else if (l->bytes >= 4 && writer[w] != me && !comes_before(l->c, l->thread, l->shared, written[w], writer[w])) {
        tell_race(l, "reads", "writes", writer[w], write_place[w]);
    }
    if (l->bytes < 4)
        return;
    if (reader_first[w] == me || comes_before(l->c, l->thread, l->shared, read_first[w], reader_first[w])) {
        read_first[w] = stamp_now;
        reader_first[w] = me;
        place_first[w] = l->place;
    } else {
        read_last[w] = stamp_now;
        reader_last[w] = me;
        place_last[w] = l->place;
    }
}

static void look_at_write(const struct look *l, uint32_t me)
{
    const uint64_t w = l->word;
    if (written[w] == NOT_THERE) {
        tell_out_of_bounds(l, true);
        return;
    }
    if (l->bytes < 4) {
        written[w] = l->shared ? l->c->begun : uint32_t(FROM_HOST);
    } else if (!l->atomic) {
        if (written[w] > FROM_HOST && writer[w] != me &&
            !comes_before(l->c, l->thread, l->shared, written[w], writer[w]))
            tell_race(l, "writes", "writes", writer[w], write_place[w]);
        if (reader_first[w] != me && !comes_before(l->c, l->thread, l->shared, read_first[w], reader_first[w]))
            tell_race(l, "writes", "reads", reader_first[w], place_first[w]);
        else if (reader_last[w] != me && !comes_before(l->c, l->thread, l->shared, read_last[w], reader_last[w]))
            tell_race(l, "writes", "reads", reader_last[w], place_last[w]);
        written[w] = stamp_now;
        writer[w] = me;
        write_place[w] = l->place;
    } else {
        if (written[w] > FROM_HOST && writer[w] != me &&
            !comes_before(l->c, l->thread, l->shared, written[w], writer[w]))
            tell_race(l, "writes atomically", "writes", writer[w], write_place[w]);
        else /* no plain write: nobody is in its way */
            written[w] = l->shared ? l->c->begun : uint32_t(FROM_HOST);
    }
}

void checker_look(struct counting *c, unsigned warp, const struct request *r, uint32_t lanes)
{
    const bool shared = r->base != memory_base, write = r->what & SEEN_WRITE;
    const uint32_t me = c->first_thread + warp * WARP;
    const uint32_t floor = shared ? c->interval : launch_begun, least = shared ? c->begun : uint32_t(FROM_HOST);
    const uint64_t base = (r->base - memory_base) / 4;
    if (lanes == FULL_MASK && !(r->what & SEEN_ATOMIC) && r->bytes >= 4 && r->offset[0] % r->bytes == 0 &&
        side_by_side(r->offset, r->bytes)) {
        const unsigned shift = unsigned(__builtin_ctz(r->bytes)) - 2;
        const uint64_t w = base + r->offset[0] / 4;
        if (write ? note_writes(w, WARP << shift, shift, me, floor, stamp_now, r->place)
                  : note_reads(w, WARP << shift, shift, me, least, floor, stamp_now, r->place))
            return;
    }
    struct look l = {c, 0, 0, 0, r->bytes, shared, bool(r->what & SEEN_ATOMIC), r->place};
    for (; lanes; lanes &= lanes - 1) {
        const unsigned lane = unsigned(__builtin_ctz(lanes));
        const uint32_t offset = r->offset[lane], who = me + lane;
        l.thread = warp * WARP + lane;
        l.address = r->base + offset;
        if (offset % (r->bytes & -r->bytes) && report_is_new(MISALIGNED, r->site, 0))
            report_add(MISALIGNED,
                       "kernel %s, block %llu: thread %u accesses %u bytes of %s memory at %s, %u bytes off",
                       launch_name, block_of(c), l.thread, r->bytes, shared ? "shared" : "global", place_text(r->site),
                       offset % r->bytes);
        for (uint64_t w = offset / 4; w <= (uint64_t(offset) + r->bytes - 1) / 4; w++) {
            l.word = base + w;
            if (l.word >= words)
                break;
            /* The usual case, without a call. */
            if (!write && r->bytes >= 4 && written[l.word] >= least &&
                (written[l.word] < floor || writer[l.word] == who) &&
                (read_first[l.word] < floor || reader_first[l.word] == who)) {
                read_first[l.word] = stamp_now;
                reader_first[l.word] = who;
                place_first[l.word] = r->place;
            } else if (write && !l.atomic && r->bytes >= 4 && written[l.word] != NOT_THERE &&
                       (written[l.word] < floor || writer[l.word] == who) &&
                       (read_first[l.word] < floor || reader_first[l.word] == who) &&
                       (read_last[l.word] < floor || reader_last[l.word] == who)) {
                written[l.word] = stamp_now;
                writer[l.word] = who;
                write_place[l.word] = r->place;
            } else if (write) {
                look_at_write(&l, who);
            } else {
                look_at_read(&l, least, who);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------- outside */

static uintptr_t program_low, program_high, thread_local_bytes;

static int find_program(struct dl_phdr_info *info, size_t, void *)
{
    /* The first is the program itself. */
    program_low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t low = info->dlpi_addr + segment->p_vaddr, high = low + segment->p_memsz;
        if (segment->p_type == PT_TLS)
            thread_local_bytes = segment->p_memsz + segment->p_align;
        if (segment->p_type != PT_LOAD)
            continue;
        program_low = low < program_low ? low : program_low;
        program_high = high > program_high ? high : program_high;
    }
    return 1;
}

/* Not the device's memory: a thread's own locals, the file's constants and __device__ variables, or the host's. */
void checker_outside(uintptr_t address, unsigned bytes, unsigned what, uintptr_t site)
{
    const struct counting *c = seen.counting;
    if (!program_high)
        dl_iterate_phdr(find_program, nullptr);
    const uintptr_t stacks = reinterpret_cast<uintptr_t>(c->block->stacks);
    if (address - memory_base < memory_all_bytes) {
        if (report_is_new(OUT_OF_BOUNDS, site, 0))
            report_add(
                OUT_OF_BOUNDS, "kernel %s, block %llu: thread %u %s %u bytes of another block's shared memory at %s",
                launch_name, block_of(c), seen.thread, what & SEEN_WRITE ? "writes" : "reads", bytes, place_text(site));
        return;
    }
    if (address - stacks < c->block->stacks_bytes || address - launch_stack_low < LAUNCH_STACK ||
        address - program_low < program_high - program_low)
        return;
    const uintptr_t self = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
    if (self - address <= thread_local_bytes)
        return;
    if (report_is_new(HOST_POINTER, site, 0))
        report_add(HOST_POINTER, "kernel %s, block %llu: thread %u %s %u bytes at %s through a host pointer (%p)",
                   launch_name, block_of(c), seen.thread, what & SEEN_WRITE ? "writes" : "reads", bytes,
                   place_text(site), reinterpret_cast<void *>(address));
}

void checker_copied(struct counting *c, unsigned thread, uintptr_t to, unsigned bytes, uintptr_t site)
{
    struct request r = {};
    const bool shared = to - memory_base >= memory_device_bytes;
    r.site = site;
    r.base = shared ? reinterpret_cast<uintptr_t>(c->block->shared) : memory_base;
    r.place = place_of(site);
    r.bytes = uint8_t(bytes);
    r.what = SEEN_WRITE;
    r.offset[thread % WARP] = uint32_t(to - r.base);
    checker_look(c, thread / WARP, &r, 1u << thread % WARP);
}
