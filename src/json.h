/* SPDX-License-Identifier: MIT */
/* For programs: what people read as a table, as JSON. */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

/* The text in quotes, or null where it is empty. */
void json_string(const char *text, FILE *out);

/* A CSV of this suite (docs: no quotes, no commas in fields, empty = missing) as an array of objects, one a row, with
 * the names of the columns in their order. Numbers stay numbers, as they are written; an empty field is null. A last
 * line without its end is not a row. 0, or -1 where `out` cannot be written. */
int json_of_csv(const char *csv, FILE *out);

/* The same of a file. -1 with errno where it cannot be read. */
int json_of_csv_file(const char *path, FILE *out);

#endif
