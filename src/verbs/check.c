/* SPDX-License-Identifier: MIT */
/* check: is every answer right, and is every count what the model says? */
#include "device/counts.h"
#include "progress.h"
#include "registry.h"
#include "supervisor.h"
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 10000,      /* up to here every schedule is tried */
    SHOWN_FAILURES = 5, /* of one line of the table */
    MOST_REASONS = 16,
};
static const uint64_t SQUARE_LIMIT = UINT64_C(1) << 21;
static const double DEFAULT_LIMIT_S = 90; /* above the CPU device's own 60 s for a launch, whose message says more */

/* ------------------------------------------------------------------------------------------------ the points */

struct points {
    struct point *list;
    int count, room;
};

static void add(struct points *points, const struct point *point)
{
    if (points->count == points->room) {
        points->room = points->room ? 2 * points->room : 1024;
        points->list = realloc(points->list, (size_t)points->room * sizeof *points->list);
        if (!points->list)
            abort();
    }
    points->list[points->count++] = *point;
}

/* Elements that a block takes at once, or a core; what has no tiles is tried around 1024. */
static uint64_t tile_of(const struct algorithm *algorithm, int threads)
{
    uint64_t tile = (uint64_t)(threads ? threads : 1) * (uint64_t)(algorithm->items ? algorithm->items : 1);
    return tile > 1 ? tile : 1024;
}

/* Every size at which an inner boundary is crossed. In the count build, where an element costs ten times as much, those
 * that cross no further one are left out. */
static int boundary_sizes(uint64_t tile, uint64_t *sizes)
{
    const uint64_t fixed[] = {0,        1,    2,     31,           32,       33,     tile - 1,      tile,
                              tile + 1, 1000, 10000, 2 * tile + 1, 3 * tile, 100000, 129 * tile + 1};
    int count = sizeof fixed / sizeof *fixed;
    memcpy(sizes, fixed, sizeof fixed);
    if (tile * tile + 1 < SQUARE_LIMIT)
        sizes[count++] = tile * tile + 1;
    for (uint64_t n = 200000; n <= 1000000 && !device_counter(); n += 100000)
        sizes[count++] = n;
    int unique = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int j = 0; j < unique; j++)
            seen |= sizes[j] == sizes[i];
        if (!seen)
            sizes[unique++] = sizes[i];
    }
    return unique;
}

/* Accesses do not depend on the operator, nor do they on more of the type than its size: in the count build the large
 * sizes are for one operator of each size of a type. */
static bool is_left_out(const struct point *point)
{
    if (!device_counter() || point->n <= SMALL || point->kind == COPY)
        return false;
    return !(point->type == I32 && point->op == SUM) && !(point->type == I64 && point->op == AFFINE);
}

/* The schedules of a point: one where they make no difference or one was asked for. */
static void add_schedules(struct points *points, const struct settings *settings, struct point point)
{
    static const struct {
        enum schedule schedule;
        uint64_t seed;
        int resident;
    } orders[] = {{SCHEDULE_ASCENDING, 0, 0}, {SCHEDULE_DESCENDING, 0, 0}, {SCHEDULE_SHUFFLED, 1, 0},
                  {SCHEDULE_SHUFFLED, 2, 0},  {SCHEDULE_ASCENDING, 0, 8},  {SCHEDULE_SHUFFLED, 3, 16}};
    bool matters = point.algorithm->runs_on != HOST && point.algorithm->run && point.n && !strcmp(device_kind(), "cpu");
    bool all = settings->all_schedules || (!settings->schedule_given && point.n <= SMALL && !point.hot);
    if (settings->schedule_given && !settings->all_schedules) {
        add(points, &point);
        return;
    }
    int count = !matters || !all ? 1 : device_counter() ? 6 : 4;
    for (int i = 0; i < count; i++) {
        if (orders[i].resident && settings->device_options.resident)
            continue;
        point.schedule = orders[i].schedule;
        point.schedule_seed = orders[i].seed;
        point.resident = orders[i].resident;
        add(points, &point);
    }
}

static void add_one_hot(struct points *points, const struct settings *settings, struct point point, uint64_t tile)
{
    /* They test answers, and the other builds do that in a tenth of the time. */
    if (device_counter() || point.kind == COPY || (point.n != 2 * tile + 1 && point.n != 129 * tile + 1))
        return;
    const uint64_t hot[] = {tile, tile + 1, 2 * tile, point.n}; /* counted from 1: ends and starts of blocks */
    for (int i = 0; i < 4; i++) {
        point.hot = hot[i];
        add_schedules(points, settings, point);
    }
}

/* All points of one algorithm with one block size. */
static void add_algorithm(struct points *points, const struct settings *settings, const struct algorithm *algorithm,
                          int threads)
{
    struct settings one = *settings;
    struct point *plan;
    uint64_t sizes[32], tile = tile_of(algorithm, threads);
    one.algorithms = &algorithm;
    one.algorithm_count = 1;
    one.threads = &threads;
    one.thread_count = threads ? 1 : 0;
    one.all_threads = false;
    if (!settings->sizes) {
        one.sizes = sizes;
        one.size_count = boundary_sizes(tile, sizes);
    }
    int count = plan_make(&one, &plan);
    for (int i = 0; i < count; i++) {
        if (!settings->sizes && is_left_out(&plan[i]))
            continue;
        add_schedules(points, settings, plan[i]);
        if (!settings->sizes)
            add_one_hot(points, settings, plan[i], tile);
    }
    free(plan);
}

static int order_of(const struct algorithm *algorithm)
{
    int i = 0;
    while (registry()[i] && registry()[i] != algorithm)
        i++;
    return i;
}

#define BY(field)                                                                                                      \
    if (a->field != b->field)                                                                                          \
    return a->field < b->field ? -1 : 1

/* The schedule outermost, as it costs an opening of the device; then what shares its input. */
static int in_running_order(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    BY(schedule);
    BY(schedule_seed);
    BY(resident);
    BY(type);
    BY(op);
    BY(n);
    BY(hot);
    int difference = order_of(a->algorithm) - order_of(b->algorithm);
    if (difference)
        return difference;
    BY(kind);
    BY(threads);
    return 0;
}
#undef BY

static void make_points(struct points *points, const struct settings *settings)
{
    for (int i = 0; i < settings->algorithm_count; i++) {
        const struct algorithm *algorithm = settings->algorithms[i];
        if (algorithm->runs_on == HOST || !algorithm->threads[0]) {
            add_algorithm(points, settings, algorithm, 0);
            continue;
        }
        for (int j = 0; j < 8 && algorithm->threads[j]; j++) {
            bool wanted = settings->all_threads || (j == 0 && !settings->thread_count);
            for (int k = 0; k < settings->thread_count; k++)
                wanted |= settings->threads[k] == algorithm->threads[j];
            if (wanted)
                add_algorithm(points, settings, algorithm, algorithm->threads[j]);
        }
    }
    if (points->count)
        qsort(points->list, (size_t)points->count, sizeof *points->list, in_running_order);
}

/* ------------------------------------------------------------------------------------------------ the run */

struct check {
    struct points points;
    struct row *rows;
    int done, wrong;
    struct progress progress;
};

static void on_hello(void *arg, const struct worker_hello *hello)
{
    struct check *check = arg;
    if (hello->error)
        fprintf(stderr, "scanbench: %s\n", hello->why);
    else
        progress_note(&check->progress, false, "scanbench: checking %d points on %s", check->points.count,
                      hello->properties.name[0] ? hello->properties.name : "this host");
}

static void format_point(const struct point *point, char *text, size_t size)
{
    static const char *const schedules[] = {"ascending", "descending", "shuffled"};
    int used = snprintf(text, size, "%s %s %s %s n=%" PRIu64, point->algorithm->name, kind_name(point->kind),
                        type_name(point->type), op_name(point->op), point->n);
    if (point->threads)
        used += snprintf(text + used, size - (size_t)used, " threads=%d", point->threads);
    if (point->hot)
        used += snprintf(text + used, size - (size_t)used, " one-hot=%" PRIu64, point->hot - 1);
    if (point->algorithm->runs_on == HOST || strcmp(device_kind(), "cpu") != 0)
        return;
    used += snprintf(text + used, size - (size_t)used, " %s", schedules[point->schedule]);
    if (point->schedule == SCHEDULE_SHUFFLED)
        used += snprintf(text + used, size - (size_t)used, "=%" PRIu64, point->schedule_seed);
    if (point->resident)
        snprintf(text + used, size - (size_t)used, " resident=%d", point->resident);
}

static void on_start(void *arg, int index)
{
    struct check *check = arg;
    char text[256];
    format_point(&check->points.list[index], text, sizeof text);
    if (check->wrong)
        progress_point(&check->progress, index, "%s, %d wrong so far", text, check->wrong);
    else
        progress_point(&check->progress, index, "%s", text);
}

static bool is_skipped(const struct row *row)
{
    return row->status == STATUS_UNSUPPORTED || row->status == STATUS_NOT_RUN;
}

static void on_row(void *arg, int index, const struct row *row)
{
    struct check *check = arg;
    check->rows[index] = *row;
    check->done = index + 1;
    check->wrong += row->status != STATUS_OK && !is_skipped(row);
}

/* ------------------------------------------------------------------------------------------------ the report */

static bool same_line(const struct point *a, const struct point *b)
{
    return a->algorithm == b->algorithm && a->kind == b->kind && a->type == b->type && a->op == b->op;
}

struct tally {
    int right, wrong, skipped;
    struct {
        const char *why;
        int count;
    } reasons[MOST_REASONS];
    int reason_count;
};

static void add_reason(struct tally *tally, const char *why)
{
    int i = 0;
    while (i < tally->reason_count && strcmp(tally->reasons[i].why, why) != 0)
        i++;
    if (i == MOST_REASONS)
        return;
    if (i == tally->reason_count)
        tally->reasons[tally->reason_count++].why = why;
    tally->reasons[i].count++;
}

static void print_further(const struct row *row)
{
    for (const char *line = row->further; *line; line += strcspn(line, "\n") + 1)
        printf("        also: %.*s\n", (int)strcspn(line, "\n"), line);
}

/* One line of the table: all points of an algorithm, kind, type and operator. */
static void print_line(const struct check *check, const struct point *line, struct tally *tally)
{
    int right = 0, wrong = 0, skipped = 0;
    for (int i = 0; i < check->done; i++) {
        const struct row *row = &check->rows[i];
        if (!same_line(&check->points.list[i], line))
            continue;
        if (is_skipped(row)) {
            skipped++;
            add_reason(tally, row->message);
        } else if (row->status == STATUS_OK) {
            right++;
        } else {
            wrong++;
        }
    }
    if (!right && !wrong && !skipped)
        return;
    printf("%-18s %-9s %-4s %-6s %6d right", line->algorithm->name, kind_name(line->kind), type_name(line->type),
           op_name(line->op), right);
    if (wrong)
        printf(", %d wrong", wrong);
    if (skipped)
        printf(", %d skipped", skipped);
    putchar('\n');

    int shown = 0;
    for (int i = 0; i < check->done && shown < SHOWN_FAILURES; i++) {
        const struct row *row = &check->rows[i];
        char text[256];
        if (!same_line(&check->points.list[i], line) || row->status == STATUS_OK || is_skipped(row))
            continue;
        format_point(&check->points.list[i], text, sizeof text);
        printf("    %s: %s: %s\n", status_name(row->status), text, row->message);
        print_further(row);
        shown++;
    }
    if (wrong > shown)
        printf("    ... and %d more\n", wrong - shown);
    tally->right += right;
    tally->wrong += wrong;
    tally->skipped += skipped;
}

/* An algorithm that this build does not have gets one line in all. */
static bool print_unavailable(const struct check *check, const struct algorithm *algorithm, struct tally *tally)
{
    const char *why = point_unavailable(&(struct point){.algorithm = algorithm});
    int count = 0;
    if (!why)
        return false;
    for (int i = 0; i < check->done; i++)
        if (check->points.list[i].algorithm == algorithm) {
            count++;
            add_reason(tally, why);
        }
    tally->skipped += count;
    if (count)
        printf("%-18s %d skipped: %s\n", algorithm->name, count, why);
    return true;
}

static void print_report(const struct check *check, struct tally *tally)
{
    static const enum kind kinds[] = {INCLUSIVE, EXCLUSIVE, COPY};
    static const enum type types[] = {I32, I64, F32, F64};
    static const enum op ops[] = {SUM, MAX, AFFINE, NONE};
    for (int a = 0; a < registry_count(); a++) {
        if (print_unavailable(check, registry()[a], tally))
            continue;
        for (int k = 0; k < 3; k++)
            for (int t = 0; t < 4; t++)
                for (int o = 0; o < 4; o++) {
                    struct point line = {.algorithm = registry()[a], .kind = kinds[k], .type = types[t], .op = ops[o]};
                    print_line(check, &line, tally);
                }
    }
    printf("%d points right, %d wrong, %d skipped", tally->right, tally->wrong, tally->skipped);
    for (int i = 0; i < tally->reason_count; i++)
        printf("%s%d: %s", i ? "; " : " (", tally->reasons[i].count, tally->reasons[i].why);
    printf(tally->reason_count ? ")\n" : "\n");
    if (!device_counter())
        return;
    printf("Every access as the source writes it, with these inputs and orders; blocks that do not release and acquire "
           "what they hand over are told of. Not to be seen here: answers that a weak memory order makes wrong, what "
           "nvcc merges or reorders, caches, GPU time.\n");
    int unfollowed = 0;
    for (int i = 0; i < check->done; i++)
        unfollowed += strstr(check->rows[i].flags, FLAG_UNFOLLOWED) != NULL;
    if (unfollowed)
        printf(
            "In %d of these points blocks tell each other so much that it was not followed to the end: races between "
            "blocks were not all looked for there.\n",
            unfollowed);
}

static bool nothing_here_can_run(const struct check *check)
{
    for (int i = 0; i < check->points.count; i++)
        if (!point_unavailable(&check->points.list[i]))
            return false;
    return true;
}

static int run(struct settings *settings)
{
    struct check check = {0};
    make_points(&check.points, settings);
    if (!check.points.count) {
        fprintf(stderr,
                "scanbench: nothing to check: no algorithm that was chosen has this kind, type, operator%s; "
                "`scanbench list` tells what they have\n",
                settings->in_place ? " and works in place" : "");
        free(check.points.list);
        return EXIT_USAGE;
    }
    check.rows = calloc((size_t)check.points.count, sizeof *check.rows);
    if (!check.rows)
        abort();

    struct supervision supervision = {
        .points = check.points.list,
        .count = check.points.count,
        .device = settings->device,
        .device_options = settings->device_options,
        .job = {.seed = settings->seed, .in_place = settings->in_place, .offset = settings->offset},
        .point_limit_s = settings->limit_s > 0 ? settings->limit_s : DEFAULT_LIMIT_S,
        .on_hello = on_hello,
        .on_start = on_start,
        .on_row = on_row,
        .arg = &check,
    };
    progress_begin(&check.progress, check.points.count, 5);
    int code = supervise(&supervision);
    progress_wipe(&check.progress);

    struct tally tally = {0};
    if (code != EXIT_NO_DEVICE)
        print_report(&check, &tally);
    if (code == EXIT_INTERRUPTED)
        printf("interrupted: %d of %d points were checked\n", check.done, check.points.count);
    else if (!code && tally.wrong)
        code = EXIT_WRONG;
    else if (!code && nothing_here_can_run(&check))
        code = EXIT_NO_DEVICE;
    else if (!code && !tally.right)
        code = EXIT_WRONG; /* a check of nothing is no check */
    free(check.rows);
    free(check.points.list);
    return code;
}

const struct verb verb_check = {
    .name = "check",
    .summary = "compare every answer with the right one, and every count with the model",
    .usage = "[OPTIONS]",
    .options = "algorithms sizes type kind op threads seed device limit memory workers resident schedule in-place "
               "offset",
    .examples = "  scanbench check                                   everything, about a minute on two cores\n"
                "  scanbench check -a blelloch -n 0:2000:+1 -t i32   one algorithm at every n up to 2000\n"
                "  scanbench check --offset 1                        input and output misaligned by one element\n",
    .run = run,
};
