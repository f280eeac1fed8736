/* SPDX-License-Identifier: MIT */
/*
 * A small right scan with a launch for each pass (Hillis-Steele), and the ways to get its indices and its buffers
 * wrong; `right_passes` is the twin of them all.
 *
 * k = ceil(log2 n), m = 2^k: k launches and n k - (m - 1) additions, inclusive; a single element is copied.
 */
#ifndef PASSES_CUH
#define PASSES_CUH

#include "one_type.cuh"

enum fault {
    NO_FAULT,
    NEGATIVE_INDEX, /* the guard lets one thread read from[-1] */
    WRONG_BUFFER,   /* after an even number of passes the answer lies in the other buffer */
    ONE_BUFFER      /* all passes in place: a place is overwritten before its neighbour has read it */
};

constexpr int THREADS = 64;

template <class Op>
static __global__ void pass(const typename Op::value *from, typename Op::value *to, int64_t n, int64_t stride)
{
    int64_t i = int64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= n)
        return;
    auto x = from[i];
    if (FAULT == NEGATIVE_INDEX ? i + 1 >= stride : i >= stride)
        x = Op{}(from[i - stride], x);
    to[i] = x;
}

static int passes_of(const struct problem *p)
{
    return p->n > 1 ? log2_ceil(p->n) : 1;
}

static size_t workspace(const struct problem *p)
{
    return p->n * type_size(p->type);
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        const T *from = static_cast<const T *>(p->in);
        for (int j = 0; j < passes_of(p); j++) {
            int left = FAULT == WRONG_BUFFER ? j : passes_of(p) - 1 - j;
            T *to = static_cast<T *>(left % 2 == 0 || FAULT == ONE_BUFFER ? p->out : p->workspace);
            launch(pass<Op>, divide_up(p->n, THREADS), THREADS, from, to, p->n, INT64_C(1) << j);
            from = to;
        }
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t n = p->n, k = log2_ceil(n), m = UINT64_C(1) << k;
    return {.launches = n > 1 ? k : 1,
            .additions = FAULT == NEGATIVE_INDEX ? UNKNOWN : n * k - (m - 1),
            .steps = UNKNOWN,
            .words_read = UNKNOWN,
            .words_written = UNKNOWN};
}

#define PASSES_ALGORITHM(name, words)                                                                                  \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = INCLUSIVE,                                                                                            \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .threads = {THREADS},                                                                                          \
        .items = 1,                                                                                                    \
        .additions = "n k - (m - 1)",                                                                                  \
        .launches = "max(k, 1)",                                                                                       \
        .workspace = workspace,                                                                                        \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
