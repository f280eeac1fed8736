/* SPDX-License-Identifier: MIT */
/*
 * A stretch of the array scanned in the lanes of one core, for every operator and type:
 * scan_OP_TYPE(in, out, n, s, exclusive) writes n elements behind `s`, the sum of all that came before, and returns the
 * last one. `out` may be `in`. n > 0; of an exclusive scan the last element is not read.
 *
 * Vectors of neighbours are scanned in log2(lanes) shifted additions; simd.c draws it. Two stay plain loops: affine,
 * for compilers reorder only the operators that they know, and the maximum of i64, for which the vectors have no
 * instruction.
 */
#ifndef SIMD_H
#define SIMD_H

#include "host.h"

#define VECTORS(op, type, T, combine)                                                                                  \
    WIDE static T inclusive_##op##_##type(const T *in, T *out, uint64_t n, T s)                                        \
    {                                                                                                                  \
        PRAGMA(omp simd reduction(inscan, combine : s))                                                                \
        for (uint64_t i = 0; i < n; i++) {                                                                             \
            s = apply_##op##_##type(s, in[i]);                                                                         \
            PRAGMA(omp scan inclusive(s))                                                                              \
            out[i] = s;                                                                                                \
        }                                                                                                              \
        return s;                                                                                                      \
    }
VECTORS(SUM, I32, int32_t, +)
VECTORS(SUM, I64, int64_t, +)
VECTORS(SUM, F32, float, +)
VECTORS(SUM, F64, double, +)
VECTORS(MAX, I32, int32_t, max)
VECTORS(MAX, F32, float, max)
VECTORS(MAX, F64, double, max)
#undef VECTORS

#define LOOP(op, type, T)                                                                                              \
    static T inclusive_##op##_##type(const T *in, T *out, uint64_t n, T s)                                             \
    {                                                                                                                  \
        for (uint64_t i = 0; i < n; i++) {                                                                             \
            s = apply_##op##_##type(s, in[i]);                                                                         \
            out[i] = s;                                                                                                \
        }                                                                                                              \
        return s;                                                                                                      \
    }
LOOP(MAX, I64, int64_t)
LOOP(AFFINE, I32, int32_t)
LOOP(AFFINE, I64, int64_t)
#undef LOOP

/* Exclusive is inclusive, written one place to the right. In place that would overwrite what the next vector reads:
 * pieces go through the L1, and the last sum of one waits until the next has been read. */
enum { PIECE = 1024 };
#define SCAN(op, type, T)                                                                                              \
    static T shift_##op##_##type(T *data, uint64_t n, T s)                                                             \
    {                                                                                                                  \
        T piece[PIECE];                                                                                                \
        uint64_t count;                                                                                                \
        for (uint64_t from = 0; from < n - 1; from += count) {                                                         \
            count = n - 1 - from < PIECE ? n - 1 - from : PIECE;                                                       \
            inclusive_##op##_##type(data + from, piece, count, s);                                                     \
            data[from] = s;                                                                                            \
            for (uint64_t i = 1; i < count; i++)                                                                       \
                data[from + i] = piece[i - 1];                                                                         \
            s = piece[count - 1];                                                                                      \
        }                                                                                                              \
        data[n - 1] = s;                                                                                               \
        return s;                                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    static T scan_##op##_##type(const T *in, T *out, uint64_t n, T s, bool exclusive)                                  \
    {                                                                                                                  \
        if (!exclusive)                                                                                                \
            return inclusive_##op##_##type(in, out, n, s);                                                             \
        if (in == out)                                                                                                 \
            return shift_##op##_##type(out, n, s);                                                                     \
        out[0] = s;                                                                                                    \
        return inclusive_##op##_##type(in, out + 1, n - 1, s);                                                         \
    }
EACH_OPERATOR(SCAN)
#undef SCAN

#endif
