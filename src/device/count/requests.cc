/* SPDX-License-Identifier: MIT */
/*
 * Requests: accesses of the lanes of a warp that the hardware would issue at once, and what they cost.
 *
 * The first lane to come makes the list, the others find the same places in the same order: one compare an access.
 * A lane that goes another way is searched for by the rule itself, among those that its warp has made so far.
 */
#include <string.h>

#include "device/count/seen.h"

/* The loops over 32 lanes are worth the widest vectors that the machine has. */
#define WIDE __attribute__((target_clones("avx2", "default"), optimize("O3")))

struct request seen_nothing;
uint32_t nobody_active;
struct count_now count_now = {&seen_nothing, 0, 0, 0};
struct seen seen = {0, 0, nullptr, &nobody_active, false};

/* ---------------------------------------------------------------------------------------------- entering */

static void enter(struct request *r, uint32_t offset)
{
    r->offset[count_now.lane] = offset;
    r->lanes |= count_now.bit;
}

static void make(struct request *r, uintptr_t base, uint64_t span, unsigned bytes, unsigned what, uintptr_t site)
{
    r->site = site;
    r->base = base;
    r->span = uint32_t(span);
    r->checked = 0;
    r->place = place_of(site);
    r->bytes = uint8_t(bytes);
    r->what = uint8_t(what);
}

void seen_other(uintptr_t address, unsigned bytes, unsigned what, uintptr_t site)
{
    if (!seen.on) {
        host_access(address, bytes, what & SEEN_WRITE);
        return;
    }
    const uint64_t at = address - memory_base;
    if (at >= memory_all_bytes) {
        checker_outside(address, bytes, what, site);
        return;
    }
    struct counting *c = seen.counting;
    uintptr_t base = memory_base;
    uint64_t span = memory_device_bytes;
    if (at >= memory_device_bytes) {
        base = reinterpret_cast<uintptr_t>(c->block->shared);
        span = SHARED_BYTES;
        if (address - base >= span) {
            checker_outside(address, bytes, what, site);
            return;
        }
    }
    const unsigned warp = count_now.thread / WARP;
    struct request *first = c->requests[warp], *r = count_now.cursor;
    if (r == &seen_nothing || r->lanes) {
        /* Not the next in the order: the first of this place without this lane, or a new one. */
        r = first;
        while (r->lanes && (r->site != site || r->base != base || (r->lanes & count_now.bit)))
            r++;
        count_now.cursor = &seen_nothing;
    }
    if (r == first + REQUESTS) {
        requests_close(c, warp);
        count_now.cursor = r = first;
    }
    if (!r->lanes)
        make(r, base, span, bytes, what, site);
    enter(r, uint32_t(address - base));
    if (count_now.cursor == r)
        count_now.cursor = r + 1;
}

/* ---------------------------------------------------------------------------------------------- costs */

/* Does every lane touch the words behind those of the lane before it? */
WIDE static bool side_by_side(const uint32_t *offset, uint32_t bytes)
{
    uint32_t apart = 0;
    for (unsigned i = 0; i < WARP; i++)
        apart |= offset[i] ^ (offset[0] + i * bytes);
    return !apart;
}

/* The last launch that has touched a sector. */
static uint32_t *sector_loaded, *sector_stored;

static uint64_t footprint(uint32_t *sectors, uint64_t first, uint64_t last)
{
    const uint32_t launch = uint32_t(launch_number);
    uint64_t fresh = 0;
    for (uint64_t s = first; s <= last; s++) {
        fresh += sectors[s] != launch;
        sectors[s] = launch;
    }
    return fresh;
}

/* Sectors of a request, each once; those that the launch has not touched before are added to `fresh`. */
static unsigned count_sectors(const struct request *r, uint32_t *sectors, bool dense, uint64_t *fresh)
{
    if (dense) {
        const uint64_t first = r->offset[0] / 32, last = (r->offset[WARP - 1] + r->bytes - 1) / 32;
        *fresh += footprint(sectors, first, last);
        return unsigned(last - first + 1);
    }
    uint64_t list[2 * WARP], highest = 0;
    unsigned count = 0;
    for (uint32_t lanes = r->lanes; lanes; lanes &= lanes - 1) {
        const uint32_t offset = r->offset[__builtin_ctz(lanes)];
        for (uint64_t s = offset / 32; s <= (uint64_t(offset) + r->bytes - 1) / 32; s++) {
            bool known = false;
            if (count && s <= highest) /* ascending addresses need no search */
                for (unsigned i = count; i-- > 0 && !known;)
                    known = list[i] == s;
            if (known)
                continue;
            list[count++] = s;
            highest = s > highest ? s : highest;
            *fresh += footprint(sectors, s, s);
        }
    }
    return count;
}

/* Passes over the banks that the words of these lanes need: of one bank, as many as it has distinct words. */
static unsigned passes(const struct request *r, uint32_t lanes)
{
    if (r->bytes == 4) { /* usually every lane has a bank of its own */
        uint32_t banks = 0, twice = 0;
        for (uint32_t left = lanes; left; left &= left - 1) {
            const uint32_t bank = 1u << r->offset[__builtin_ctz(left)] / 4 % 32;
            twice |= banks & bank;
            banks |= bank;
        }
        if (!twice)
            return 1;
    }
    uint32_t word[4 * WARP];
    int8_t next[4 * WARP], first[32];
    uint8_t depth[32];
    unsigned count = 0, most = 0;
    memset(first, -1, sizeof first);
    memset(depth, 0, sizeof depth);
    const unsigned words = r->bytes > 4 ? r->bytes / 4 : 1;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t start = r->offset[__builtin_ctz(lanes)] / 4;
        for (unsigned k = 0; k < words; k++) {
            const unsigned bank = (start + k) % 32;
            int at = first[bank];
            while (at >= 0 && word[at] != start + k)
                at = next[at];
            if (at >= 0)
                continue;
            word[count] = start + k;
            next[count] = first[bank];
            first[bank] = int8_t(count++);
            if (++depth[bank] > most)
                most = depth[bank];
        }
    }
    return most;
}

/* A struct of an odd size goes word by word. */
static void count_words(const struct request *request, struct counts *counts)
{
    struct request r = *request;
    const unsigned words = (r.bytes + 3u) / 4;
    r.bytes = 4;
    for (unsigned k = 0; k < words; k++) {
        const unsigned most = passes(&r, r.lanes);
        counts->shared_wavefronts += most;
        counts->bank_conflicts += most - 1;
        for (unsigned lane = 0; lane < WARP; lane++)
            r.offset[lane] += 4;
    }
}

/* Wide types go in groups of lanes whose words fill the banks once. */
static void count_wavefronts(const struct request *r, bool dense, struct counts *counts)
{
    const unsigned words = r->bytes > 4 ? r->bytes / 4 : 1, group = WARP / words;
    if (r->bytes & (r->bytes - 1)) {
        count_words(r, counts);
        return;
    }
    if (dense && r->bytes >= 4) {
        counts->shared_wavefronts += words;
        return;
    }
    for (unsigned first = 0; first < WARP; first += group) {
        const uint32_t lanes = r->lanes & (group == WARP ? FULL_MASK : ((1u << group) - 1) << first);
        if (!lanes)
            continue;
        const unsigned most = passes(r, lanes);
        counts->shared_wavefronts += most;
        counts->bank_conflicts += most - 1;
    }
}

static void count_request(const struct request *r, bool dense)
{
    struct counts *counts = &counted->counts;
    const unsigned lanes = r->lanes == FULL_MASK ? WARP : unsigned(__builtin_popcount(r->lanes));
    const bool write = r->what & SEEN_WRITE;
    if (r->base != memory_base) {
        *(write ? &counts->shared_stores : &counts->shared_loads) += lanes;
        counts->shared_requests++;
        count_wavefronts(r, dense, counts);
    } else if (write) {
        counts->global_stores += lanes;
        counts->global_store_requests++;
        counts->bytes_written += uint64_t(lanes) * r->bytes;
        counts->atomic_bytes_written += r->what & SEEN_ATOMIC ? uint64_t(lanes) * r->bytes : 0;
        counts->global_store_sectors += count_sectors(r, sector_stored, dense, &counts->global_store_footprint);
    } else {
        counts->global_loads += lanes;
        counts->global_load_requests++;
        counts->bytes_read += uint64_t(lanes) * r->bytes;
        counts->atomic_bytes_read += r->what & SEEN_ATOMIC ? uint64_t(lanes) * r->bytes : 0;
        counts->global_load_sectors += count_sectors(r, sector_loaded, dense, &counts->global_load_footprint);
    }
}

/* No warp has requested it: only bytes and sectors are known. */
void requests_count_bulk(uintptr_t address, uint64_t bytes, bool write)
{
    if (!bytes)
        return;
    struct counts *counts = &counted->counts;
    const uint64_t first = (address - memory_base) / 32, last = (address - memory_base + bytes - 1) / 32;
    *(write ? &counts->bytes_written : &counts->bytes_read) += bytes;
    *(write ? &counts->global_store_sectors : &counts->global_load_sectors) += last - first + 1;
    *(write ? &counts->global_store_footprint : &counts->global_load_footprint) +=
        footprint(write ? sector_stored : sector_loaded, first, last);
}

/* ---------------------------------------------------------------------------------------------- meeting */

void requests_close(struct counting *c, unsigned warp)
{
    struct request *first = c->requests[warp];
    for (struct request *r = first; r->lanes; r++) {
        const bool dense = r->lanes == FULL_MASK && side_by_side(r->offset, r->bytes);
        checker_look(c, warp, r, r->lanes & ~r->checked, dense && !r->checked);
        count_request(r, dense);
        r->lanes = r->checked = 0;
    }
    c->closings[warp]++;
    for (unsigned i = 0; i < WARP; i++)
        c->cursor[warp * WARP + i] = first;
}

void requests_check_running(struct counting *c)
{
    const unsigned thread = count_now.thread, warp = thread / WARP;
    struct looked *looked = &c->looked[thread];
    /* All before it are the thread's, and have been looked at. */
    struct request *r = looked->closing == c->closings[warp] ? looked->before : c->requests[warp];
    for (; r->lanes && r != count_now.cursor; r++) {
        if (r->lanes & ~r->checked & count_now.bit)
            checker_look(c, warp, r, count_now.bit, false);
        r->checked |= r->lanes & count_now.bit;
    }
    if (r == count_now.cursor)
        *looked = {r, c->closings[warp]};
}

void requests_check(struct counting *c, unsigned warp, uint32_t lanes)
{
    for (struct request *r = c->requests[warp]; r->lanes; r++) {
        const uint32_t now = r->lanes & lanes & ~r->checked;
        if (now)
            checker_look(c, warp, r, now, false);
        r->checked |= now;
    }
}

void requests_forget(struct counting *c)
{
    for (unsigned warp = 0; warp < MAX_THREADS / WARP; warp++) {
        for (struct request *r = c->requests[warp]; r->lanes; r++)
            r->lanes = r->checked = 0;
        c->closings[warp]++;
        for (unsigned i = 0; i < WARP; i++)
            c->cursor[warp * WARP + i] = c->requests[warp];
    }
}

void requests_forget_sites(struct counting *c)
{
    for (unsigned warp = 0; warp < MAX_THREADS / WARP; warp++)
        for (struct request *r = c->requests[warp]; r->site; r++)
            r->site = 0;
}

void requests_open(uint32_t *loaded, uint32_t *stored)
{
    sector_loaded = loaded;
    sector_stored = stored;
}
