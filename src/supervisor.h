/* SPDX-License-Identifier: MIT */
/*
 * Runs a plan in a worker process and receives its rows one at a time through a pipe. The worker owns the device:
 * a kernel that hangs, a sticky error or a crash costs one row, and the rest goes on in a fresh worker.
 * The supervisor never touches the device.
 */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include "job.h"

/* What a worker tells once, after it has opened the device. */
struct worker_hello {
    int error; /* 0, or device_open's */
    char why[400];
    struct device_properties properties;
    double event_resolution_s;
};

struct supervision {
    const struct point *points;
    int count;
    int device;
    struct device_options device_options;
    struct job_options job;
    double point_limit_s; /* wall time after which a point is ended as `timeout` */

    /* Called in the supervisor, in plan order; `arg` is handed through. */
    void (*on_hello)(void *arg, const struct worker_hello *hello); /* once */
    void (*on_start)(void *arg, int index);
    void (*on_row)(void *arg, int index, const struct row *row);
    void *arg;

    /* Optional. A callback that cannot go on (a full disk) sets it: no later point is begun. */
    const bool *stop;
};

/* 0 when all points have a row, or after *stop; EXIT_NO_DEVICE when the device cannot be opened; EXIT_INTERRUPTED
 * after SIGINT or SIGTERM: the point in flight gets no row, no later one is begun. */
int supervise(const struct supervision *supervision);

#endif
