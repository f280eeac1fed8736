/* SPDX-License-Identifier: MIT */
/*
 * The operators of a scan for the host algorithms, in C: operators.cuh says what they mean. EACH_OPERATOR(X) expands
 * X(op, type, T) for every operator on every type that has it; of each there are apply_OP_TYPE(a, b), with `a` on
 * the left, and identity_OP_TYPE.
 */
#ifndef OPERATORS_H
#define OPERATORS_H

#include "scan.h"

#include <math.h>

/* The hook that counts, in the build that counts the additions of host algorithms. */
#ifdef SCANBENCH_COUNT
void count_addition(void);
uint64_t count_step(uint64_t length);
uint32_t count_expression(uint32_t left, uint32_t right);
#else
#define count_addition() ((void)0)
#endif

#define EACH_OPERATOR(X)                                                                                               \
    X(SUM, I32, int32_t)                                                                                               \
    X(SUM, I64, int64_t)                                                                                               \
    X(SUM, F32, float)                                                                                                 \
    X(SUM, F64, double)                                                                                                \
    X(MAX, I32, int32_t)                                                                                               \
    X(MAX, I64, int64_t)                                                                                               \
    X(MAX, F32, float)                                                                                                 \
    X(MAX, F64, double)                                                                                                \
    X(AFFINE, I32, int32_t)                                                                                            \
    X(AFFINE, I64, int64_t)

/* Those, and in the count build its own: for algorithms whose additions the source decides, not the compiler. */
#ifdef SCANBENCH_COUNT
#define EACH_COUNTED_OPERATOR(X)                                                                                       \
    EACH_OPERATOR(X)                                                                                                   \
    X(STEPS, I32, int32_t)                                                                                             \
    X(STEPS, I64, int64_t)                                                                                             \
    X(STEPS, F32, float)                                                                                               \
    X(STEPS, F64, double)                                                                                              \
    X(TRACE, I32, int32_t)
#else
#define EACH_COUNTED_OPERATOR EACH_OPERATOR
#endif

#define OPERATOR(op, type, T, identity, result)                                                                        \
    static const T identity_##op##_##type = identity;                                                                  \
    static inline T apply_##op##_##type(T a, T b)                                                                      \
    {                                                                                                                  \
        count_addition();                                                                                              \
        return result;                                                                                                 \
    }

/* Signed overflow is undefined: add as unsigned. */
OPERATOR(SUM, I32, int32_t, 0, (int32_t)((uint32_t)a + (uint32_t)b))
OPERATOR(SUM, I64, int64_t, 0, (int64_t)((uint64_t)a + (uint64_t)b))
OPERATOR(SUM, F32, float, 0, a + b)
OPERATOR(SUM, F64, double, 0, a + b)

OPERATOR(MAX, I32, int32_t, INT32_MIN, a < b ? b : a)
OPERATOR(MAX, I64, int64_t, INT64_MIN, a < b ? b : a)
OPERATOR(MAX, F32, float, -INFINITY, a < b ? b : a)
OPERATOR(MAX, F64, double, -INFINITY, a < b ? b : a)

/* x -> slope x + offset, slope in the upper and offset in the lower half of the word: first a, then b. */
static inline int32_t then_i32(uint32_t a, uint32_t b)
{
    uint32_t slope = (a >> 16) * (b >> 16), offset = (a & UINT16_MAX) * (b >> 16) + (b & UINT16_MAX);
    return (int32_t)(slope << 16 | (offset & UINT16_MAX));
}

static inline int64_t then_i64(uint64_t a, uint64_t b)
{
    uint64_t slope = (a >> 32) * (b >> 32), offset = (a & UINT32_MAX) * (b >> 32) + (b & UINT32_MAX);
    return (int64_t)(slope << 32 | (offset & UINT32_MAX));
}

OPERATOR(AFFINE, I32, int32_t, INT32_C(1) << 16, then_i32((uint32_t)a, (uint32_t)b))
OPERATOR(AFFINE, I64, int64_t, INT64_C(1) << 32, then_i64((uint64_t)a, (uint64_t)b))

#ifdef SCANBENCH_COUNT
OPERATOR(STEPS, I32, int32_t, 0, (int32_t)count_step(1 + (uint64_t)(a < b ? b : a)))
OPERATOR(STEPS, I64, int64_t, 0, (int64_t)count_step(1 + (uint64_t)(a < b ? b : a)))
OPERATOR(STEPS, F32, float, 0, (float)count_step(1 + (uint64_t)(a < b ? b : a)))
OPERATOR(STEPS, F64, double, 0, (double)count_step(1 + (uint64_t)(a < b ? b : a)))
OPERATOR(TRACE, I32, int32_t, 0, (int32_t)count_expression((uint32_t)a, (uint32_t)b))
#endif

#endif
