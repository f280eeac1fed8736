/* SPDX-License-Identifier: MIT */
/*
 * A small right scan, and the places where it can be broken: each file that includes it defines FAULT as one of the
 * faults below and is otherwise the same algorithm. `right` is the twin of them all.
 *
 *     tiles     every block scans its TILE elements in shared memory and leaves their total in sums[block]
 *     carries   one thread turns the totals into what each block has to add
 *     add       every element from the second block on gets its block's carry
 *
 * G = ceil(n / TILE) blocks: 1 launch for G = 1, else 3; G (TILE log2 TILE - (TILE - 1)) additions in the tiles,
 * G - 1 in the carries, n - TILE in the end.
 */
#ifndef TILES_CUH
#define TILES_CUH

#include "one_type.cuh"

/* The right twin is built for all types. */
#ifdef TILES_ALL_TYPES
#define TILES_TYPES ALL_TYPES
#define TILES_OPERATOR with_operator
#else
#define TILES_TYPES I32
#define TILES_OPERATOR with_operator_on_i32
#endif

enum fault {
    NO_FAULT,
    OFF_BY_ONE,         /* the first element of the second block gets no carry */
    LAST_MISSING,       /* the last element is not written */
    ONES_ONLY,          /* counts elements where it should add them */
    ONE_BLOCK_ONLY,     /* no carries at all */
    TWO_BLOCKS_ONLY,    /* the carry of the second block, for all blocks */
    MISSING_BARRIER,    /* a neighbour's element is read before it must be there */
    PAST_THE_END,       /* i <= n */
    BEFORE_THE_START,   /* writes out[-1] */
    ZERO_IDENTITY,      /* 0 where the operator's identity belongs */
    SWAPPED_OPERANDS,   /* right for operators that commute */
    CHANGED_INPUT,      /* the input is another one afterwards */
    STALE_CARRIES,      /* carries of the run before, found in the workspace */
    WRONG_LAUNCHES,     /* in the model */
    WRONG_ADDITIONS,    /* in the model, by one, and only for many elements */
    PAST_THE_WORKSPACE, /* one word more than was asked for */
    UNGUARDED_TAIL,     /* every thread of the last block writes */
    UNGUARDED_LOAD,     /* every thread of the last block reads; what it reads changes no answer */
    NEIGHBOUR_CARRY,    /* the carry reaches the next block, and no other */
    DROPPED_LAST,       /* the total is taken from the exclusive scan, which lacks the last element */
    RESTART,            /* the first element of a block starts anew, from the identity */
    UNSET_WORKSPACE,    /* the carries begin with a word that nobody has set */
    WRITES_NOTHING      /* what is compared must not be what was there before, nor the answer itself */
};

constexpr int TILE = 64, TILE_LOG2 = 6;

template <class Op>
static __global__ void tiles(const typename Op::value *in, typename Op::value *out, typename Op::value *sums,
                             uint64_t n, bool exclusive)
{
    using T = typename Op::value;
    SHARED(T, row, 2 * TILE); /* two rows take turns */
    int t = threadIdx.x, from = 0;
    uint64_t i = uint64_t(blockIdx.x) * TILE + threadIdx.x;
    row[t] = i < n || FAULT == UNGUARDED_LOAD ? in[i] : Op::identity();
    if (FAULT != MISSING_BARRIER)
        __syncthreads(); /* the neighbour's element is there */

    for (int stride = 1; stride < TILE; stride *= 2) {
        T x = row[from + t];
        if (t >= stride) {
            T left = row[from + t - stride];
            x = FAULT == SWAPPED_OPERANDS ? Op{}(x, left) : Op{}(left, x);
        }
        from = TILE - from;
        row[from + t] = x;
        __syncthreads();
    }

    T identity = FAULT == ZERO_IDENTITY ? T(0) : Op::identity();
    T x = exclusive ? (t ? row[from + t - 1] : identity) : row[from + t];
    uint64_t end = FAULT == LAST_MISSING     ? n - 1
                   : FAULT == PAST_THE_END   ? n + 1
                   : FAULT == WRITES_NOTHING ? 0
                   : FAULT == UNGUARDED_TAIL ? UINT64_MAX
                                             : n;
    if (i < end)
        out[i] = x;
    if (FAULT == BEFORE_THE_START && i == 0)
        out[-1] = x;
    if (FAULT == CHANGED_INPUT && i == n / 2)
        const_cast<T *>(in)[i] = x;
    if (t == TILE - 1)
        sums[blockIdx.x] = FAULT == DROPPED_LAST ? x : row[from + t];
    if (FAULT == PAST_THE_WORKSPACE && i == 0)
        sums[gridDim.x + 1] = x;
}

/* sums[blocks] is a word of its own: how many blocks the carries in `carries` are of. */
template <class Op>
static __global__ void carries(const typename Op::value *sums, typename Op::value *carries, uint64_t blocks)
{
    using T = typename Op::value;
    if (threadIdx.x > 0)
        return;
    if (FAULT == STALE_CARRIES && carries[blocks] == T(blocks))
        return;
    carries[blocks] = T(blocks);
    T s = FAULT == UNSET_WORKSPACE ? Op{}(carries[0], sums[0]) : sums[0];
    for (uint64_t g = 1; g < blocks; g++) {
        carries[g] = FAULT == ONES_ONLY ? T(g * TILE) : FAULT == NEIGHBOUR_CARRY ? sums[g - 1] : s;
        s = Op{}(s, sums[g]);
    }
}

template <class Op> static __global__ void add(typename Op::value *out, const typename Op::value *carries, uint64_t n)
{
    uint64_t i = uint64_t(blockIdx.x + 1) * TILE + threadIdx.x, g = blockIdx.x + 1;
    if (FAULT == TWO_BLOCKS_ONLY)
        g = 1;
    if ((FAULT == OFF_BY_ONE && i == TILE) || (FAULT == RESTART && threadIdx.x == 0) || FAULT == WRITES_NOTHING)
        return;
    if (i < n)
        out[i] = Op{}(carries[g], out[i]);
}

static uint64_t blocks_of(const struct problem *p)
{
    return divide_up(p->n, TILE);
}

static size_t workspace(const struct problem *p)
{
    return (2 * blocks_of(p) + 1) * type_size(p->type);
}

static void run(const struct problem *p)
{
    TILES_OPERATOR(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        T *out = static_cast<T *>(p->out), *work = static_cast<T *>(p->workspace);
        uint64_t blocks = blocks_of(p);
        T *sums = work + blocks + 1; /* behind the carries */
        launch((tiles<Op>), blocks, TILE, static_cast<const T *>(p->in), out, sums, p->n, p->kind == EXCLUSIVE);
        if (blocks == 1 || FAULT == ONE_BLOCK_ONLY)
            return;
        launch((carries<Op>), 1, 32, sums, work, blocks);
        launch((add<Op>), blocks - 1, TILE, out, work, p->n);
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t blocks = blocks_of(p);
    bool carried = blocks > 1 && FAULT != ONE_BLOCK_ONLY;
    struct cost cost = {.launches = 1,
                        .additions = blocks * (TILE * TILE_LOG2 - (TILE - 1)),
                        .steps = UNKNOWN,
                        .words_read = UNKNOWN,
                        .words_written = UNKNOWN};
    if (carried) {
        cost.launches = 3;
        cost.additions += blocks - 1 + p->n - TILE;
    }
    if (carried) /* the model is right about the wrong kernel: only the answer gives it away */
        cost.additions += FAULT == OFF_BY_ONE        ? -1
                          : FAULT == RESTART         ? 1 - blocks
                          : FAULT == WRITES_NOTHING  ? TILE - p->n
                          : FAULT == UNSET_WORKSPACE ? 1
                                                     : 0;
    if (FAULT == WRONG_LAUNCHES)
        cost.launches = 3;
    if (FAULT == WRONG_ADDITIONS && p->n >= 1000)
        cost.additions++;
    return cost;
}

#define TILES_ALGORITHM(name, words)                                                                                   \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = BOTH_KINDS,                                                                                           \
        .types = TILES_TYPES,                                                                                          \
        .ops = ALL_OPS,                                                                                                \
        .threads = {TILE},                                                                                             \
        .items = 1,                                                                                                    \
        .additions = "321 G + [G > 1] (G - 1 + n - 64)",                                                               \
        .launches = "1 + [G > 1] 2",                                                                                   \
        .workspace = workspace,                                                                                        \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
