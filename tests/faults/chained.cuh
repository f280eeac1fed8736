/* SPDX-License-Identifier: MIT */
/*
 * A small right scan in one launch, each tile waiting for the one before it, and the ways to get that wrong;
 * `right_chained` is the twin of them all.
 *
 *     ticket    a block takes the next tile's number: whoever it waits for has started
 *     status    one word for each tile: READY and the sum of everything up to the tile's end, in one piece
 *
 * The words and the ticket are cleared by a memset. 2 launches, n additions. 32-bit integers alone, so that a value and
 * its flag fit in a word.
 */
#ifndef CHAINED_CUH
#define CHAINED_CUH

#include "device/atomic.cuh"
#include "one_type.cuh"

enum fault {
    NO_FAULT,
    THIRTY_BITS,     /* value and flags in 32 bits: the two highest bits of a sum are lost */
    TILE_FROM_BLOCK, /* the tile's number is the block's: waits for a block that may not have started */
    STALE_STATUS,    /* the words are cleared once for a workspace, not before each run */
    FLAG_FIRST       /* flag and value in two words, and the flag says "ready" before the value is there */
};

constexpr int TILE = 64;
constexpr uint64_t READY = 1;
using word = unsigned long long;

template <class Op>
static __global__ void chained(const int *in, int *out, word *ticket, word *status, int *values, uint64_t n,
                               bool exclusive)
{
    SHARED(int, row, TILE);
    SHARED(word, number, 1);
    int t = threadIdx.x;
    if (t == 0)
        number[0] = FAULT == TILE_FROM_BLOCK ? word(blockIdx.x) : atomicAdd(ticket, word(1));
    __syncthreads(); /* the number is known */
    uint64_t tile = number[0], first = tile * TILE, i = first + t;
    if (i < n)
        row[t] = in[i];
    __syncthreads(); /* the tile is there */

    if (t == 0) {
        int s = Op::identity();
        if (tile > 0) {
            cuda::atomic_ref<word, cuda::thread_scope_device> left(status[tile - 1]);
            word w;
            while (((w = left.load(cuda::memory_order_acquire)) & READY) == 0)
                __nanosleep(20);
            s = FAULT == FLAG_FIRST ? values[tile - 1] : FAULT == THIRTY_BITS ? int(w) >> 2 : int(w >> 32);
        }
        for (int j = 0; j < TILE && first + j < n; j++) {
            int next = Op{}(s, row[j]);
            row[j] = exclusive ? s : next;
            s = next;
        }
        cuda::atomic_ref<word, cuda::thread_scope_device> own(status[tile]);
        own.store(FAULT == THIRTY_BITS ? unsigned(s) << 2 | READY : word(unsigned(s)) << 32 | READY,
                  cuda::memory_order_release);
        if (FAULT == FLAG_FIRST)
            values[tile] = s;
    }
    __syncthreads(); /* the tile is scanned */
    if (i < n)
        out[i] = row[t];
}

/* The ticket, a status word a tile, a value a tile (FLAG_FIRST). */
static size_t workspace(const struct problem *p)
{
    return (1 + 2 * divide_up(p->n, TILE)) * sizeof(word);
}

static void prepare(const struct problem *p)
{
    if (FAULT == STALE_STATUS)
        launch_memset(p->workspace, 0, workspace(p));
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        word *ticket = static_cast<word *>(p->workspace), *status = ticket + 1;
        uint64_t tiles = divide_up(p->n, TILE);
        launch_memset(p->workspace, 0, FAULT == STALE_STATUS ? sizeof *ticket : workspace(p));
        launch(chained<Op>, tiles, TILE, static_cast<const int *>(p->in), static_cast<int *>(p->out), ticket, status,
               reinterpret_cast<int *>(status + tiles), p->n, p->kind == EXCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    return {.launches = 2, .additions = p->n, .steps = UNKNOWN, .words_read = UNKNOWN, .words_written = UNKNOWN};
}

#define CHAINED_ALGORITHM(name, words)                                                                                 \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = BOTH_KINDS,                                                                                           \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .in_place = true,                                                                                              \
        .threads = {TILE},                                                                                             \
        .items = 1,                                                                                                    \
        .additions = "n",                                                                                              \
        .launches = "2",                                                                                               \
        .workspace = workspace,                                                                                        \
        .prepare = FAULT == STALE_STATUS ? prepare : nullptr,                                                          \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
