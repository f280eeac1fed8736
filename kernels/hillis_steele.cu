// SPDX-License-Identifier: MIT
/*
 * Hillis and Steele's scan: in pass j every element adds the one 2^j places to its left, all at once.
 *
 *     in         3   1   4   1   5   9   2   6
 *                | \ | \ | \ | \ | \ | \ | \ |
 *     stride 1   3   4   5   5   6  14  11   8       sums of up to 2 neighbours
 *                |   | \___\ | \___\ ...
 *     stride 2   3   4   8   9  11  19  17  22       of up to 4
 *     stride 4   3   4   8   9  14  23  25  31       of all to the left
 *
 * A pass reads what the pass before wrote, so it is a launch of its own, from one buffer into another. Exclusive: the
 * first pass reads one place to the left, an identity before the first element.
 *
 * n elements, k = ceil(log2 n), m = 2^k: max(k, 1) launches; n k - (m - 1) additions in k steps; reads
 * 2 n k - (m - 1) words (exclusive: two fewer), writes n k.
 *
 * The fewest steps of all scans and the simplest kernel; the price is k times over the whole array, in additions and
 * in memory traffic, so that it wins only while launches are the bill.
 *
 * W. D. Hillis and G. L. Steele, "Data parallel algorithms", Communications of the ACM 29(12), 1986.
 */
#include "parts/grid.cuh"

/* Element i, or, shifted, the one to the left of it. */
template <class Op, bool shifted>
static __device__ __forceinline__ typename Op::value element(const typename Op::value *from, uint64_t i)
{
    if constexpr (shifted)
        return i == 0 ? Op::identity() : from[i - 1];
    else
        return from[i];
}

template <class Op, bool shifted>
static __global__ void pass(const typename Op::value *from, typename Op::value *to, uint64_t n, uint64_t stride)
{
    uint64_t i = thread_number();
    if (i >= n)
        return;
    auto x = element<Op, shifted>(from, i);
    if (i >= stride)
        x = Op{}(element<Op, shifted>(from, i - stride), x);
    to[i] = x;
}

/* The buffer that takes turns with `out`. */
static size_t workspace(const struct problem *p)
{
    return p->n > 2 ? p->n * type_size(p->type) : 0;
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(p->n, p->threads);
}

static void run(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        unsigned blocks = blocks_for(p->n, p->threads);
        int passes = p->n > 1 ? log2_ceil(p->n) : 1; /* a single element is copied */

        const T *from = static_cast<const T *>(p->in);
        for (int j = 0; j < passes; j++) {
            /* Counted from the last pass, which writes to `out`. */
            T *to = static_cast<T *>((passes - 1 - j) % 2 == 0 ? p->out : p->workspace);
            uint64_t stride = UINT64_C(1) << j;
            if (j == 0 && p->kind == EXCLUSIVE)
                launch((pass<Op, true>), blocks, p->threads, from, to, p->n, stride);
            else
                launch((pass<Op, false>), blocks, p->threads, from, to, p->n, stride);
            from = to;
        }
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t n = p->n, k = log2_ceil(n), m = UINT64_C(1) << k, exclusive = p->kind == EXCLUSIVE;
    if (n == 1)
        return {.launches = 1, .additions = 0, .steps = 0, .words_read = 1 - exclusive, .words_written = 1};
    return {
        .launches = k,
        .additions = n * k - (m - 1),
        .steps = k,
        .words_read = 2 * n * k - (m - 1) - 2 * exclusive,
        .words_written = n * k,
    };
}

ALGORITHM(hillis_steele) = {
    .title = "Hillis-Steele",
    .source = "Hillis and Steele 1986",
    .year = 1986,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = false, /* the first of an odd number of passes writes to `out` while others still read `in` */
    .threads = {256, 128, 512, 1024, 64, 32},
    .items = 1,
    .additions = "n k - (m - 1)",
    .launches = "max(k, 1)",
    .traffic = "3 n k - (m - 1)",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
