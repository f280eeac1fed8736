/* SPDX-License-Identifier: MIT */
/* A resident block of the CPU device, and what the scheduler and the launcher know of each other. */
#ifndef BLOCK_H
#define BLOCK_H

#include <atomic>
#include <setjmp.h>
#include <string.h>

#include "device/cpu/fiber.h"
#include "device/device.h"

constexpr unsigned MAX_THREADS = 1024;
constexpr size_t SHARED_BYTES = 48 << 10;
/* A stack and one cache line, so that the tops of stacks fall on different lines of the L1. */
#ifdef SCANBENCH_COUNT
constexpr size_t STACK_BYTES = 32 << 10; /* without optimisation frames are larger */
#else
constexpr size_t STACK_BYTES = 16 << 10;
#endif
constexpr size_t STACK_STRIDE = STACK_BYTES + 64;
constexpr uint64_t CANARY = 0xdeadfa11c0dec0deu;

/* A set of threads of one block. */
struct thread_set {
    uint64_t words[MAX_THREADS / 64];

    void clear() { memset(words, 0, sizeof words); }
    void add(unsigned i) { words[i / 64] |= uint64_t(1) << i % 64; }
    void remove(unsigned i) { words[i / 64] &= ~(uint64_t(1) << i % 64); }
    uint32_t warp(unsigned w) const { return uint32_t(words[w / 2] >> w % 2 * 32); }
    /* The first member at or after `from`, cyclic; the set is not empty. */
    unsigned next(unsigned from) const
    {
        unsigned w = from / 64;
        uint64_t bits = words[w] & ~uint64_t(0) << from % 64;
        while (!bits)
            bits = words[w = (w + 1) % (MAX_THREADS / 64)];
        return w * 64 + unsigned(__builtin_ctzll(bits));
    }
    /* The last member at or before `from`, cyclic. */
    unsigned previous(unsigned from) const
    {
        unsigned w = from / 64;
        uint64_t bits = words[w] & ~uint64_t(0) >> (63 - from % 64);
        while (!bits)
            bits = words[w = (w + MAX_THREADS / 64 - 1) % (MAX_THREADS / 64)];
        return w * 64 + 63 - unsigned(__builtin_clzll(bits));
    }
};

enum thread_state : uint8_t { READY, AT_BARRIER, IN_WARP, SPINNING, AT_GRID, ENDED };

struct pending_copy {
    void *to;
    const void *from;
    size_t bytes, zeros;
    unsigned batch;
};

/* Asynchronous copies of one thread, oldest first. */
struct copy_queue {
    unsigned batch, count, capacity;
    struct pending_copy *copies;
};

struct block {
    uint64_t index;     /* in the grid */
    struct slot *slots; /* one per thread, and the sentinel */
    char *shared;
    char *stacks;
    size_t stacks_bytes;
    unsigned used;             /* stacks in use since their canaries were looked at */
    struct copy_queue *queues; /* one per thread; made when first used */
    bool copies_pending;
    uint32_t shape[3];         /* of the slots' x, y, z */
    struct counting *counting; /* of the count build */

    /* The ring. */
    uint32_t round;       /* the stop of warp 0 in this round of the block */
    bool mixed_exchanges; /* the slots' `exchange` are not all the same */

    /* The general scheduler. */
    bool general;
    unsigned live, ready, spinning, at_barrier, in_warp, at_grid;
    bool waits_for_grid; /* all of its threads do */
    uint64_t grid_round; /* which one for */
    thread_set ready_set, spinning_set;
    thread_state state[MAX_THREADS];
    uint32_t stop[MAX_THREADS], mask[MAX_THREADS];
    uint64_t value[MAX_THREADS];
};

/* The launch that runs. Workers read it; the launching thread writes it between launches. */
struct grid {
    const struct kernel *kernel;
    const void *arguments;
    uint64_t launch; /* number, never 0 */
    uint64_t blocks[3], threads[3];
    uint64_t count; /* blocks in all */
    unsigned chunk; /* blocks drawn at once */
    unsigned eager; /* blocks every worker keeps resident; 0: one at a time, more only when it cannot go on */
    unsigned limit; /* most blocks resident on one worker */
    bool cooperative;
    uint64_t stride, shift;     /* order of blocks: ticket t is block (t * stride + shift) mod count */
    std::atomic<uint64_t> next; /* ticket */
    std::atomic<int> failed;
    std::atomic<uint64_t> arrived; /* blocks that wait for the grid */
    std::atomic<uint64_t> round;   /* how often it has come together */
};

extern struct grid grid;
extern struct device_options cpu_options; /* as given, defaults filled in */

/* How long a worker has polled and nothing has happened anywhere: by `seen`, what all workers have done. */
struct patience {
    uint64_t seen;
    std::atomic<uint64_t> vain; /* what was seen when all threads of this worker polled and nothing came meanwhile */
    unsigned rounds;
    double since_s;
};

/* One OS thread's own things, beside `worker`. */
struct worker_private {
    int number;
    uint64_t random;
    struct worker_state *state; /* its `worker` */
    struct block *loop_block;   /* what the plain loop runs on, and what becomes of it */
    struct block **resident;
    unsigned resident_count;
    struct block **spare; /* blocks to use again */
    unsigned spare_count, capacity;
    struct block *home_block; /* whose end leads home */
    struct slot home;         /* the frame that started the fibers */
    sigjmp_buf bail;          /* where a failed launch ends */
    volatile int in_kernel;
    unsigned rounds;                       /* of polling */
    uint64_t meetings;                     /* barriers and warp operations carried out by the general scheduler */
    struct patience with_any, with_writes; /* until anything happens; until somebody writes or a block ends */
    std::atomic<bool> active;              /* may still draw from the grid that runs */
};

extern __thread struct worker_private *worker_own;
extern struct worker_private *worker_list;
extern int worker_count;

constexpr uint64_t NEVER = UINT64_MAX;

/* Runs blocks of the grid on this thread until there are none left. */
void scheduler_run(void);
/* Fails the launch: keeps CUDA's error and its sentence; on a worker it does not return. */
void launch_failed(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes this thread a worker of the device, or ends that. */
void scheduler_begin(struct worker_private *own);
void scheduler_end(void);
/* Has a thread of worker `own` overrun its stack? */
bool scheduler_stacks_whole(const struct worker_private *own);
double clock_s(void);

#endif
