/* SPDX-License-Identifier: MIT */
/* What bench ends with: a table of medians for each kind, type and operator. */
#include "csv.h"
#include "registry.h"
#include "verbs/bench.h"

#include <stdio.h>
#include <string.h>

enum { TABLE_SIZES = 5 };

static bool same_line(const struct point *a, const struct point *b)
{
    return a->algorithm == b->algorithm && a->threads == b->threads && a->kind == b->kind && a->type == b->type &&
           a->op == b->op && a->launch == b->launch && a->cache == b->cache;
}

/* Is the point shown in the table of `head`: the same kind, type and operator, or a copy of its type? */
static bool in_table(const struct point *head, const struct point *point)
{
    return point->type == head->type && (point->kind == COPY || (point->kind == head->kind && point->op == head->op));
}

static void format_cell(const struct bench *bench, const struct point *line, uint64_t n, char *cell, size_t size)
{
    snprintf(cell, size, "-");
    for (int i = 0; i < bench->count; i++) {
        const struct row *row = &bench->rows[i];
        if (!bench->done[i] || bench->points[i].n != n || !same_line(line, &bench->points[i]))
            continue;
        if (csv_has_time(row)) {
            char time[32];
            bench_format_seconds(row->device.median, time, sizeof time);
            snprintf(cell, size, "%s%s", row->status == STATUS_OK ? "" : "~", time);
        } else if (row->status != STATUS_UNSUPPORTED) {
            snprintf(cell, size, "%s", status_name(row->status));
        }
        return;
    }
}

/* What tells the line from others of the table: its algorithm, and what there is more than one of. */
static void format_line(const struct bench *bench, const struct point *point, char *text, size_t size)
{
    char threads[16] = "";
    if (point->threads && bench->block_sizes)
        snprintf(threads, sizeof threads, "/%d", point->threads);
    bool modes = bench->modes && point->algorithm->runs_on != HOST;
    snprintf(text, size, "%s%s%s%s", point->algorithm->name, threads,
             !modes                          ? ""
             : point->launch == LAUNCH_GRAPH ? " graph"
                                             : " stream",
             !modes                       ? ""
             : point->cache == CACHE_COLD ? " cold"
                                          : "");
}

static int widest_line(const struct bench *bench)
{
    char text[64];
    size_t widest = 0;
    for (int i = 0; i < bench->count; i++) {
        format_line(bench, &bench->points[i], text, sizeof text);
        if (strlen(text) > widest)
            widest = strlen(text);
    }
    return (int)widest;
}

static void print_table(const struct bench *bench, int head, int width)
{
    const struct point *first = &bench->points[head];
    const struct settings *settings = bench->settings;
    int columns = settings->size_count < TABLE_SIZES ? settings->size_count : TABLE_SIZES;
    uint64_t sizes[TABLE_SIZES];
    char text[64];

    for (int c = 0; c < columns; c++)
        sizes[c] = settings->sizes[columns > 1 ? c * (settings->size_count - 1) / (columns - 1) : 0];
    printf("%s %s %s, median of the device time (of the host's for a host algorithm)\n%-*s", kind_name(first->kind),
           type_name(first->type), op_name(first->op), width, "n");
    for (int c = 0; c < columns; c++) {
        bench_format_n(sizes[c], text, sizeof text);
        printf(" %12s", text);
    }
    putchar('\n');
    for (int i = 0; i < bench->count; i++) {
        const struct point *point = &bench->points[i];
        bool seen = !in_table(first, point);
        for (int j = 0; j < i && !seen; j++)
            seen = same_line(point, &bench->points[j]);
        if (seen)
            continue;
        format_line(bench, point, text, sizeof text);
        printf("%-*s", width, text);
        for (int c = 0; c < columns; c++) {
            format_cell(bench, point, sizes[c], text, sizeof text);
            printf(" %12s", text);
        }
        putchar('\n');
    }
    putchar('\n');
}

/* How many rows have which flag; that a device is simulated stands in the name of the run already. */
static void print_flags(const struct bench *bench)
{
    struct {
        char name[sizeof bench->rows->flags];
        int rows;
    } flags[16] = {0};
    int count = 0;
    for (int i = 0; i < bench->count; i++) {
        char text[sizeof bench->rows->flags], *rest;
        snprintf(text, sizeof text, "%s", bench->rows[i].flags);
        for (char *flag = strtok_r(text, "+", &rest); flag; flag = strtok_r(NULL, "+", &rest)) {
            int at = 0;
            while (at < count && strcmp(flags[at].name, flag) != 0)
                at++;
            if (!strcmp(flag, "simulated") || at == sizeof flags / sizeof *flags)
                continue;
            if (at == count) {
                snprintf(flags[at].name, sizeof flags[at].name, "%s", flag);
                count++;
            }
            flags[at].rows++;
        }
    }
    for (int i = 0; i < count; i++)
        printf("%s%d row%s %s", i ? ", " : "flags: ", flags[i].rows, flags[i].rows == 1 ? "" : "s", flags[i].name);
    if (count)
        printf("; `scanbench help timing` explains them\n\n");
}

void bench_print_tables(const struct bench *bench)
{
    bool scans = false;
    int unstable = 0, width = widest_line(bench);
    for (int i = 0; i < bench->count; i++)
        scans = scans || bench->points[i].kind != COPY;
    for (int i = 0; i < bench->count; i++) {
        const struct point *point = &bench->points[i];
        bool seen = scans && point->kind == COPY; /* copies stand in the tables of the scans */
        for (int j = 0; j < i && !seen; j++)
            seen = point->kind == bench->points[j].kind && point->type == bench->points[j].type &&
                   point->op == bench->points[j].op;
        if (!seen)
            print_table(bench, i, width);
        unstable += bench->rows[i].status == STATUS_UNSTABLE;
    }
    if (unstable)
        printf("~ %d of %d rows are unstable: a limit on samples or time came before a median within 1 %%\n\n",
               unstable, bench->count);
    print_flags(bench);
}
