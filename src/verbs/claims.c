/* SPDX-License-Identifier: MIT */
/* claims: what the lesson and the quiz say about scans, each answered by rows counted or timed in this very run. */
#include "job.h"
#include "registry.h"
#include "timer.h"
#include "trace.h"
#include "verbs/lesson.h"
#include "verbs/verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum outcome { OPEN, HOLDS, CORRECTED, NEEDS_GPU, NEEDS_COUNT, BROKEN, OUTCOMES };
enum { ROWS = 16, TEXT = 400 };

struct answer {
    enum outcome outcome;
    char verdict[TEXT];
    char rows[ROWS][TEXT];
    int row_count;
};

/* One algorithm on one problem, run once and checked; in the count build with every access counted. */
struct evidence {
    struct point point;
    struct row row;
    struct job_counts counts;
};

struct claims {
    bool counting; /* the count build */
    bool gpu;
    struct evidence **seen;
    int seen_count;
    struct trace *traces[2]; /* of the lesson's tree and the one in place, as they are needed */
};

static const char *const AS_TAUGHT = "blelloch_lesson", *const IN_PLACE = "blelloch", *const LADDER = "hillis_steele";

/* ------------------------------------------------------------------------------------------------ answers */

/* The first verdict stays: whoever is left without evidence has said why. */
__attribute__((format(printf, 3, 4))) static void decide(struct answer *answer, enum outcome outcome,
                                                         const char *format, ...)
{
    va_list arguments;
    if (*answer->verdict)
        return;
    answer->outcome = outcome;
    va_start(arguments, format);
    vsnprintf(answer->verdict, sizeof answer->verdict, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void row(struct answer *answer, const char *format, ...)
{
    va_list arguments;
    if (answer->row_count == ROWS)
        return;
    va_start(arguments, format);
    vsnprintf(answer->rows[answer->row_count++], TEXT, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* "2^16", "1000" */
static const char *format_n(uint64_t n, char (*text)[24])
{
    if (n >= 4096 && !(n & (n - 1)))
        snprintf(*text, sizeof *text, "2^%d", log2_ceil(n));
    else
        snprintf(*text, sizeof *text, "%" PRIu64, n);
    return *text;
}

static bool within(double x, double low, double high)
{
    return x >= low && x <= high;
}

/* "About" y: a tenth more or less. */
static bool about(double x, double y)
{
    return within(x, 0.9 * y, 1.1 * y);
}

static bool needs_count_build(const struct claims *claims, struct answer *answer)
{
    if (!claims->counting)
        decide(answer, NEEDS_COUNT, "needs the count build");
    return !claims->counting;
}

/* ------------------------------------------------------------------------------------------------ evidence */

static bool same_point(const struct point *a, const struct point *b)
{
    return a->algorithm == b->algorithm && a->kind == b->kind && a->op == b->op && a->n == b->n &&
           a->threads == b->threads;
}

/* Runs a point, once. NULL and a verdict where there is no such algorithm, or its answer is wrong. */
static const struct evidence *see_point(struct claims *claims, struct answer *answer, const struct point *point)
{
    struct evidence *evidence = NULL;
    struct job_options options = {.seed = 1};
    for (int i = 0; i < claims->seen_count && !evidence; i++)
        if (same_point(&claims->seen[i]->point, point))
            evidence = claims->seen[i];
    if (!evidence) {
        evidence = calloc(1, sizeof *evidence);
        claims->seen = realloc(claims->seen, (size_t)(claims->seen_count + 1) * sizeof(struct evidence *));
        if (!evidence || !claims->seen)
            abort();
        claims->seen[claims->seen_count++] = evidence;
        evidence->point = *point;
        if (claims->counting)
            job_count(point, &options, &evidence->row, &evidence->counts);
        else
            job_run(point, &options, &evidence->row);
    }
    if (evidence->row.status == STATUS_OK)
        return evidence;
    decide(answer, BROKEN, "not answered: %s at n = %" PRIu64 ": %.200s", point->algorithm->name, point->n,
           evidence->row.message);
    return NULL;
}

static const struct evidence *see(struct claims *claims, struct answer *answer, const char *name, enum op op,
                                  uint64_t n, int threads)
{
    const struct algorithm *algorithm = registry_find(name);
    if (!algorithm || !algorithm->run) {
        decide(answer, OPEN, "open: there is no %s in this program", name);
        return NULL;
    }
    struct point point = {.algorithm = algorithm, .kind = EXCLUSIVE, .type = I32, .op = op, .n = n, .threads = threads};
    if (!threads && algorithm->runs_on != HOST)
        point.threads = algorithm->threads[0];
    return see_point(claims, answer, &point);
}

static uint64_t launches_of(const struct claims *claims, const struct evidence *evidence)
{
    return claims->counting ? evidence->counts.launches : evidence->row.launches;
}

/* Of one exclusive sum of n elements. UNKNOWN and a verdict where nobody counts them. */
static uint64_t see_additions(struct claims *claims, struct answer *answer, const char *name, uint64_t n)
{
    char text[24];
    const struct evidence *evidence = see(claims, answer, name, SUM, n, 0);
    if (!evidence)
        return UNKNOWN;
    uint64_t additions = claims->counting ? evidence->counts.all.additions : evidence->row.additions;
    if (!claims->counting && strcmp(evidence->row.additions_how, "counted") != 0) {
        decide(answer, NEEDS_COUNT, "needs the count build");
        return UNKNOWN;
    }
    row(answer, "%s, n = %s: %" PRIu64 " additions", name, format_n(n, &text), additions);
    return additions;
}

static uint64_t see_launches(struct claims *claims, struct answer *answer, const char *name, uint64_t n)
{
    char text[24];
    const struct evidence *evidence = see(claims, answer, name, SUM, n, 0);
    if (!evidence)
        return UNKNOWN;
    row(answer, "%s, n = %s: %" PRIu64 " launches", name, format_n(n, &text), launches_of(claims, evidence));
    return launches_of(claims, evidence);
}

/* Words of `sectors` sectors of 32 bytes, an element. */
static double words_each(const struct evidence *evidence, uint64_t sectors)
{
    return (double)sectors * 32 / (double)type_size(evidence->point.type) / (double)evidence->point.n;
}

/* "512, 256, 128, ..., 1": the threads that add in the launches from `first` on. */
static void list_active(const struct evidence *evidence, int first, int count, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (count > 6 && i == 3) {
            append(text, size, ", ...");
            i = count - 1;
        }
        append(text, size, "%s%" PRIu64, i ? ", " : "", evidence->counts.list[first + i].active_threads);
    }
}

static struct trace *make_trace(struct answer *answer, const struct algorithm *algorithm)
{
    static int32_t values[LESSON_N]; /* where an element goes does not depend on it */
    struct problem problem = {
        .n = LESSON_N, .type = I32, .op = TRACE, .kind = EXCLUSIVE, .threads = algorithm->threads[0]};
    struct trace *trace = calloc(1, sizeof *trace);
    char why[300];
    if (!trace)
        abort();
    if (trace_make(trace, algorithm, &problem, values, why, sizeof why))
        return trace;
    decide(answer, BROKEN, "not answered: %s: %.200s", algorithm->name, why);
    free(trace);
    return NULL;
}

/* The trace of an algorithm of the lesson at its n; NULL and a verdict where there is none. */
static const struct trace *see_trace(struct claims *claims, struct answer *answer, const char *name)
{
    int place = !strcmp(name, IN_PLACE);
    const struct algorithm *algorithm = registry_find(name);
    if (needs_count_build(claims, answer))
        return NULL;
    if (!algorithm)
        decide(answer, OPEN, "open: there is no %s in this program", name);
    else if (!claims->traces[place])
        claims->traces[place] = make_trace(answer, algorithm);
    return claims->traces[place];
}

/* The one array that launch number `launch` has changed, or NULL. */
static const struct trace_event *event_of(const struct trace *trace, int launch)
{
    const struct trace_event *found = NULL;
    for (int e = 0; e < trace->event_count; e++) {
        if (trace->events[e].launch != launch)
            continue;
        if (found || trace->events[e].array < 0)
            return NULL;
        found = &trace->events[e];
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------ the lesson */

/* L1 */
static void answer_passes(struct claims *claims, struct answer *answer)
{
    uint64_t launches = see_launches(claims, answer, LADDER, 1024);
    if (launches == 10)
        decide(answer, HOLDS, "holds");
    else if (launches != UNKNOWN)
        decide(answer, CORRECTED, "corrected: %" PRIu64 " passes", launches);
}

/* L2 */
static void answer_ladder_additions(struct claims *claims, struct answer *answer)
{
    uint64_t additions = see_additions(claims, answer, LADDER, 1024);
    row(answer, "n log2 n = 1024 x %d = %d", log2_ceil(1024), 1024 * log2_ceil(1024));
    if (additions == UNKNOWN)
        return;
    if (additions == 1024 * 10 - 1023)
        row(answer, "1023 fewer: in pass s the first 2^s cells have nobody to add");
    if (about((double)additions, 10000))
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: %" PRIu64, additions);
}

/* L3 */
static void answer_serial_additions(struct claims *claims, struct answer *answer)
{
    uint64_t additions = needs_count_build(claims, answer) ? UNKNOWN : see_additions(claims, answer, "serial", 1024);
    if (additions == 1023)
        decide(answer, HOLDS, "holds");
    else if (additions != UNKNOWN)
        decide(answer, CORRECTED, "corrected: %" PRIu64, additions);
}

/* L4 */
static void answer_tree_additions(struct claims *claims, struct answer *answer)
{
    uint64_t lesson = see_additions(claims, answer, AS_TAUGHT, 1024);
    uint64_t in_place = see_additions(claims, answer, IN_PLACE, 1024);
    if (lesson == UNKNOWN || in_place == UNKNOWN)
        return;
    if (about((double)lesson, 2048) && about((double)in_place, 2048))
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: %" PRIu64 " and %" PRIu64, lesson, in_place);
}

/* Does every last cell of 2 `stride` cells become the sum of the cell `stride` places left and itself in this launch,
 * and stays every other as it was? Tells how many do either. */
static bool is_upsweep(const struct trace *trace, int launch, uint64_t stride, uint64_t *added, uint64_t *kept)
{
    const struct trace_event *event = event_of(trace, launch);
    *added = *kept = 0;
    if (!event || trace->arrays[event->array].cells != trace->n)
        return false;
    for (uint64_t i = 0; i < trace->n; i++) {
        uint32_t x = event->after[i];
        if (x >= trace->expression_count)
            return false;
        const struct trace_expression *e = &trace->expressions[x];
        if ((i + 1) % (2 * stride)) {
            *kept += x == event->before[i] || (e->array >= 0 && e->cell == i);
        } else if (e->array == TRACE_ADDITION && e->left < trace->expression_count &&
                   e->right < trace->expression_count) {
            const struct trace_expression *left = &trace->expressions[e->left], *right = &trace->expressions[e->right];
            *added += left->array >= 0 && left->cell == i - stride && right->array >= 0 && right->cell == i;
        }
    }
    return *added == trace->n / (2 * stride) && *kept == trace->n - *added;
}

/* L5 */
static void answer_upsweep(struct claims *claims, struct answer *answer)
{
    const char *const names[] = {AS_TAUGHT, IN_PLACE};
    bool right = true;
    for (int a = 0; a < 2; a++) {
        const struct trace *trace = see_trace(claims, answer, names[a]);
        if (!trace)
            return;
        for (int launch = 1; launch <= 2; launch++) {
            uint64_t stride = UINT64_C(1) << (launch - 1), added, kept;
            right &= is_upsweep(trace, launch, stride, &added, &kept);
            row(answer,
                "%s, launch %d: %" PRIu64 " cells %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", ... became [i-%" PRIu64
                "] + [i], %" PRIu64 " others kept what they held",
                names[a], launch, added, 2 * stride - 1, 4 * stride - 1, 6 * stride - 1, stride, kept);
        }
    }
    if (right)
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: not all of these cells");
}

/* L6 */
static void answer_block_tops(struct claims *claims, struct answer *answer)
{
    const char *const names[] = {AS_TAUGHT, IN_PLACE};
    bool right = true;
    int k = log2_ceil(LESSON_N);
    for (int a = 0; a < 2; a++) {
        const struct trace *trace = see_trace(claims, answer, names[a]);
        if (!trace)
            return;
        const struct trace_event *event = event_of(trace, k);
        uint64_t subtotals = 0, first = 0, count = 0;
        for (uint64_t i = 0; event && trace->arrays[event->array].cells == trace->n && i < trace->n; i++) {
            uint64_t block = (i + 1) & ~i; /* the largest power of two that divides i + 1 */
            count = trace_span(trace, event->after[i], &first);
            subtotals += count == block && first == i + 1 - block;
        }
        row(answer, "%s, after launch %d: the last cell is the sum of elements %" PRIu64 " to %" PRIu64, names[a], k,
            first, first + count - 1);
        row(answer, "%s: %" PRIu64 " of %d cells hold the sum of the block that ends there", names[a], subtotals,
            LESSON_N);
        right &= subtotals == LESSON_N && first == 0 && count == LESSON_N;
    }
    if (right)
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: not all of these cells");
}

/* L7 */
static void answer_downsweep(struct claims *claims, struct answer *answer)
{
    const char *const names[] = {AS_TAUGHT, IN_PLACE};
    const enum op ops[] = {SUM, AFFINE};
    for (int a = 0; a < 2; a++) {
        for (int o = 0; o < 2; o++)
            if (!see(claims, answer, names[a], ops[o], LESSON_N, 0))
                return;
        row(answer, "%s, n = %d: all elements are right, sum and affine maps", names[a], LESSON_N);
    }
    for (int a = 0; a < 2 && claims->counting; a++) {
        const struct trace *trace = see_trace(claims, answer, names[a]);
        if (!trace)
            return;
        int k = log2_ceil(LESSON_N);
        const struct trace_event *clear = event_of(trace, k + 1);
        uint64_t changed = 0, wrong;
        for (uint64_t i = 0; clear && i < trace->arrays[clear->array].cells; i++)
            changed += clear->before[i] != clear->after[i];
        bool cleared = changed == 1 && clear->after[trace->arrays[clear->array].cells - 1] == 0;
        bool right = trace_is_right(trace, EXCLUSIVE, &wrong);
        row(answer, "%s: launch %d changes %" PRIu64 " cell%s%s; after %d more launches %s", names[a], k + 1, changed,
            changed == 1 ? "" : "s", cleared ? ", the last, to 0" : "", trace->launches - k - 1,
            right ? "every cell i holds the sum of the first i elements" : "the sums are wrong");
        if (!cleared || !right)
            decide(answer, CORRECTED, "corrected: not by a zero in the last cell");
    }
    decide(answer, HOLDS, "holds");
}

/* L8 */
static void answer_launches(struct claims *claims, struct answer *answer)
{
    uint64_t lesson = see_launches(claims, answer, AS_TAUGHT, 1024);
    uint64_t ladder = see_launches(claims, answer, LADDER, 1024);
    see_launches(claims, answer, IN_PLACE, 1024);
    if (lesson == UNKNOWN || ladder == UNKNOWN)
        return;
    if (lesson == 21 && ladder == 10)
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: %" PRIu64 " against %" PRIu64, lesson, ladder);
}

/* L9 */
static void answer_idle(struct claims *claims, struct answer *answer)
{
    const char *const names[] = {AS_TAUGHT, IN_PLACE};
    bool idle[2];
    int k = log2_ceil(1024);
    for (int a = 0; a < 2; a++) {
        char active[120];
        uint64_t added = 0;
        const struct evidence *evidence =
            needs_count_build(claims, answer) ? NULL : see(claims, answer, names[a], SUM, 1024, 0);
        if (!evidence)
            return;
        const struct job_counts *counts = &evidence->counts;
        if (counts->list_count <= k) {
            decide(answer, CORRECTED, "corrected: %s has no root", names[a]);
            return;
        }
        for (int i = 0; i < counts->list_count; i++)
            added += counts->list[i].active_threads;
        const struct launch_counts *root = &counts->list[k - 1];
        list_active(evidence, 0, k, active, sizeof active);
        row(answer, "%s, up-sweep: %s threads add; at the root %" PRIu64 " of %" PRIu64 " launched", names[a], active,
            root->active_threads, root->threads_launched);
        row(answer, "%s, all launches: %" PRIu64 " of %" PRIu64 " threads add", names[a], added,
            counts->threads_launched);
        idle[a] = (double)root->active_threads < 0.05 * (double)root->threads_launched;
    }
    if (idle[0] && idle[1])
        decide(answer, HOLDS, "holds");
    else if (idle[0] || idle[1])
        decide(answer, HOLDS, "holds for %s", names[idle[0] ? 0 : 1]);
    else
        decide(answer, CORRECTED, "corrected: one thread in 20 or more adds at the root");
}

/* ------------------------------------------------------------------------------------------------ times */

enum { LARGE_N = 1 << 26 };

/* Device time of one scan, or copy, of n elements; NULL and a verdict where there is no time. */
static const struct summary *see_time(struct claims *claims, struct answer *answer, const char *name, uint64_t n,
                                      struct row *timed)
{
    const struct algorithm *algorithm = registry_find(name);
    struct job_options options = {.seed = 1, .timed = true, .min_samples = 30, .max_samples = 1000, .budget_s = 0.3};
    char text[24];
    if (!claims->gpu) {
        decide(answer, NEEDS_GPU, "needs a GPU");
        return NULL;
    }
    if (!algorithm || !algorithm->run) {
        decide(answer, OPEN, "open: there is no %s in this program", name);
        return NULL;
    }
    bool copy = algorithm->kinds == COPY;
    struct point point = {.algorithm = algorithm,
                          .kind = copy ? COPY : EXCLUSIVE,
                          .type = I32,
                          .op = copy ? NONE : SUM,
                          .n = n,
                          .threads = algorithm->threads[0]};
    job_run(&point, &options, timed);
    if (!timed->device.samples || isnan(timed->device.ci_lo)) {
        decide(answer, BROKEN, "not answered: %s at n = %" PRIu64 ": %s: %.200s", name, n, status_name(timed->status),
               timed->message);
        return NULL;
    }
    row(answer, "%s, n = %s: %.4g us (%.4g to %.4g), stream launch, warm", name, format_n(n, &text),
        timed->device.median * 1e6, timed->device.ci_lo * 1e6, timed->device.ci_hi * 1e6);
    return &timed->device;
}

/* -1: a is the faster one, their intervals apart; 1: b is; 0: they meet. */
static int faster(const struct summary *a, const struct summary *b)
{
    return a->ci_hi < b->ci_lo ? -1 : a->ci_lo > b->ci_hi;
}

/* L10 */
static void answer_clock(struct claims *claims, struct answer *answer)
{
    struct row rows[3];
    const struct summary *ladder = see_time(claims, answer, LADDER, 1024, &rows[0]);
    const struct summary *lesson = ladder ? see_time(claims, answer, AS_TAUGHT, 1024, &rows[1]) : NULL;
    const struct summary *in_place = lesson ? see_time(claims, answer, IN_PLACE, 1024, &rows[2]) : NULL;
    if (!in_place)
        return;
    bool beats_lesson = faster(ladder, lesson) < 0, beats_in_place = faster(ladder, in_place) < 0;
    if (beats_lesson && beats_in_place)
        decide(answer, HOLDS, "holds");
    else if (beats_lesson || beats_in_place)
        decide(answer, HOLDS, "holds for %s", beats_lesson ? AS_TAUGHT : IN_PLACE);
    else
        decide(answer, CORRECTED, "corrected: here it does not win");
}

/* L11 */
static void answer_large(struct claims *claims, struct answer *answer)
{
    const char *const names[] = {AS_TAUGHT, IN_PLACE};
    uint64_t from[2] = {0, 0}; /* the smallest n from which on the tree is the faster one */
    char text[24], last[24];
    for (uint64_t n = 1 << 10; n <= LARGE_N; n *= 16) {
        struct row rows[2];
        const struct summary *ladder = see_time(claims, answer, LADDER, n, &rows[0]);
        for (int a = 0; a < 2 && ladder; a++) {
            const struct summary *tree = see_time(claims, answer, names[a], n, &rows[1]);
            if (!tree)
                return;
            if (faster(tree, ladder) >= 0)
                from[a] = 0;
            else if (!from[a])
                from[a] = n;
        }
        if (!ladder)
            return;
    }
    if (from[0] && from[1])
        decide(answer, HOLDS, "holds");
    else if (from[0] || from[1])
        decide(answer, HOLDS, "holds for %s, from n = %s or less; never for %s up to %s", names[from[0] ? 0 : 1],
               format_n(from[0] ? from[0] : from[1], &text), names[from[0] ? 1 : 0], format_n(LARGE_N, &last));
    else
        decide(answer, CORRECTED, "corrected: not up to n = %s", format_n(LARGE_N, &last));
}

/* L16 */
static void answer_bill(struct claims *claims, struct answer *answer)
{
    struct row rows[2];
    const struct summary *copy = see_time(claims, answer, "copy", LARGE_N, &rows[0]);
    const struct summary *ladder = copy ? see_time(claims, answer, LADDER, LARGE_N, &rows[1]) : NULL;
    if (!ladder)
        return;
    double copied = (double)rows[0].bytes_moved / copy->median, moved = (double)rows[1].bytes_moved / ladder->median;
    row(answer, "%s moves its bytes at %.0f %% of the rate of the copy", LADDER, 100 * moved / copied);
    if (moved > 0.5 * copied)
        decide(answer, HOLDS, "holds for %s: most of its time is that of its traffic", LADDER);
    else
        decide(answer, CORRECTED, "corrected: its traffic takes less than half of its time");
}

/* ------------------------------------------------------------------------------------------------ the lesson, on */

/* L12 */
static void answer_exercise(struct claims *claims, struct answer *answer)
{
    const char *const names[] = {"serial", LADDER, AS_TAUGHT, IN_PLACE};
    int right = 0, all = 0;
    (void)claims;
    for (int a = 0; a < 4; a++) {
        const struct algorithm *algorithm = registry_find(names[a]);
        struct lesson_answer given;
        if (!algorithm)
            continue;
        lesson_answer(algorithm, &given);
        all++;
        right += given.row.status == STATUS_OK && given.at_place == lesson_sum(LESSON_PLACE) &&
                 given.total == lesson_sum(LESSON_N);
        row(answer, "%s, " LESSON_INPUT ": exclusive[%d] = %" PRId32 ", total %" PRId32, names[a], LESSON_PLACE,
            given.at_place, given.total);
    }
    row(answer, "by hand: %" PRId32 " and %" PRId32, lesson_sum(LESSON_PLACE), lesson_sum(LESSON_N));
    if (!all)
        decide(answer, OPEN, "open: the algorithms of the lesson are not in this program");
    else if (right == all)
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: %d of %d answers are wrong", all - right, all);
}

/* L13 */
static void answer_halving(struct claims *claims, struct answer *answer)
{
    int k = log2_ceil(1024);
    char up[120], down[120];
    bool halves = true;
    uint64_t sum = 0;
    const struct evidence *evidence =
        needs_count_build(claims, answer) ? NULL : see(claims, answer, AS_TAUGHT, SUM, 1024, 0);
    if (!evidence)
        return;
    const struct launch_counts *list = evidence->counts.list;
    if (evidence->counts.list_count != 2 * k + 1) {
        decide(answer, CORRECTED, "corrected: %d launches, not %d", evidence->counts.list_count, 2 * k + 1);
        return;
    }
    for (int j = 0; j < k; j++) {
        uint64_t workers = UINT64_C(1024) >> (j + 1);
        halves &= list[j].active_threads == workers && list[2 * k - j].active_threads == workers;
        sum += list[j].counts.additions + list[2 * k - j].counts.additions;
    }
    list_active(evidence, 0, k, up, sizeof up);
    list_active(evidence, k + 1, k, down, sizeof down);
    row(answer, "%s, threads that add: up %s; down %s", AS_TAUGHT, up, down);
    row(answer, "together %" PRIu64 " additions, 2n = 2048", sum);
    if (halves && about((double)sum, 2048))
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: they do not halve");
}

/* L14 */
static void answer_snapshot(struct claims *claims, struct answer *answer)
{
    const char *const faulty = "downsweep_without_snapshot", *const twin = "downsweep_with_snapshot";
    if (needs_count_build(claims, answer))
        return;
    if (!registry_find(faulty) || !registry_find(twin)) {
        const struct evidence *evidence = see(claims, answer, AS_TAUGHT, SUM, 1024, 0);
        if (evidence)
            row(answer, "%s, which reads one array and writes another: %d reports", AS_TAUGHT,
                evidence->counts.report_count);
        row(answer, "%s is in build/faults-count/scanbench, whose claims answer this (tests/lesson_and_claims)",
            faulty);
        decide(answer, OPEN, "open: the faulty kernel is not in this program");
        return;
    }
    /* The faulty one may give a wrong answer: the reports count all the same. */
    struct answer nothing = {OPEN, "", {""}, 0};
    see(claims, &nothing, faulty, SUM, 1024, 0);
    const struct evidence *with = see(claims, answer, twin, SUM, 1024, 0), *without = NULL;
    for (int i = 0; i < claims->seen_count; i++)
        if (!strcmp(claims->seen[i]->point.algorithm->name, faulty))
            without = claims->seen[i];
    if (!with || !without)
        return;
    int races = 0;
    for (int i = 0; i < without->counts.report_count; i++)
        if (!strcmp(without->counts.reports[i].kind, "race-global") && !races++)
            row(answer, "%s: %s", faulty, without->counts.reports[i].text);
    row(answer, "%s: %d race%s; %s: %d report%s", faulty, races, races == 1 ? "" : "s", twin, with->counts.report_count,
        with->counts.report_count == 1 ? "" : "s");
    if (races && !with->counts.report_count)
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED, "corrected: the checker sees no difference");
}

enum { TRAFFIC_N = 1 << 16 };

/* Is this an algorithm that scans on the device in this build? */
static bool scans_here(const struct algorithm *algorithm)
{
    return algorithm->runs_on != HOST && algorithm->run && (algorithm->kinds & EXCLUSIVE) && (algorithm->ops & SUM) &&
           (algorithm->types & I32);
}

/* L15 */
static void answer_single_pass(struct claims *claims, struct answer *answer)
{
    char names[200] = "";
    for (int i = 0; i < registry_count() && !needs_count_build(claims, answer); i++) {
        const struct algorithm *algorithm = registry()[i];
        const struct evidence *evidence =
            scans_here(algorithm) ? see(claims, answer, algorithm->name, SUM, TRAFFIC_N, 0) : NULL;
        if (!evidence)
            continue;
        const struct counts *all = &evidence->counts.all;
        double words = words_each(evidence, all->global_load_footprint + all->global_store_footprint);
        row(answer, "%s, n = 2^16: %" PRIu64 " launches, %.2f words an element", algorithm->name,
            evidence->counts.launches, words);
        /* One launch to clear the states and one to scan still go over the array once. */
        if (evidence->counts.launches <= 2 && evidence->counts.blocks > 1 && words < 2.2)
            append(names, sizeof names, "%s%s", *names ? ", " : "", algorithm->name);
    }
    if (*names)
        decide(answer, HOLDS, "holds for %s", names);
    else
        decide(answer, OPEN, "open: no single-pass scan is in this suite yet");
}

/* L17 */
static void answer_twice(struct claims *claims, struct answer *answer)
{
    const char *const names[] = {AS_TAUGHT, IN_PLACE, "block_scan"};
    char twice[100] = "", otherwise[200] = "";
    for (int a = 0; a < 3 && !needs_count_build(claims, answer); a++) {
        const struct evidence *evidence = see(claims, answer, names[a], SUM, TRAFFIC_N, 0);
        if (!evidence)
            return;
        const struct counts *all = &evidence->counts.all;
        double read = words_each(evidence, all->global_load_footprint);
        double written = words_each(evidence, all->global_store_footprint);
        row(answer, "%s, n = 2^16: %.2f words an element read, %.2f written, together %.2f", names[a], read, written,
            read + written);
        if (within(read, 1.9, 2.1))
            append(twice, sizeof twice, "%s%s", *twice ? ", " : "", names[a]);
        else
            append(otherwise, sizeof otherwise, "%s%s reads %.0f words an element", *otherwise ? ", " : "", names[a],
                   read);
    }
    if (!*otherwise)
        decide(answer, HOLDS, "holds");
    else if (*twice)
        decide(answer, CORRECTED, "holds for %s; corrected: %s", twice, otherwise);
    else
        decide(answer, CORRECTED, "corrected: %s", otherwise);
}

/* ------------------------------------------------------------------------------------------------ the quiz */

/* Q5 */
static void answer_kinds(struct claims *claims, struct answer *answer)
{
    static const int32_t input[] = {3, 1, 4, 1, 5}, inclusive[] = {3, 4, 8, 9, 14}, exclusive[] = {0, 3, 4, 8, 9};
    char wrong[200] = "", right[200] = "";
    (void)claims;
    for (int i = 0; i < registry_count(); i++) {
        const struct algorithm *algorithm = registry()[i];
        if ((algorithm->kinds & BOTH_KINDS) != BOTH_KINDS || !algorithm->run)
            continue;
        bool same = true;
        for (int k = 0; k < 2; k++) {
            struct point point = {.algorithm = algorithm,
                                  .kind = k ? EXCLUSIVE : INCLUSIVE,
                                  .type = I32,
                                  .op = SUM,
                                  .n = 5,
                                  .threads = algorithm->runs_on == HOST ? 0 : algorithm->threads[0]};
            struct row scanned;
            int32_t values[5], output[5] = {0};
            memcpy(values, input, sizeof values);
            job_scan(&point, values, output, &scanned);
            same &= scanned.status == STATUS_OK && !memcmp(output, k ? exclusive : inclusive, sizeof output);
            if (*right || !same)
                continue;
            row(answer, "%s of [3,1,4,1,5]: [%d,%d,%d,%d,%d]", kind_name(point.kind), output[0], output[1], output[2],
                output[3], output[4]);
        }
        char *list = same ? right : wrong;
        append(list, sizeof right, "%s%s", *list ? ", " : "", algorithm->name);
    }
    if (*right)
        row(answer, "by %s", right);
    if (*wrong)
        decide(answer, CORRECTED, "corrected: not by %s", wrong);
    else if (*right)
        decide(answer, HOLDS, "holds");
    else
        decide(answer, OPEN, "open: no scan of both kinds is in this program");
}

/* Q6 */
static void answer_work_and_steps(struct claims *claims, struct answer *answer)
{
    bool tree = true, ladder = true, everyone = true, all_but = true;
    for (uint64_t n = 1 << 8; n <= 1 << 14; n *= 8) {
        uint64_t k = (uint64_t)log2_ceil(n);
        char text[24], active[120];
        if (needs_count_build(claims, answer))
            return;
        const struct evidence *b = see(claims, answer, IN_PLACE, SUM, n, 0);
        const struct evidence *h = b ? see(claims, answer, LADDER, SUM, n, 0) : NULL;
        if (!h)
            return;
        const struct counts *x = &b->counts.all, *y = &h->counts.all;
        tree &= x->additions <= 2 * n && x->steps <= 2 * k;
        ladder &= within((double)y->additions / (double)(n * k), 0.5, 1) && y->steps == k;
        for (int s = 0; s < h->counts.list_count; s++) {
            uint64_t adding = h->counts.list[s].active_threads;
            everyone &= adding == n;
            all_but &= adding == n - (UINT64_C(1) << s);
        }
        format_n(n, &text);
        row(answer, "%s, n = %s: %" PRIu64 " additions, 2n = %" PRIu64 "; %" PRIu64 " steps, 2 log2 n = %" PRIu64,
            IN_PLACE, text, x->additions, 2 * n, x->steps, 2 * k);
        row(answer, "%s, n = %s: %" PRIu64 " additions, n log2 n = %" PRIu64 "; %" PRIu64 " steps, log2 n = %" PRIu64,
            LADDER, text, y->additions, n * k, y->steps, k);
        list_active(h, 0, h->counts.list_count, active, sizeof active);
        if (n == 1 << 8)
            row(answer, "%s, n = %s: %s elements add in its passes", LADDER, text, active);
    }
    if (!tree || !ladder)
        decide(answer, CORRECTED, "corrected: %s does not grow so", tree ? LADDER : IN_PLACE);
    else if (everyone)
        decide(answer, HOLDS, "holds");
    else if (all_but)
        decide(answer, CORRECTED,
               "holds for work and steps; corrected: n - 2^s elements add in pass s, the rest copies");
    else
        decide(answer, CORRECTED, "holds for work and steps; corrected: not all elements add in every pass");
}

/* Q7 */
static void answer_names(struct claims *claims, struct answer *answer)
{
    char three[200] = "";
    double tree = 0, blocks = 0;
    for (int i = 0; i < registry_count() && !needs_count_build(claims, answer); i++) {
        const struct algorithm *algorithm = registry()[i];
        const struct evidence *evidence =
            scans_here(algorithm) ? see(claims, answer, algorithm->name, SUM, TRAFFIC_N, 0) : NULL;
        if (!evidence)
            continue;
        const struct counts *all = &evidence->counts.all;
        double words = words_each(evidence, all->global_load_footprint + all->global_store_footprint);
        row(answer, "%s, n = 2^16: %.2f words an element", algorithm->name, words);
        if (within(words, 2.7, 3.3))
            append(three, sizeof three, "%s%s", *three ? ", " : "", algorithm->name);
        if (!strcmp(algorithm->name, IN_PLACE))
            tree = words;
        if (!strcmp(algorithm->name, "block_scan"))
            blocks = words;
    }
    const struct evidence *evidence = *answer->verdict ? NULL : see(claims, answer, IN_PLACE, SUM, TRAFFIC_N, 0);
    if (!evidence)
        return;
    uint64_t written = 0;
    for (int j = 0; j < log2_ceil(TRAFFIC_N) && j < evidence->counts.list_count; j++)
        written += evidence->counts.list[j].counts.global_stores;
    row(answer, "%s, up-sweep alone: %.2f words an element written; a reduction writes one word a block", IN_PLACE,
        (double)written / TRAFFIC_N);
    if (within(tree, 2.7, 3.3) && written < TRAFFIC_N / 8)
        decide(answer, HOLDS, "holds");
    else
        decide(answer, CORRECTED,
               "corrected: a reduce-then-scan moves 3 words an element, Blelloch's sweeps move %.0f%s%s%s", tree,
               within(blocks, 3.6, 4.4) ? "; block_scan, which moves 4, is a scan-then-propagate" : "",
               *three ? "; one that moves 3: " : "", three);
}

/* Q13 */
static void answer_block_sums(struct claims *claims, struct answer *answer)
{
    bool work = true, steps = true, linear = true;
    for (uint64_t n = 1 << 8; n <= 1 << 18; n *= 32) {
        char text[24];
        const struct evidence *e =
            needs_count_build(claims, answer) ? NULL : see(claims, answer, "block_scan", SUM, n, 32);
        if (!e)
            return;
        const struct counts *all = &e->counts.all;
        uint64_t k = (uint64_t)log2_ceil(n);
        row(answer,
            "block_scan, tiles of 64, n = %s: %" PRIu64 " additions, %.2f an element; %" PRIu64
            " steps, log2(n)^2 = %" PRIu64,
            format_n(n, &text), all->additions, (double)all->additions / (double)n, all->steps, k * k);
        work &= all->additions <= 4 * n;
        steps &= all->steps <= k * k;
        linear &= all->steps <= 3 * k;
    }
    if (work && steps)
        decide(answer, HOLDS, "holds%s", linear ? "; with tiles of one size even at most 3 log2 n steps" : "");
    else
        decide(answer, CORRECTED, "corrected: more %s", work ? "steps" : "work");
}

/* Rounds that p processors need, one addition each a round, and no round across two launches. */
static uint64_t rounds(const struct evidence *evidence, uint64_t p)
{
    uint64_t sum = 0;
    for (int i = 0; i < evidence->counts.list_count; i++)
        sum += divide_up(evidence->counts.list[i].active_threads, p);
    return sum;
}

/* Q14 */
static void answer_parallelism(struct claims *claims, struct answer *answer)
{
    if (needs_count_build(claims, answer))
        return;
    const struct evidence *tree = see(claims, answer, IN_PLACE, SUM, 1024, 0);
    const struct evidence *ladder = tree ? see(claims, answer, LADDER, SUM, 1024, 0) : NULL;
    if (!ladder)
        return;
    uint64_t crossing = 1025; /* from so many processors on the ladder needs fewer rounds */
    while (crossing > 1 && rounds(ladder, crossing - 1) < rounds(tree, crossing - 1))
        crossing--;
    for (uint64_t p = 1; p <= 1024; p *= 32)
        row(answer, "n = 1024, %" PRIu64 " processor%s: %s %" PRIu64 " rounds, %s %" PRIu64, p, p == 1 ? "" : "s",
            IN_PLACE, rounds(tree, p), LADDER, rounds(ladder, p));
    if (crossing <= 1024)
        row(answer, "%s needs fewer rounds from %" PRIu64 " processors on", LADDER, crossing);
    row(answer, "rounds of additions, launches and memory apart; times need a GPU");
    if (crossing > 1 && crossing <= 1024)
        decide(answer, HOLDS, "holds for rounds of additions; on the clock it needs a GPU");
    else
        decide(answer, CORRECTED, "corrected: one of them needs fewer rounds with any number of processors");
}

/* ------------------------------------------------------------------------------------------------ the list */

static const struct claim {
    const char *id, *text;
    void (*answer)(struct claims *, struct answer *); /* NULL: of a pattern that is not a scan */
} list[] = {
    {"L1", "Hillis-Steele over 1024 cells takes ten passes", answer_passes},
    {"L2", "... and about n log2 n, 10 000, additions", answer_ladder_additions},
    {"L3", "the serial loop needs 1023 additions", answer_serial_additions},
    {"L4", "Blelloch needs roughly 2n", answer_tree_additions},
    {"L5", "up-sweep: at stride 1 odd cells absorb their neighbour, at stride 2 every fourth cell a subtotal",
     answer_upsweep},
    {"L6", "after log2 n passes the last cell holds the total, every block top its block's subtotal",
     answer_block_tops},
    {"L7", "a zero in the last cell and the down-sweep give the exclusive scan", answer_downsweep},
    {"L8", "Blelloch launches 21 times where Hillis-Steele launches 10 times", answer_launches},
    {"L9", "near the root almost every thread is idle", answer_idle},
    {"L10", "at n = 1024 the simpler ladder usually wins on the clock", answer_clock},
    {"L11", "work-efficiency pays once the array is big enough", answer_large},
    {"L12", "exclusive[512] and the grand total of the exercise", answer_exercise},
    {"L13", "half as many workers each pass turn n log n into 2n", answer_halving},
    {"L14", "both writes of a down-sweep node must read the same snapshot", answer_snapshot},
    {"L15", "a single-pass scan with look-back reads the array once", answer_single_pass},
    {"L16", "on modern hardware the bill is memory traffic, not additions", answer_bill},
    {"L17", "two full sweeps mean reading the array twice", answer_twice},
    {"Q1", "a tree reduction of 1024 takes ten steps", NULL},
    {"Q2", "interleaved addressing has bank conflicts, sequential has none", NULL},
    {"Q3", "256 threads reduce in eight rounds", NULL},
    {"Q4", "a warp reduces by shuffles alone", NULL},
    {"Q5", "[3,1,4,1,5] gives [3,4,8,9,14] inclusive and [0,3,4,8,9] exclusive", answer_kinds},
    {"Q6", "Blelloch: O(n) additions, O(2 log n) steps; Hillis-Steele: all n elements work in each of log n steps",
     answer_work_and_steps},
    {"Q7", "the two sweeps are why it is called reduce-then-scan", answer_names},
    {"Q8", "a privatised histogram lowers contention", NULL},
    {"Q9", "merging costs blocks times bins atomics", NULL},
    {"Q10", "a tile of a stencil loads a halo", NULL},
    {"Q11", "compaction: flags, exclusive scan, scatter", NULL},
    {"Q12", "a gather is preferred to a scatter", NULL},
    {"Q13", "scan of blocks, scan of their sums, add: O(n) work, O(log^2 n) steps", answer_block_sums},
    {"Q14", "few processors: the work-efficient scan wins; unlimited: the step-efficient one", answer_parallelism},
    {"Q15", "CUB gives block- and device-level pieces, Thrust one call", NULL},
};
enum { CLAIMS = sizeof list / sizeof *list };

/* ------------------------------------------------------------------------------------------------ printing */

/* A bar ends a cell; brackets after a parenthesis would be a link, a star or an underscore emphasis. */
static void print_markdown_text(const char *text)
{
    for (; *text; text++)
        printf(strchr("|*_<>[]`\\", *text) ? "\\%c" : "%c", *text);
}

static void print_answer(const struct claim *claim, const struct answer *answer, bool markdown)
{
    if (!markdown) {
        printf("%-4s %s\n     %s\n", claim->id, claim->text, answer->verdict);
        for (int i = 0; i < answer->row_count; i++)
            printf("       %s\n", answer->rows[i]);
        return;
    }
    printf("| %s | ", claim->id);
    print_markdown_text(claim->text);
    printf(" | **");
    print_markdown_text(answer->verdict);
    printf("** | ");
    for (int i = 0; i < answer->row_count; i++) {
        printf(i ? "<br>" : "");
        print_markdown_text(answer->rows[i]);
    }
    printf(" |\n");
}

/* What stands under the answers: where they come from, and how many there are of each kind. */
static void print_notes(const struct claims *claims, const int *outcomes)
{
    static const char *const names[OUTCOMES] = {
        "open", "hold", "corrected", "need a GPU", "need the count build", "not answered"};
    printf("\n%d claims:", CLAIMS);
    for (int o = 0, said = 0; o < OUTCOMES; o++)
        if (outcomes[o])
            printf("%s %d %s", said++ ? "," : "", outcomes[o], names[o]);
    printf(".\nEvery number is of this run%s: exclusive i32 sums, every element compared with a sequential scan.\n",
           claims->gpu ? "" : " on the CPU device");
    if (claims->counting)
        printf("Words are of memory touched in 32-byte sectors, distinct within a launch, by accesses as the source "
               "writes them.\nCounts show no GPU time, no weak memory order, no caches, and not what nvcc merges.\n");
    else if (outcomes[NEEDS_COUNT])
        printf("`make DEVICE=count` makes the count build; then build/count/scanbench claims.\n");
}

static void release(struct claims *claims)
{
    for (int i = 0; i < claims->seen_count; i++) {
        job_counts_free(&claims->seen[i]->counts);
        free(claims->seen[i]);
    }
    free(claims->seen);
    for (int i = 0; i < 2; i++)
        if (claims->traces[i]) {
            trace_free(claims->traces[i]);
            free(claims->traces[i]);
        }
}

static int run(struct settings *settings)
{
    struct claims claims = {.counting = device_counter() != NULL, .gpu = !strcmp(device_kind(), "cuda")};
    int outcomes[OUTCOMES] = {0};
    char why[400];
    if (device_open(settings->device, &settings->device_options, why, sizeof why)) {
        fprintf(stderr, "scanbench: %s\n", why);
        return EXIT_NO_DEVICE;
    }
    if (settings->markdown)
        printf("| | claim | verdict | rows |\n|---|---|---|---|\n");
    for (int i = 0; i < CLAIMS; i++) {
        struct answer answer = {OPEN, "", {""}, 0};
        if (list[i].answer)
            list[i].answer(&claims, &answer);
        decide(&answer, OPEN, "open: not in this suite yet");
        print_answer(&list[i], &answer, settings->markdown);
        fflush(stdout);
        outcomes[answer.outcome]++;
    }
    device_close();
    print_notes(&claims, outcomes);
    release(&claims);
    return outcomes[BROKEN] ? EXIT_WRONG : EXIT_RIGHT;
}

const struct verb verb_claims = {
    .name = "claims",
    .summary = "what the lesson and the quiz say about scans, answered by counts and times of this run",
    .usage = "[OPTIONS]",
    .options = "device markdown",
    .examples = "  scanbench claims\n"
                "  scanbench claims --markdown\n",
    .run = run,
};
