/* SPDX-License-Identifier: MIT */
#include "contest.h"

#include "host_threads.h"
#include "shuffle.h"
#include "timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AT_ONCE = 64 };

struct contestant {
    int index; /* in the points */
    struct row row;
    struct job *job; /* NULL: not on the field */
    struct timing *timing;
    bool reported;
};

static void report(const struct contest *contest, struct contestant *c)
{
    c->reported = true;
    contest->on_row(contest->arg, c->index, &c->row);
}

/* Sets the point up and checks it. False: there was no room for it beside the others. */
static bool enter(const struct contest *contest, struct contestant *c, int on_field)
{
    bool postponed;
    contest->on_turn(contest->arg, c->index);
    c->job = job_open(&contest->points[c->index], contest->options, &c->row, &postponed);
    if (!c->job && postponed && on_field > 0)
        return false;
    if (c->job) {
        c->timing = timing_begin(job_subject(c->job), contest->options, &c->row);
        if (!c->timing) {
            job_close(c->job, contest->options);
            c->job = NULL;
        }
    }
    if (!c->job)
        report(contest, c);
    return true;
}

/* `cut`: it would have taken more samples. */
static void leave(const struct contest *contest, struct contestant *c, bool cut)
{
    const struct sample *samples;
    contest->on_turn(contest->arg, c->index);
    timing_end(c->timing);
    if (cut && !device_error()) {
        int taken = c->row.device.samples;
        if (taken < contest->options->min_samples || !c->row.host.samples) {
            char detail[64];
            snprintf(detail, sizeof detail, "after-%d-samples", taken);
            row_set(&c->row, STATUS_INTERRUPTED, detail, "interrupted before it had samples enough");
        } else {
            row_flag(&c->row, "cut-short");
        }
    }
    job_close(c->job, contest->options);
    int count = timing_samples(c->timing, &samples);
    if (count && contest->on_samples)
        contest->on_samples(contest->arg, c->index, samples, count);
    timing_free(c->timing);
    c->job = NULL;
    c->timing = NULL;
    report(contest, c);
}

/* Those on the field take turns until each has its row; false: the device is lost. */
static bool take_turns(const struct contest *contest, struct contestant *all, int *field, int count, uint64_t *state)
{
    while (count > 0) {
        int left = 0;
        shuffle(field, count, state);
        for (int i = 0; i < count; i++) {
            struct contestant *c = &all[field[i]];
            contest->on_turn(contest->arg, c->index);
            host_threads_rest(); /* of whoever ran before */
            bool cut = *contest->stop;
            if (!cut && timing_turn(c->timing)) {
                field[left++] = field[i];
                continue;
            }
            leave(contest, c, cut);
            if (device_error())
                return false;
        }
        count = left;
    }
    return true;
}

void contest_run(const struct contest *contest)
{
    struct contestant *all = calloc((size_t)contest->count, sizeof *all);
    uint64_t state = contest->seed;
    int waiting = all ? contest->count : 0;
    for (int i = 0; i < waiting; i++)
        all[i].index = contest->members[i];

    while (waiting > 0 && !*contest->stop) {
        int field[MOST_AT_ONCE], on_field = 0; /* places in `all` */
        waiting = 0;
        for (int i = 0; i < contest->count && !*contest->stop; i++) {
            struct contestant *c = &all[i];
            if (c->reported)
                continue;
            if (on_field == MOST_AT_ONCE || !enter(contest, c, on_field))
                waiting++;
            else if (c->job)
                field[on_field++] = i;
            if (device_error()) {
                if (c->job)
                    leave(contest, c, false);
                goto lost;
            }
        }
        if (!take_turns(contest, all, field, on_field, &state))
            goto lost;
    }
lost: /* what is still on the field goes with the device */
    free(all);
}
