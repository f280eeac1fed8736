/* SPDX-License-Identifier: MIT */
/*
 * What only the count build can tell: every memory access and every addition of a kernel as its source writes them,
 * and what is wrong with them. device_counter() is NULL in the other builds. One kernel runs at a time, on one
 * worker, so that the same seed gives the same counts.
 *
 * A request is the k-th execution of one place in the source by the lanes of a warp since all of them last met.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include "scan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of counts.csv and launches.csv from `additions` on, in their order; there lookback_mean stands for
 * lookbacks and lookback_tiles. */
#define EACH_COUNT(X)                                                                                                  \
    X(additions)                                                                                                       \
    X(steps)        /* the longest chain of additions that ends here: a maximum, not a sum */                          \
    X(global_loads) /* by a thread, of 1 to 16 bytes; atomic loads and read-modify-writes too */                       \
    X(global_stores)                                                                                                   \
    X(global_load_requests) /* by a warp */                                                                            \
    X(global_store_requests)                                                                                           \
    X(global_load_sectors) /* of 32 bytes, distinct within a request */                                                \
    X(global_store_sectors)                                                                                            \
    X(global_load_footprint) /* sectors, distinct within a launch */                                                   \
    X(global_store_footprint)                                                                                          \
    X(bytes_read) /* from global memory; of a host algorithm, from its arrays */                                       \
    X(bytes_written)                                                                                                   \
    X(shared_loads) /* by a thread */                                                                                  \
    X(shared_stores)                                                                                                   \
    X(shared_requests)   /* by a warp */                                                                               \
    X(shared_wavefronts) /* passes over the 32 banks of 4 bytes */                                                     \
    X(bank_conflicts)    /* wavefronts beyond the one (8-byte types: two, 16-byte: four) a request needs */            \
    X(barriers)          /* by a block */                                                                              \
    X(warp_ops)          /* by a warp: shuffles, votes, __syncwarp */                                                  \
    X(atomics)           /* by a thread, loads and stores included */                                                  \
    X(lookbacks)         /* in the files, as their mean depth: lookback_tiles / lookbacks */                           \
    X(lookback_tiles)                                                                                                  \
    X(lookback_max) /* a maximum, not a sum */                                                                         \
    X(races)        /* reports: places of the source, each pair once */                                                \
    X(out_of_bounds)                                                                                                   \
    X(uninitialised)                                                                                                   \
    X(divergent_barriers)

/* In no file: the part of bytes_read and bytes_written that a model does not predict. How often a status word is read
 * is a matter of timing. */
#define EACH_COUNT_INSIDE(X)                                                                                           \
    X(atomic_bytes_read) /* atomic and volatile accesses to global memory */                                           \
    X(atomic_bytes_written)

struct counts {
#define COUNT_FIELD(name) uint64_t name;
    EACH_COUNT(COUNT_FIELD)
    EACH_COUNT_INSIDE(COUNT_FIELD)
#undef COUNT_FIELD
};

struct launch_counts {
    char kernel[64];                   /* "upsweep"; "memcpy", "memset" */
    uint64_t blocks, threads_launched; /* 0 for memcpy and memset */
    uint64_t active_threads;           /* those that made an addition */
    struct counts counts;
};

/* Something wrong with a kernel, once for each kernel and place. */
struct report {
    /* race-shared, race-global, out-of-bounds, misaligned, host-pointer, uninitialised, divergent-barrier,
     * warp-mismatch, thread-ended */
    char kind[24];
    char text[480]; /* one line: kernel, block, both threads, source file and line */
};

/* One addition of the operator TRACE: the values of the elements are numbers of expressions. */
struct expression {
    uint32_t left, right; /* numbers of its operands, smaller than its own; both 0: a leaf */
};

/* A shared array of a block. */
struct shared_view {
    const char *name;
    const void *data;
    size_t element_bytes, count;
};

/* Who wants to look on: either may be NULL. */
struct watcher {
    void (*launched)(void *arg, const char *kernel);
    /* Every time a barrier opens, before anybody goes on. */
    void (*barrier)(void *arg, uint64_t block, const struct shared_view *arrays, int count);
    void *arg;
};

struct counter {
    /* Forgets counts and reports and begins to count; with `memory` false only additions, steps and launches. */
    void (*begin)(bool memory);
    void (*end)(void);

    /* Since begin(), in the order of the launches. The list stays until the next begin(). */
    int (*launches)(const struct launch_counts **list);
    int (*reports)(const struct report **list);

    /* Host algorithms: their arrays, and what they did with them since begin(). */
    void (*host_array)(const void *data, size_t bytes);
    void (*host_counts)(struct counts *counts);

    /* Marks device memory: nobody may touch it; its content is no content. Uploads and fills undo the latter. */
    void (*forbid)(void *data, size_t bytes);
    void (*forget)(void *data, size_t bytes);

    /* The operator TRACE. Expressions 1 to n are leaves, 0 is the identity; others follow in the order in which they
     * are made. */
    void (*leaves)(uint32_t n);
    uint32_t (*expressions)(const struct expression **list); /* list[0] is the identity */

    void (*watch)(const struct watcher *watcher); /* NULL: nobody */

    /* Launches since begin() in which blocks have told each other so much that it was no longer followed: races of
     * different blocks are then not all reported. */
    uint64_t (*unfollowed)(void);
};

const struct counter *device_counter(void);

#ifdef __cplusplus
}
#endif
#endif
