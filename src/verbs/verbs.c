/* SPDX-License-Identifier: MIT */
#include "verbs/verbs.h"

/* In the order of --help. To add a verb: one file with one descriptor, declared in verbs.h and listed here. */
const struct verb *const verbs[] = {&verb_list,      &verb_check,  &verb_bench, &verb_count,
                                    &verb_crossover, &verb_export, &verb_scan,  &verb_trace,
                                    &verb_lesson,    &verb_claims, NULL};
