/* SPDX-License-Identifier: MIT */
/*
 * The right answer, and how far from it an answer is. A plain sequential loop of its own, which shares no code with
 * any algorithm.
 *
 * Exact references are compared bit for bit. Sums of real numbers are compared with a compensated float64 sum within
 * 8 u sqrt(depth) max|prefix|: u is 2^-24 or 2^-53, depth the longest chain of additions, and errors of rounding add
 * up like a random walk. NaN and infinities are compared by class.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "input.h"

struct reference {
    enum type type;
    enum op op;
    uint64_t n;
    void *input;       /* n elements */
    void *prefixes;    /* n + 1 cells: the identity, then the inclusive prefixes */
    bool exact;        /* cells are of the type and compared bit for bit; otherwise cells are doubles */
    double max_prefix; /* the largest finite |prefix|, where not exact */
};

/* The reference of a recipe, kept until another recipe with the same content is asked for. NULL where the host has
 * not enough memory for it, or (for CONTENT_EXACT floats) where a partial sum would not be exact; why is told. */
const struct reference *reference_of(const struct recipe *recipe, char *why, size_t size);

/* The reference of given elements, which stay the caller's. False where there is no memory. */
bool reference_make(struct reference *reference, enum type type, enum op op, void *input, uint64_t n);
void reference_free(struct reference *reference); /* not the input */

struct difference {
    uint64_t wrong;             /* number of wrong elements */
    uint64_t first;             /* place of the first one */
    char expected[32], got[32]; /* there */
    double max_rel_err;         /* largest distance over max|prefix|; 0 where exact */
};

/* Compares out[from .. from + count) of a scan of `kind` with the reference and adds to `difference`, which starts as
 * zeros. Chunks come in ascending order. `depth` 0 counts as n. */
void reference_compare(const struct reference *reference, enum kind kind, uint64_t depth, const void *got,
                       uint64_t from, uint64_t count, struct difference *difference);

/* One element as text that reads back to the same value. */
void format_element(enum type type, const void *value, char *text, size_t size);

#endif
