/* SPDX-License-Identifier: MIT */
/*
 * A small right scan by one warp, and the ways to get its lanes out of step; `right_warp` (through shared memory) and
 * `right_shuffle` are the twins.
 *
 * One warp goes over the array, 32 elements at a time; every lane keeps the sum of what lies before them.
 *
 * G = ceil(n / 32): 1 launch; 129 G + n + 32 (G - 1) additions.
 */
#ifndef WARP_CUH
#define WARP_CUH

#include "one_type.cuh"

enum fault {
    NO_FAULT,          /* through shared memory */
    WARP_SYNCHRONOUS,  /* without __syncwarp, as if the lanes of a warp went in step */
    NO_FAULT_SHUFFLE,  /* through shuffles */
    SHUFFLE_IN_BRANCH, /* all lanes are in the mask, but not all come */
    TWO_OPERATIONS     /* the lanes of a mask meet in different operations */
};

constexpr int LANES = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

/* Lane t's scan of the 32 values x. */
template <class Op> static __device__ typename Op::value scan_by_memory(typename Op::value x, typename Op::value *row)
{
    int t = threadIdx.x;
    row[t] = x;
    for (int stride = 1; stride < LANES; stride *= 2) {
        if (FAULT != WARP_SYNCHRONOUS)
            __syncwarp(); /* the row is complete */
        if (t >= stride)
            x = Op{}(row[t - stride], x);
        if (FAULT != WARP_SYNCHRONOUS)
            __syncwarp(); /* the row has been read */
        row[t] = x;
    }
    return x;
}

template <class Op> static __device__ typename Op::value scan_by_shuffle(typename Op::value x)
{
    int t = threadIdx.x;
    for (int stride = 1; stride < LANES; stride *= 2) {
        if (FAULT == SHUFFLE_IN_BRANCH) {
            if (t >= stride)
                x = Op{}(__shfl_up_sync(ALL_LANES, x, stride), x);
            continue;
        }
        auto left = Op::identity();
        if (FAULT == TWO_OPERATIONS && t < stride)
            __syncwarp();
        else
            left = __shfl_up_sync(ALL_LANES, x, stride);
        if (t >= stride)
            x = Op{}(left, x);
    }
    return x;
}

template <class Op>
static __global__ void scan_warp(const typename Op::value *in, typename Op::value *out, uint64_t n, bool exclusive)
{
    using T = typename Op::value;
    SHARED(T, row, LANES);
    T before = Op::identity();
    for (uint64_t tile = 0; tile < n; tile += LANES) {
        uint64_t i = tile + threadIdx.x;
        T x = i < n ? in[i] : Op::identity();
        if constexpr (FAULT == NO_FAULT || FAULT == WARP_SYNCHRONOUS)
            x = scan_by_memory<Op>(x, row);
        else
            x = scan_by_shuffle<Op>(x);
        T left = __shfl_up_sync(ALL_LANES, x, 1), total = __shfl_sync(ALL_LANES, x, LANES - 1);
        if (threadIdx.x == 0)
            left = Op::identity();
        if (i < n)
            out[i] = Op{}(before, exclusive ? left : x);
        if (tile + LANES < n)
            before = Op{}(before, total);
    }
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        launch(scan_warp<Op>, 1, LANES, static_cast<const T *>(p->in), static_cast<T *>(p->out), p->n,
               p->kind == EXCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t tiles = divide_up(p->n, LANES);
    return {.launches = 1,
            .additions = tiles * (LANES * 5 - (LANES - 1)) + p->n + LANES * (tiles - 1),
            .steps = UNKNOWN,
            .words_read = UNKNOWN,
            .words_written = UNKNOWN};
}

#define WARP_ALGORITHM(name, words)                                                                                    \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = BOTH_KINDS,                                                                                           \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .in_place = true,                                                                                              \
        .threads = {LANES},                                                                                            \
        .items = 1,                                                                                                    \
        .additions = "129 G + n + 32 (G - 1)",                                                                         \
        .launches = "1",                                                                                               \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
