/* SPDX-License-Identifier: MIT */
/*
 * The serial loop: one core carries one running value along the array.
 *
 *     in          3   1   4   1   5   9   2   6
 *                 |   |   |   |   |   |   |   |
 *     s           3 > 4 > 8 > 9 >14 >23 >25 >31
 *
 *     inclusive   3   4   8   9  14  23  25  31      s after the step
 *     exclusive   0   3   4   8   9  14  23  25      s before it
 *
 * Additions n - 1, steps n - 1, words 2n: no scan does less work, and none has a longer chain. Each addition waits
 * for the one before it, so that the loop runs at the latency of an addition, not at the speed of memory.
 */
#include "operators.h"

/* An element is read before its place is written: `out` may be `in`. */
#define SCAN(op, type, T)                                                                                              \
    static void inclusive_##op##_##type(const T *in, T *out, uint64_t n)                                               \
    {                                                                                                                  \
        T s = in[0];                                                                                                   \
        out[0] = s;                                                                                                    \
        for (uint64_t i = 1; i < n; i++) {                                                                             \
            s = apply_##op##_##type(s, in[i]);                                                                         \
            out[i] = s;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void exclusive_##op##_##type(const T *in, T *out, uint64_t n)                                               \
    {                                                                                                                  \
        T s = in[0];                                                                                                   \
        out[0] = identity_##op##_##type;                                                                               \
        for (uint64_t i = 1; i < n; i++) {                                                                             \
            T x = in[i];                                                                                               \
            out[i] = s;                                                                                                \
            s = apply_##op##_##type(s, x);                                                                             \
        }                                                                                                              \
    }
EACH_COUNTED_OPERATOR(SCAN)

static void run(const struct problem *p)
{
#define CASE(op, type, T)                                                                                              \
    case op | type << 8:                                                                                               \
        (p->kind == INCLUSIVE ? inclusive_##op##_##type : exclusive_##op##_##type)(p->in, p->out, p->n);               \
        break;
    switch (p->op | p->type << 8) {
        EACH_COUNTED_OPERATOR(CASE)
    }
}

static struct cost model(const struct problem *p)
{
    return (struct cost){.additions = p->n - 1, .steps = p->n - 1, .words_read = p->n, .words_written = p->n};
}

ALGORITHM(serial) = {
    .title = "Serial loop",
    .runs_on = HOST,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .additions = "n - 1",
    .launches = "0",
    .traffic = "2 n",
    .run = run,
    .model = model,
};
