/* SPDX-License-Identifier: MIT */
/* The checker: what it must accept, and the smallest faults that it must find. */
#include "buffers.h"
#include "device/device.h"
#include "job.h"
#include "reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

__attribute__((format(printf, 3, 4))) static void report(bool right, const char *name, const char *why, ...)
{
    va_list arguments;
    if (right) {
        printf("ok %s\n", name);
        return;
    }
    printf("not ok %s: ", name);
    va_start(arguments, why);
    vprintf(why, arguments);
    va_end(arguments);
    putchar('\n');
    failures++;
}

/* ------------------------------------------------------------------------------------------------ by hand */

static const struct difference *compare(const struct reference *reference, enum kind kind, const void *got)
{
    static struct difference difference;
    memset(&difference, 0, sizeof difference);
    reference_compare(reference, kind, 1, got, 0, reference->n, &difference);
    return &difference;
}

static void test_by_hand(void)
{
    struct reference reference;
    int32_t in[] = {3, 1, 4, 1, 5}, inclusive[] = {3, 4, 8, 9, 14}, exclusive[] = {0, 3, 4, 8, 9};
    int32_t maxima[] = {3, 3, 4, 4, 5}, least = INT32_MIN, before_maxima[] = {least, 3, 3, 4, 4};
    reference_make(&reference, I32, SUM, in, 5);
    report(!compare(&reference, INCLUSIVE, inclusive)->wrong, "sum_inclusive", "3 4 8 9 14 is refused");
    report(!compare(&reference, EXCLUSIVE, exclusive)->wrong, "sum_exclusive", "0 3 4 8 9 is refused");
    report(!compare(&reference, COPY, in)->wrong, "copy", "the input is refused as its copy");
    report(compare(&reference, INCLUSIVE, exclusive)->wrong == 5, "kinds_differ", "exclusive passes for inclusive");
    inclusive[3] = 10;
    const struct difference *d = compare(&reference, INCLUSIVE, inclusive);
    report(d->wrong == 1 && d->first == 3 && !strcmp(d->expected, "9") && !strcmp(d->got, "10"), "first_wrong",
           "at %" PRIu64 ": %s, %s", d->first, d->expected, d->got);
    reference_free(&reference);

    reference_make(&reference, I32, MAX, in, 5);
    report(!compare(&reference, INCLUSIVE, maxima)->wrong, "max_inclusive", "3 3 4 4 5 is refused");
    report(!compare(&reference, EXCLUSIVE, before_maxima)->wrong, "max_exclusive", "the least first is refused");
    reference_free(&reference);

    /* x -> 2 x + 1, then x -> 3 x + 5: 6 x + 8. The other order would be 6 x + 11. */
    int32_t maps[] = {2 << 16 | 1, 3 << 16 | 5}, composed[] = {2 << 16 | 1, 6 << 16 | 8};
    reference_make(&reference, I32, AFFINE, maps, 2);
    report(!compare(&reference, INCLUSIVE, composed)->wrong, "affine", "2 x + 1, 6 x + 8 is refused");
    reference_free(&reference);

    int64_t wide[] = {INT64_MAX, 1, -1}, wrapped[] = {INT64_MAX, INT64_MIN, INT64_MAX};
    reference_make(&reference, I64, SUM, wide, 3);
    report(!compare(&reference, INCLUSIVE, wrapped)->wrong, "integers_wrap", "2^63 does not wrap");
    reference_free(&reference);
}

/* ------------------------------------------------------------------------------------------------ floats */

static void test_floats(void)
{
    struct reference reference;
    float values[] = {1e8f, 1, -1e8f, 0.5f}, right[] = {1e8f, 1e8f, 1, 1.5f}, off[] = {1e8f, 1e8f, 1, 700};
    reference_make(&reference, F32, SUM, values, 4);
    report(!compare(&reference, INCLUSIVE, right)->wrong, "float_sum", "a rounded sum is refused");
    report(compare(&reference, INCLUSIVE, off)->wrong == 1, "float_sum_off", "700 passes where 1.5 +- 48 is right");
    reference_free(&reference);

    double many[1000], sums[1000], s = 0;
    for (int i = 0; i < 1000; i++)
        many[i] = 0.1;
    reference_make(&reference, F64, SUM, many, 1000);
    for (int i = 0; i < 1000; i++)
        sums[i] = s += 0.1;
    struct difference difference = {0};
    reference_compare(&reference, INCLUSIVE, 999, sums, 0, 1000, &difference);
    report(!difference.wrong && difference.max_rel_err > 0 && difference.max_rel_err < 1e-13, "compensated",
           "the plain sum of 1000 tenths: %" PRIu64 " wrong, error %g", difference.wrong, difference.max_rel_err);
    reference_free(&reference);

    double special[] = {1, INFINITY, 1, -INFINITY, 1}, classes[] = {1, INFINITY, INFINITY, NAN, NAN};
    double negative[] = {1, -INFINITY, INFINITY, NAN, NAN}, finite[] = {1, INFINITY, 5, NAN, NAN};
    double number[] = {1, INFINITY, INFINITY, NAN, 5}, lost[] = {NAN, INFINITY, INFINITY, NAN, NAN};
    reference_make(&reference, F64, SUM, special, 5);
    report(!compare(&reference, INCLUSIVE, classes)->wrong, "nan_and_inf", "they are refused");
    report(compare(&reference, INCLUSIVE, negative)->first == 1, "sign_of_inf", "-inf passes for inf");
    report(compare(&reference, INCLUSIVE, finite)->first == 2 && compare(&reference, INCLUSIVE, finite)->wrong == 1,
           "inf_lost", "5 passes for inf");
    report(compare(&reference, INCLUSIVE, number)->wrong == 1, "nan_lost", "5 passes for NaN");
    report(compare(&reference, INCLUSIVE, lost)->wrong == 1, "nan_found", "NaN passes for 1");
    reference_free(&reference);

    float large[] = {3e38f, 3e38f}, overflown[] = {3e38f, INFINITY};
    reference_make(&reference, F32, SUM, large, 2);
    report(!compare(&reference, INCLUSIVE, overflown)->wrong, "overflow", "6e38 is not infinite as an f32");
    reference_free(&reference);

    double zeros[] = {0.0, 0.0}, minus[] = {0.0, -0.0};
    reference_make(&reference, F64, SUM, zeros, 2);
    report(!compare(&reference, INCLUSIVE, minus)->wrong, "minus_zero_of_reals", "-0 is refused for 0");
    reference_free(&reference);
    reference_make(&reference, F64, MAX, zeros, 2);
    report(compare(&reference, INCLUSIVE, minus)->wrong == 1, "minus_zero_of_bits", "-0 passes for 0, bit for bit");
    reference_free(&reference);

    /* A whole number off by one unit in the last place of a large prefix, bit for bit. */
    char why[96];
    struct recipe recipe = {.type = F32, .op = SUM, .n = 100000, .seed = 1, .content = CONTENT_EXACT};
    const struct reference *exact = reference_of(&recipe, why, sizeof why);
    float *copy = malloc(100000 * sizeof *copy);
    memcpy(copy, (const float *)exact->prefixes + 1, 100000 * sizeof *copy);
    report(exact->exact && !compare(exact, INCLUSIVE, copy)->wrong, "whole_numbers", "the right answer is refused");
    copy[77777] = nextafterf(copy[77777], 1e9f);
    report(compare(exact, INCLUSIVE, copy)->first == 77777 && compare(exact, INCLUSIVE, copy)->wrong == 1,
           "last_bit_of_a_float", "one unit in the last place passes");
    free(copy);
}

/* ------------------------------------------------------------------------------------------------ the input */

/* Signed, not constant, every bit both set and clear somewhere; the same again for the same seed only. */
static void test_input(void)
{
    enum { N = 4096 };
    static int32_t a[N], b[N];
    static int64_t l[N];
    static double d[N];
    struct recipe recipe = {.type = I32, .op = SUM, .n = N, .seed = 1};
    input_fill(&recipe, a);
    uint32_t set = 0, clear = 0;
    for (int i = 0; i < N; i++) {
        set |= (uint32_t)a[i];
        clear |= ~(uint32_t)a[i];
    }
    report(!~set && !~clear, "input_every_bit", "set %08" PRIx32 ", clear %08" PRIx32, set, clear);
    input_fill(&recipe, b);
    report(!memcmp(a, b, sizeof a), "input_repeats", "the same seed gives other numbers");
    recipe.seed = 2;
    input_fill(&recipe, b);
    report(memcmp(a, b, sizeof a) != 0, "input_seed", "another seed gives the same numbers");
    recipe.seed = 1;
    recipe.content = CONTENT_OTHER;
    input_fill(&recipe, b);
    report(memcmp(a, b, sizeof a) != 0, "input_content", "the second input is the first one");

    recipe = (struct recipe){.type = I64, .op = SUM, .n = N, .seed = 1};
    input_fill(&recipe, l);
    uint64_t set64 = 0, clear64 = 0;
    for (int i = 0; i < N; i++) {
        set64 |= (uint64_t)l[i];
        clear64 |= ~(uint64_t)l[i];
    }
    report(!~set64 && !~clear64, "input_every_bit_i64", "set %016" PRIx64 ", clear %016" PRIx64, set64, clear64);

    recipe = (struct recipe){.type = F64, .op = SUM, .n = N, .seed = 1};
    input_fill(&recipe, d);
    bool whole = true, low = false, high = false;
    for (int i = 0; i < N; i++) {
        whole = whole && d[i] == floor(d[i]) && fabs(d[i]) <= 8;
        low |= d[i] == -8;
        high |= d[i] == 8;
    }
    report(whole && low && high, "input_whole_numbers", "not all of -8..8, or others");

    /* Max: the answer goes on changing, and from the negative numbers to the positive ones. */
    recipe = (struct recipe){.type = I32, .op = MAX, .n = N, .seed = 1};
    input_fill(&recipe, a);
    int changes = 0, last_change = 0;
    for (int32_t i = 1, most = a[0]; i < N; i++) {
        if (a[i] <= most)
            continue;
        most = a[i];
        changes++;
        last_change = i;
    }
    report(a[0] < 0 && changes > N / 20 && last_change > N - 100, "input_of_max", "%d changes, the last at %d", changes,
           last_change);

    /* Affine: the first element still matters at the end. */
    recipe = (struct recipe){.type = I32, .op = AFFINE, .n = N, .seed = 1};
    input_fill(&recipe, a);
    struct reference first, second;
    reference_make(&first, I32, AFFINE, a, N);
    a[0] ^= 1;
    reference_make(&second, I32, AFFINE, a, N);
    int32_t x = ((int32_t *)first.prefixes)[N], y = ((int32_t *)second.prefixes)[N];
    report(x != y, "input_of_affine", "the end has forgotten the start");
    reference_free(&first);
    reference_free(&second);
}

/* ------------------------------------------------------------------------------------------------ whole points */

/* A scan on the host that can be broken in one place. */
static enum breakage {
    RIGHT,
    OFF_BY_ONE,
    LAST_MISSING,
    ONE_BLOCK,
    INPUT_CHANGED,
    PAST_END,
    BEFORE_START,
    PAST_WORKSPACE,
    STALE
} breakage;

static void broken_run(const struct problem *p)
{
    const int32_t *in = p->in;
    int32_t *out = p->out;
    uint32_t s = 0;
    uint64_t n = breakage == LAST_MISSING ? p->n - 1 : p->n;
    if (breakage == STALE && ((int32_t *)p->workspace)[0] == 1) /* somebody was here before */
        s = 1;
    for (uint64_t i = 0; i < n; i++) {
        if (breakage == ONE_BLOCK && i % 256 == 0)
            s = 0;
        uint32_t before = s;
        s += (uint32_t)in[i];
        out[i] = (int32_t)(breakage == OFF_BY_ONE && i == 1 ? before : s);
    }
    if (breakage == INPUT_CHANGED)
        ((int32_t *)p->in)[n / 2]++;
    if (breakage == PAST_END)
        out[n] = 0;
    if (breakage == BEFORE_START)
        out[-1] = 0;
    if (breakage == PAST_WORKSPACE)
        ((char *)p->workspace)[4] = 0;
    ((int32_t *)p->workspace)[0] = 1;
}

static size_t broken_workspace(const struct problem *p)
{
    (void)p;
    return 4;
}

static const struct algorithm broken = {.name = "broken",
                                        .title = "Broken on purpose",
                                        .runs_on = HOST,
                                        .kinds = INCLUSIVE,
                                        .types = I32,
                                        .ops = SUM,
                                        .workspace = broken_workspace,
                                        .run = broken_run};

static void check_breakage(const char *name, enum breakage what, uint64_t n, int offset, enum status status,
                           const char *detail)
{
    struct row row;
    struct point point = {.algorithm = &broken, .kind = INCLUSIVE, .type = I32, .op = SUM, .n = n};
    struct job_options options = {.seed = 1, .offset = offset};
    breakage = what;
    job_run(&point, &options, &row);
    report(row.status == status && !strcmp(row.detail, detail), name, "%s %s (%s), not %s %s", status_name(row.status),
           row.detail, row.message, status_name(status), detail);
}

static void test_points(void)
{
    check_breakage("point_right", RIGHT, 1000, 0, STATUS_OK, "");
    check_breakage("point_right_misaligned", RIGHT, 1000, 1, STATUS_OK, "");
    check_breakage("point_of_nothing", PAST_END, 0, 0, STATUS_OK, "");
    check_breakage("point_of_one", RIGHT, 1, 0, STATUS_OK, "");
    check_breakage("point_off_by_one", OFF_BY_ONE, 1000, 0, STATUS_MISMATCH, "first-wrong-1");
    check_breakage("point_last_missing", LAST_MISSING, 1000, 0, STATUS_MISMATCH, "first-wrong-999");
    check_breakage("point_last_missing_large", LAST_MISSING, 1000000, 0, STATUS_MISMATCH, "first-wrong-999999");
    check_breakage("point_one_block_right", ONE_BLOCK, 256, 0, STATUS_OK, "");
    check_breakage("point_one_block_wrong", ONE_BLOCK, 257, 0, STATUS_MISMATCH, "first-wrong-256");
    check_breakage("point_input_changed", INPUT_CHANGED, 1000, 0, STATUS_MISMATCH, "input-changed-500");
    check_breakage("point_past_end", PAST_END, 1000, 0, STATUS_MISMATCH, "guard-behind-output");
    check_breakage("point_past_end_misaligned", PAST_END, 1000, 1, STATUS_MISMATCH, "guard-behind-output");
    check_breakage("point_before_start", BEFORE_START, 1000, 0, STATUS_MISMATCH, "guard-before-output");
    check_breakage("point_before_start_misaligned", BEFORE_START, 1000, 1, STATUS_MISMATCH, "guard-before-output");
    check_breakage("point_past_workspace", PAST_WORKSPACE, 1000, 0, STATUS_MISMATCH, "guard-behind-workspace");
    check_breakage("point_stale", STALE, 1000, 0, STATUS_MISMATCH, "first-wrong-0");

    struct row row;
    struct job_options in_place = {.seed = 1, .in_place = true};
    struct point point = {.algorithm = &broken, .kind = INCLUSIVE, .type = I32, .op = SUM, .n = 100};
    breakage = RIGHT;
    job_run(&point, &in_place, &row);
    report(row.status == STATUS_UNSUPPORTED && !strcmp(row.detail, "not-in-place"), "point_in_place_refused", "%s %s",
           status_name(row.status), row.detail);

    point.n = UINT64_C(1) << 44;
    job_run(&point, &(struct job_options){.seed = 1}, &row);
    report(row.status == STATUS_OOM && !strncmp(row.detail, "need-134217729-mib-free-", 24), "point_too_large", "%s %s",
           status_name(row.status), row.detail);
}

int main(void)
{
    test_by_hand();
    test_floats();
    test_input();
    test_points();
    return failures != 0;
}
