/* SPDX-License-Identifier: MIT */
/* The algorithms of kernels/, found by the Makefile when the program is built. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "scan.h"

/* By year, then name. The array is ended by NULL. */
const struct algorithm *const *registry(void);
int registry_count(void);
const struct algorithm *registry_find(const char *name); /* NULL if there is none */

/* The one of `count` names that is nearest to `wrong` by edit distance, or NULL if none is near. */
const char *nearest_name(const char *wrong, const char *const *names, int count);

/* Slugs, as in CSV files and options: "i32", "exclusive", "sum", "device". */
const char *type_name(enum type type);
const char *kind_name(enum kind kind);
const char *op_name(enum op op);

#endif
