/* SPDX-License-Identifier: MIT */
/* Order statistics of samples of one quantity. */
#ifndef STATS_H
#define STATS_H

/* NAN where a number cannot be had (no sample; fewer than six samples have no interval). The median of an even count
 * is the mean of the two in the middle; quartiles lie on a straight line between the two samples at (count - 1) / 4
 * and 3 (count - 1) / 4 places from the first, as numpy.percentile has them. */
struct summary {
    int samples;
    double min, q1, median, q3, max;
    double ci_lo, ci_hi; /* rank-based 95 % interval of the median */
};

/* Sorts `values` (all finite) in place and summarises them. */
struct summary summarise(double *values, int count);

/* The largest j with P(Binomial(count, 1/2) < j) <= 0.025, so that x(j)..x(count+1-j) covers the median in at least
 * 95 %; 0 if there is none (count < 6). */
int ci_rank(int count);

#endif
