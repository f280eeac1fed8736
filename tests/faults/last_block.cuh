/* SPDX-License-Identifier: MIT */
/*
 * Tiles whose sums are scanned by the last block that comes, as in CUDA's samples: each block leaves its sum, draws a
 * ticket, and whoever draws the last one finds all sums there. The tickets are relaxed; what orders the sums are a
 * fence before and one behind, and that each ticket is made of the one before it. 3 launches.
 */
#ifndef LAST_BLOCK_CUH
#define LAST_BLOCK_CUH

#include "one_type.cuh"

enum fault {
    NO_FAULT,
    NO_FENCE_BEFORE, /* the ticket may be seen before the sum */
    NO_FENCE_BEHIND  /* sums may be read before the ticket is drawn */
};

constexpr int TILE = 64;

template <class Op> static __global__ void sum_tiles(const int *in, unsigned *tickets, int *sums, uint64_t n)
{
    if (threadIdx.x)
        return;
    int sum = Op::identity();
    for (uint64_t i = uint64_t(blockIdx.x) * TILE; i < uint64_t(blockIdx.x + 1) * TILE && i < n; i++)
        sum = Op{}(sum, in[i]);
    sums[blockIdx.x] = sum;
    if (FAULT != NO_FENCE_BEFORE)
        __threadfence();
    const unsigned ticket = atomicAdd(tickets, 1u);
    if (FAULT != NO_FENCE_BEHIND)
        __threadfence();
    if (ticket != gridDim.x - 1)
        return;
    int s = Op::identity();
    for (unsigned b = 0; b < gridDim.x; b++) {
        const int next = Op{}(s, sums[b]);
        sums[b] = s;
        s = next;
    }
}

template <class Op>
static __global__ void scan_tiles(const int *in, int *out, const int *sums, uint64_t n, bool exclusive)
{
    if (threadIdx.x)
        return;
    int s = sums[blockIdx.x];
    for (uint64_t i = uint64_t(blockIdx.x) * TILE; i < uint64_t(blockIdx.x + 1) * TILE && i < n; i++) {
        const int next = Op{}(s, in[i]);
        out[i] = exclusive ? s : next;
        s = next;
    }
}

static size_t workspace(const struct problem *p)
{
    return 16 + divide_up(p->n, TILE) * sizeof(int);
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        const int *in = static_cast<const int *>(p->in);
        unsigned *tickets = static_cast<unsigned *>(p->workspace);
        int *sums = static_cast<int *>(p->workspace) + 4;
        launch_memset(tickets, 0, sizeof *tickets);
        launch(sum_tiles<Op>, divide_up(p->n, TILE), TILE, in, tickets, sums, p->n);
        launch(scan_tiles<Op>, divide_up(p->n, TILE), TILE, in, static_cast<int *>(p->out), sums, p->n,
               p->kind == EXCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    return {.launches = 3,
            .additions = 2 * p->n + divide_up(p->n, TILE),
            .steps = UNKNOWN,
            .words_read = UNKNOWN,
            .words_written = UNKNOWN};
}

#define LAST_BLOCK_ALGORITHM(name, words)                                                                              \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = BOTH_KINDS,                                                                                           \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .in_place = true,                                                                                              \
        .threads = {TILE},                                                                                             \
        .items = 1,                                                                                                    \
        .launches = "3",                                                                                               \
        .workspace = workspace,                                                                                        \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
