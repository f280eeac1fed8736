/* SPDX-License-Identifier: MIT */
/* The clock of the core that this thread runs on, as far as the thread gets it. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

/* Additions that wait for each other, one a cycle, over the time they take: MHz. It falls with the core's clock, and
 * with whatever else keeps the thread from a cycle each. The best of three tries of some 2 us. */
double core_clock_mhz(void);

/* The highest reading of this process so far; the first call spends some 20 ms on finding one. */
double core_clock_best_mhz(void);

#endif
