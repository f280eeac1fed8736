/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include "buffers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ the loops */

static inline uint32_t compose32(uint32_t a, uint32_t b)
{
    uint32_t slope = (a >> 16) * (b >> 16), offset = (a & 0xffff) * (b >> 16) + (b & 0xffff);
    return slope << 16 | (offset & 0xffff);
}

static inline uint64_t compose64(uint64_t a, uint64_t b)
{
    uint64_t half = UINT64_C(0xffffffff), slope = (a >> 32) * (b >> 32), offset = (a & half) * (b >> 32) + (b & half);
    return slope << 32 | (offset & half);
}

/* cells[0] is the identity and there already. */
#define LOOP(T, STEP)                                                                                                  \
    {                                                                                                                  \
        const T *x = input;                                                                                            \
        T *cells = prefixes, a = cells[0];                                                                             \
        for (uint64_t i = 0; i < n; i++) {                                                                             \
            T b = x[i];                                                                                                \
            a = STEP;                                                                                                  \
            cells[i + 1] = a;                                                                                          \
        }                                                                                                              \
        return;                                                                                                        \
    }

static void scan_exactly(enum type type, enum op op, const void *input, void *prefixes, uint64_t n)
{
    switch ((int)op << 8 | (int)type) {
    case SUM << 8 | I32: LOOP(uint32_t, a + b)
    case SUM << 8 | I64: LOOP(uint64_t, a + b)
    case SUM << 8 | F32: LOOP(float, a + b)
    case SUM << 8 | F64: LOOP(double, a + b)
    case MAX << 8 | I32: LOOP(int32_t, b > a ? b : a)
    case MAX << 8 | I64: LOOP(int64_t, b > a ? b : a)
    case MAX << 8 | F32: LOOP(float, b > a ? b : a)
    case MAX << 8 | F64: LOOP(double, b > a ? b : a)
    case AFFINE << 8 | I32: LOOP(uint32_t, compose32(a, b))
    case AFFINE << 8 | I64: LOOP(uint64_t, compose64(a, b))
    }
}

/* Neumaier's sum: the error of every addition is found and added at the end. Beyond the finite numbers there is no
 * error to find, and the plain sum stands. */
static void scan_compensated(struct reference *reference)
{
    const float *single = reference->type == F32 ? reference->input : NULL;
    const double *wide = reference->input;
    double *cells = reference->prefixes, sum = 0, error = 0, most = 0;
    for (uint64_t i = 0; i < reference->n; i++) {
        double x = single ? (double)single[i] : wide[i], next = sum + x;
        error += fabs(sum) >= fabs(x) ? sum - next + x : x - next + sum;
        sum = next;
        double prefix = isfinite(sum) ? sum + error : sum;
        cells[i + 1] = prefix;
        if (isfinite(prefix) && fabs(prefix) > most)
            most = fabs(prefix);
    }
    reference->max_prefix = most;
}

/* Whole numbers add up exactly in any order while the sum of every run of elements is below 2^24 (2^53). */
static bool sums_are_exact(const struct reference *reference)
{
    double low = 0, high = 0;
    for (uint64_t i = 0; i <= reference->n; i++) {
        double prefix = reference->type == F32 ? (double)((const float *)reference->prefixes)[i]
                                               : ((const double *)reference->prefixes)[i];
        low = prefix < low ? prefix : low;
        high = prefix > high ? prefix : high;
    }
    return high - low < (reference->type == F32 ? 0x1p24 : 0x1p53);
}

/* ------------------------------------------------------------------------------------------------ making one */

static bool is_float(enum type type)
{
    return type == F32 || type == F64;
}

static size_t cell_size(const struct reference *reference)
{
    return reference->exact ? type_size(reference->type) : sizeof(double);
}

static void fill_prefixes(struct reference *reference)
{
    input_identity(reference->exact ? reference->type : F64, reference->op, reference->prefixes);
    if (reference->exact)
        scan_exactly(reference->type, reference->op, reference->input, reference->prefixes, reference->n);
    else
        scan_compensated(reference);
}

bool reference_make(struct reference *reference, enum type type, enum op op, void *input, uint64_t n)
{
    memset(reference, 0, sizeof *reference);
    reference->type = type;
    reference->op = op;
    reference->n = n;
    reference->input = input;
    reference->exact = !(is_float(type) && op == SUM);
    reference->prefixes = malloc((n + 1) * cell_size(reference));
    if (!reference->prefixes)
        return false;
    fill_prefixes(reference);
    return true;
}

void reference_free(struct reference *reference)
{
    free(reference->prefixes);
    memset(reference, 0, sizeof *reference);
}

/* One of each content, as points that follow one another share theirs. */
static struct kept {
    struct reference reference;
    struct recipe recipe;
    size_t input_bytes, prefixes_bytes;
} kept[2];

static bool same_recipe(const struct recipe *a, const struct recipe *b)
{
    return a->type == b->type && a->op == b->op && a->n == b->n && a->seed == b->seed && a->hot == b->hot;
}

static bool make_room(void **memory, size_t *have, size_t need)
{
    /* What is much too large goes back, too: the device may live in the same memory. */
    if (*have >= need && *have / 4 <= need)
        return true;
    free(*memory);
    *memory = NULL;
    *have = 0;
    if (need > host_memory_available())
        return false;
    *memory = malloc(need);
    if (*memory)
        *have = need;
    return *memory;
}

const struct reference *reference_of(const struct recipe *wanted, char *why, size_t size)
{
    struct recipe recipe = *wanted;
    struct kept *slot = &kept[recipe.content == CONTENT_OTHER];
    struct reference *reference = &slot->reference;
    if (recipe.op == NONE)
        recipe.op = SUM;
    if (reference->prefixes && same_recipe(&slot->recipe, &recipe))
        return reference;

    slot->recipe.n = UINT64_MAX; /* matches nothing until it is filled again */
    reference->type = recipe.type;
    reference->op = recipe.op;
    reference->n = recipe.n;
    reference->exact = !(is_float(recipe.type) && recipe.op == SUM && recipe.content == CONTENT_OTHER && !recipe.hot);
    size_t input_bytes = recipe.n * type_size(recipe.type), prefixes_bytes = (recipe.n + 1) * cell_size(reference);
    if (!make_room(&reference->input, &slot->input_bytes, input_bytes + 8) ||
        !make_room(&reference->prefixes, &slot->prefixes_bytes, prefixes_bytes)) {
        snprintf(why, size, "need-%" PRIu64 "-mib-free-%" PRIu64 "-mib", (input_bytes + prefixes_bytes) >> 20,
                 host_memory_available() >> 20);
        return NULL;
    }
    input_fill(&recipe, reference->input);
    fill_prefixes(reference);
    if (is_float(recipe.type) && recipe.op == SUM && reference->exact && !sums_are_exact(reference)) {
        snprintf(why, size, "input-not-exact");
        return NULL;
    }
    slot->recipe = recipe;
    return reference;
}

/* ------------------------------------------------------------------------------------------------ comparing */

void format_element(enum type type, const void *value, char *text, size_t size)
{
    int32_t i;
    int64_t l;
    float f;
    double d;
    switch (type) {
    case I32: memcpy(&i, value, 4), snprintf(text, size, "%" PRId32, i); break;
    case I64: memcpy(&l, value, 8), snprintf(text, size, "%" PRId64, l); break;
    case F32: memcpy(&f, value, 4), snprintf(text, size, "%.9g", (double)f); break;
    case F64: memcpy(&d, value, 8), snprintf(text, size, "%.17g", d); break;
    }
}

static void note(struct difference *difference, uint64_t at, enum type type, const void *expected, enum type got_type,
                 const void *got)
{
    if (difference->wrong++)
        return;
    difference->first = at;
    format_element(type, expected, difference->expected, sizeof difference->expected);
    format_element(got_type, got, difference->got, sizeof difference->got);
}

static void compare_bits(enum type type, const char *expected, const char *got, uint64_t from, uint64_t count,
                         struct difference *difference)
{
    size_t size = type_size(type);
    if (!memcmp(expected, got, count * size))
        return;
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(expected + i * size, got + i * size, size) != 0)
            note(difference, from + i, type, expected + i * size, type, got + i * size);
}

/* Both NaN, the same infinity, or both finite. */
static bool same_class(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return true;
}

static void compare_within(const struct reference *reference, const double *expected, double tolerance, const void *got,
                           uint64_t from, uint64_t count, struct difference *difference)
{
    const float *single = got;
    const double *wide = got;
    bool is_single = reference->type == F32;
    double farthest = 0;
    for (uint64_t i = 0; i < count; i++) {
        double right = expected[i], value = is_single ? (double)single[i] : wide[i], distance = fabs(value - right);
        if (distance <= tolerance) { /* false for NaN and where both are infinite */
            farthest = distance > farthest ? distance : farthest;
            continue;
        }
        /* A sum that no f32 can hold is infinite there. */
        double held = is_single ? (double)(float)right : right;
        if (!isfinite(held) && same_class(held, value))
            continue;
        if (isfinite(distance) && distance > farthest)
            farthest = distance;
        note(difference, from + i, F64, &right, reference->type, is_single ? (const void *)&single[i] : &wide[i]);
    }
    if (reference->max_prefix > 0 && farthest / reference->max_prefix > difference->max_rel_err)
        difference->max_rel_err = farthest / reference->max_prefix;
}

void reference_compare(const struct reference *reference, enum kind kind, uint64_t depth, const void *got,
                       uint64_t from, uint64_t count, struct difference *difference)
{
    size_t size = type_size(reference->type);
    if (kind == COPY) {
        compare_bits(reference->type, (const char *)reference->input + from * size, got, from, count, difference);
        return;
    }
    uint64_t cell = kind == EXCLUSIVE ? from : from + 1;
    if (reference->exact) {
        compare_bits(reference->type, (const char *)reference->prefixes + cell * size, got, from, count, difference);
        return;
    }
    double unit = reference->type == F32 ? 0x1p-24 : 0x1p-53;
    double tolerance = 8 * unit * sqrt((double)(depth ? depth : reference->n)) * reference->max_prefix;
    compare_within(reference, (const double *)reference->prefixes + cell, tolerance, got, from, count, difference);
}
