/* SPDX-License-Identifier: MIT */
/* What timing itself costs on the open device, and what it cannot be faster than. Seconds and GB/s; NAN: not known. */
#ifndef OVERHEADS_H
#define OVERHEADS_H

#include "job.h"

struct overheads {
    double event_resolution_s;         /* finest step of the event clock */
    double event_pair_s;               /* device time between two events with nothing between them */
    double gate_s;                     /* host time to close and open a gate around nothing, and to wait for it */
    double empty_kernel_s;             /* device time of a kernel that does nothing */
    double h2d_gb_per_s, d2h_gb_per_s; /* from and to pinned memory of the host */
    double copy_gb_per_s; /* device to device, bytes read and written, at the largest n of the plan that fits; NAN where
                             the plan has copies of its own */
    double sm_clock_first_mhz, sm_clock_busy_mhz; /* in the first millisecond after a rest, and after 0.1 s of work */
};

/* Takes less than a second. `points` tell for which sizes the ceiling is wanted: the kernels of the kind copy are timed
 * at the largest n. An error of the device stays for the caller to see. */
void overheads_measure(const struct point *points, int count, const struct job_options *options,
                       struct overheads *overheads);

#endif
