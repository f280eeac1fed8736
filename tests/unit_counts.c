/* SPDX-License-Identifier: MIT */
/*
 * What every algorithm says that it costs, against what the count build sees: launches, additions, steps, bytes read
 * and written; and no report. Exclusive at every n up to 4200, inclusive at every n up to 1100 and at every third
 * above, each n that 13 divides also on i64; both kinds at the sizes that cross the boundaries of tiles, and with every
 * block size. A field that a model does not know is not compared.
 */
#include "buffers.h"
#include "device/device.h"
#include "job.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DENSE = 4200,
    DENSE_INCLUSIVE = 1100,
    LARGE = 1 << 20, /* the last of the sizes, and of the squares of tiles */
};

static bool failed_any;

static void report(bool right, const char *name, const char *part, const char *why)
{
    printf("%s unit_counts %s %s%s%s\n", right ? "ok" : "not ok", name, part, right ? "" : ": ", right ? "" : why);
    fflush(stdout);
    failed_any |= !right;
}

/* Sectors that a copy reads, and that it writes: vectors of 16 bytes, and what is left in a request of its own. */
static uint64_t copied_sectors(const struct point *point)
{
    uint64_t bytes = point->n * type_size(point->type), vectors = bytes / 16 * 16;
    return divide_up(vectors, 32) + (bytes > vectors);
}

/* Why the point is not as it should be, or "". */
static bool tell(const struct point *point, const struct row *row, const struct job_counts *counts, char *why,
                 size_t size)
{
    const struct counts *all = &counts->all;
    char reason[512] = "";
    if (row->status != STATUS_OK)
        snprintf(reason, sizeof reason, "%s: %s", status_name(row->status), row->message);
    else if (counts->report_count)
        snprintf(reason, sizeof reason, "%s: %.400s", counts->reports[0].kind, counts->reports[0].text);
    else if (counts->agreement == NO_MODEL && point->algorithm->model)
        snprintf(reason, sizeof reason, "nothing was compared");
    else if (counts->agreement == MODEL_DISAGREES)
        snprintf(reason, sizeof reason, "%s", counts->disagreement);
    else if (!strcmp(point->algorithm->name, "copy") &&
             (all->global_load_sectors != copied_sectors(point) || all->global_store_sectors != copied_sectors(point)))
        snprintf(reason, sizeof reason, "%llu sectors read, %llu written, not %llu",
                 (unsigned long long)all->global_load_sectors, (unsigned long long)all->global_store_sectors,
                 (unsigned long long)copied_sectors(point));
    if (reason[0])
        snprintf(why, size, "n %llu, %s, %d threads: %s", (unsigned long long)point->n, type_name(point->type),
                 point->threads, reason);
    return !reason[0];
}

/* As `scanbench count` does it. */
static bool count_right(const struct point *point, char *why, size_t size)
{
    const struct job_options options = {.seed = 1};
    struct job_counts counts;
    struct row row;
    job_count(point, &options, &row, &counts);
    bool right = tell(point, &row, &counts, why, size);
    job_counts_free(&counts);
    return right;
}

/* One run in place of two, with the operator STEPS, whose answer nobody checks. */
static bool count_fast(const struct point *point, char *why, size_t size)
{
    const struct counter *counter = device_counter();
    const struct algorithm *algorithm = point->algorithm;
    const struct launch_counts *list;
    const struct report *reports;
    struct problem problem;
    struct buffers buffers;
    size_t bytes = point->n * type_size(point->type), word = type_size(point->type);
    char reason[600] = "";
    point_problem(point, &problem);
    if (!buffers_make(&buffers, DEVICE, bytes, algorithm->workspace ? algorithm->workspace(&problem) : 0, 0, false)) {
        snprintf(why, size, "n %llu: no memory", (unsigned long long)point->n);
        return false;
    }
    buffers.keep_workspace = algorithm->prepare != NULL;
    problem.in = buffers.in.data;
    problem.out = buffers.out.data;
    problem.workspace = buffers.workspace.data;
    if (algorithm->prepare)
        algorithm->prepare(&problem);
    struct cost model = algorithm->model(&problem), seen = {0};
    if (problem.op != NONE)
        problem.op = STEPS;

    buffers_load_zeros(&buffers);
    counter->begin(true);
    algorithm->run(&problem);
    device_synchronize();
    counter->end();
    seen.launches = (uint64_t)counter->launches(&list);
    for (uint64_t i = 0; i < seen.launches; i++) {
        seen.additions += list[i].counts.additions;
        seen.words_read += list[i].counts.bytes_read - list[i].counts.atomic_bytes_read;
        seen.words_written += list[i].counts.bytes_written - list[i].counts.atomic_bytes_written;
        if (list[i].counts.steps > seen.steps)
            seen.steps = list[i].counts.steps;
    }
    if (device_error())
        snprintf(reason, sizeof reason, "%s", device_error_text());
    else if (counter->reports(&reports))
        snprintf(reason, sizeof reason, "%s: %s", reports[0].kind, reports[0].text);
    else if (buffers_damage(&buffers))
        snprintf(reason, sizeof reason, "%s", buffers_damage(&buffers));
    else if ((model.launches != UNKNOWN && model.launches != seen.launches) ||
             (model.additions != UNKNOWN && model.additions != seen.additions) ||
             (model.steps != UNKNOWN && model.steps != seen.steps) ||
             (model.words_read != UNKNOWN && model.words_read * word != seen.words_read) ||
             (model.words_written != UNKNOWN && model.words_written * word != seen.words_written))
        snprintf(
            reason, sizeof reason,
            "launches, additions, steps, bytes read and written %llu %llu %llu %llu %llu, the model says %llu %llu "
            "%llu %llu %llu",
            (unsigned long long)seen.launches, (unsigned long long)seen.additions, (unsigned long long)seen.steps,
            (unsigned long long)seen.words_read, (unsigned long long)seen.words_written,
            (unsigned long long)model.launches, (unsigned long long)model.additions, (unsigned long long)model.steps,
            (unsigned long long)(model.words_read * word), (unsigned long long)(model.words_written * word));
    buffers_free(&buffers);
    if (reason[0])
        snprintf(why, size, "n %llu, %s: %s", (unsigned long long)point->n, type_name(point->type), reason);
    return !reason[0];
}

static struct point point_of(const struct algorithm *algorithm, enum kind kind, enum type type, uint64_t n)
{
    return (struct point){.algorithm = algorithm,
                          .kind = kind,
                          .type = type,
                          .op = kind == COPY ? NONE : SUM,
                          .n = n,
                          .threads = algorithm->threads[0]};
}

static bool test_every_n(const struct algorithm *algorithm, enum kind kind, char *why, size_t size)
{
    bool fast = algorithm->runs_on != HOST && kind != COPY && algorithm->model;
    int step = 1;
    for (uint64_t n = 1; n <= DENSE; n += (uint64_t)step) {
        struct point point = point_of(algorithm, kind, I32, n);
        if (!(fast ? count_fast : count_right)(&point, why, size))
            return false;
        point.type = I64;
        if (n % 13 == 0 && !(fast ? count_fast : count_right)(&point, why, size))
            return false;
        if (kind == INCLUSIVE && n >= DENSE_INCLUSIVE)
            step = 5;
    }
    return true;
}

static bool test_boundaries(const struct algorithm *algorithm, enum kind kind, char *why, size_t size)
{
    uint64_t tile = (uint64_t)algorithm->threads[0] * (uint64_t)algorithm->items;
    uint64_t sizes[8] = {10000, 100000, LARGE, 3 * tile, 129 * tile + 1, tile * tile, tile * tile + 1};
    for (int i = 0; i < 7; i++) {
        struct point point = point_of(algorithm, kind, I32, sizes[i]);
        if (!sizes[i] || sizes[i] > LARGE + 1)
            continue;
        if (!count_right(&point, why, size))
            return false;
        point.type = I64;
        if (sizes[i] <= 100000 && !count_right(&point, why, size))
            return false;
    }
    return true;
}

static bool test_block_sizes(const struct algorithm *algorithm, enum kind kind, char *why, size_t size)
{
    for (int t = 1; t < 8 && algorithm->threads[t]; t++) {
        uint64_t tile = (uint64_t)algorithm->threads[t] * (uint64_t)algorithm->items;
        uint64_t sizes[] = {1, 33, tile, tile + 1, 1000, 5 * tile - 1, 16 * tile + 1, tile * tile, tile * tile + 1};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct point point = point_of(algorithm, kind, i % 2 ? I32 : I64, sizes[i]);
            point.threads = algorithm->threads[t];
            if (sizes[i] <= 20000 && !count_right(&point, why, size))
                return false;
        }
    }
    return true;
}

/* Opened again for each part: the checker keeps something for every word that was ever in use. */
static bool open_device(void)
{
    const struct device_options options = {.memory_bytes = UINT64_C(64) << 20};
    char why[400];
    int error = device_open(0, &options, why, sizeof why);
    if (error)
        printf("not ok unit_counts device: %s\n", why);
    return !error;
}

static void test_algorithm(const struct algorithm *algorithm)
{
    static const enum kind kinds[] = {INCLUSIVE, EXCLUSIVE, COPY};
    static const struct {
        const char *name;
        bool (*run)(const struct algorithm *, enum kind, char *why, size_t size);
    } tests[] = {{"every-n", test_every_n}, {"boundaries", test_boundaries}, {"block-sizes", test_block_sizes}};
    if (!algorithm->run) {
        printf("skip unit_counts %s: needs an NVIDIA GPU\n", algorithm->name);
        return;
    }
    for (int k = 0; k < 3; k++)
        for (size_t t = 0; t < sizeof tests / sizeof *tests && algorithm->kinds & kinds[k]; t++) {
            char part[64], why[700] = "";
            snprintf(part, sizeof part, "%s %s", kind_name(kinds[k]), tests[t].name);
            bool right = open_device() && tests[t].run(algorithm, kinds[k], why, sizeof why);
            report(right, algorithm->name, part, why);
        }
}

/* test [NAME...]: those algorithms only. */
int main(int argc, char **argv)
{
    if (!device_counter()) {
        printf("not ok unit_counts build: this is not the count build\n");
        return 1;
    }
    for (const struct algorithm *const *a = registry(); *a; a++) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted |= !strcmp(argv[i], (*a)->name);
        if (wanted)
            test_algorithm(*a);
    }
    device_close();
    return failed_any;
}
