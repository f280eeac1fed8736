/* SPDX-License-Identifier: MIT */
/*
 * A small right scan in shared memory, and the ways to get its barriers and its shared array wrong; `right_row` is the
 * twin of them all.
 *
 * One block goes over the array, TILE elements at a time. They lie in one row, and every step of the scan reads all of
 * it before it writes any of it: two barriers a step. Each thread keeps the sum of the tiles so far.
 *
 * G = ceil(n / TILE) tiles: 1 launch; 321 G + n + TILE (G - 1) additions.
 */
#ifndef ROW_CUH
#define ROW_CUH

#include "one_type.cuh"

enum fault {
    NO_FAULT,
    BARRIER_BEFORE_STORE, /* missing: a cell is overwritten before its neighbour has read it */
    BARRIER_OF_LOOP,      /* missing: the next tile overwrites what this one's readers still want */
    DIVERGENT_BARRIER,    /* a barrier in an `if` that a part of the block takes */
    TWO_BARRIERS,         /* each half of the block waits at a barrier of its own */
    THREAD_ENDED,         /* threads without an element end, the others wait for them */
    UNSET_SHARED,         /* cells without an element are read, and nobody has set them */
    PAST_SHARED,          /* the total goes behind the last cell */
    NEGATIVE_SHARED,      /* the guard lets one thread read row[-1] */
    HOST_POINTER          /* the identity lies in the host's memory */
};

constexpr int TILE = 64, TILE_LOG2 = 6;

template <class Op>
static __global__ void scan_row(const typename Op::value *in, typename Op::value *out, uint64_t n, bool exclusive,
                                const typename Op::value *first)
{
    using T = typename Op::value;
    SHARED(T, row, TILE);
    int t = threadIdx.x, last = FAULT == PAST_SHARED ? blockDim.x : blockDim.x - 1;
    T before = FAULT == HOST_POINTER ? *first : Op::identity();
    for (uint64_t tile = 0;; tile += TILE) {
        uint64_t i = tile + t;
        if (FAULT == THREAD_ENDED && i >= n)
            return;
        if (i < n)
            row[t] = in[i];
        else if (FAULT != UNSET_SHARED)
            row[t] = Op::identity();

        for (int stride = 1; stride < TILE; stride *= 2) {
            __syncthreads(); /* the row is complete */
            T x = row[t];
            if (t >= (FAULT == NEGATIVE_SHARED ? stride - 1 : stride)) {
                x = Op{}(row[t - stride], x);
                if (FAULT == DIVERGENT_BARRIER)
                    __syncthreads();
            }
            if (FAULT == TWO_BARRIERS && t < TILE / 2)
                __syncthreads();
            else if (FAULT != BARRIER_BEFORE_STORE && FAULT != DIVERGENT_BARRIER)
                __syncthreads(); /* the row has been read */
            row[t] = x;
        }
        if (FAULT == PAST_SHARED && t == TILE - 1)
            row[last] = row[t];
        __syncthreads(); /* the tile is scanned */

        if (i < n)
            out[i] = Op{}(before, exclusive ? (t ? row[t - 1] : Op::identity()) : row[t]);
        if (tile + TILE >= n)
            return;
        before = Op{}(before, row[last]);
        if (FAULT != BARRIER_OF_LOOP)
            __syncthreads(); /* the row may be written again */
    }
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        T identity = Op::identity();
        launch(scan_row<Op>, 1, TILE, static_cast<const T *>(p->in), static_cast<T *>(p->out), p->n,
               p->kind == EXCLUSIVE, &identity);
    });
}

/* Where the fault changes the number of additions, it says nothing of them: something else must give it away. */
static struct cost model(const struct problem *p)
{
    uint64_t tiles = divide_up(p->n, TILE);
    bool known = FAULT != THREAD_ENDED && FAULT != NEGATIVE_SHARED && FAULT != DIVERGENT_BARRIER;
    return {.launches = 1,
            .additions = known ? tiles * (TILE * TILE_LOG2 - (TILE - 1)) + p->n + TILE * (tiles - 1) : UNKNOWN,
            .steps = UNKNOWN,
            .words_read = UNKNOWN,
            .words_written = UNKNOWN};
}

#define ROW_ALGORITHM(name, words)                                                                                     \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = BOTH_KINDS,                                                                                           \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .in_place = true,                                                                                              \
        .threads = {TILE},                                                                                             \
        .items = 1,                                                                                                    \
        .additions = "321 G + n + 64 (G - 1)",                                                                         \
        .launches = "1",                                                                                               \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
