// SPDX-License-Identifier: MIT
/*
 * No scan: the array is copied, 16 bytes at a time, as far as both ends allow.
 *
 *     in     . . a b | c d e f | g h i j | k l . .        | every 16 bytes
 *               head   vector    vector   tail
 *     out    . . a b | c d e f | g h i j | k l . .
 *
 * One launch, no addition, reads n words and writes n. A scan has to move these 2n words too, so that this is its
 * ceiling, measured in the same run; a scan that leaves the caches warmer may still come out above it.
 */
#include "parts/grid.cuh"

#include <type_traits>

constexpr int VECTORS = 4; /* of 16 bytes a thread: enough of them under way to cover the latency of memory */

/* `vectors` vectors from element `head` on; the elements before and behind them follow, one each. */
template <class T> static __global__ void copy(const T *in, T *out, uint64_t n, uint64_t head, uint64_t vectors)
{
    const uint4 *from = reinterpret_cast<const uint4 *>(in + head);
    uint4 *to = reinterpret_cast<uint4 *>(out + head);
    uint64_t first = uint64_t(blockIdx.x) * blockDim.x * VECTORS + threadIdx.x;
    uint4 x[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        if (first + uint64_t(v) * blockDim.x < vectors)
            x[v] = from[first + uint64_t(v) * blockDim.x];
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
        if (first + uint64_t(v) * blockDim.x < vectors)
            to[first + uint64_t(v) * blockDim.x] = x[v];

    /* The ends are shorter than a vector: the first threads of the grid take them. */
    uint64_t i = thread_number(), tail = head + vectors * (sizeof(uint4) / sizeof(T));
    if (i < head)
        out[i] = in[i];
    if (i < n - tail)
        out[tail + i] = in[tail + i];
}

/* Where `in` and `out` are misaligned differently, no vector fits both. */
template <class T> static __global__ void copy_elements(const T *in, T *out, uint64_t n)
{
    uint64_t i = thread_number();
    if (i < n)
        out[i] = in[i];
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(p->n, p->threads);
}

template <class T> static void copy_words(const struct problem *p)
{
    constexpr uint64_t WORDS = sizeof(uint4) / sizeof(T); /* a vector is a row of so many columns */
    const T *in = static_cast<const T *>(p->in);
    T *out = static_cast<T *>(p->out);
    uint64_t in_column = reinterpret_cast<uintptr_t>(in) / sizeof(T) % WORDS;
    uint64_t out_column = reinterpret_cast<uintptr_t>(out) / sizeof(T) % WORDS;
    if (in_column != out_column) {
        launch(copy_elements<T>, blocks_for(p->n, p->threads), p->threads, in, out, p->n);
        return;
    }
    uint64_t head = (WORDS - in_column) % WORDS;
    if (head > p->n)
        head = p->n;
    uint64_t vectors = (p->n - head) / WORDS;
    unsigned blocks = blocks_for(vectors > 0 ? vectors : 1, uint64_t(p->threads) * VECTORS);
    launch(copy<T>, blocks, p->threads, in, out, p->n, head, vectors);
}

static void run(const struct problem *p)
{
    if (type_size(p->type) == 4)
        copy_words<uint32_t>(p);
    else
        copy_words<uint64_t>(p);
}

static struct cost model(const struct problem *p)
{
    return {.launches = 1, .additions = 0, .steps = 0, .words_read = p->n, .words_written = p->n};
}

ALGORITHM(copy) = {
    .title = "Copy kernel",
    .runs_on = DEVICE,
    .kinds = COPY,
    .types = ALL_TYPES,
    .ops = NONE,
    .in_place = true,
    .threads = {256, 128, 512, 1024, 64, 32},
    .items = VECTORS,
    .additions = "0",
    .launches = "1",
    .traffic = "2 n",
    .refuse = refuse,
    .run = run,
    .model = model,
};
