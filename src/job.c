/* SPDX-License-Identifier: MIT */
/*
 * A point is run twice before anything is timed, on two different inputs in the same buffers and workspace: what the
 * first run left behind must not help or hurt the second. Counted are the launches of both and the additions of the
 * first; the second runs the code that is timed, without a counter. Where nothing is timed and one input is as good as
 * another, large points are run once: the small ones have shown it.
 */
#include "job.h"

#include "buffers.h"
#include "reference.h"
#include "timer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MOST_FOR_TWO_RUNS = UINT64_C(1) << 18;
static const uint64_t MOST_FOR_TWO_INPUTS = UINT64_C(1) << 26; /* beyond, a second one costs the host gigabytes */

const char *status_name(enum status status)
{
    static const char *const names[STATUSES] = {"ok",          "unstable", "throttled", "mismatch", "oom",
                                                "unsupported", "timeout",  "error",     "not-run",  "interrupted"};
    return (unsigned)status < STATUSES ? names[status] : "";
}

void row_set(struct row *row, enum status status, const char *detail, const char *message)
{
    memset(row, 0, sizeof *row);
    row->status = status;
    snprintf(row->detail, sizeof row->detail, "%s", detail);
    snprintf(row->message, sizeof row->message, "%s", message);
    row->max_rel_err = NAN;
    row->prepare_s = NAN;
    row->device = row->host = summarise(NULL, 0);
    row->launches = row->additions = row->steps = row->bytes_moved = row->workspace_bytes = UNKNOWN;
}

/* One point on its way. */
struct job {
    const struct point *point;
    const struct algorithm *algorithm;
    struct problem problem;
    struct cost model;
    struct buffers buffers;
    struct row *row;
};

/* A row that says why there is no time. What was counted stays. */
__attribute__((format(printf, 4, 5))) static bool fail(struct job *job, enum status status, const char *detail,
                                                       const char *format, ...)
{
    struct row *row = job->row;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->message, sizeof row->message, format, arguments);
    va_end(arguments);
    row->status = status;
    snprintf(row->detail, sizeof row->detail, "%s", detail);
    row->device = row->host = summarise(NULL, 0);
    row->flags[0] = '\0';
    row->discarded = row->repeats = 0;
    return false;
}

__attribute__((format(printf, 2, 3))) static const char *slug(char (*text)[96], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(*text, sizeof *text, format, arguments);
    va_end(arguments);
    return *text;
}

static bool on_device(const struct job *job)
{
    return job->algorithm->runs_on != HOST;
}

static bool device_failed(struct job *job)
{
    char detail[96];
    if (!on_device(job) || !device_error())
        return false;
    fail(job, STATUS_ERROR, slug(&detail, "device-error-%d", device_error()), "%s", device_error_text());
    return true;
}

/* ------------------------------------------------------------------------------------------------ checks */

static bool check_guards(struct job *job)
{
    const char *damaged = buffers_damage(&job->buffers);
    return !damaged || fail(job, STATUS_MISMATCH, damaged, "it writes outside its buffers: %s is damaged", damaged);
}

struct comparison {
    const struct reference *reference;
    enum kind kind;
    uint64_t depth;
    struct difference difference;
    char *copy; /* where the content goes besides, or NULL */
};

static void compare_chunk(void *arg, const void *chunk, uint64_t from, uint64_t count)
{
    struct comparison *comparison = arg;
    size_t size = type_size(comparison->reference->type);
    reference_compare(comparison->reference, comparison->kind, comparison->depth, chunk, from, count,
                      &comparison->difference);
    if (comparison->copy)
        memcpy(comparison->copy + from * size, chunk, count * size);
}

static bool check_input(struct job *job, const struct reference *reference)
{
    char detail[96];
    struct comparison comparison = {.reference = reference, .kind = COPY};
    if (job->buffers.in_place)
        return true;
    buffer_read(&job->buffers, &job->buffers.in, type_size(job->point->type), compare_chunk, &comparison);
    const struct difference *d = &comparison.difference;
    return !d->wrong ||
           fail(job, STATUS_MISMATCH, slug(&detail, "input-changed-%" PRIu64, d->first),
                "it changes its input, first at %" PRIu64 ": %s was there, %s is", d->first, d->expected, d->got);
}

/* `copy` takes the output where it is not NULL. */
static bool check_output(struct job *job, const struct reference *reference, void *copy)
{
    char detail[96];
    struct comparison comparison = {.reference = reference, .kind = job->point->kind, .copy = copy};
    if (job->model.steps != UNKNOWN)
        comparison.depth = job->model.steps ? job->model.steps : 1;
    buffer_read(&job->buffers, &job->buffers.out, type_size(job->point->type), compare_chunk, &comparison);
    const struct difference *d = &comparison.difference;
    if (d->wrong)
        return fail(job, STATUS_MISMATCH, slug(&detail, "first-wrong-%" PRIu64, d->first),
                    "first wrong element %" PRIu64 " of %" PRIu64 ": expected %s, got %s (%" PRIu64 " wrong)", d->first,
                    job->point->n, d->expected, d->got, d->wrong);
    if ((job->point->type & (F32 | F64)) && !(d->max_rel_err <= job->row->max_rel_err))
        job->row->max_rel_err = d->max_rel_err;
    return true;
}

static bool check_count(struct job *job, const char *what, uint64_t counted, uint64_t modelled)
{
    char detail[96];
    return counted == modelled || counted == UNKNOWN || modelled == UNKNOWN ||
           fail(job, STATUS_ERROR, slug(&detail, "%s-%" PRIu64 "-model-%" PRIu64, what, counted, modelled),
                "%" PRIu64 " %s counted, but its model says %" PRIu64, counted, what, modelled);
}

/* ------------------------------------------------------------------------------------------------ running */

/* One run on the reference's input, then every check. `counted`: with the additions counted, where that can be. */
static bool run_checked(struct job *job, const struct reference *reference, bool counted, void *copy)
{
    bool device = on_device(job);
    uint64_t launches = 0, additions = UNKNOWN;
    counted = counted && device && device_counts_additions();

    buffers_load(&job->buffers, reference->input);
    if (device_failed(job))
        return false;
    if (counted) {
        device_count_additions(true);
        additions = device_additions();
    }
    if (device)
        launches = device_launches();
    job->algorithm->run(&job->problem);
    if (device) {
        device_synchronize();
        launches = device_launches() - launches;
    }
    if (counted) {
        additions = device_additions() - additions;
        device_count_additions(false);
    }
    if (device_failed(job) || !check_guards(job) || !check_input(job, reference) || !check_output(job, reference, copy))
        return false;

    struct row *row = job->row;
    if (job->algorithm->model || !device)
        row->launches = launches;
    if (counted) {
        row->additions = additions;
        strcpy(row->additions_how, "counted");
    }
    return check_count(job, "launches", row->launches, job->model.launches) &&
           check_count(job, "additions", additions, job->model.additions);
}

/* Unknown memory, impossible problems and missing implementations end here. */
static bool admit(struct job *job, bool in_place)
{
    const struct point *point = job->point;
    const char *why = point_unavailable(point);
    if (why)
        return fail(job, STATUS_UNSUPPORTED, job->algorithm->runs_on == NVIDIA ? "needs-nvidia-gpu" : "no-run", "%s",
                    why);
    if (in_place && !job->algorithm->in_place)
        return fail(job, STATUS_UNSUPPORTED, "not-in-place", "cannot work in place");
    why = point->n && job->algorithm->refuse ? job->algorithm->refuse(&job->problem) : NULL;
    if (why)
        return fail(job, STATUS_UNSUPPORTED, why, "not for this algorithm: %s", why);
    return true;
}

/* Two buffers (one in place) and the workspace, if they fit. */
static bool take_memory(struct job *job, bool in_place, int offset)
{
    const struct point *point = job->point;
    char detail[96];
    size_t size = type_size(point->type), workspace = 0;
    if (job->algorithm->workspace)
        workspace = job->algorithm->workspace(&job->problem);
    job->row->workspace_bytes = workspace;

    uint64_t need = (in_place ? 1 : 2) * point->n * size + workspace + buffers_overhead_bytes();
    uint64_t available = memory_available(job->algorithm->runs_on);
    if (need > available || !buffers_make(&job->buffers, job->algorithm->runs_on, point->n * size, workspace,
                                          (size_t)offset * size, in_place)) {
        uint64_t need_mib = (need + (1 << 20) - 1) >> 20, free_mib = available >> 20;
        return fail(job, STATUS_OOM, slug(&detail, "need-%" PRIu64 "-mib-free-%" PRIu64 "-mib", need_mib, free_mib),
                    "needs %" PRIu64 " MiB of %s memory, %" PRIu64 " MiB are free%s", need_mib,
                    on_device(job) ? "device" : "host", free_mib,
                    on_device(job) && !strcmp(device_kind(), "cpu") ? "; --memory sets how many there are" : "");
    }
    job->problem.in = job->buffers.in.data;
    job->problem.out = job->buffers.out.data;
    job->problem.workspace = job->buffers.workspace.data;
    return true;
}

static bool prepare(struct job *job)
{
    if (!job->algorithm->prepare)
        return true;
    double begun = timer_now_s();
    job->algorithm->prepare(&job->problem);
    if (on_device(job))
        device_synchronize();
    job->row->prepare_s = timer_now_s() - begun;
    return !device_failed(job);
}

/* What the descriptor knows of the cost; what can be counted replaces it. */
static void fill_costs(struct job *job)
{
    struct row *row = job->row;
    const struct cost *model = &job->model;
    row->steps = model->steps;
    row->additions = model->additions;
    if (model->additions != UNKNOWN)
        strcpy(row->additions_how, "model");
    if (model->words_read != UNKNOWN && model->words_written != UNKNOWN)
        row->bytes_moved = (model->words_read + model->words_written) * type_size(job->point->type);
    if (!job->algorithm->model && on_device(job))
        row->launches = device_launches_captured(job->algorithm, &job->problem);
}

static const struct reference *reference_for(struct job *job, uint64_t seed, enum content content)
{
    const struct point *point = job->point;
    char why[96];
    struct recipe recipe = {
        .type = point->type, .op = point->op, .n = point->n, .seed = seed, .content = content, .hot = point->hot};
    const struct reference *reference = reference_of(&recipe, why, sizeof why);
    if (reference)
        return reference;
    if (!strncmp(why, "need", 4))
        fail(job, STATUS_OOM, why, "the host has no memory for the right answer: %s", why);
    else
        fail(job, STATUS_ERROR, why, "the input is not fit for an exact answer: %s", why);
    return NULL;
}

/* Only sums of floats need two kinds of input, exact and real. */
static bool needs_both_inputs(const struct point *point)
{
    return (point->type & (F32 | F64)) && point->op == SUM && !point->hot;
}

static void run(struct job *job, const struct job_options *options)
{
    struct row *row = job->row;
    if (!admit(job, options->in_place))
        return;
    if (!job->point->n) { /* nothing to launch, nothing to write */
        row->launches = row->additions = row->steps = row->bytes_moved = row->workspace_bytes = 0;
        return;
    }
    if (!take_memory(job, options->in_place, options->offset))
        return;
    if (!prepare(job))
        return;
    fill_costs(job);
    const struct reference *reference = reference_for(job, options->seed, CONTENT_EXACT);
    if (!reference || !run_checked(job, reference, true, NULL))
        return;
    bool both = needs_both_inputs(job->point);
    if (!both && !options->timed && job->point->n > MOST_FOR_TWO_RUNS)
        return;
    if (both || (job->point->n <= MOST_FOR_TWO_INPUTS && !job->point->hot))
        reference = reference_for(job, options->seed, CONTENT_OTHER);
    if (!reference || !run_checked(job, reference, false, NULL) || !options->timed)
        return;
    timer_measure(job->algorithm, &job->problem, options, row);
    if (!device_failed(job) && row->status != STATUS_ERROR)
        run_checked(job, reference, false, NULL);
}

static void begin(struct job *job, const struct point *point, struct row *row)
{
    memset(job, 0, sizeof *job);
    row_set(row, STATUS_OK, "", "");
    job->point = point;
    job->algorithm = point->algorithm;
    job->row = row;
    job->model = point_model(point);
    point_problem(point, &job->problem);
}

void job_run(const struct point *point, const struct job_options *options, struct row *row)
{
    struct job job;
    begin(&job, point, row);
    run(&job, options);
    buffers_free(&job.buffers);
}

void job_scan(const struct point *point, void *input, void *output, struct row *row)
{
    struct job job;
    struct reference reference = {0};
    begin(&job, point, row);
    if (!admit(&job, false) || !point->n)
        return;
    if (!reference_make(&reference, point->type, point->op == NONE ? SUM : point->op, input, point->n))
        fail(&job, STATUS_OOM, "no-host-memory", "the host has no memory for the right answer");
    else if (take_memory(&job, false, 0) && prepare(&job))
        run_checked(&job, &reference, false, output);
    reference_free(&reference);
    buffers_free(&job.buffers);
}
