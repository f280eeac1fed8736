/* SPDX-License-Identifier: MIT */
/*
 * No scan: every core copies, in a plain loop, the tiles that it would scan in openmp.c.
 *
 *     in      tile 0   tile 1   tile 2   tile 3   ...
 *     thread     0        1        0        1             2 threads
 *     out     tile 0   tile 1   tile 2   tile 3   ...
 *
 * Reads n words and writes n: the ceiling of the scans on the host, compiled as they are. The library's memcpy may come
 * out above it, as it writes past the caches, and no compiler does that to a loop of a program.
 */
#include "parts/host.h"

/* `out` is not said to be apart from `in`: compilers would call memcpy. */
#define COPIES(type)                                                                                                   \
    WIDE static void copy_##type(const type *in, type *out, uint64_t n)                                                \
    {                                                                                                                  \
        PRAGMA(omp simd)                                                                                               \
        for (uint64_t i = 0; i < n; i++)                                                                               \
            out[i] = in[i];                                                                                            \
    }                                                                                                                  \
                                                                                                                       \
    static void copy_tiles_##type(const type *in, type *out, uint64_t n)                                               \
    {                                                                                                                  \
        PRAGMA(omp parallel for schedule(static, 1) if (n > SMALL))                                                    \
        for (uint64_t from = 0; from < n; from += TILE)                                                                \
            copy_##type(in + from, out + from, n - from < TILE ? n - from : TILE);                                     \
    }
COPIES(uint32_t)
COPIES(uint64_t)

static void run(const struct problem *p)
{
    if (type_size(p->type) == 4)
        copy_tiles_uint32_t(p->in, p->out, p->n);
    else
        copy_tiles_uint64_t(p->in, p->out, p->n);
}

static struct cost model(const struct problem *p)
{
    return (struct cost){.words_read = p->n, .words_written = p->n};
}

ALGORITHM(copy_openmp) = {
    .title = "Copy loop, every core",
    .runs_on = HOST,
    .kinds = COPY,
    .types = ALL_TYPES,
    .ops = NONE,
    .in_place = true,
    .items = TILE,
    .additions = "0",
    .launches = "0",
    .traffic = "2 n",
    .run = HAS_CORES ? run : NULL,
    .missing = HAS_CORES ? NULL : NEEDS_OPENMP,
    .model = model,
};
