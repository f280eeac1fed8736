/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at the fraction p of the way from the first sorted value to the last, between two of them by a straight
 * line: what numpy, pandas and R compute unless told otherwise. At p = 1/2 it is the median, of an even count the
 * mean of the two in the middle. */
static double quantile(const double *sorted, int count, double p)
{
    double place = p * (count - 1);
    int below = (int)place;
    if (below >= count - 1)
        return sorted[count - 1];
    double part = place - below;
    return part == 0 ? sorted[below] : sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

int ci_rank(int count)
{
    /* P(Bin(count, 1/2) < j) is the sum of the first j binomial coefficients over 2^count. Both outgrow a double, so
     * the power of two is kept apart. */
    double term = 1, sum = 0;
    int exponent = -count, rank = 0;
    while (rank <= count) {
        sum += term;
        if (ldexp(sum, exponent) > 0.025)
            break;
        rank++;
        term *= (double)(count - rank + 1) / rank;
        if (term > 0x1p500) {
            term = ldexp(term, -500);
            sum = ldexp(sum, -500);
            exponent += 500;
        }
    }
    return rank;
}

struct summary summarise(double *values, int count)
{
    struct summary s = {count, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (count <= 0) {
        s.samples = 0;
        return s;
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    s.min = values[0];
    s.q1 = quantile(values, count, 0.25);
    s.median = quantile(values, count, 0.5);
    s.q3 = quantile(values, count, 0.75);
    s.max = values[count - 1];
    int rank = ci_rank(count);
    if (rank > 0) {
        s.ci_lo = values[rank - 1];
        s.ci_hi = values[count - rank];
    }
    return s;
}
