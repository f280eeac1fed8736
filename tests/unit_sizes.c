/* SPDX-License-Identifier: MIT */
/* Size lists: what they mean, and what is refused. */
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void report(bool right, const char *name, const char *why)
{
    if (right)
        printf("ok sizes_%s\n", name);
    else
        printf("not ok sizes_%s: %s\n", name, why);
    failures += !right;
}

/* The sizes of `text`, space-separated, or "refused". */
static void check(const char *name, const char *text, const char *expected)
{
    uint64_t *sizes;
    char why[200] = "", got[4096] = "", report_why[5000];
    int count = sizes_parse(text, &sizes, why, sizeof why);
    if (count < 0)
        snprintf(got, sizeof got, "refused");
    for (int i = 0; i < count && strlen(got) < 4000; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%" PRIu64, i ? " " : "", sizes[i]);
    snprintf(report_why, sizeof report_why, "\"%s\" gives %s (%s), not %s", text, got, why, expected);
    report(!strcmp(got, expected) && (count < 0) == (why[0] != '\0'), name, report_why);
    free(sizes);
}

static void check_reason(const char *name, const char *text, const char *reason)
{
    uint64_t *sizes;
    char why[200] = "", report_why[500];
    int count = sizes_parse(text, &sizes, why, sizeof why);
    snprintf(report_why, sizeof report_why, "\"%s\" gives %d and \"%s\", which does not say %s", text, count, why,
             reason);
    report(count < 0 && strstr(why, reason), name, report_why);
    free(sizes);
}

int main(void)
{
    uint64_t *sizes;
    char why[200];

    check("number", "1000", "1000");
    check("zero", "0", "0");
    check("power", "2^10", "1024");
    check("power_of_zero", "2^0", "1");
    check("power_of_ten", "10^6", "1000000");
    check("largest", "18446744073709551615", "18446744073709551615");
    check("largest_power", "2^63", "9223372036854775808");
    check("doubling", "3:25", "3 6 12 24");
    check("doubling_of_powers", "2^2:2^5", "4 8 16 32");
    check("one_value_range", "7:7", "7");
    check("factor", "1:1000:x10", "1 10 100 1000");
    check("step", "31:35:+2", "31 33 35");
    check("step_from_zero", "0:4:+2", "0 2 4");
    check("list", "5,3,2^2", "3 4 5");
    check("list_of_all", "100,1:8,20:30:+5,2^4", "1 2 4 8 16 20 25 30 100");
    check("each_once", "8,1:8,8", "1 2 4 8");
    check("ends_at_the_top", "2^62:18446744073709551615:x4", "4611686018427387904");
    check("steps_to_the_top", "18446744073709551614:18446744073709551615:+2", "18446744073709551614");

    check("letters", "3,5x", "refused");
    check("above_64_bits", "2^64", "refused");
    check("above_64_bits_digits", "18446744073709551616", "refused");
    check("far_above", "10^99999999999999999999", "refused");
    check("backwards", "10:5", "refused");
    check("factor_one", "1:8:x1", "refused");
    check("factor_zero", "1:8:x0", "refused");
    check("step_zero", "1:8:+0", "refused");
    check("empty", "", "refused");
    check("empty_part", "1,,2", "refused");
    check("trailing_comma", "1,", "refused");
    check("negative", "-5", "refused");
    check("negative_end", "1:-5", "refused");
    check("decimal", "1.5", "refused");
    check("exponent", "1e6", "refused");
    check("hexadecimal", "0x10", "refused");
    check("space", " 5", "refused");
    check("inner_space", "5, 6", "refused");
    check("no_end", "5:", "refused");
    check("no_start", ":5", "refused");
    check("no_step", "1:5:", "refused");
    check("no_factor", "1:5:x", "refused");
    check("bare_step", "1:5:2", "refused");
    check("four_fields", "1:5:x2:3", "refused");
    check("five_fields", "1:2:3:4:5", "refused");
    check("doubling_of_zero", "0:8", "refused");
    check("two_carets", "2^3^2", "refused");
    check("base_one", "1^5", "refused");
    check("no_exponent", "2^", "refused");
    check("too_many", "1:1000000:+1", "refused");
    check("endless", "1:18446744073709551615:+1", "refused");

    check_reason("says_negative", "-5", "negative");
    check_reason("says_which_part", "3,5x", "\"5x\"");
    check_reason("says_overflow", "2^64", "2^64 - 1");
    check_reason("says_backwards", "10:5", "below its start");
    check_reason("says_factor", "1:8:x1", "factor is 2 or more");
    check_reason("says_step", "1:8:+0", "step is 1 or more");

    int count = sizes_parse("2^10:2^28", &sizes, why, sizeof why);
    report(count == 19 && sizes[0] == 1024 && sizes[18] == 1 << 28, "default_sweep", "not the 19 powers of two");
    free(sizes);
    return failures != 0;
}
