/* SPDX-License-Identifier: MIT */
#include "core_clock.h"

#include "timer.h"

#include <math.h>

enum { TRIES = 3, ADDITIONS = 4000, FIRST_READINGS = 3000 };

static double best_mhz;

double core_clock_mhz(void)
{
    double fastest_s = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        unsigned long sum = 0;
        double begun = timer_now_s();
        for (int j = 0; j < ADDITIONS; j++) {
            sum++;
            __asm__ volatile("" : "+r"(sum)); /* each of them, one after the other */
        }
        fastest_s = fmin(fastest_s, timer_now_s() - begun);
    }
    double mhz = ADDITIONS / fastest_s / 1e6;
    best_mhz = fmax(best_mhz, mhz);
    return mhz;
}

double core_clock_best_mhz(void)
{
    for (int i = best_mhz > 0 ? FIRST_READINGS : 0; i < FIRST_READINGS; i++)
        core_clock_mhz();
    return best_mhz;
}
