/* SPDX-License-Identifier: MIT */
/*
 * The serial loop in the lanes of one core: a vector of neighbours is scanned in log2(lanes) shifted additions, as
 * Hillis and Steele do it, and the carry, all that came before, is added to it.
 *
 *     in        3   1   4   1 | 5   9   2   6         two vectors of 4 lanes
 *     shift 1   3   4   5   5 | 5  14  11   8
 *     shift 2   3   4   8   9 | 5  14  16  22
 *     + carry   3   4   8   9 |14  23  25  31         the carry waits for one addition a vector, not for four
 *
 * Exclusive: the same, written one place to the right. Reads n words and writes n. The compiler chooses the additions
 * and the steps, which are not known here: about n log2(2 lanes) additions, in fewer instructions than n.
 *
 * What a GPU should be compared with: one core that waits for memory and not for additions. Two stay plain loops:
 * affine, for compilers reorder only the operators that they know, and the maximum of i64, for which the vectors have
 * no instruction.
 */
#include "operators.h"

#define PRAGMA(text) _Pragma(#text)

/* On x86-64 the loader chooses the widest vectors that the processor has. */
#if defined(__x86_64__) && defined(__gnu_linux__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* s starts as the identity. */
#define VECTORS(op, type, T, combine)                                                                                  \
    WIDE static void inclusive_##op##_##type(const T *in, T *out, uint64_t n, T s)                                     \
    {                                                                                                                  \
        PRAGMA(omp simd reduction(inscan, combine : s))                                                                \
        for (uint64_t i = 0; i < n; i++) {                                                                             \
            s = apply_##op##_##type(s, in[i]);                                                                         \
            PRAGMA(omp scan inclusive(s))                                                                              \
            out[i] = s;                                                                                                \
        }                                                                                                              \
    }
VECTORS(SUM, I32, int32_t, +)
VECTORS(SUM, I64, int64_t, +)
VECTORS(SUM, F32, float, +)
VECTORS(SUM, F64, double, +)
VECTORS(MAX, I32, int32_t, max)
VECTORS(MAX, F32, float, max)
VECTORS(MAX, F64, double, max)

#define LOOP(op, type, T)                                                                                              \
    static void inclusive_##op##_##type(const T *in, T *out, uint64_t n, T s)                                          \
    {                                                                                                                  \
        for (uint64_t i = 0; i < n; i++) {                                                                             \
            s = apply_##op##_##type(s, in[i]);                                                                         \
            out[i] = s;                                                                                                \
        }                                                                                                              \
    }
LOOP(MAX, I64, int64_t)
LOOP(AFFINE, I32, int32_t)
LOOP(AFFINE, I64, int64_t)

#define SCAN(op, type, T)                                                                                              \
    static void scan_##op##_##type(const T *in, T *out, uint64_t n, bool exclusive)                                    \
    {                                                                                                                  \
        if (exclusive)                                                                                                 \
            *out++ = identity_##op##_##type, n--;                                                                      \
        inclusive_##op##_##type(in, out, n, identity_##op##_##type);                                                   \
    }
EACH_OPERATOR(SCAN)

static void run(const struct problem *p)
{
#define CASE(op, type, T)                                                                                              \
    case op | type << 8: scan_##op##_##type(p->in, p->out, p->n, p->kind == EXCLUSIVE); break;
    switch (p->op | p->type << 8) {
        EACH_OPERATOR(CASE)
    }
}

static struct cost model(const struct problem *p)
{
    uint64_t exclusive = p->kind == EXCLUSIVE;
    return (struct cost){.additions = UNKNOWN, .steps = UNKNOWN, .words_read = p->n - exclusive, .words_written = p->n};
}

ALGORITHM(simd) = {
    .title = "SIMD, one core",
    .runs_on = HOST,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .additions = "the compiler's",
    .launches = "0",
    .traffic = "2 n",
    .run = run,
    .model = model,
};
