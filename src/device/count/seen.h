/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the count build share. An access of a kernel arrives in hooks.cc and is entered into the requests
 * of its warp; when the lanes of the warp have met, requests.cc counts them and checker.cc looks at them. reports.cc
 * keeps what is wrong, counter.cc what was counted, stops.cc is the kernels' way to the schedulers.
 *
 * A stamp is a moment of the device: a number that grows with every barrier, atomic access, and beginning of a block.
 */
#ifndef SEEN_H
#define SEEN_H

#include "device/counts.h"
#include "device/cpu/block.h"
#include "device/cpu/cpu.h"

enum seen_what : uint8_t {
    SEEN_READ = 1,
    SEEN_WRITE = 2,
    SEEN_ATOMIC = 4,
    SEEN_PART = 8
}; /* part: of a struct, whose alignment is not known */

/* The k-th execution of one place in the source by the lanes of a warp since they last met. */
struct alignas(64) request {
    uintptr_t site;   /* the address behind the call; 0: nobody's */
    uintptr_t base;   /* of the device's memory, or of the block's shared memory */
    uint32_t span;    /* bytes from there on that are of the same kind */
    uint32_t lanes;   /* that have executed it; none: left over from before, the first to come may be alike */
    uint32_t checked; /* lanes that the checker has looked at */
    uint16_t place;   /* number of the site, for the checker */
    uint8_t bytes, what;
    uint32_t offset[WARP]; /* from base, by lane */
};

/* A warp with more requests than this since its lanes last met is counted in parts. */
constexpr unsigned REQUESTS = 4096;

/* How far the checker has looked at what a thread has done since its warp last met. */
struct looked {
    struct request *before;
    uint32_t closing; /* of the warp: else not at all */
};

/* What is kept for every struct block. */
struct counting {
    struct block *block;
    uint64_t index;                           /* in the grid */
    uint32_t first_thread;                    /* number in the grid of its thread 0 */
    struct request (*requests)[REQUESTS + 1]; /* of each warp, those with lanes first, an empty one at the end */
    struct request *cursor[MAX_THREADS];      /* where the thread will probably go on */
    uint32_t closings[MAX_THREADS / WARP];
    struct looked looked[MAX_THREADS];
    uint32_t active[MAX_THREADS / WARP]; /* lanes that have made an addition */
    uintptr_t stop_site[MAX_THREADS];    /* of its last stop */

    /* Stamps. */
    uint32_t begun;                         /* of the block */
    uint32_t interval;                      /* of the last barrier, or the beginning */
    uint32_t warp_sync[MAX_THREADS / WARP]; /* of the last __syncwarp of all lanes */
    uint32_t past[MAX_THREADS][WARP]; /* by lane of its warp: before it, what that lane did is past for this thread */
    bool past_used;                   /* in this launch: by a __syncwarp of some lanes */
    struct order *order;              /* what its threads know of others by atomic accesses */

    uint64_t launch;        /* whose shared arrays its arena has */
    unsigned on_loop_stack; /* the thread that has left the plain loop, and has no stack of its own; or MAX_THREADS */
};

/* The thread that runs: what changes from lane to lane ... */
struct count_now {
    struct request *cursor; /* the request that its next access probably belongs to */
    uint32_t lane, bit;     /* 1 << lane */
    uint32_t thread;        /* in its block */
};
extern "C" struct count_now count_now;

/* ... and what stays. */
struct seen {
    uintptr_t stack_low, stack_bytes; /* where its locals are */
    struct counting *counting;
    uint32_t *active; /* the lanes of its warp that have made an addition */
    bool on;          /* in a kernel whose accesses are wanted */
};
extern struct seen seen;
extern uint32_t nobody_active;      /* where `active` leads outside of kernels */
extern struct request seen_nothing; /* a cursor that fits no access */

extern uint32_t stamp_now;
extern uint32_t launch_begun; /* stamp */
extern uint64_t launch_number;
extern const char *launch_name;
extern uint32_t launch_threads, launch_blocks; /* a block; in all */

/* The device's memory and the arenas of shared memory behind it. */
extern uintptr_t memory_base;
extern uint64_t memory_device_bytes, memory_all_bytes;

/* The launching thread's stack from where the kernel was launched: of kernels that run as a loop. */
extern uintptr_t launch_stack_low;
constexpr uintptr_t LAUNCH_STACK = 4 << 20;

extern struct launch_counts *counted; /* the launch that runs, or what happens outside of launches */

/* ---- requests.cc */

/* An access that the cursor did not foresee. */
void seen_other(uintptr_t address, unsigned bytes, unsigned what, uintptr_t site);

/* An access of the thread that runs. */
static inline __attribute__((always_inline)) void seen_access(uintptr_t address, unsigned bytes, unsigned what,
                                                              uintptr_t site)
{
    struct request *r = count_now.cursor;
    if (r->site == site && address - r->base < r->span) [[likely]] {
        r->offset[count_now.lane] = uint32_t(address - r->base);
        r->lanes |= count_now.bit;
        count_now.cursor = r + 1;
    } else if (address - seen.stack_low >= seen.stack_bytes) {
        seen_other(address, bytes, what, site);
    }
}

/* All lanes of the warp have met: counts and checks its requests. */
void requests_close(struct counting *counting, unsigned warp);
/* The thread that runs orders what it has done: checks that. */
void requests_check_running(struct counting *counting);
/* Some have: checks what these have done. */
void requests_check(struct counting *counting, unsigned warp, uint32_t lanes);
void requests_forget(struct counting *counting);
/* The numbers of their sites are no longer true. */
void requests_forget_sites(struct counting *counting);
/* For every sector of the device's memory the last launch that has loaded or stored there. */
void requests_open(uint32_t *loaded, uint32_t *stored);
/* Loads and stores of a memcpy or memset. */
void requests_count_bulk(uintptr_t address, uint64_t bytes, bool write);

/* ---- checker.cc */

constexpr uint32_t NOT_THERE = 0, NO_CONTENT = 1, FROM_HOST = 2, FIRST_STAMP = 3;

void checker_open(void);
void checker_close(void);
void checker_mark(uintptr_t address, uint64_t bytes, uint32_t stamp);
/* A memcpy and a memset, both inside the device's memory; what is in no array is reported, and stays so. */
bool checker_inside(uintptr_t address, uint64_t bytes, bool write); /* if not, reports it */
void checker_move(uintptr_t to, uintptr_t from, uint64_t bytes);
void checker_set(uintptr_t to, uint64_t bytes);
/* What has no content but may have been written unseen has content from now on. */
void checker_trust(void);
/* dense: all 32 lanes, side by side. */
void checker_look(struct counting *counting, unsigned warp, const struct request *request, uint32_t lanes, bool dense);
void checker_copied(struct counting *counting, unsigned thread, uintptr_t to, unsigned bytes, uintptr_t site);
void checker_outside(uintptr_t address, unsigned bytes, unsigned what, uintptr_t site);
void checker_barrier(struct counting *counting);
void checker_grid(void); /* all threads of the grid have come to its barrier */
void checker_syncwarp(struct counting *counting, unsigned warp, uint32_t lanes, bool all);
void checker_launch(void);

/* ---- order.cc */

/* The checker tells threads apart by their number in the grid modulo this. */
constexpr uint32_t THREADS = 1 << 24;

struct order *order_make(void);
void order_forget(struct order *order); /* its block has ended */
void order_open(uint32_t *by_word);     /* zeros, for every word of memory */
void order_launch(void);

struct atomic_access {
    uintptr_t address;
    unsigned bytes;
    bool reads, writes;
    int order; /* __ATOMIC_... */
    uintptr_t site;
};
/* Of a thread, after checker_look has seen all before it. */
void order_atomic(struct counting *counting, unsigned thread, const struct atomic_access *access);
void order_fence(struct counting *counting, unsigned thread, int order, bool in_block);
/* Threads meet: what one of them knows, all do. */
void order_barrier(struct counting *counting);
void order_meet(struct counting *counting, unsigned warp, uint32_t lanes);
/* Is what thread `other` of the grid did at `stamp` known to be past to this one? */
bool order_knows(const struct counting *counting, unsigned thread, uint32_t other, uint32_t stamp);
/* ": the flag at FILE:LINE was ...", or "" */
const char *order_missing(const struct counting *counting, uint32_t other, uint32_t stamp);
/* Launches in which it became too much, since order_begin(). */
uint64_t order_given_up(void);
void order_begin(void);
/* What is too much: nodes of clocks that are looked at in a launch. */
extern uint64_t order_most_effort;

/* ---- reports.cc */

/* The number of a site, and the site again. */
uint16_t place_of(uintptr_t site);
uintptr_t site_of(uint16_t place);
/* Few numbers are left: then they begin anew, and true is returned. */
bool places_renew(void);

enum report_kind {
    RACE_SHARED,
    RACE_GLOBAL,
    OUT_OF_BOUNDS,
    MISALIGNED,
    HOST_POINTER,
    UNINITIALISED,
    DIVERGENT_BARRIER,
    WARP_MISMATCH,
    THREAD_ENDED,
};
/* Is this the first of its kind at these two sites (0: none) in this kernel? Then it is counted, and the caller says
 * the rest. */
bool report_is_new(enum report_kind kind, uintptr_t site, uintptr_t other_site);
void report_add(enum report_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "block_scan.cu:66", in one of a few buffers that take turns. */
const char *place_text(uintptr_t site);
/* "tile[12]" or "global memory", likewise. */
const char *memory_text(const struct counting *counting, uintptr_t address, unsigned bytes);
void reports_clear(void);
int reports_list(const struct report **list);

/* ---- counter.cc */

/* Outside of kernels: the accesses of host algorithms to their arrays are counted. */
void host_access(uintptr_t address, unsigned bytes, bool write);
/* A block's barrier opens: all threads have come, nobody goes on yet. */
void barrier_opens(struct counting *counting);

/* ---- stops.cc */

struct shared_declaration {
    const void *key; /* stands for its place in the source */
    const char *name;
    size_t element, count;
    uint32_t offset;
};
extern struct shared_declaration shared_declarations[64];
extern unsigned shared_declaration_count; /* of this launch */

#endif
