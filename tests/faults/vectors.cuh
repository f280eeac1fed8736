/* SPDX-License-Identifier: MIT */
/*
 * A small right copy, 16 bytes a thread where `in` and `out` allow it, and one that does not ask whether they do;
 * `right_vectors` is the twin.
 */
#ifndef VECTORS_CUH
#define VECTORS_CUH

#include "device/gpu.cuh"

enum fault { NO_FAULT, MISALIGNED_VECTORS };

constexpr int THREADS = 64;

/* Vectors as far as they go, then bytes. */
static __global__ void copy(const char *in, char *out, uint64_t vectors, uint64_t bytes)
{
    uint64_t i = uint64_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < vectors)
        reinterpret_cast<uint4 *>(out)[i] = reinterpret_cast<const uint4 *>(in)[i];
    else if (16 * vectors + (i - vectors) < bytes)
        out[16 * vectors + (i - vectors)] = in[16 * vectors + (i - vectors)];
}

static bool aligned(const void *pointer)
{
    return reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
}

static void run(const struct problem *p)
{
    uint64_t bytes = p->n * type_size(p->type);
    uint64_t vectors = FAULT == MISALIGNED_VECTORS || (aligned(p->in) && aligned(p->out)) ? bytes / 16 : 0;
    launch(copy, divide_up(vectors + bytes - 16 * vectors, THREADS), THREADS, static_cast<const char *>(p->in),
           static_cast<char *>(p->out), vectors, bytes);
}

static struct cost model(const struct problem *)
{
    return {.launches = 1, .additions = 0, .steps = 0, .words_read = UNKNOWN, .words_written = UNKNOWN};
}

#define VECTORS_ALGORITHM(name, words)                                                                                 \
    ALGORITHM(name) = {                                                                                                \
        .title = words,                                                                                                \
        .runs_on = DEVICE,                                                                                             \
        .kinds = COPY,                                                                                                 \
        .types = ALL_TYPES,                                                                                            \
        .ops = NONE,                                                                                                   \
        .threads = {THREADS},                                                                                          \
        .items = 4,                                                                                                    \
        .additions = "0",                                                                                              \
        .launches = "1",                                                                                               \
        .run = run,                                                                                                    \
        .model = model,                                                                                                \
    }

#endif
