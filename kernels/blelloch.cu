// SPDX-License-Identifier: MIT
/*
 * Blelloch's scan in place: one thread for every node of the tree, and none for the cells that do not change.
 *
 *     in         3   1   4   1   5   9   2   6
 *                 \  |    \  |    \  |    \  |
 *     up 1           4       5      14       8       4 threads, one a pair
 *                     \______|       \_______|
 *     up 2                   9              22       2 threads
 *     up 4                                  31       1 thread; the total
 *     clear                                  0
 *     down 4                 0               9       1 thread: left = what came from above,
 *     down 2         0       4       9      23       2 threads   right = that and the old left
 *     down 1     0   3   4   8   9  14  23  25       4 threads; the exclusive scan
 *
 * Inclusive: the last level writes one place to the left, and the total, kept by the clear, goes to the end. Any n:
 * the first level reads identities behind the array, up to m = 2^k, k = ceil(log2 n).
 *
 * 2k + 1 launches, the clear a launch of its own, of m - 1 threads up and m - 1 down; 2(m - 1) additions in 2k - 1
 * steps; about 7.5 m words moved: 3 a node up, 4 a node down, and a copy of every second element.
 *
 * The least work of a parallel scan, but its accesses lie far apart: near the root every word costs a sector of
 * memory, and half of the launches keep fewer threads busy than the machine has.
 *
 * G. E. Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990.
 */
#include "parts/grid.cuh"

/* Level 0 brings the array into the tree, identities behind it: both cells of a pair are written, so that the way
 * down finds them side by side. */
template <class Op>
static __global__ void upsweep_leaves(const typename Op::value *in, typename Op::value *tree, uint64_t n,
                                      uint64_t nodes)
{
    uint64_t node = thread_number();
    if (node >= nodes)
        return;
    uint64_t left = 2 * node, right = left + 1;
    auto a = left < n ? in[left] : Op::identity();
    auto b = right < n ? in[right] : Op::identity();
    tree[left] = a;
    tree[right] = Op{}(a, b);
}

/* A node's right cell takes the subtotal of both. */
template <class Op> static __global__ void upsweep(typename Op::value *tree, uint64_t nodes, uint64_t stride)
{
    uint64_t node = thread_number();
    if (node >= nodes)
        return;
    uint64_t right = (2 * node + 2) * stride - 1, left = right - stride;
    tree[right] = Op{}(tree[left], tree[right]);
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

/* A node's right cell holds what lies before the node: that goes to the left cell, and with the old left cell to the
 * right one. */
template <class Op> static __global__ void downsweep(typename Op::value *tree, uint64_t nodes, uint64_t stride)
{
    uint64_t node = thread_number();
    if (node >= nodes)
        return;
    uint64_t right = (2 * node + 2) * stride - 1, left = right - stride;
    auto before = tree[right], subtotal = tree[left];
    tree[left] = before;
    tree[right] = Op{}(before, subtotal);
}

/* Level 0 takes the scan out of the tree: cell i goes to place i - shift of the n places of `out`. */
template <class Op>
static __global__ void downsweep_leaves(const typename Op::value *tree, typename Op::value *out, uint64_t n,
                                        uint64_t nodes, int shift)
{
    uint64_t node = thread_number();
    if (node >= nodes)
        return;
    uint64_t left = 2 * node, right = left + 1;
    auto before = tree[right], subtotal = tree[left];
    auto after = Op{}(before, subtotal);
    if (left < n && left >= uint64_t(shift))
        out[left - shift] = before;
    if (right < n)
        out[right - shift] = after;
}

/* The m cells of the tree. */
static size_t workspace(const struct problem *p)
{
    int k = log2_ceil(p->n);
    return k > 0 ? type_size(p->type) << k : 0;
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(UINT64_C(1) << log2_ceil(p->n), 2 * uint64_t(p->threads));
}

static void run(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        int k = log2_ceil(p->n);
        uint64_t n = p->n, m = UINT64_C(1) << k;
        bool inclusive = p->kind == INCLUSIVE;
        const T *in = static_cast<const T *>(p->in);
        T *out = static_cast<T *>(p->out), *tree = static_cast<T *>(p->workspace);
        auto nodes = [&](int level) { return m >> (level + 1); };
        auto blocks = [&](int level) { return blocks_for(nodes(level), p->threads); };

        if (k > 0)
            launch(upsweep_leaves<Op>, blocks(0), p->threads, in, tree, n, nodes(0));
        for (int j = 1; j < k; j++)
            launch(upsweep<Op>, blocks(j), p->threads, tree, nodes(j), UINT64_C(1) << j);

        /* A single element is its own total, and its own last cell. */
        T *last = k > 0 ? tree + m - 1 : out;
        launch(clear<Op>, 1, 1, k > 0 ? last : in, inclusive ? out + n - 1 : nullptr,
               k > 0 || !inclusive ? last : nullptr);

        for (int j = k - 1; j >= 1; j--)
            launch(downsweep<Op>, blocks(j), p->threads, tree, nodes(j), UINT64_C(1) << j);
        if (k > 0)
            launch(downsweep_leaves<Op>, blocks(0), p->threads, tree, out, n, nodes(0), inclusive ? 1 : 0);
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
        /* Level 0: n up, m down; the m / 2 - 1 other nodes: 2 up, 2 down; the total. */
        .words_read = n + m + 4 * (m / 2 - 1) + inclusive,
        /* Level 0: m up, n down, of which one is the inclusive total; the other nodes: 1 up, 2 down; the clear. */
        .words_written = m + n + 3 * (m / 2 - 1) + 1,
    };
}

ALGORITHM(blelloch) = {
    .title = "Blelloch, in place",
    .source = "Blelloch 1990",
    .year = 1990,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {256, 128, 512, 1024, 64, 32},
    .items = 2,
    .additions = "2 (m - 1)",
    .launches = "2 k + 1",
    .traffic = "5.5 m + 2 n - 6",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
