// SPDX-License-Identifier: MIT
/*
 * Blelloch's scan as the lesson writes it: one thread for every cell in every pass, and each of them writes its cell
 * into a new array, also where nothing changes. Up the tree to build subtotals, down again to hand them out.
 *
 *     in         3   1   4   1   5   9   2   6
 *     up 1       3  [4]  4  [5]  5 [14]  2  [8]      a block's last cell absorbs the last of its left half
 *     up 2       3   4   4  [9]  5  14   2 [22]
 *     up 4       3   4   4   9   5  14   2 [31]      the total
 *     clear      3   4   4   9   5  14   2  [0]
 *     down 4     3   4   4  [0]  5  14   2  [9]      left half: what came from above;
 *     down 2     3  [0]  4  [4]  5  [9]  2 [23]      right half: that and the left half's subtotal
 *     down 1    [0] [3] [4] [8] [9][14][23][25]      the exclusive scan
 *
 * Inclusive: the last pass writes one place to the left, and the total, kept by the clear, goes to the end. Any n:
 * the first pass reads identities behind the array, up to m = 2^k, k = ceil(log2 n).
 *
 * 2k + 1 launches, each of m threads, the clear a launch of its own; 2(m - 1) additions in 2k - 1 steps; about 4 m k
 * words moved.
 *
 * Work-efficient in additions alone: all but few of the threads only carry their cell over, so that the passes move
 * more memory than those of Hillis-Steele, which needs half as many.
 *
 * G. E. Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990.
 */
#include "parts/grid.cuh"

/* Is cell i the last of a block of that many cells, a power of two? */
static __device__ __forceinline__ bool ends_block(uint64_t i, uint64_t block)
{
    return ((i + 1) & (block - 1)) == 0;
}

/* Cell i of `from`, which holds n cells, and identities behind them. */
template <class Op>
static __device__ __forceinline__ typename Op::value cell(const typename Op::value *from, uint64_t n, uint64_t i)
{
    return i < n ? from[i] : Op::identity();
}

template <class Op>
static __global__ void upsweep(const typename Op::value *from, typename Op::value *to, uint64_t n, uint64_t m,
                               uint64_t stride)
{
    uint64_t i = thread_number();
    if (i >= m)
        return;
    if (ends_block(i, 2 * stride))
        to[i] = Op{}(cell<Op>(from, n, i - stride), cell<Op>(from, n, i));
    else
        to[i] = cell<Op>(from, n, i);
}

/* The total is kept where the kind wants it, and the cell that held it cleared, where there is one. */
template <class Op>
static __global__ void clear(const typename Op::value *total, typename Op::value *kept, typename Op::value *cleared)
{
    if (kept)
        *kept = *total;
    if (cleared)
        *cleared = Op::identity();
}

/* Cell i goes to place i - shift of the n places of `to`. */
template <class Op>
static __global__ void downsweep(const typename Op::value *from, typename Op::value *to, uint64_t n, uint64_t m,
                                 uint64_t stride, int shift)
{
    uint64_t i = thread_number();
    if (i >= m)
        return;
    typename Op::value x;
    if (ends_block(i, 2 * stride))
        x = Op{}(from[i], from[i - stride]);
    else if (ends_block(i + stride, 2 * stride))
        x = from[i + stride];
    else
        x = from[i];
    if (i < n && i >= uint64_t(shift))
        to[i - shift] = x;
}

/* Two arrays of m cells that take turns. */
static size_t workspace(const struct problem *p)
{
    int k = log2_ceil(p->n);
    return k > 0 ? (type_size(p->type) << k) * 2 : 0;
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(UINT64_C(1) << log2_ceil(p->n), p->threads);
}

static void run(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        int k = log2_ceil(p->n), passes = 0;
        uint64_t n = p->n, m = UINT64_C(1) << k;
        unsigned blocks = blocks_for(m, p->threads);
        bool inclusive = p->kind == INCLUSIVE;
        const T *in = static_cast<const T *>(p->in);
        T *out = static_cast<T *>(p->out), *cells = static_cast<T *>(p->workspace);
        auto array = [&](int pass) { return cells + (pass % 2) * m; };

        for (int j = 0; j < k; j++, passes++)
            launch(upsweep<Op>, blocks, p->threads, j == 0 ? in : array(passes - 1), array(passes), j == 0 ? n : m, m,
                   UINT64_C(1) << j);

        /* A single element is its own total, and its own last cell. */
        T *last = k > 0 ? array(passes - 1) + m - 1 : out;
        launch(clear<Op>, 1, 1, k > 0 ? last : in, inclusive ? out + n - 1 : nullptr,
               k > 0 || !inclusive ? last : nullptr);

        for (int j = k - 1; j >= 0; j--, passes++)
            launch(downsweep<Op>, blocks, p->threads, array(passes - 1), j > 0 ? array(passes) : out, j > 0 ? m : n, m,
                   UINT64_C(1) << j, j == 0 && inclusive ? 1 : 0);
    });
}

static struct cost model(const struct problem *p)
{
    uint64_t n = p->n, k = log2_ceil(n), m = UINT64_C(1) << k, inclusive = p->kind == INCLUSIVE;
    if (n == 1)
        return {.launches = 1, .additions = 0, .steps = 0, .words_read = inclusive, .words_written = 1};
    return {
        .launches = 2 * k + 1,
        .additions = 2 * (m - 1),
        .steps = 2 * k - 1,
        /* Of the first pass n + ceil(n / 2), of every other m and the left partners; the total. */
        .words_read = 2 * m * k + 2 * (m - 1) - (m - n) - (m / 2 - divide_up(n, 2)) + inclusive,
        /* m a pass, and the clear; the last pass writes what is in range, and the inclusive total is one of them. */
        .words_written = 2 * m * k - (m - n) + 1,
    };
}

ALGORITHM(blelloch_lesson) = {
    .title = "Blelloch, as taught",
    .source = "Blelloch 1990",
    .year = 1990,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {256, 128, 512, 1024, 64, 32},
    .items = 1,
    .additions = "2 (m - 1)",
    .launches = "2 k + 1",
    .traffic = "4 m k + 2 (m - 1) + 1",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
