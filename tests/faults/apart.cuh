/* SPDX-License-Identifier: MIT */
/*
 * A chained scan whose value and flag lie apart: the sum up to a tile's end is written plainly, then the flag says that
 * it is there. What the flag needs for that, and the ways to forget it; all of them give right answers on a processor
 * that keeps stores in order, and on a GPU until the day they do not.
 *
 *     release, acquire   the flag's own order; or
 *     fence, fence       before a volatile flag is stored and after it is seen, as in older kernels; or
 *     one word           value and flag in 64 bits: nothing to order
 *
 * The right twins: right_apart, right_fenced, right_tagged; and right_transitive, where a tile waits for the one before
 * it and reads what all have written. 2 launches.
 */
#ifndef APART_CUH
#define APART_CUH

#include "device/atomic.cuh"
#include "one_type.cuh"

enum fault {
    NO_FAULT,
    FENCED,     /* no fault: volatile flags and fences */
    TAGGED,     /* no fault: one relaxed word */
    TRANSITIVE, /* no fault: tiles before the one before are past, too */
    NO_RELEASE, /* the flag is stored relaxed, without a fence */
    NO_ACQUIRE, /* the flag is loaded relaxed, without a fence */
    OTHER_FLAG, /* one flag is stored with release, another one loaded with acquire */
    NO_FENCE    /* volatile flags without fences */
};

constexpr int TILE = 64;
using word = unsigned long long;
using flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
using tagged_word = cuda::atomic_ref<word, cuda::thread_scope_device>;

/* A tile's value, its flag, a second flag, and value and flag in one. */
struct state {
    word whole;
    int value, ready, second, unused;
};

static __device__ void publish(struct state *own, int value)
{
    if (FAULT == TAGGED) {
        tagged_word(own->whole).store(word(unsigned(value)) << 32 | 1, cuda::memory_order_relaxed);
        return;
    }
    own->value = value;
    if (FAULT == FENCED || FAULT == NO_FENCE) {
        if (FAULT == FENCED)
            __threadfence(); /* the value before the flag */
        *static_cast<volatile int *>(&own->ready) = 1;
        return;
    }
    if (FAULT == OTHER_FLAG)
        flag(own->second).store(1, cuda::memory_order_release);
    flag(own->ready)
        .store(1, FAULT == NO_RELEASE || FAULT == OTHER_FLAG ? cuda::memory_order_relaxed : cuda::memory_order_release);
}

/* Waits until the value of the tile is there. */
static __device__ int await(struct state *left)
{
    if (FAULT == TAGGED) {
        word w;
        while (((w = tagged_word(left->whole).load(cuda::memory_order_relaxed)) & 1) == 0)
            __nanosleep(20);
        return int(w >> 32);
    }
    if (FAULT == FENCED || FAULT == NO_FENCE) {
        while (*static_cast<volatile int *>(&left->ready) == 0)
            __nanosleep(20);
        if (FAULT == FENCED)
            __threadfence(); /* the flag before the value */
        return left->value;
    }
    constexpr cuda::memory_order order = FAULT == NO_ACQUIRE ? cuda::memory_order_relaxed : cuda::memory_order_acquire;
    while (flag(left->ready).load(order) == 0)
        __nanosleep(20);
    return left->value;
}

template <class Op>
static __global__ void apart(const int *in, int *out, word *ticket, struct state *states, uint64_t n, bool exclusive)
{
    SHARED(int, row, TILE);
    SHARED(word, number, 1);
    int t = threadIdx.x;
    if (t == 0)
        number[0] = atomicAdd(ticket, word(1));
    __syncthreads(); /* the number is known */
    uint64_t tile = number[0], first = tile * TILE, i = first + t;
    if (i < n)
        row[t] = in[i];
    __syncthreads(); /* the tile is there */

    if (t == 0) {
        int s = tile > 0 ? await(&states[tile - 1]) : Op::identity();
        int total = Op::identity();
        if (FAULT == TRANSITIVE) {
            s = Op::identity();
            for (uint64_t j = 0; j < tile; j++)
                s = Op{}(s, states[j].value);
        }
        for (int j = 0; j < TILE && first + j < n; j++) {
            int next = Op{}(s, row[j]);
            if (FAULT == TRANSITIVE)
                total = Op{}(total, row[j]);
            row[j] = exclusive ? s : next;
            s = next;
        }
        publish(&states[tile], FAULT == TRANSITIVE ? total : s);
    }
    __syncthreads(); /* the tile is scanned */
    if (i < n)
        out[i] = row[t];
}

static size_t workspace(const struct problem *p)
{
    return 2 * sizeof(word) + divide_up(p->n, TILE) * sizeof(struct state);
}

static void run(const struct problem *p)
{
    with_operator_on_i32(p, [&](auto op) {
        using Op = decltype(op);
        word *ticket = static_cast<word *>(p->workspace);
        launch_memset(p->workspace, 0, workspace(p));
        launch(apart<Op>, divide_up(p->n, TILE), TILE, static_cast<const int *>(p->in), static_cast<int *>(p->out),
               ticket, reinterpret_cast<struct state *>(ticket + 2), p->n, p->kind == EXCLUSIVE);
    });
}

static struct cost model(const struct problem *p)
{
    return {.launches = 2,
            .additions = FAULT == TRANSITIVE ? UNKNOWN : p->n,
            .steps = UNKNOWN,
            .words_read = UNKNOWN,
            .words_written = UNKNOWN};
}

#define APART_ALGORITHM(name, words)                                                                                   \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = BOTH_KINDS,                                                                                           \
        .types = I32,                                                                                                  \
        .ops = ALL_OPS,                                                                                                \
        .in_place = true,                                                                                              \
        .threads = {TILE},                                                                                             \
        .items = 1,                                                                                                    \
        .launches = "2",                                                                                               \
        .workspace = workspace,                                                                                        \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
