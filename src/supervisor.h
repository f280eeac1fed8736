/* SPDX-License-Identifier: MIT */
/*
 * Runs a plan in a worker process and receives its rows one at a time through a pipe. The worker owns the device:
 * a kernel that hangs, a sticky error or a crash costs one row, and the rest goes on in a fresh worker.
 * The supervisor never touches the device.
 */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include "overheads.h"

/* What a worker tells once, after it has opened the device. */
struct worker_hello {
    int error; /* 0, or device_open's */
    char why[400];
    struct device_properties properties;
    struct overheads overheads; /* where points are timed */
};

#define INTERRUPT_LIMIT_S 10

struct supervision {
    const struct point *points;
    int count;
    int device;
    struct device_options device_options;
    struct job_options job;
    double point_limit_s; /* wall time without a sign of life after which a point is ended as `timeout` */
    const bool *skip;     /* points that have a row already; NULL: none */
    bool profile;         /* one plain run a point, for a profiler, and no time */

    /* Called in the supervisor; `arg` is handed through. Points that are checked come in plan order, points that are
     * timed in that of plan_order, and take turns: several may have started and not yet ended. */
    void (*on_open)(void *arg, const struct worker_hello *hello);  /* once, before overheads are measured; optional */
    void (*on_hello)(void *arg, const struct worker_hello *hello); /* once */
    void (*on_start)(void *arg, int index);                        /* each time that it is this point's turn */
    void (*on_samples)(void *arg, int index, const struct sample *samples, int count); /* before its row; optional */
    void (*on_row)(void *arg, int index, const struct row *row);
    void *arg;

    /* Optional. A callback that cannot go on (a full disk) sets it: no later point is begun. */
    const bool *stop;
};

/* 0 when all points have a row, or after *stop; EXIT_NO_DEVICE when the device cannot be opened; EXIT_INTERRUPTED
 * after SIGINT, SIGTERM or SIGHUP: a point that is checked gets no row; points that are being timed end with what they
 * have, within INTERRUPT_LIMIT_S, or at a second signal without a row; no later one is begun. */
int supervise(const struct supervision *supervision);

#endif
