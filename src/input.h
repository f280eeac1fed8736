/* SPDX-License-Identifier: MIT */
/*
 * Seeded input: a function of the recipe alone, element by element.
 *
 * Sum of integers: every bit random. Sum of floats: whole numbers from -8 to 8, whose partial sums in any order stay
 * below 2^24 up to n = 2^36 or so, or real numbers in [-1, 1). Max: half of the elements climb slowly through the
 * type's range, so that the answer goes on changing to the end (a plain random input has its maximum early); the
 * others lie anywhere below. Affine: odd slopes, because even ones forget everything before them after 64 elements.
 */
#ifndef INPUT_H
#define INPUT_H

#include "scan.h"

enum content {
    CONTENT_EXACT, /* every order of application gives the same bits */
    CONTENT_OTHER, /* floats: real numbers; integers: other bits, so that what is left of the first run shows */
};

struct recipe {
    enum type type;
    enum op op; /* NONE: as for SUM */
    uint64_t n, seed;
    enum content content;
    uint64_t hot; /* 0, or element hot - 1 is the only one that is not the identity */
};

void input_fill(const struct recipe *recipe, void *values); /* n elements */

/* The identity of the operator, 4 or 8 bytes. */
void input_identity(enum type type, enum op op, void *value);

#endif
