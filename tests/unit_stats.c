/* SPDX-License-Identifier: MIT */
/* Order statistics against values worked out by hand or taken from tables of the binomial distribution. */
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void report(bool right, const char *name, const char *why)
{
    if (right)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %s\n", name, why);
    failures += !right;
}

/* Ranks of the sign test's tables; the last ones from exact big-integer sums. */
static void test_ranks(void)
{
    static const struct {
        int count, rank;
    } known[] = {{0, 0},   {1, 0},   {5, 0},   {6, 1},    {7, 1},      {8, 1},      {9, 2},        {11, 2},
                 {12, 3},  {15, 4},  {17, 5},  {20, 6},   {25, 8},     {30, 10},    {40, 14},      {50, 18},
                 {53, 19}, {71, 27}, {95, 38}, {100, 40}, {1000, 469}, {2000, 956}, {10000, 4902}, {100000, 49690}};
    char why[80] = "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ci_rank(known[i].count) != known[i].rank)
            snprintf(why, sizeof why, "%d samples: rank %d, not %d", known[i].count, ci_rank(known[i].count),
                     known[i].rank);
    report(!why[0], "ci_rank", why);
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_quartiles(void)
{
    double one[] = {3};
    struct summary s = summarise(one, 1);
    report(s.samples == 1 && s.min == 3 && s.q1 == 3 && s.median == 3 && s.q3 == 3 && s.max == 3 && isnan(s.ci_lo) &&
               isnan(s.ci_hi),
           "summary_of_one", "one sample is its own everything and has no interval");

    double even[] = {4, 1, 3, 2};
    s = summarise(even, 4);
    report(near(s.q1, 1.75) && near(s.median, 2.5) && near(s.q3, 3.25) && s.min == 1 && s.max == 4, "summary_of_four",
           "1 2 3 4 has quartiles 1.75 2.5 3.25");

    double odd[] = {5, 1, 4, 2, 3};
    s = summarise(odd, 5);
    report(s.q1 == 2 && s.median == 3 && s.q3 == 4 && isnan(s.ci_lo), "summary_of_five",
           "1..5 has quartiles 2 3 4 and no interval");

    s = summarise(odd, 0);
    report(s.samples == 0 && isnan(s.median) && isnan(s.min), "summary_of_none", "no sample, no number");
}

static void test_interval(void)
{
    double values[30];
    for (int i = 0; i < 30; i++)
        values[i] = (i * 7) % 30 + 1;
    struct summary s = summarise(values, 30);
    report(s.ci_lo == 10 && s.ci_hi == 21 && s.median == 15.5, "interval_of_thirty", "30 samples: x(10)..x(21)");

    double six[] = {6, 5, 4, 3, 2, 1};
    s = summarise(six, 6);
    report(s.ci_lo == 1 && s.ci_hi == 6, "interval_of_six", "6 samples: x(1)..x(6)");
}

/* From six samples on, every number is there and they are in order, whatever the count. */
static void test_order(void)
{
    bool right = true;
    double values[400];
    for (int count = 6; count <= 400; count++) {
        for (int i = 0; i < count; i++)
            values[i] = (double)(rand() % 1000) * 1e-6;
        struct summary s = summarise(values, count);
        right = right && s.samples == count && s.min <= s.ci_lo && s.ci_lo <= s.median && s.median <= s.ci_hi &&
                s.ci_hi <= s.max && s.min <= s.q1 && s.q1 <= s.median && s.median <= s.q3 && s.q3 <= s.max;
    }
    report(right, "summary_in_order", "min <= q1, interval <= median <= q3, interval <= max");
}

/* How often the interval covers the true median: 30 samples, 95.7 %. */
static void test_coverage(void)
{
    enum { RUNS = 20000 };
    int covered = 0;
    srand(1);
    for (int run = 0; run < RUNS; run++) {
        double values[30];
        for (int i = 0; i < 30; i++)
            values[i] = rand() / (RAND_MAX + 1.0);
        struct summary s = summarise(values, 30);
        covered += s.ci_lo <= 0.5 && 0.5 <= s.ci_hi;
    }
    double share = (double)covered / RUNS;
    char why[80];
    snprintf(why, sizeof why, "%.1f %% of the intervals cover the median, not 95.7 %%", share * 100);
    report(share > 0.95 && share < 0.965, "interval_coverage", why);
}

int main(void)
{
    test_ranks();
    test_quartiles();
    test_interval();
    test_order();
    test_coverage();
    return failures != 0;
}
