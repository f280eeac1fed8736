/* SPDX-License-Identifier: MIT */
/*
 * A point is run twice before anything is timed, on two different inputs in the same buffers and workspace: what the
 * first run left behind must not help or hurt the second. Counted are the launches of both and the additions of the
 * first; the second runs the code that is timed, without a counter. Where nothing is timed and one input is as good as
 * another, large points are run once: the small ones have shown it.
 *
 * The count build counts both runs whole, additions and bytes, and looks at its reports before it looks at the answer:
 * they say where in the source it went wrong.
 */
#include "job.h"

#include "buffers.h"
#include "csv.h"
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
    row->prepare_s = row->sm_clock_mhz = NAN;
    row->device = row->host = summarise(NULL, 0);
    row->launches = row->additions = row->steps = row->bytes_moved = row->workspace_bytes = UNKNOWN;
}

void row_flag(struct row *row, const char *flag)
{
    size_t used = strlen(row->flags);
    snprintf(row->flags + used, sizeof row->flags - used, "%s%s", used ? "+" : "", flag);
}

/* One point on its way. */
struct job {
    const struct point *point;
    const struct algorithm *algorithm;
    struct problem problem;
    struct cost model;
    struct buffers buffers;
    struct row *row;
    const struct reference *loaded; /* its input is on the device; NULL: none is */
    struct device_graph *graph;     /* once it is captured, it is what runs */
    struct subject subject;
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
    row->sm_clock_mhz = NAN;
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

/* One more line about what is wrong; one that does not fit is left out. */
static void add_further(struct row *row, const char *text)
{
    size_t used = strlen(row->further), length = strlen(text);
    if (used + length + 2 <= sizeof row->further)
        sprintf(row->further + used, "%s\n", text);
}

/* What the count build has to say of a kernel: the first report is the row's message. An error of the device, which is
 * often what it led to, comes last. */
static bool reported(struct job *job)
{
    const struct counter *counter = device_counter();
    const struct report *reports;
    int count = counter ? counter->reports(&reports) : 0;
    if (!count)
        return false;
    fail(job, STATUS_ERROR, reports[0].kind, "%s", reports[0].text);
    for (int i = 1; i < count; i++)
        add_further(job->row, reports[i].text);
    if (device_error())
        add_further(job->row, device_error_text());
    return true;
}

static bool device_failed(struct job *job)
{
    char detail[96];
    if (!on_device(job) || !device_error())
        return false;
    fail(job, device_error() == DEVICE_ERROR_MEMORY ? STATUS_OOM : STATUS_ERROR,
         slug(&detail, "device-error-%d", device_error()), "%s", device_error_text());
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
    char name[32], detail[96];
    csv_slug(what, name, sizeof name);
    return counted == modelled || counted == UNKNOWN || modelled == UNKNOWN ||
           fail(job, STATUS_ERROR, slug(&detail, "%s-%" PRIu64 "-model-%" PRIu64, name, counted, modelled),
                "%" PRIu64 " %s counted, but its model says %" PRIu64, counted, what, modelled);
}

/* ------------------------------------------------------------------------------------------------ running */

/* What one run did, seen from outside. */
struct seen {
    uint64_t launches, additions;
    uint64_t bytes_read, bytes_written; /* by plain accesses */
};

static uint64_t plain_bytes_read(const struct counts *counts)
{
    return counts->bytes_read - counts->atomic_bytes_read;
}

static uint64_t plain_bytes_written(const struct counts *counts)
{
    return counts->bytes_written - counts->atomic_bytes_written;
}

/* The count build's totals since the run began. */
static void see_counts(const struct job *job, const struct counter *counter, struct seen *seen)
{
    struct counts all = {0};
    const struct launch_counts *list;
    if (on_device(job)) {
        int count = counter->launches(&list);
        for (int i = 0; i < count; i++) {
            all.additions += list[i].counts.additions;
            all.bytes_read += plain_bytes_read(&list[i].counts);
            all.bytes_written += plain_bytes_written(&list[i].counts);
        }
    } else {
        counter->host_counts(&all);
    }
    seen->additions = all.additions;
    seen->bytes_read = all.bytes_read;
    seen->bytes_written = all.bytes_written;
}

static void begin_counting(const struct job *job, const struct counter *counter, bool memory)
{
    const struct buffers *buffers = &job->buffers;
    counter->begin(memory);
    if (on_device(job))
        return;
    counter->host_array(buffers->in.data, buffers->in.bytes);
    if (!buffers->in_place)
        counter->host_array(buffers->out.data, buffers->out.bytes);
    if (buffers->workspace.bytes)
        counter->host_array(buffers->workspace.data, buffers->workspace.bytes);
}

/* One run on what is loaded. `counted`: with the additions, where that costs time. */
static void run_once(struct job *job, bool counted, struct seen *seen)
{
    const struct counter *counter = device_counter();
    bool device = on_device(job);
    *seen = (struct seen){0, UNKNOWN, UNKNOWN, UNKNOWN};
    counted = counted && device && !counter && device_counts_additions(job->point->type, job->point->op);
    if (counted) {
        device_count_additions(true);
        seen->additions = device_additions();
    }
    uint64_t launches = device ? device_launches() : 0;
    if (counter)
        begin_counting(job, counter, true);
    if (job->graph)
        device_graph_replay(job->graph);
    else
        job->algorithm->run(&job->problem);
    if (device) {
        device_synchronize();
        seen->launches = device_launches() - launches;
    }
    if (counter) {
        counter->end();
        see_counts(job, counter, seen);
        if (counter->unfollowed() && !strstr(job->row->flags, FLAG_UNFOLLOWED))
            row_flag(job->row, FLAG_UNFOLLOWED);
    }
    if (counted) {
        seen->additions = device_additions() - seen->additions;
        device_count_additions(false);
    }
}

static bool check_answer(struct job *job, const struct reference *reference, void *copy)
{
    return check_guards(job) && check_input(job, reference) && check_output(job, reference, copy);
}

static uint64_t bytes_of(uint64_t words, enum type type)
{
    return words == UNKNOWN ? UNKNOWN : words * type_size(type);
}

/* Additions that are the compiler's are not compared, and not kept. */
static bool check_costs(struct job *job, const struct seen *seen)
{
    struct row *row = job->row;
    const struct cost *model = &job->model;
    enum type type = job->point->type;
    if (job->algorithm->model || !on_device(job))
        row->launches = seen->launches;
    if (seen->additions != UNKNOWN && (on_device(job) || model->additions != UNKNOWN)) {
        row->additions = seen->additions;
        /* A library takes other paths with an operator it does not know. */
        strcpy(row->additions_how, job->algorithm->runs_on == NVIDIA ? "opaque" : "counted");
    }
    return check_count(job, "launches", row->launches, model->launches) &&
           check_count(job, "additions", seen->additions, model->additions) &&
           check_count(job, "plain bytes read", seen->bytes_read, bytes_of(model->words_read, type)) &&
           check_count(job, "plain bytes written", seen->bytes_written, bytes_of(model->words_written, type));
}

/* One run on the reference's input, then every check. */
static bool run_checked(struct job *job, const struct reference *reference, bool counted, void *copy)
{
    struct seen seen;
    if (!job->loaded || job->loaded != reference || job->buffers.in_place)
        buffers_load(&job->buffers, reference->input);
    else
        buffers_keep_input(&job->buffers); /* that no timed run has changed it is then checked as well */
    job->loaded = reference;
    if (device_failed(job))
        return false;
    run_once(job, counted, &seen);
    return !reported(job) && !device_failed(job) && check_answer(job, reference, copy) && check_costs(job, &seen);
}

static bool simulated(void)
{
    struct device_properties properties;
    device_get_properties(&properties);
    return properties.simulated;
}

/* Unknown memory, impossible problems and missing implementations end here. */
static bool admit(struct job *job, bool in_place)
{
    const struct point *point = job->point;
    const char *why = point_unavailable(point);
    if (why) {
        char detail[96] = "needs-nvidia-gpu";
        if (job->algorithm->missing)
            csv_slug(why, detail, sizeof detail);
        else if (job->algorithm->runs_on != NVIDIA)
            strcpy(detail, "no-run");
        return fail(job, STATUS_UNSUPPORTED, detail, "%s", why);
    }
    if (!on_device(job) && simulated())
        return fail(job, STATUS_UNSUPPORTED, "no-simulated-time", "a simulated clock knows no time of the host");
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
    job->buffers.keep_workspace = job->algorithm->prepare != NULL;
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

/* From here on the point is run by replaying a graph of the run just counted. */
static bool capture(struct job *job)
{
    char why[400], detail[96];
    if (job->point->launch != LAUNCH_GRAPH)
        return true;
    job->graph = device_graph_capture(job->algorithm, &job->problem, why, sizeof why);
    if (!job->graph)
        return fail(job, STATUS_UNSUPPORTED, "no-graph", "cannot be captured into a graph: %s", why);
    uint64_t nodes = device_graph_launches(job->graph);
    return nodes == job->row->launches || job->row->launches == UNKNOWN ||
           fail(job, STATUS_ERROR,
                slug(&detail, "graph-nodes-%" PRIu64 "-launches-%" PRIu64, nodes, job->row->launches),
                "its graph has %" PRIu64 " launches, %" PRIu64 " were counted", nodes, job->row->launches);
}

/* The input of the second run, which is also that of all timed ones. */
static const struct reference *second_reference(struct job *job, const struct job_options *options)
{
    bool other = needs_both_inputs(job->point) || (job->point->n <= MOST_FOR_TWO_INPUTS && !job->point->hot);
    return reference_for(job, options->seed, other ? CONTENT_OTHER : CONTENT_EXACT);
}

/* Everything but time. True: the point can be timed. */
static bool check(struct job *job, const struct job_options *options, bool *postponed)
{
    struct row *row = job->row;
    char why[400];
    if (!admit(job, options->in_place))
        return false;
    if (!job->point->n) { /* nothing to launch, nothing to write */
        row->launches = row->additions = row->steps = row->bytes_moved = row->workspace_bytes = 0;
        return false;
    }
    if (job->point->cache == CACHE_COLD && !device_cold_prepare(why, sizeof why))
        return fail(job, STATUS_UNSUPPORTED, "no-cold-cache", "the cache cannot be emptied: %s", why);
    if (!take_memory(job, options->in_place, options->offset)) {
        *postponed = true;
        return false;
    }
    if (!prepare(job))
        return false;
    fill_costs(job);
    const struct reference *reference = reference_for(job, options->seed, CONTENT_EXACT);
    if (!reference || !run_checked(job, reference, true, NULL))
        return false;
    if (!job->algorithm->model && on_device(job)) /* after its first run: all of it is loaded */
        row->launches = device_launches_captured(job->algorithm, &job->problem);
    if (!capture(job))
        return false;
    if (!needs_both_inputs(job->point) && !options->timed && job->point->n > MOST_FOR_TWO_RUNS)
        return false;
    reference = second_reference(job, options);
    return reference && run_checked(job, reference, false, NULL);
}

static void end(struct job *job)
{
    if (job->graph)
        device_graph_destroy(job->graph);
    buffers_free(&job->buffers);
    job->graph = NULL;
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
    bool postponed;
    if (options->timed) {
        struct job *timed = job_open(point, options, row, &postponed);
        if (!timed)
            return;
        timer_measure(&timed->subject, options, row);
        job_close(timed, options);
        return;
    }
    begin(&job, point, row);
    check(&job, options, &postponed);
    end(&job);
}

struct job *job_open(const struct point *point, const struct job_options *options, struct row *row, bool *postponed)
{
    struct job *job = malloc(sizeof *job);
    *postponed = false;
    if (!job) {
        row_set(row, STATUS_OOM, "no-host-memory", "the host has no memory for one more point");
        return NULL;
    }
    begin(job, point, row);
    if (check(job, options, postponed)) {
        job->subject = (struct subject){.algorithm = job->algorithm,
                                        .problem = &job->problem,
                                        .graph = job->graph,
                                        .cold = point->cache == CACHE_COLD,
                                        .launches = row->launches};
        return job;
    }
    end(job);
    free(job);
    return NULL;
}

const struct subject *job_subject(const struct job *job)
{
    return &job->subject;
}

void job_close(struct job *job, const struct job_options *options)
{
    if (!device_failed(job) && job->row->status != STATUS_ERROR && job->row->status != STATUS_INTERRUPTED) {
        const struct reference *reference = second_reference(job, options);
        if (reference)
            run_checked(job, reference, false, NULL);
    }
    end(job);
    free(job);
}

void job_profile(const struct point *point, const struct job_options *options, struct row *row)
{
    bool postponed;
    struct job *job = job_open(point, options, row, &postponed);
    if (!job)
        return;
    if (job->subject.cold)
        device_make_cold();
    device_synchronize();
    device_profile(true);
    if (job->graph)
        device_graph_replay(job->graph);
    else
        job->algorithm->run(&job->problem);
    device_synchronize();
    device_profile(false);
    job_close(job, options);
}

/* ------------------------------------------------------------------------------------------------ the count build */

static void forget_counts(struct counts *counts)
{
#define FORGET(name) counts->name = UNKNOWN;
    EACH_COUNT(FORGET)
#undef FORGET
    counts->atomic_bytes_read = counts->atomic_bytes_written = 0;
}

static void add_counts(struct counts *all, const struct counts *one)
{
    uint64_t steps = all->steps > one->steps ? all->steps : one->steps;
    uint64_t deepest = all->lookback_max > one->lookback_max ? all->lookback_max : one->lookback_max;
#define ADD(name) all->name += one->name;
    EACH_COUNT(ADD)
    EACH_COUNT_INSIDE(ADD)
#undef ADD
    all->steps = steps;
    all->lookback_max = deepest;
}

static void *copy_of(const void *list, int count, size_t size)
{
    void *copy = count ? malloc((size_t)count * size) : NULL;
    if (count && !copy)
        abort();
    return count ? memcpy(copy, list, (size_t)count * size) : NULL;
}

/* Of the launches: the next begin() forgets them. */
static void keep_launches(const struct counter *counter, struct job_counts *counts)
{
    const struct launch_counts *list;
    counts->list_count = counter->launches(&list);
    counts->list = copy_of(list, counts->list_count, sizeof *list);
    for (int i = 0; i < counts->list_count; i++) {
        counts->blocks += list[i].blocks;
        counts->threads_launched += list[i].threads_launched;
        add_counts(&counts->all, &list[i].counts);
    }
}

/* Of a host algorithm only these mean something; a model that knows no additions leaves them to the compiler. */
static void keep_host_counts(const struct job *job, const struct counter *counter, struct job_counts *counts)
{
    struct counts seen = {0};
    counter->host_counts(&seen);
    forget_counts(&counts->all);
    counts->blocks = counts->threads_launched = UNKNOWN;
    counts->all.bytes_read = seen.bytes_read;
    counts->all.bytes_written = seen.bytes_written;
    if (job->model.additions != UNKNOWN)
        counts->all.additions = seen.additions;
}

static void keep_counts(const struct job *job, const struct counter *counter, const struct seen *seen,
                        struct job_counts *counts)
{
    const struct report *reports;
    counts->report_count = counter->reports(&reports);
    counts->reports = copy_of(reports, counts->report_count, sizeof *reports);
    counts->launches = seen->launches;
    if (on_device(job))
        keep_launches(counter, counts);
    else
        keep_host_counts(job, counter, counts);
}

/* Chains are counted in whole numbers: a float holds none above 2^24. */
static enum type type_of_steps(const struct job *job)
{
    enum type whole = type_size(job->point->type) == 4 ? I32 : I64;
    return job->algorithm->types & whole ? whole : job->point->type;
}

/* The same run with the operator STEPS, on zeros: what has no operator has no steps. */
static bool count_steps(struct job *job, const struct counter *counter, struct job_counts *counts)
{
    const struct launch_counts *list;
    if (job->problem.op == NONE || (!on_device(job) && job->model.steps == UNKNOWN))
        return true;
    job->problem.op = STEPS;
    job->problem.type = type_of_steps(job);
    buffers_load_zeros(&job->buffers);
    begin_counting(job, counter, false);
    job->algorithm->run(&job->problem);
    if (on_device(job))
        device_synchronize();
    counter->end();
    job->problem.op = job->point->op;
    job->problem.type = job->point->type;
    if (device_failed(job))
        return false;
    if (!on_device(job)) {
        struct counts seen = {0};
        counter->host_counts(&seen);
        counts->all.steps = seen.steps;
        return true;
    }
    int count = counter->launches(&list);
    if (count != counts->list_count)
        return fail(job, STATUS_ERROR, "launches-vary", "%d launches with one input, %d with another",
                    counts->list_count, count);
    counts->all.steps = 0;
    for (int i = 0; i < count; i++) {
        counts->list[i].counts.steps = list[i].counts.steps;
        if (list[i].counts.steps > counts->all.steps)
            counts->all.steps = list[i].counts.steps;
    }
    return true;
}

static void compare_with_model(struct job_counts *counts, const char *what, uint64_t counted, uint64_t modelled)
{
    size_t used = strlen(counts->disagreement);
    if (counted == UNKNOWN || modelled == UNKNOWN)
        return;
    if (counts->agreement == NO_MODEL)
        counts->agreement = MODEL_AGREES;
    if (counted == modelled)
        return;
    counts->agreement = MODEL_DISAGREES;
    snprintf(counts->disagreement + used, sizeof counts->disagreement - used,
             "%s%" PRIu64 " %s, the model says %" PRIu64, used ? "; " : "", counted, what, modelled);
}

static void compare_all_with_model(const struct job *job, struct job_counts *counts)
{
    const struct cost *model = &job->model;
    enum type type = job->point->type;
    compare_with_model(counts, "launches", counts->launches, model->launches);
    compare_with_model(counts, "additions", counts->all.additions, model->additions);
    compare_with_model(counts, "steps", counts->all.steps, model->steps);
    compare_with_model(counts, "plain bytes read", plain_bytes_read(&counts->all), bytes_of(model->words_read, type));
    compare_with_model(counts, "plain bytes written", plain_bytes_written(&counts->all),
                       bytes_of(model->words_written, type));
}

static void count_point(struct job *job, const struct job_options *options, struct job_counts *counts)
{
    const struct counter *counter = device_counter();
    struct seen seen;
    if (!admit(job, options->in_place) || !job->point->n || !take_memory(job, options->in_place, options->offset) ||
        !prepare(job))
        return;
    const struct reference *reference = reference_for(job, options->seed, CONTENT_EXACT);
    if (!reference)
        return;
    buffers_load(&job->buffers, reference->input);
    if (device_failed(job))
        return;
    run_once(job, true, &seen);
    keep_counts(job, counter, &seen, counts);
    if (!device_failed(job) && check_answer(job, reference, NULL) && count_steps(job, counter, counts))
        compare_all_with_model(job, counts);
}

void job_count(const struct point *point, const struct job_options *options, struct row *row, struct job_counts *counts)
{
    struct job job;
    memset(counts, 0, sizeof *counts);
    begin(&job, point, row);
    count_point(&job, options, counts);
    buffers_free(&job.buffers);
}

void job_counts_free(struct job_counts *counts)
{
    free(counts->list);
    free(counts->reports);
    memset(counts, 0, sizeof *counts);
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
