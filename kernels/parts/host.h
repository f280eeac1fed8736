/* SPDX-License-Identifier: MIT */
/* How loops on the host are compiled, and how they are dealt out to its cores. */
#ifndef HOST_H
#define HOST_H

#include "operators.h"

#define PRAGMA(text) _Pragma(#text)

/* On x86-64 the loader chooses the widest vectors that the processor has. */
#if defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* OpenMP's threads take tiles in turn. The count build, which is serial, takes the same tiles in order. */
enum {
    TILE = 1 << 14,   /* elements: 64 or 128 KiB, of which an L2 holds three */
    SMALL = 6 * TILE, /* up to here one core is as fast */
};
#if defined(_OPENMP) || defined(SCANBENCH_COUNT)
enum { HAS_CORES = true };
#else
enum { HAS_CORES = false };
#endif
#define NEEDS_OPENMP "needs a compiler with OpenMP" /* without HAS_CORES */

#endif
