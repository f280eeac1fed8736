/* SPDX-License-Identifier: MIT */
/*
 * The lesson's Blelloch scan: a thread for every cell in every pass. Its down-sweep reads a snapshot of the cells;
 * without it, a cell reads what another thread of the same launch writes. `downsweep_with_snapshot` is the right twin.
 *
 *     before        . . a . . . b         left: takes b       right: takes b + a
 *     after         . . b . . . b+a
 *
 * m = 2^k cells, k = ceil(log2 n): 3k + 3 launches, k of them snapshots, and 2 (m - 1) additions.
 */
#ifndef DOWNSWEEP_CUH
#define DOWNSWEEP_CUH

#include "one_type.cuh"

enum fault { NO_FAULT, NO_SNAPSHOT };

constexpr int THREADS = 64;

static __device__ uint64_t cell()
{
    return uint64_t(blockIdx.x) * THREADS + threadIdx.x;
}

static __device__ bool ends_block(uint64_t i, uint64_t block)
{
    return (i + 1) % block == 0;
}

template <class Op>
static __global__ void load(const typename Op::value *in, typename Op::value *cells, uint64_t n, uint64_t m)
{
    uint64_t i = cell();
    if (i < m)
        cells[i] = i < n ? in[i] : Op::identity();
}

template <class Op> static __global__ void upsweep(typename Op::value *cells, uint64_t m, uint64_t stride)
{
    uint64_t i = cell();
    if (i < m && ends_block(i, 2 * stride))
        cells[i] = Op{}(cells[i - stride], cells[i]);
}

template <class Op> static __global__ void clear(typename Op::value *cells, uint64_t m)
{
    cells[m - 1] = Op::identity();
}

template <class Op>
static __global__ void downsweep(const typename Op::value *from, typename Op::value *to, uint64_t m, uint64_t stride)
{
    uint64_t i = cell();
    if (i >= m)
        return;
    if (ends_block(i, 2 * stride))
        to[i] = Op{}(from[i], from[i - stride]);
    else if (ends_block(i + stride, 2 * stride))
        to[i] = from[i + stride];
}

static size_t workspace(const struct problem *p)
{
    return (type_size(p->type) << log2_ceil(p->n)) * 2; /* the cells, and their snapshot */
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        uint64_t m = UINT64_C(1) << log2_ceil(p->n), blocks = divide_up(m, THREADS);
        T *cells = static_cast<T *>(p->workspace), *snapshot = FAULT == NO_SNAPSHOT ? cells : cells + m;
        launch(load<Op>, blocks, THREADS, static_cast<const T *>(p->in), cells, p->n, m);
        for (uint64_t stride = 1; stride < m; stride *= 2)
            launch(upsweep<Op>, blocks, THREADS, cells, m, stride);
        launch(clear<Op>, 1, 1, cells, m);
        for (uint64_t stride = m / 2; stride > 0; stride /= 2) {
            if (FAULT != NO_SNAPSHOT)
                launch_memcpy(snapshot, cells, m * sizeof(T));
            launch(downsweep<Op>, blocks, THREADS, static_cast<const T *>(snapshot), cells, m, stride);
        }
        launch_memcpy(p->out, cells, p->n * sizeof(T));
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t k = log2_ceil(p->n);
    return {.launches = (FAULT == NO_SNAPSHOT ? 2 : 3) * k + 3,
            .additions = 2 * ((UINT64_C(1) << k) - 1),
            .steps = UNKNOWN,
            .words_read = UNKNOWN,
            .words_written = UNKNOWN};
}

#define DOWNSWEEP_ALGORITHM(name, words)                                                                               \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = EXCLUSIVE,                                                                                            \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .in_place = true,                                                                                              \
        .threads = {THREADS},                                                                                          \
        .items = 1,                                                                                                    \
        .additions = "2 (m - 1)",                                                                                      \
        .launches = "3 k + 3",                                                                                         \
        .workspace = workspace,                                                                                        \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
