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
 * What a GPU should be compared with: one core that waits for memory and not for additions. parts/simd.h
 * says which operators and types have no vectors.
 */
#include "parts/simd.h"

static void run(const struct problem *p)
{
#define CASE(op, type, T)                                                                                              \
    case op | type << 8: scan_##op##_##type(p->in, p->out, p->n, identity_##op##_##type, p->kind == EXCLUSIVE); break;
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
    .in_place = true,
    .additions = "the compiler's",
    .launches = "0",
    .traffic = "2 n",
    .run = run,
    .model = model,
};
