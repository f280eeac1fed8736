/* SPDX-License-Identifier: MIT */
/*
 * The checker: of every word of 4 bytes it knows who has written it last and who has read it, and when. Two threads
 * that touch a word, at least one of them with a plain write, must be kept apart by a barrier of their block or of the
 * grid, a __syncwarp of their warp, or a release and an acquire (order.cc).
 *
 * What is not a whole word, as accesses of 1 and 2 bytes, is looked at for bounds and content only: others share it.
 *
 * Of the readers of a word two are kept, the first and the latest: a writer that is neither of them meets both.
 */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/count/seen.h"

uintptr_t memory_base;
uint64_t memory_device_bytes, memory_all_bytes;

/* Who, when and where, in one word: 28 bits of a stamp, 24 of a thread's number in the grid, 12 of a place. Threads of
 * a grid that are 2^24 apart look like one. */
using record = uint64_t;
constexpr int STAMP_AT = 36, THREAD_AT = 12;
constexpr record ANOTHER = 1 << 11; /* of a read: one more thread has read, see `also` */
constexpr uint32_t PLACES = 1 << 11;
constexpr uint32_t LAST_STAMP = (1 << 28) - 1;

static constexpr record record_of(uint32_t stamp, uint32_t thread, uint32_t place)
{
    return record(stamp) << STAMP_AT | record(thread % THREADS) << THREAD_AT | (place < PLACES ? place : PLACES - 1);
}
static constexpr uint32_t stamp_of(record r)
{
    return uint32_t(r >> STAMP_AT);
}
static constexpr uint32_t thread_of(record r)
{
    return uint32_t(r >> THREAD_AT) % THREADS;
}
static uint16_t place_in(record r)
{
    return r % PLACES;
}

/* Of every word of the device's memory and of the arenas behind it: the last plain write, with NOT_THERE, NO_CONTENT
 * and FROM_HOST as stamps before any launch; the first thread that has read it since; and the latest other one. */
struct history {
    record wrote, read;
};
static struct history *histories;
static record *also;
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
    whole_bytes = words * (sizeof *histories + sizeof *also + sizeof(uint32_t)) + sectors * 2 * sizeof(uint32_t);
    whole = reserve(whole_bytes);
    histories = static_cast<struct history *>(whole);
    also = reinterpret_cast<record *>(histories + words);
    uint32_t *loaded = reinterpret_cast<uint32_t *>(also + words);
    requests_open(loaded, loaded + sectors);
    order_open(loaded + 2 * sectors);
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
        histories[w].wrote = record_of(stamp, 0, 0);
    if (offset < memory_device_bytes && end > words_used)
        words_used = end;
}

void checker_trust(void)
{
    for (uint64_t w = 0; w < words_used; w++)
        if (stamp_of(histories[w].wrote) == NO_CONTENT)
            histories[w].wrote = record_of(FROM_HOST, 0, 0);
}

/* ---------------------------------------------------------------------------------------------- order */

void checker_barrier(struct counting *c)
{
    c->interval = ++stamp_now;
    order_barrier(c);
}

void checker_grid(void)
{
    launch_begun = ++stamp_now; /* what all threads have done is as long ago as another launch */
}

/* Some lanes meet: what one of them knows to be past, all do from now on. */
static void meet(struct counting *c, unsigned warp, uint32_t lanes)
{
    uint32_t past[WARP] = {};
    for (uint32_t left = lanes; left; left &= left - 1)
        for (unsigned i = 0; i < WARP; i++) {
            const uint32_t known = c->past[warp * WARP + unsigned(__builtin_ctz(left))][i];
            past[i] = lanes >> i & 1 ? stamp_now : known > past[i] ? known : past[i];
        }
    for (uint32_t left = lanes; left; left &= left - 1)
        memcpy(c->past[warp * WARP + unsigned(__builtin_ctz(left))], past, sizeof past);
    c->past_used = true;
}

void checker_syncwarp(struct counting *c, unsigned warp, uint32_t lanes, bool all)
{
    ++stamp_now;
    if (all)
        c->warp_sync[warp] = stamp_now;
    else
        meet(c, warp, lanes);
    order_meet(c, warp, lanes);
}

/* Zeros from now on, without touching what nobody has used. */
static void empty(void *from, void *to)
{
    constexpr uintptr_t PAGE = 4096;
    char *start = static_cast<char *>(from), *end = static_cast<char *>(to);
    char *page = start + (PAGE - reinterpret_cast<uintptr_t>(start) % PAGE) % PAGE;
    if (page >= end) {
        memset(start, 0, size_t(end - start));
        return;
    }
    memset(start, 0, size_t(page - start));
    const size_t whole_pages = size_t(end - page) / PAGE * PAGE;
    madvise(page, whole_pages, MADV_DONTNEED);
    memset(page + whole_pages, 0, size_t(end - page) - whole_pages);
}

void checker_launch(void)
{
    /* Long before stamps come to their end, all that is past becomes one moment. */
    if (stamp_now > LAST_STAMP / 2) {
        for (uint64_t w = 0; w < words_used; w++) {
            if (stamp_of(histories[w].wrote) > FROM_HOST)
                histories[w].wrote = record_of(FROM_HOST, 0, 0);
            histories[w].read = also[w] = 0;
        }
        empty(histories + memory_device_bytes / 4, histories + words);
        empty(also + memory_device_bytes / 4, also + words);
        stamp_now = FIRST_STAMP;
    }
    launch_begun = ++stamp_now;
    order_launch();
}

/* Does what `other` did at `stamp` come before what thread `i` of the block does now? */
static bool comes_before(const struct counting *c, unsigned i, bool shared, uint32_t stamp, uint32_t other)
{
    if (stamp < (shared ? c->interval : launch_begun))
        return true;
    const uint32_t in_block = (other - c->first_thread) % THREADS;
    if (in_block < launch_threads) {
        if (in_block == i || stamp < c->interval)
            return true;
        if (in_block / WARP == i / WARP && (stamp < c->warp_sync[i / WARP] || stamp < c->past[i][in_block % WARP]))
            return true;
    }
    return order_knows(c, i, other, stamp);
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
    bool whole; /* all of the word: no other thread's bytes are in it */
    uint16_t place;
};

static unsigned long long block_of(const struct counting *c)
{
    return c->index;
}

static void tell_race(const struct look *l, const char *did, const char *did_before, record other)
{
    const uintptr_t site = site_of(l->place), other_site = site_of(place_in(other));
    const enum report_kind kind = l->shared ? RACE_SHARED : RACE_GLOBAL;
    if (!report_is_new(kind, site < other_site ? site : other_site, site < other_site ? other_site : site))
        return;
    char whose[48] = "";
    if ((thread_of(other) - l->c->first_thread) % THREADS >= launch_threads)
        snprintf(whose, sizeof whose, " of block %u", thread_of(other) / launch_threads);
    report_add(kind,
               "kernel %s, block %llu: thread %u %s %s at %s, and thread %u%s %s it at %s: nothing orders the two%s",
               launch_name, block_of(l->c), l->thread, did, memory_text(l->c, l->address, l->bytes), place_text(site),
               thread_of(other) % launch_threads, whose, did_before, place_text(other_site),
               order_missing(l->c, thread_of(other), stamp_of(other)));
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
        if (l->word >= low + d && histories[l->word - d].wrote) {
            snprintf(where, sizeof where, "%llu bytes behind the end of an array",
                     static_cast<unsigned long long>(4 * (d - 1)));
            break;
        }
        if (l->word + d < words && histories[l->word + d].wrote) {
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

static bool in_order(const struct look *l, record before)
{
    return comes_before(l->c, l->thread, l->shared, stamp_of(before), thread_of(before));
}

/* What the usual case of checker_look has not settled. */
static __attribute__((noinline)) void look_at_read(const struct look *l, record now, uint32_t least)
{
    struct history *h = &histories[l->word];
    if (stamp_of(h->wrote) == NOT_THERE) {
        tell_out_of_bounds(l, false);
        return;
    }
    if (stamp_of(h->wrote) < least) {
        tell_uninitialised(l);
        h->wrote = record_of(least, thread_of(now), l->place); /* once is enough */
    } else if (l->whole && !in_order(l, h->wrote)) {
        tell_race(l, "reads", "writes", h->wrote);
    }
    if (!l->whole)
        return;
    if (thread_of(h->read) == thread_of(now) || in_order(l, h->read)) {
        h->read = now;
    } else {
        also[l->word] = now;
        h->read |= ANOTHER;
    }
}

static __attribute__((noinline)) void look_at_write(const struct look *l, record now)
{
    struct history *h = &histories[l->word];
    if (stamp_of(h->wrote) == NOT_THERE) {
        tell_out_of_bounds(l, true);
        return;
    }
    if (!l->whole || l->atomic) {
        if (l->atomic && stamp_of(h->wrote) > FROM_HOST && !in_order(l, h->wrote))
            tell_race(l, "writes atomically", "writes", h->wrote);
        else /* content, but no plain write: nobody is in its way */
            h->wrote = record_of(l->shared ? l->c->begun : FROM_HOST, thread_of(now), l->place);
        return;
    }
    if (stamp_of(h->wrote) > FROM_HOST && !in_order(l, h->wrote))
        tell_race(l, "writes", "writes", h->wrote);
    if (!in_order(l, h->read))
        tell_race(l, "writes", "reads", h->read);
    else if ((h->read & ANOTHER) && !in_order(l, also[l->word]))
        tell_race(l, "writes", "reads", also[l->word]);
    h->wrote = now;
}

/* What separates an access from those that cannot matter to it, for all lanes of a request. */
struct bounds {
    record least; /* below: no content */
    record floor; /* below: long ago */
};

/* Settles the usual case of one word; false: it has to be looked at more closely. */
static inline __attribute__((always_inline)) bool settled(struct history *h, record *other, record now,
                                                          const struct bounds *bounds, bool write)
{
    const record thread = record(THREADS - 1) << THREAD_AT, wrote = h->wrote, read = h->read;
    if (write) {
        if (!wrote || (wrote >= bounds->floor && ((wrote ^ now) & thread)) ||
            (read >= bounds->floor && (((read ^ now) & thread) || (read & ANOTHER))))
            return false;
        h->wrote = now;
        return true;
    }
    if (wrote < bounds->least || (wrote >= bounds->floor && ((wrote ^ now) & thread)))
        return false;
    if (read < bounds->floor) {
        h->read = now;
    } else if (!((read ^ now) & thread)) {
        h->read = now | (read & ANOTHER);
    } else {
        *other = now;
        h->read = read | ANOTHER;
    }
    return true;
}

/* The usual cases of 32 lanes side by side, `count` words with 1 << shift of them a lane: what comes for the first
 * time since long ago, and a second read. False: nothing is settled. */
typedef int64_t pair __attribute__((vector_size(32), aligned(16), may_alias)); /* two histories */

__attribute__((target_clones("avx2", "default"), optimize("O3"))) static bool
settled_dense(struct history *h, record *other, unsigned count, unsigned shift, record now, uint32_t thread,
              const struct bounds *bounds, bool write)
{
    const int64_t floor = int64_t(bounds->floor), least = write ? 1 : int64_t(bounds->least);
    const pair below = {floor, floor, floor, floor}, above = {least - 1, -1, least - 1, -1};
    const record lane = record(1) << THREAD_AT, first = now | record(thread) << THREAD_AT;
    pair good = ~pair{};
    for (unsigned k = 0; k < count; k += 2) {
        const pair both = *reinterpret_cast<const pair *>(h + k);
        good &= (both > above) & (below > both);
    }
    if (good[0] & good[1] & good[2] & good[3]) {
        if (write)
            for (unsigned k = 0; k < count; k++)
                h[k].wrote = first + (k >> shift) * lane;
        else
            for (unsigned k = 0; k < count; k++)
                h[k].read = first + (k >> shift) * lane;
        return true;
    }
    if (write || h->read < bounds->floor)
        return false;
    const record threads = record(THREADS - 1) << THREAD_AT;
    bool second = true;
    for (unsigned k = 0; k < count; k++)
        second &= (h[k].wrote >= bounds->least) & (h[k].wrote < bounds->floor) & (h[k].read >= bounds->floor) &
                  (((h[k].read ^ (first + (k >> shift) * lane)) & threads) != 0);
    if (!second)
        return false;
    for (unsigned k = 0; k < count; k++) {
        other[k] = first + (k >> shift) * lane;
        h[k].read |= ANOTHER;
    }
    return true;
}

template <bool write, unsigned WORDS> static void look_at_lanes(struct look *l, const struct request *r, uint32_t lanes)
{
    const struct counting *c = l->c;
    const struct bounds bounds = {record(l->shared ? c->begun : FROM_HOST) << STAMP_AT,
                                  record(l->shared ? c->interval : launch_begun) << STAMP_AT};
    const uint64_t base = (r->base - memory_base) / 4;
    const uint32_t first = l->thread, thread = c->first_thread + first;
    const record now = record_of(stamp_now, 0, r->place);
    struct history *h = histories + base;
    record *other = also + base;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = uint32_t(__builtin_ctz(left)), word = r->offset[lane] / 4;
        const record mine = now | record((thread + lane) % THREADS) << THREAD_AT;
        for (uint32_t k = word; k < word + WORDS; k++) {
            if (settled(h + k, other + k, mine, &bounds, write))
                continue;
            l->thread = first + lane;
            l->address = r->base + r->offset[lane];
            l->word = base + k;
            if (write)
                look_at_write(l, mine);
            else
                look_at_read(l, mine, stamp_of(bounds.least));
        }
    }
}

/* Narrow, atomic and misaligned accesses, and those of odd sizes. */
static void look_closely(struct look *l, const struct request *r, uint32_t lanes, bool write)
{
    const struct counting *c = l->c;
    const uint64_t base = (r->base - memory_base) / 4;
    const unsigned first = l->thread;
    for (; lanes; lanes &= lanes - 1) {
        const unsigned lane = unsigned(__builtin_ctz(lanes));
        const uint32_t offset = r->offset[lane];
        const record now = record_of(stamp_now, c->first_thread + first + lane, r->place);
        l->thread = first + lane;
        l->address = r->base + offset;
        const unsigned aligned = r->what & SEEN_PART ? 1 : unsigned(r->bytes & -r->bytes);
        if (offset % aligned && report_is_new(MISALIGNED, r->site, 0))
            report_add(MISALIGNED,
                       "kernel %s, block %llu: thread %u accesses %u bytes of %s memory at %s, %u bytes off",
                       launch_name, block_of(c), l->thread, r->bytes, l->shared ? "shared" : "global",
                       place_text(r->site), offset % aligned);
        for (uint64_t w = offset / 4; w <= (uint64_t(offset) + r->bytes - 1) / 4 && base + w < words; w++) {
            l->word = base + w;
            l->whole = 4 * w >= offset && 4 * w + 4 <= uint64_t(offset) + r->bytes;
            if (write)
                look_at_write(l, now);
            else
                look_at_read(l, now, l->shared ? c->begun : FROM_HOST);
        }
    }
}

void checker_look(struct counting *c, unsigned warp, const struct request *r, uint32_t lanes, bool dense)
{
    const bool shared = r->base != memory_base, write = r->what & SEEN_WRITE;
    struct look l = {c, warp * WARP, 0, 0, r->bytes, shared, bool(r->what & SEEN_ATOMIC), true, r->place};
    const bool odd = r->bytes < 4 || (r->bytes & (r->bytes - 1)) || l.atomic;
    if (dense && !odd && r->offset[0] % r->bytes == 0) {
        const struct bounds bounds = {record(shared ? c->begun : FROM_HOST) << STAMP_AT,
                                      record(shared ? c->interval : launch_begun) << STAMP_AT};
        const uint64_t word = (r->base + r->offset[0] - memory_base) / 4;
        const unsigned shift = unsigned(__builtin_ctz(r->bytes)) - 2;
        const uint32_t thread = (c->first_thread + warp * WARP) % THREADS;
        if (thread <= THREADS - WARP && settled_dense(histories + word, also + word, WARP << shift, shift,
                                                      record_of(stamp_now, 0, r->place), thread, &bounds, write))
            return;
    }
    uint32_t off = 0;
    for (unsigned lane = 0; lane < WARP; lane++) /* those of absent lanes are of another execution, as well aligned */
        off |= r->offset[lane];
    if (odd || (off & (r->bytes - 1u)))
        look_closely(&l, r, lanes, write);
    else if (r->bytes == 4)
        write ? look_at_lanes<true, 1>(&l, r, lanes) : look_at_lanes<false, 1>(&l, r, lanes);
    else if (r->bytes == 8)
        write ? look_at_lanes<true, 2>(&l, r, lanes) : look_at_lanes<false, 2>(&l, r, lanes);
    else
        write ? look_at_lanes<true, 4>(&l, r, lanes) : look_at_lanes<false, 4>(&l, r, lanes);
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
        const uint64_t before = reinterpret_cast<uintptr_t>(c->block->shared) - address;
        char where[64] = ", outside of the block's own";
        if (before < 1 << 14)
            snprintf(where, sizeof where, ", %llu bytes before the start of an array",
                     static_cast<unsigned long long>(before));
        if (report_is_new(OUT_OF_BOUNDS, site, 0))
            report_add(OUT_OF_BOUNDS, "kernel %s, block %llu: thread %u %s %u bytes of shared memory at %s%s",
                       launch_name, block_of(c), count_now.thread, what & SEEN_WRITE ? "writes" : "reads", bytes,
                       place_text(site), where);
        return;
    }
    if (address - reinterpret_cast<uintptr_t>(c->block->slots) < SLOTS_BYTES || /* what lanes have exchanged */
        address - stacks < c->block->stacks_bytes || address - launch_stack_low < LAUNCH_STACK ||
        address - program_low < program_high - program_low)
        return;
    const uintptr_t self = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
    if (self - address <= thread_local_bytes)
        return;
    if (report_is_new(HOST_POINTER, site, 0))
        report_add(HOST_POINTER, "kernel %s, block %llu: thread %u %s %u bytes at %s through a host pointer (%p)",
                   launch_name, block_of(c), count_now.thread, what & SEEN_WRITE ? "writes" : "reads", bytes,
                   place_text(site), reinterpret_cast<void *>(address));
}

bool checker_inside(uintptr_t address, uint64_t bytes, bool write)
{
    const uint64_t offset = address - memory_base;
    if (offset < memory_device_bytes && bytes <= memory_device_bytes - offset)
        return true;
    if (report_is_new(HOST_POINTER, write, 0))
        report_add(HOST_POINTER, "%s %s %llu bytes through a host pointer (%p)", launch_name,
                   write ? "writes" : "reads", static_cast<unsigned long long>(bytes),
                   reinterpret_cast<void *>(address));
    return false;
}

/* Some words of the range may be in no array. */
static void look_at_range(uint64_t offset, uint64_t bytes, bool write)
{
    for (uint64_t w = offset / 4; w < (offset + bytes + 3) / 4; w++) {
        if (stamp_of(histories[w].wrote) != NOT_THERE)
            continue;
        if (report_is_new(OUT_OF_BOUNDS, write, 0))
            report_add(OUT_OF_BOUNDS, "%s %s %llu bytes of global memory, of which byte %llu is in no array",
                       launch_name, write ? "writes" : "reads", static_cast<unsigned long long>(bytes),
                       static_cast<unsigned long long>(4 * w > offset ? 4 * w - offset : 0));
        return;
    }
}

void checker_move(uintptr_t to, uintptr_t from, uint64_t bytes)
{
    const uint64_t t = to - memory_base, f = from - memory_base, last = (f + bytes - 1) / 4;
    bool there = true;
    for (uint64_t w = 0; t / 4 + w < (t + bytes + 3) / 4; w++) {
        const record source = histories[f / 4 + w < last ? f / 4 + w : last].wrote;
        record *target = &histories[t / 4 + w].wrote;
        there = there && source && *target;
        if (*target)
            *target = record_of(stamp_of(source) == NO_CONTENT ? NO_CONTENT : FROM_HOST, 0, 0);
    }
    if (!there) {
        look_at_range(f, bytes, false);
        look_at_range(t, bytes, true);
    }
}

void checker_set(uintptr_t to, uint64_t bytes)
{
    const uint64_t t = to - memory_base;
    bool there = true;
    for (uint64_t w = t / 4; w < (t + bytes + 3) / 4; w++) {
        there = there && histories[w].wrote;
        if (histories[w].wrote)
            histories[w].wrote = record_of(FROM_HOST, 0, 0);
    }
    if (!there)
        look_at_range(t, bytes, true);
}

void checker_copied(struct counting *c, unsigned thread, uintptr_t to, unsigned bytes, uintptr_t site)
{
    struct request r = {};
    const bool shared = to - memory_base >= memory_device_bytes;
    if (shared && to - reinterpret_cast<uintptr_t>(c->block->shared) >= SHARED_BYTES)
        return; /* reported when it was begun */
    r.site = site;
    r.base = shared ? reinterpret_cast<uintptr_t>(c->block->shared) : memory_base;
    r.place = place_of(site);
    r.bytes = uint8_t(bytes);
    r.what = SEEN_WRITE;
    r.offset[thread % WARP] = uint32_t(to - r.base);
    checker_look(c, thread / WARP, &r, 1u << thread % WARP, false);
}
