/* SPDX-License-Identifier: MIT */
/*
 * What every algorithm says that it costs, against what the count build sees: launches, additions, steps, bytes read
 * and written. Both kinds, every n up to 4200, the sizes that cross the boundaries of tiles, every block size; and no
 * report on any of them. What a model does not know is told and not compared.
 */
#include "device/device.h"
#include "job.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DENSE = 4200, /* every n up to here on i32; on i64 every seventh */
    SIDE = 7,
    LARGE = 1 << 20, /* as a last size, and so many cells may a square of tiles have */
};

static bool failed_any;

static void report(bool right, const char *name, const char *part, const char *why)
{
    printf("%s unit_counts %s %s%s%s\n", right ? "ok" : "not ok", name, part, right ? "" : ": ", right ? "" : why);
    fflush(stdout);
    failed_any |= !right;
}

/* Why the point is not as it should be, or "". `known`: the fields of the model that were compared. */
static bool count_right(const struct point *point, char *why, size_t size)
{
    const struct job_options options = {.seed = 1};
    struct job_counts counts;
    struct row row;
    char reason[512] = "";
    job_count(point, &options, &row, &counts);
    const struct counts *all = &counts.all;
    uint64_t sectors = divide_up(point->n * type_size(point->type), 32);

    if (row.status != STATUS_OK)
        snprintf(reason, sizeof reason, "%s: %s", status_name(row.status), row.message);
    else if (counts.report_count)
        snprintf(reason, sizeof reason, "%s: %.400s", counts.reports[0].kind, counts.reports[0].text);
    else if (counts.agreement == NO_MODEL && point->algorithm->model)
        snprintf(reason, sizeof reason, "nothing was compared");
    else if (counts.agreement == MODEL_DISAGREES)
        snprintf(reason, sizeof reason, "%s", counts.disagreement);
    else if (!strcmp(point->algorithm->name, "copy") &&
             (all->global_load_sectors != sectors || all->global_store_sectors != sectors))
        snprintf(reason, sizeof reason, "%llu sectors read, %llu written, not %llu",
                 (unsigned long long)all->global_load_sectors, (unsigned long long)all->global_store_sectors,
                 (unsigned long long)sectors);
    if (reason[0])
        snprintf(why, size, "n %llu, %s, %d threads: %s", (unsigned long long)point->n, type_name(point->type),
                 point->threads, reason);
    job_counts_free(&counts);
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
    for (uint64_t n = 1; n <= DENSE; n++) {
        struct point point = point_of(algorithm, kind, I32, n);
        if (!count_right(&point, why, size))
            return false;
        point.type = I64;
        if (n % SIDE == 0 && !count_right(&point, why, size))
            return false;
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
            bool right = tests[t].run(algorithm, kinds[k], why, sizeof why);
            report(right, algorithm->name, part, why);
        }
}

/* test [NAME...]: those algorithms only. */
int main(int argc, char **argv)
{
    const struct device_options options = {.memory_bytes = UINT64_C(64) << 20};
    char why[400];
    if (!device_counter()) {
        printf("not ok unit_counts build: this is not the count build\n");
        return 1;
    }
    if (device_open(0, &options, why, sizeof why)) {
        printf("not ok unit_counts device: %s\n", why);
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
