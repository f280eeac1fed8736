/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <math.h>
#include <string.h>

/* The finaliser of splitmix64: every bit of the place and the seed reaches every bit of the result. */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t random_bits(uint64_t start, uint64_t i)
{
    return mix(start + i * UINT64_C(0x9e3779b97f4a7c15));
}

/* -8..8 */
static inline int whole(uint64_t bits)
{
    return (int)(((bits >> 32) * 17) >> 32) - 8;
}

/* The line rises by `step` an element; every second one lies within eight steps of it, the rest anywhere below. */
static inline uint64_t climb(uint64_t bits, uint64_t i, uint64_t step)
{
    uint64_t line = i * step;
    if (!(bits & 1))
        return (uint64_t)(((unsigned __int128)bits * line) >> 64);
    unsigned __int128 drop = ((unsigned __int128)(bits >> 32) * step) >> 29;
    return drop < line ? line - (uint64_t)drop : 0;
}

static uint64_t climb_step(uint64_t n)
{
    return n ? UINT64_MAX / n : 0;
}

static void fill_i32(const struct recipe *recipe, uint64_t start, int32_t *values)
{
    uint64_t step = climb_step(recipe->n);
    for (uint64_t i = 0; i < recipe->n; i++) {
        uint64_t bits = random_bits(start, i);
        if (recipe->op == MAX)
            bits = climb(bits, i, step) ^ (UINT64_C(1) << 63);
        values[i] = (int32_t)(uint32_t)(bits >> 32);
    }
    if (recipe->op == AFFINE)
        for (uint64_t i = 0; i < recipe->n; i++)
            values[i] = (int32_t)((uint32_t)values[i] | 1u << 16);
}

static void fill_i64(const struct recipe *recipe, uint64_t start, int64_t *values)
{
    uint64_t step = climb_step(recipe->n);
    for (uint64_t i = 0; i < recipe->n; i++) {
        uint64_t bits = random_bits(start, i);
        if (recipe->op == MAX)
            bits = climb(bits, i, step) ^ (UINT64_C(1) << 63);
        values[i] = (int64_t)bits;
    }
    if (recipe->op == AFFINE)
        for (uint64_t i = 0; i < recipe->n; i++)
            values[i] = (int64_t)((uint64_t)values[i] | UINT64_C(1) << 32);
}

static double real_value(const struct recipe *recipe, uint64_t start, uint64_t step, uint64_t i)
{
    uint64_t bits = random_bits(start, i);
    bool exact = recipe->content == CONTENT_EXACT;
    if (recipe->op == MAX) {
        int64_t height = (int64_t)(climb(bits, i, step) ^ (UINT64_C(1) << 63)); /* -2^63..2^63 */
        return exact ? (double)(height >> 40) : (double)height * 0x1p-54;
    }
    return exact ? whole(bits) : (double)((int64_t)bits >> 11) * 0x1p-52;
}

static void fill_f32(const struct recipe *recipe, uint64_t start, float *values)
{
    uint64_t step = climb_step(recipe->n);
    for (uint64_t i = 0; i < recipe->n; i++)
        values[i] = (float)real_value(recipe, start, step, i);
}

static void fill_f64(const struct recipe *recipe, uint64_t start, double *values)
{
    uint64_t step = climb_step(recipe->n);
    for (uint64_t i = 0; i < recipe->n; i++)
        values[i] = real_value(recipe, start, step, i);
}

void input_identity(enum type type, enum op op, void *value)
{
    int64_t wide = 0;
    if (op == MAX) {
        switch (type) {
        case I32: memcpy(value, &(int32_t){INT32_MIN}, 4); return;
        case I64: memcpy(value, &(int64_t){INT64_MIN}, 8); return;
        case F32: memcpy(value, &(float){-INFINITY}, 4); return;
        case F64: memcpy(value, &(double){-INFINITY}, 8); return;
        }
    }
    if (op == AFFINE && type == I32)
        memcpy(value, &(int32_t){1 << 16}, 4); /* slope 1, offset 0 */
    else if (op == AFFINE)
        memcpy(value, &(int64_t){INT64_C(1) << 32}, 8);
    else
        memcpy(value, &wide, type_size(type));
}

/* All identities but one, which is 5 (affine: slope 1, offset 5). */
static void fill_one_hot(const struct recipe *recipe, void *values)
{
    size_t size = type_size(recipe->type);
    char identity[8], *bytes = values, *hot = bytes + (recipe->hot - 1) * size;
    input_identity(recipe->type, recipe->op, identity);
    for (uint64_t i = 0; i < recipe->n; i++)
        memcpy(bytes + i * size, identity, size);

    const int32_t five = recipe->op == AFFINE ? (1 << 16) + 5 : 5;
    const int64_t wide_five = recipe->op == AFFINE ? (INT64_C(1) << 32) + 5 : 5;
    switch (recipe->type) {
    case I32: memcpy(hot, &five, 4); break;
    case I64: memcpy(hot, &wide_five, 8); break;
    case F32: memcpy(hot, &(float){5}, 4); break;
    case F64: memcpy(hot, &(double){5}, 8); break;
    }
}

void input_fill(const struct recipe *recipe, void *values)
{
    uint64_t start = mix(recipe->seed + (recipe->content == CONTENT_EXACT ? 1 : UINT64_C(0x632be59bd9b4e019)));
    if (recipe->hot && recipe->hot <= recipe->n) {
        fill_one_hot(recipe, values);
        return;
    }
    switch (recipe->type) {
    case I32: fill_i32(recipe, start, values); break;
    case I64: fill_i64(recipe, start, values); break;
    case F32: fill_f32(recipe, start, values); break;
    case F64: fill_f64(recipe, start, values); break;
    }
}
