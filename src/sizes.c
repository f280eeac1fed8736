/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 100000, LONGEST_PART = 127 };

struct list {
    uint64_t *sizes;
    int count, room;
};

static bool append(struct list *list, uint64_t size)
{
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 64;
        uint64_t *larger = realloc(list->sizes, (size_t)room * sizeof *larger);
        if (!larger)
            return false;
        list->sizes = larger;
        list->room = room;
    }
    list->sizes[list->count++] = size;
    return true;
}

/* Digits and nothing else. NULL, or the reason why not. */
static const char *parse_digits(const char *text, uint64_t *value)
{
    if (*text == '-')
        return "negative";
    if (!*text)
        return "a number is missing";
    *value = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return "not a whole number (digits, or 2^k)";
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
            return "above 2^64 - 1";
    }
    return NULL;
}

/* "1000" or "2^10". */
static const char *parse_number(char *text, uint64_t *value)
{
    char *caret = strchr(text, '^');
    if (!caret)
        return parse_digits(text, value);
    *caret = '\0';
    uint64_t base, exponent;
    const char *why = parse_digits(text, &base);
    if (!why)
        why = parse_digits(caret + 1, &exponent);
    *caret = '^';
    if (why)
        return why;
    if (base < 2)
        return "a power needs a base of 2 or more";
    *value = 1;
    for (uint64_t i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(*value, base, value))
            return "above 2^64 - 1";
    return NULL;
}

/* Appends A, A*K, ... or A, A+K, ... up to B. */
static const char *append_range(struct list *list, uint64_t first, uint64_t last, uint64_t step, bool multiply)
{
    if (first > last)
        return "it ends below its start";
    if (multiply && step < 2)
        return "a factor is 2 or more";
    if (!multiply && step < 1)
        return "a step is 1 or more";
    if (multiply && first == 0)
        return "0 cannot be multiplied upwards: list 0 apart";
    for (uint64_t n = first; n <= last;) {
        if (list->count >= MOST_SIZES)
            return "more than 100000 sizes";
        if (!append(list, n))
            return "out of memory";
        if (multiply ? __builtin_mul_overflow(n, step, &n) : __builtin_add_overflow(n, step, &n))
            break;
    }
    return NULL;
}

/* One part between commas: A, A:B, A:B:xK or A:B:+K. `text` is taken apart. */
static const char *parse_part(struct list *list, char *text)
{
    char *fields[4] = {text};
    int count = 1;
    for (char *at = text; *at; at++) {
        if (*at != ':')
            continue;
        *at = '\0';
        if (count == 4)
            return "too many colons (A:B, A:B:xK or A:B:+K)";
        fields[count++] = at + 1;
    }
    uint64_t first, last, step = 2;
    const char *why = parse_number(fields[0], &first);
    if (why)
        return why;
    if (count == 1)
        return append(list, first) ? NULL : "out of memory";
    why = parse_number(fields[1], &last);
    if (why)
        return why;
    if (count == 2)
        return append_range(list, first, last, 2, true);
    if (count == 4 || (fields[2][0] != 'x' && fields[2][0] != '+'))
        return "after A:B comes :xK (times K) or :+K (plus K)";
    why = parse_number(fields[2] + 1, &step);
    return why ? why : append_range(list, first, last, step, fields[2][0] == 'x');
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int sizes_parse(const char *text, uint64_t **sizes, char *why, size_t size)
{
    struct list list = {0};
    *sizes = NULL;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        char part[LONGEST_PART + 1];
        const char *reason = "too long";
        if (length <= LONGEST_PART) {
            memcpy(part, at, length);
            part[length] = '\0';
            reason = length ? parse_part(&list, part) : "empty";
        }
        if (reason) {
            bool alone = at == text && !at[length];
            if (alone)
                snprintf(why, size, "%s", reason);
            else
                snprintf(why, size, "\"%.*s\" is wrong: %s", (int)length, at, reason);
            free(list.sizes);
            return -1;
        }
        at += length;
        if (!*at)
            break;
    }
    qsort(list.sizes, (size_t)list.count, sizeof *list.sizes, compare);
    int unique = 0;
    for (int i = 0; i < list.count; i++)
        if (!unique || list.sizes[i] != list.sizes[unique - 1])
            list.sizes[unique++] = list.sizes[i];
    *sizes = list.sizes;
    return unique;
}
