/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Written by scripts/registry; ended by an entry without a name. */
struct registry_entry {
    const char *name;
    const struct algorithm *algorithm;
};
extern const struct registry_entry registry_entries[];

static const struct algorithm **sorted;
static int count;

/* Without a year: what to measure against comes first, an algorithm of one's own last, so that the others keep their
 * places, and with them their colours in charts. */
static int place_in_time(const struct algorithm *a)
{
    if (a->year)
        return a->year;
    return a->runs_on == HOST || a->kinds == COPY ? 0 : INT_MAX;
}

static int by_year_then_name(const void *left, const void *right)
{
    const struct algorithm *a = *(const struct algorithm *const *)left, *b = *(const struct algorithm *const *)right;
    int before = place_in_time(a), after = place_in_time(b);
    if (before != after)
        return before < after ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* The descriptors are constants that do not know their names: the list is of copies that do. */
static void load(void)
{
    if (sorted)
        return;
    while (registry_entries[count].name)
        count++;
    struct algorithm *copies = calloc((size_t)count + 1, sizeof *copies);
    sorted = calloc((size_t)count + 1, sizeof *sorted);
    if (!copies || !sorted)
        abort();
    for (int i = 0; i < count; i++) {
        copies[i] = *registry_entries[i].algorithm;
        copies[i].name = registry_entries[i].name;
        if (!copies[i].title)
            copies[i].title = copies[i].name;
        sorted[i] = &copies[i];
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_year_then_name);
}

const struct algorithm *const *registry(void)
{
    load();
    return sorted;
}

int registry_count(void)
{
    load();
    return count;
}

const struct algorithm *registry_find(const char *name)
{
    load();
    for (int i = 0; i < count; i++)
        if (!strcmp(sorted[i]->name, name))
            return sorted[i];
    return NULL;
}

enum { LONGEST_NAME = 63 };

/* Insertions, deletions, substitutions and swaps of neighbours that lead from a to b. */
static int edit_distance(const char *a, const char *b)
{
    int la = (int)strlen(a), lb = (int)strlen(b);
    int rows[LONGEST_NAME + 1][LONGEST_NAME + 1];
    for (int i = 0; i <= la; i++) {
        for (int j = 0; j <= lb; j++) {
            if (!i || !j) {
                rows[i][j] = i + j;
                continue;
            }
            int best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (rows[i - 1][j] + 1 < best)
                best = rows[i - 1][j] + 1;
            if (rows[i][j - 1] + 1 < best)
                best = rows[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && rows[i - 2][j - 2] + 1 < best)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    }
    return rows[la][lb];
}

const char *nearest_name(const char *wrong, const char *const *names, int name_count)
{
    size_t length = strlen(wrong);
    if (!length || length > LONGEST_NAME)
        return NULL;
    const char *best = NULL;
    int best_distance = 0;
    for (int i = 0; i < name_count; i++) {
        size_t other = strlen(names[i]);
        if (other > LONGEST_NAME)
            continue;
        int distance = edit_distance(wrong, names[i]);
        /* "hillis" is far from "hillis_steele" and yet what was meant. */
        if (length >= 3 && !strncmp(wrong, names[i], length))
            distance = 1;
        int allowed = (int)(length > other ? length : other) / 3;
        if (distance > (allowed > 1 ? allowed : 1) || (size_t)distance >= other)
            continue;
        if (!best || distance < best_distance) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}

const char *type_name(enum type type)
{
    switch (type) {
    case I32: return "i32";
    case I64: return "i64";
    case F32: return "f32";
    case F64: return "f64";
    }
    return "";
}

const char *kind_name(enum kind kind)
{
    switch (kind) {
    case INCLUSIVE: return "inclusive";
    case EXCLUSIVE: return "exclusive";
    case COPY: return "copy";
    }
    return "";
}

const char *op_name(enum op op)
{
    switch (op) {
    case SUM: return "sum";
    case MAX: return "max";
    case AFFINE: return "affine";
    case NONE: return "none";
    case STEPS: return "steps";
    case TRACE: return "trace";
    }
    return "";
}
