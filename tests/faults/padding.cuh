/* SPDX-License-Identifier: MIT */
/*
 * A small right scan whose tile is padded against bank conflicts by a macro, and the macro as it has been copied from
 * a book for years; `right_padding` is the twin.
 *
 * One block goes over the array, TILE elements at a time, in a tree (Blelloch); each thread keeps the sum of the tiles
 * so far. G = ceil(n / TILE): 1 launch; 2 G (TILE - 1) + n + TILE/2 (G - 1) additions.
 */
#ifndef PADDING_CUH
#define PADDING_CUH

#include "one_type.cuh"

enum fault {
    NO_FAULT,
    PADDING_PRECEDENCE, /* + binds tighter than >>: a shift by 32 or more, no padding, and all answers right */
    PADDING_ARGUMENT    /* no brackets around the argument: right - stride + right - stride / 32 */
};

constexpr int TILE = 256, THREADS = TILE / 2, NUM_BANKS = 32, LOG_NUM_BANKS = 5;

#define PADDING ((n >> LOG_NUM_BANKS) + (n >> (2 * LOG_NUM_BANKS)))
#define PADDING_AS_PRINTED(n) ((n) >> NUM_BANKS + (n) >> (2 * LOG_NUM_BANKS))
#define PLACE_WITHOUT_BRACKETS(n) (n + n / NUM_BANKS)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
static __device__ __forceinline__ unsigned place(unsigned n)
{
    if (FAULT == PADDING_PRECEDENCE)
        return n + PADDING_AS_PRINTED(n);
    return n + PADDING;
}
#pragma GCC diagnostic pop

template <class Op>
static __global__ void scan_padded(const typename Op::value *in, typename Op::value *out, uint64_t n, bool exclusive)
{
    using T = typename Op::value;
    SHARED(T, tile, TILE + TILE / NUM_BANKS);
    unsigned t = threadIdx.x;
    T before = Op::identity();
    for (uint64_t first = 0; first < n; first += TILE) {
        for (unsigned i = t; i < TILE; i += THREADS)
            tile[place(i)] = first + i < n ? in[first + i] : Op::identity();
        for (unsigned stride = 1; stride < TILE; stride *= 2) {
            __syncthreads(); /* the level below is complete */
            unsigned right = (2 * t + 2) * stride - 1;
            if (right < TILE) {
                unsigned left =
                    FAULT == PADDING_ARGUMENT ? PLACE_WITHOUT_BRACKETS(right - stride) : place(right - stride);
                tile[place(right)] = Op{}(tile[left], tile[place(right)]);
            }
        }
        __syncthreads(); /* the total is there */
        T total = tile[place(TILE - 1)];
        __syncthreads(); /* everybody has it */
        if (t == 0)
            tile[place(TILE - 1)] = Op::identity();
        for (unsigned stride = TILE / 2; stride > 0; stride /= 2) {
            __syncthreads(); /* the level above is complete */
            unsigned right = (2 * t + 2) * stride - 1;
            if (right < TILE) {
                T above = tile[place(right)], subtotal = tile[place(right - stride)];
                tile[place(right - stride)] = above;
                tile[place(right)] = Op{}(above, subtotal);
            }
        }
        __syncthreads(); /* the tile is scanned */
        for (unsigned i = t; i < TILE; i += THREADS) {
            if (first + i < n) {
                T left = Op{}(before, tile[place(i)]);
                out[first + i] = exclusive ? left : Op{}(left, in[first + i]);
            }
        }
        before = Op{}(before, total);
        __syncthreads(); /* the tile may be written again */
    }
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        launch(scan_padded<Op>, 1, THREADS, static_cast<const T *>(p->in), static_cast<T *>(p->out), p->n,
               p->kind == EXCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t tiles = divide_up(p->n, TILE), twice = p->kind == EXCLUSIVE ? 1 : 2;
    return {.launches = 1,
            .additions = 2 * tiles * (TILE - 1) + twice * p->n + tiles * THREADS,
            .steps = UNKNOWN,
            .words_read = UNKNOWN,
            .words_written = UNKNOWN};
}

#define PADDING_ALGORITHM(name, words)                                                                                 \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = BOTH_KINDS,                                                                                           \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .threads = {THREADS},                                                                                          \
        .items = 2,                                                                                                    \
        .additions = "638 G + n, inclusive 638 G + 2 n",                                                               \
        .launches = "1",                                                                                               \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
