/* SPDX-License-Identifier: MIT */
/* The exercise of the lesson. It prints no input: this one is ours, and its sums can be done by hand. */
#ifndef LESSON_H
#define LESSON_H

#include "job.h"

enum { LESSON_N = 1024, LESSON_PLACE = 512 };
#define LESSON_INPUT "values[i] = i mod 10"

/* One algorithm's answer to it: exclusive[LESSON_PLACE] and the sum of all values. */
struct lesson_answer {
    struct row row; /* ok where all elements are right */
    int32_t at_place, total;
};

/* The sum of the first `count` values: 45 for every ten of them, and what is left. */
int32_t lesson_sum(uint64_t count);

/* Runs the algorithm on the exercise; the device is open. */
void lesson_answer(const struct algorithm *algorithm, struct lesson_answer *answer);

#endif
