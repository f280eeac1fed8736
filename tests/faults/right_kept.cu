// SPDX-License-Identifier: MIT
/* A row in shared memory, right: every thread keeps its element in a register and stores it after every step. Nothing
 * is read again, so that a trace has to tell by itself whose value a thread adds to. */
#include "one_type.cuh"

constexpr int TILE = 32;

template <class Op>
static __global__ void scan_kept(const typename Op::value *in, typename Op::value *out, uint64_t n, bool exclusive)
{
    using T = typename Op::value;
    SHARED(T, row, TILE);
    int t = threadIdx.x;
    T x = uint64_t(t) < n ? in[t] : Op::identity();
    row[t] = x;
    __syncthreads(); /* the row is complete */
    for (int stride = 1; stride < TILE; stride *= 2) {
        if (t >= stride)
            x = Op{}(row[t - stride], x);
        __syncthreads(); /* the row has been read */
        row[t] = x;
        __syncthreads(); /* and is complete again */
    }
    if (uint64_t(t) < n)
        out[t] = exclusive ? (t ? row[t - 1] : Op::identity()) : row[t];
}

static const char *refuse(const struct problem *p)
{
    return p->n > TILE ? "n-over-32" : nullptr;
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        launch(scan_kept<Op>, 1, TILE, static_cast<const T *>(p->in), static_cast<T *>(p->out), p->n,
               p->kind == EXCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    return {.launches = 1, .additions = 5 * TILE - (TILE - 1), .steps = 5, .words_read = p->n, .words_written = p->n};
}

ALGORITHM(right_kept) = {
    .title = "Row in registers, right",
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = I32,
    .ops = ALL_OPS,
    .threads = {TILE},
    .items = 1,
    .additions = "129",
    .launches = "1",
    .traffic = "2 n",
    .refuse = refuse,
    .run = run,
    .model = model,
};
