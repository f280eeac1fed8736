// SPDX-License-Identifier: MIT
/*
 * The serial loop on one thread of a GPU: what a kernel is worth that uses nothing of it.
 *
 *     in                    3   1   4   1   5   9   2   6
 *                           |   |   |   |   |   |   |   |
 *     s, in one register    3 > 4 > 8 > 9 >14 >23 >25 >31
 *
 * One launch, n - 1 additions, n - 1 steps, reads n words and writes n: no scan on a GPU does less work or touches less
 * memory, and none is slower. One lane of one warp of one multiprocessor is at work, and it sends out one load after
 * the other. It stands at the foot of the ladder, for what all others add is parallelism alone.
 */
#include "device/gpu.cuh"

/* What a run may cost: were each load to wait for the memory and each addition for its load, an element would take half
 * a microsecond (about 1 000 cycles of a slow GPU's clock of 2 GHz), and 2^20 of them half a second. */
constexpr uint64_t MOST = UINT64_C(1) << 20;

template <class Op>
static __global__ void scan(const typename Op::value *in, typename Op::value *out, uint64_t n, bool exclusive)
{
    Op op;
    typename Op::value s = in[0];
    if (exclusive)
        out[0] = Op::identity();
    else
        out[0] = s;
    for (uint64_t i = 1; i < n; i++) {
        typename Op::value x = in[i], before = s; /* read before it is overwritten: `out` may be `in` */
        s = op(s, x);
        out[i] = exclusive ? before : s;
    }
}

static const char *refuse(const struct problem *p)
{
    return p->n > MOST ? "n-over-2^20" : nullptr;
}

static void run(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        launch(scan<Op>, 1, 1, static_cast<const T *>(p->in), static_cast<T *>(p->out), p->n, p->kind == EXCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    return {.launches = 1, .additions = p->n - 1, .steps = p->n - 1, .words_read = p->n, .words_written = p->n};
}

ALGORITHM(one_thread) = {
    .title = "One thread",
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {1},
    .items = 1,
    .additions = "n - 1",
    .launches = "1",
    .traffic = "2 n",
    .refuse = refuse,
    .run = run,
    .model = model,
};
