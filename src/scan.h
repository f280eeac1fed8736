/* SPDX-License-Identifier: MIT */
/*
 * The contract between an algorithm and the harness. Clean in C and in C++.
 *
 * An algorithm is one file in kernels/ that ends in one descriptor:
 *
 *     ALGORITHM(hillis_steele) = { .title = "...", ..., .run = run, .model = model };
 *
 * The registry finds it by its file name; nothing else has to be edited. The harness owns memory, timing,
 * checking and output: an algorithm enqueues work and says what it costs.
 */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each value is one bit, so that a set of them is their "or". */
enum type { I32 = 1, I64 = 2, F32 = 4, F64 = 8 };
enum kind { INCLUSIVE = 1, EXCLUSIVE = 2, COPY = 4 };
enum op {
    SUM = 1,
    MAX = 2,
    AFFINE = 4, /* maps x -> slope x + offset, composed; integers only; does not commute: for tests */
    NONE = 8,   /* of the kind COPY */
    /* Of the count build alone, in no descriptor: */
    STEPS = 16, /* an element is the length of the longest chain of additions behind it */
    TRACE = 32, /* i32: an element is the number of the expression that made it */
};
enum {
    ALL_TYPES = I32 | I64 | F32 | F64,
    BOTH_KINDS = INCLUSIVE | EXCLUSIVE,
    ALL_OPS = SUM | MAX | AFFINE,
};

/* Where an algorithm runs. NVIDIA is a vendor's library: without nvcc its descriptor has no `run`. */
enum place { HOST, DEVICE, NVIDIA };

/* One run: out[i] = in[0] op ... op in[i] (inclusive) or ... in[i-1] (exclusive; out[0] is the identity). */
struct problem {
    uint64_t n; /* elements */
    enum type type;
    enum op op;
    enum kind kind;
    int threads;     /* per block; 0 for a host algorithm */
    const void *in;  /* device pointers for a device algorithm, host pointers for a host algorithm */
    void *out;       /* equals `in` only where the descriptor says in_place */
    void *workspace; /* as many bytes as workspace() asked for, aligned to 256; arbitrary content */
};

#define UNKNOWN UINT64_MAX

/* What one run costs: exact for every n, or UNKNOWN. A word is one element read or written in global memory. */
struct cost {
    uint64_t launches;  /* kernels, memsets and device-to-device copies */
    uint64_t additions; /* applications of the operator, padding included, copies and swaps excluded */
    uint64_t steps;     /* additions on the longest chain */
    /* By plain accesses, asynchronous copies among them. What atomic and volatile accesses move, status words and
     * tickets, is left out: how often a word is looked at is a matter of timing. */
    uint64_t words_read, words_written;
};

struct algorithm {
    const char *name;   /* filled in by the registry: the file's name */
    const char *title;  /* for charts and tables; NULL: its name */
    const char *source; /* where it was published; NULL if nowhere */
    int year;           /* of that; without one a scan on the device is listed last */
    enum place runs_on;
    unsigned kinds, types, ops; /* sets */
    bool in_place;              /* may `out` be `in`? */
    bool synchronises;          /* does run() wait for the device? Then no gate holds it, and no graph captures it */
    int threads[8];             /* block sizes it accepts, its own choice first, ended by 0; none on the host */
    int items;                  /* elements a thread takes; a tile, what a block takes at once, is threads * items; on
                                 * the host the tile of a core */

    /* What `list` prints; n, k = ceil(log2 n), m = 2^k, B = tile, G = ceil(n / B). */
    const char *additions, *launches, *traffic;

    /* NULL, or a reason as a slug ("n-over-2^20") why this problem is not for this algorithm. Optional. */
    const char *(*refuse)(const struct problem *);

    /* Bytes of workspace. Optional: none. */
    size_t (*workspace)(const struct problem *);

    /* Once per workspace, outside every timing. Later runs may have any type and any smaller workspace. Optional. */
    void (*prepare)(const struct problem *);

    /* Enqueues one scan and returns: no allocation, no printing, no synchronisation but where the descriptor says
     * `synchronises`; fit to be captured into a graph once and replayed. n > 0.
     * Errors are left to the device (device_error). NULL where the algorithm cannot be built. */
    void (*run)(const struct problem *);
    const char *missing; /* why it cannot ("needs OpenMP"); NULL: its place says it */

    /* The cost of one run, for every n > 0; NULL for a black box. */
    struct cost (*model)(const struct problem *);
};

/* A plain const object is file-local in C++, and a kernel may bear the algorithm's name: hence the prefix. */
#ifdef __cplusplus
#define ALGORITHM(id)                                                                                                  \
    extern "C" {                                                                                                       \
    extern const struct algorithm algorithm_##id;                                                                      \
    }                                                                                                                  \
    const struct algorithm algorithm_##id
#else
#define ALGORITHM(id)                                                                                                  \
    extern const struct algorithm algorithm_##id;                                                                      \
    const struct algorithm algorithm_##id
#endif

static inline size_t type_size(enum type type)
{
    return type == I32 || type == F32 ? 4 : 8;
}

/* The smallest k with 2^k >= n; 0 for n <= 1. */
static inline int log2_ceil(uint64_t n)
{
    int k = 0;
    while (k < 63 && (UINT64_C(1) << k) < n)
        k++;
    return k;
}

static inline uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif
