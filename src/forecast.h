/* SPDX-License-Identifier: MIT */
/* How long a plan will take, without touching a device. */
#ifndef FORECAST_H
#define FORECAST_H

#include "job.h"

struct forecast {
    double seconds; /* of all points, what is left out not counted */
    int known;      /* points whose run time is that of an earlier run */
    char run[4096]; /* its folder; "" where there is none */
};

/* The points with leave_out[i] take no time; NULL: all take theirs. `each` gets the seconds of each point; NULL: not
 * wanted. Run times are the medians of the newest complete
 * run of this kind of device below settings->output, where it has the point; otherwise they are guessed from the model.
 */
void forecast_plan(const struct settings *settings, const struct point *points, int count, const bool *leave_out,
                   struct forecast *forecast, double *each);

/* What is assumed of the machine, in words. */
const char *forecast_assumptions(void);

#endif
