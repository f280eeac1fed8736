/* SPDX-License-Identifier: MIT */
/* count: what every kernel does, access by access, in the build that sees it. */
#define _GNU_SOURCE /* sigaction */
#include "csv.h"
#include "device/counts.h"
#include "machine.h"
#include "progress.h"
#include "registry.h"
#include "timer.h"
#include "verbs/verbs.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 13, CELL = 40 };

/* One line of the table. */
struct line {
    char cells[COLUMNS][CELL]; /* the first is empty where there are no counts */
};

/* One run of count. */
struct count {
    const struct settings *settings;
    struct point *points; /* by n, so that the large ones come last */
    int count, done;
    struct line *lines; /* one a point */
    bool wrong;         /* a report, or a model that disagrees */
    bool incomplete;
    int counted; /* points with a line */
    bool files;
    struct machine machine;
    char slug[64], run[40], folder[4096];
    struct csv_file counts, launches;
    struct progress progress;
};

static void format_n(uint64_t n, char *text, size_t size)
{
    if (n >= 1024 && (n & (n - 1)) == 0)
        snprintf(text, size, "2^%d", log2_ceil(n));
    else
        snprintf(text, size, "%" PRIu64, n);
}

static void describe(const struct point *point, char *text, size_t size)
{
    char n[32], threads[32] = "";
    format_n(point->n, n, sizeof n);
    if (point->threads && point->threads != point->algorithm->threads[0])
        snprintf(threads, sizeof threads, " threads=%d", point->threads);
    snprintf(text, size, "%s %s %s %s n=%s%s", point->algorithm->name, kind_name(point->kind), type_name(point->type),
             op_name(point->op), n, threads);
}

/* ------------------------------------------------------------------------------------------------ signals */

static volatile sig_atomic_t interrupted;
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* The point in flight is finished first; a second signal ends the program at once, between two whole rows. */
static void catch_signals(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND)};
        sigaction(signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* nohup, or a shell's background job */
            sigaction(signals[i], &action, NULL);
    }
}

/* ------------------------------------------------------------------------------------------------ the plan */

/* One line for those of points[from..] that are left out for the reason of the first of them; they lose their
 * algorithm. */
static void tell_left_out(struct count *count, int from)
{
    const char *why = point_unavailable(&count->points[from]);
    for (int i = from; i < count->count; i++) {
        const struct algorithm *algorithm = count->points[i].algorithm;
        if (!algorithm || algorithm->run || strcmp(point_unavailable(&count->points[i]), why) != 0)
            continue;
        fprintf(stderr, "%s%s", i == from ? "scanbench: left out: " : ", ", algorithm->name);
        for (int j = i; j < count->count; j++)
            if (count->points[j].algorithm == algorithm)
                count->points[j].algorithm = NULL;
    }
    fprintf(stderr, ": %s\n", why);
}

/* Drops what this build cannot run, with a note for each reason; EXIT_RIGHT where something is left. */
static int leave_out(struct count *count)
{
    int kept = 0, planned = count->count;
    for (int i = 0; i < count->count; i++)
        if (count->points[i].algorithm && !count->points[i].algorithm->run)
            tell_left_out(count, i);
    for (int i = 0; i < count->count; i++)
        if (count->points[i].algorithm)
            count->points[kept++] = count->points[i];
    count->count = kept;
    if (kept)
        return EXIT_RIGHT;
    if (planned)
        return EXIT_NO_DEVICE;
    fprintf(stderr, "scanbench: nothing to count: no algorithm chosen has this kind, type, operator and block size; "
                    "`scanbench list` shows what they have\n");
    return EXIT_USAGE;
}

/* By n, otherwise as planned: neighbours share their input. */
static void order_by_n(struct count *count)
{
    struct point *ordered = malloc((size_t)count->count * sizeof *ordered);
    int placed = 0;
    if (!ordered)
        abort();
    for (int s = 0; s < count->settings->size_count; s++)
        for (int i = 0; i < count->count; i++)
            if (count->points[i].n == count->settings->sizes[s])
                ordered[placed++] = count->points[i];
    free(count->points);
    count->points = ordered;
}

/* ------------------------------------------------------------------------------------------------ the table */

static const char *const titles[COLUMNS] = {
    "algorithm", "kind",    "n",         "launches",   "additions", "additions/n", "steps",
    "bytes/n",   "sectors", "footprint", "wavefronts", "conflicts", "barriers",
};
enum { FIRST_NUMBER = 2 }; /* from here on columns are set to the right */

static void put_count(char *cell, uint64_t value)
{
    if (value == UNKNOWN)
        snprintf(cell, CELL, "-");
    else
        snprintf(cell, CELL, "%" PRIu64, value);
}

/* `unit` times a sum, for each element. */
static void put_each(char *cell, uint64_t value, uint64_t other, double unit, uint64_t n)
{
    if (value == UNKNOWN || other == UNKNOWN)
        snprintf(cell, CELL, "-");
    else
        snprintf(cell, CELL, "%.2f", unit * (double)(value + other) / (double)n);
}

static void make_line(struct line *line, const struct settings *settings, const struct point *point,
                      const struct job_counts *counts)
{
    const struct counts *all = &counts->all;
    double words = 32.0 / (double)type_size(point->type); /* of a sector */
    char(*cell)[CELL] = line->cells;
    bool several = settings->all_threads || settings->thread_count > 1;
    int used = snprintf(*cell, CELL, "%s", point->algorithm->name);
    if (point->threads && several)
        snprintf(*cell + used, CELL - (size_t)used, "/%d", point->threads);
    snprintf(*++cell, CELL, "%s", kind_name(point->kind));
    format_n(point->n, *++cell, CELL);
    put_count(*++cell, counts->launches);
    put_count(*++cell, all->additions);
    put_each(*++cell, all->additions, 0, 1, point->n);
    put_count(*++cell, all->steps);
    put_each(*++cell, all->bytes_read, all->bytes_written, 1, point->n);
    put_each(*++cell, all->global_load_sectors, all->global_store_sectors, words, point->n);
    put_each(*++cell, all->global_load_footprint, all->global_store_footprint, words, point->n);
    put_count(*++cell, all->shared_wavefronts);
    put_count(*++cell, all->bank_conflicts);
    put_count(*++cell, all->barriers);
}

/* Is the point a line of the table of `head`: the same type and operator, or a copy of its type? */
static bool in_table(const struct point *head, const struct point *point)
{
    return point->type == head->type && (point->kind == COPY || point->op == head->op);
}

static void print_cells(const char *const *cells, const int *width, bool markdown)
{
    for (int c = 0; c < COLUMNS; c++) {
        fputs(markdown ? "| " : c ? "  " : "", stdout);
        printf("%*s", c < FIRST_NUMBER ? -width[c] : width[c], cells[c]);
        if (markdown)
            putchar(' ');
    }
    puts(markdown ? "|" : "");
}

/* The lines of one type and operator; of one n, or of all where it is 0. */
static void print_table(const struct count *count, const struct point *head, uint64_t n)
{
    bool markdown = count->settings->markdown;
    int width[COLUMNS];
    const char *cells[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        width[c] = (int)strlen(titles[c]);
    for (int i = 0; i < count->done; i++)
        for (int c = 0; c < COLUMNS && in_table(head, &count->points[i]); c++)
            if ((int)strlen(count->lines[i].cells[c]) > width[c])
                width[c] = (int)strlen(count->lines[i].cells[c]);

    printf("%s %s; sectors and footprint in words of %zu bytes an element\n%s", type_name(head->type),
           op_name(head->op), type_size(head->type), markdown ? "\n" : "");
    print_cells(titles, width, markdown);
    for (int c = 0; c < COLUMNS && markdown; c++)
        printf("|%s", c < FIRST_NUMBER ? "---" : "---:");
    if (markdown)
        puts("|");
    for (int i = 0; i < count->done; i++) {
        if (!in_table(head, &count->points[i]) || !count->lines[i].cells[0][0] || (n && count->points[i].n != n))
            continue;
        for (int c = 0; c < COLUMNS; c++)
            cells[c] = count->lines[i].cells[c];
        print_cells(cells, width, markdown);
    }
    putchar('\n');
}

/* All tables; of the largest n only, where everything else is in the files. */
static void print_tables(const struct count *count)
{
    bool scans = false;
    for (int i = 0; i < count->done; i++)
        scans |= count->points[i].kind != COPY;
    for (int i = 0; i < count->done; i++) {
        const struct point *point = &count->points[i];
        bool seen = scans && point->kind == COPY; /* copies stand in the tables of the scans */
        for (int j = 0; j < i && !seen; j++)
            seen = point->type == count->points[j].type && point->op == count->points[j].op;
        if (!seen)
            print_table(count, point, count->files ? count->points[count->done - 1].n : 0);
    }
    if (count->done)
        printf("Counted are accesses as the source writes them. Sectors: 32 bytes, distinct within a warp's request; "
               "footprint: distinct within a launch.\n"
               "Counts cannot show GPU time, weak memory order (but a missing release or acquire is reported), caches, "
               "and "
               "what nvcc merges or leaves out.\n");
}

/* ------------------------------------------------------------------------------------------------ counting */

/* What is left of the plan, size by size: "n = 2^19 (block_scan), 2^20 (all)". */
static void format_missing(const struct count *count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int from = count->done, to; from < count->count && used < size; from = to) {
        char n[32], names[300] = "";
        size_t length = 0;
        bool all = !from || count->points[from - 1].n != count->points[from].n;
        for (to = from; to < count->count && count->points[to].n == count->points[from].n; to++) {
            const char *name = count->points[to].algorithm->name;
            bool seen = false;
            for (int i = from; i < to; i++)
                seen |= count->points[i].algorithm == count->points[to].algorithm;
            if (!seen && length < sizeof names)
                length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", name);
        }
        format_n(count->points[from].n, n, sizeof n);
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "n = ", n, all ? "all" : names);
    }
}

static int open_files(struct count *count)
{
    const struct settings *settings = count->settings;
    static struct settings described; /* a budget of all points is none of machine.csv's, which has that of a point */
    struct worker_hello hello = {0};
    time_t now = time(NULL);
    described = *settings;
    described.budget_s = NAN;
    described.min_samples = described.max_samples = 0;
    device_get_properties(&hello.properties);
    machine_describe(&count->machine, &described, &hello, now);
    machine_slug(&count->machine, count->slug, sizeof count->slug);
    return csv_run_folder(settings->output, count->slug, now, count->folder, sizeof count->folder, count->run,
                          sizeof count->run) ||
           machine_write(&count->machine, count->folder, count->run, count->slug, false) ||
           csv_open(&count->launches, count->folder, "launches.csv", csv_launches_header) ||
           csv_open(&count->counts, count->folder, "counts.csv", csv_counts_header);
}

/* The launches first: a point in counts.csv has all of its launches. */
static int write_rows(struct count *count, const struct point *point, const struct job_counts *counts)
{
    struct csv_row text;
    for (int i = 0; i < counts->list_count; i++) {
        csv_launch(&text, count->run, point, counts, i);
        if (csv_append(&count->launches, &text))
            return -1;
    }
    csv_counts(&text, count->run, point, counts);
    return csv_append(&count->counts, &text);
}

/* Once for an algorithm, not once for each of its sizes. */
static void tell_unsupported(struct count *count, const struct row *row)
{
    static const struct algorithm *told[64];
    const struct algorithm *algorithm = count->points[count->done].algorithm;
    size_t i = 0;
    while (i < sizeof told / sizeof *told - 1 && told[i] && told[i] != algorithm)
        i++;
    if (told[i] == algorithm)
        return;
    told[i] = algorithm;
    progress_note(&count->progress, false, "unsupported: %s: %s", algorithm->name, row->message);
}

/* False where the run ends here: a kernel that fails, or a file that cannot be written. */
static bool keep(struct count *count, const struct row *row, const struct job_counts *counts)
{
    const struct point *point = &count->points[count->done];
    char name[160];
    describe(point, name, sizeof name);
    for (int i = 0; i < counts->report_count; i++)
        progress_note(&count->progress, true, "%s: %s: %s", counts->reports[i].kind, name, counts->reports[i].text);
    count->wrong |= counts->report_count > 0;
    switch (row->status) {
    case STATUS_OK: break;
    case STATUS_UNSUPPORTED: tell_unsupported(count, row); return true;
    case STATUS_OOM:
        progress_note(&count->progress, true, "oom: %s: %s", name, row->message);
        count->incomplete = true;
        return true;
    default:
        progress_note(&count->progress, true, "%s: %s: %s; the count ends here, -a chooses algorithms",
                      status_name(row->status), name, row->message);
        return false;
    }
    if (counts->agreement == MODEL_DISAGREES) {
        progress_note(&count->progress, true, "disagrees: %s: %s", name, counts->disagreement);
        count->wrong = true;
    }
    if (strstr(row->flags, FLAG_UNFOLLOWED))
        progress_note(
            &count->progress, true,
            "not followed: %s: its blocks tell each other too much; races between blocks were not all looked for",
            name);
    make_line(&count->lines[count->done], count->settings, point, counts);
    count->counted++;
    progress_wipe(&count->progress);
    return !count->files || !write_rows(count, point, counts);
}

/* One point after the other; the exit code. */
static int count_all(struct count *count)
{
    const struct settings *settings = count->settings;
    const struct job_options options = {.seed = settings->seed};
    double begun = timer_now_s();
    progress_begin(&count->progress, count->count, 5);
    for (; count->done < count->count; count->done++) {
        struct row row;
        struct job_counts counts;
        char text[1000];
        if (interrupted) {
            progress_note(&count->progress, true, "scanbench: interrupted: %d of %d points were counted", count->done,
                          count->count);
            return EXIT_INTERRUPTED;
        }
        if (count->done && timer_now_s() - begun >= settings->budget_s) {
            format_missing(count, text, sizeof text);
            progress_note(&count->progress, true,
                          "scanbench: over the budget of %g s, so not counted: %s; --budget allows more",
                          settings->budget_s, text);
            return EXIT_WRONG;
        }
        describe(&count->points[count->done], text, sizeof text);
        progress_point(&count->progress, count->done, "%s", text);
        job_count(&count->points[count->done], &options, &row, &counts);
        bool kept = keep(count, &row, &counts);
        job_counts_free(&counts);
        if (!kept)
            return EXIT_WRONG;
    }
    progress_wipe(&count->progress);
    if (!count->counted && !count->incomplete) {
        fprintf(stderr, "scanbench: nothing was counted: no algorithm chosen can do any of these sizes\n");
        return EXIT_WRONG;
    }
    return count->incomplete ? EXIT_WRONG : EXIT_RIGHT;
}

/* counts.csv comes last: where it is there, the run is complete. */
static int close_files(struct count *count, int code)
{
    bool whole = code == EXIT_RIGHT;
    if (whole && (machine_write(&count->machine, count->folder, count->run, count->slug, true) ||
                  csv_complete(&count->launches) || csv_complete(&count->counts)))
        code = EXIT_WRONG;
    csv_abandon(&count->launches);
    csv_abandon(&count->counts);
    if (code == EXIT_RIGHT)
        printf("\nwritten:\n%s/counts.csv\n%s/launches.csv\n%s/machine.csv\n", count->folder, count->folder,
               count->folder);
    else if (!whole && count->folder[0])
        fprintf(stderr, "scanbench: incomplete: %d of %d points, whole rows, are in %s/counts.csv.part\n", count->done,
                count->count, count->folder);
    return code;
}

static int count_planned(struct count *count)
{
    const struct settings *settings = count->settings;
    char why[400];
    if (device_open(0, &settings->device_options, why, sizeof why)) {
        fprintf(stderr, "scanbench: %s\n", why);
        return EXIT_NO_DEVICE;
    }
    catch_signals();
    int code = EXIT_WRONG;
    if (!count->files || !open_files(count)) {
        code = count_all(count);
        print_tables(count);
    }
    device_close();
    if (count->files)
        code = close_files(count, code);
    if (code == EXIT_RIGHT && count->wrong) {
        fprintf(stderr, "scanbench: complete, but not sound: races, strays or models that disagree are told above\n");
        code = EXIT_WRONG;
    }
    return code;
}

static int run(struct settings *settings)
{
    struct count count = {.settings = settings, .counts = {.fd = -1}, .launches = {.fd = -1}};
    if (!device_counter()) {
        fprintf(stderr, "scanbench: only the build that counts can tell this: `make DEVICE=count` builds it; then "
                        "build/count/scanbench count\n");
        return EXIT_USAGE;
    }
    settings_defaults(settings, device_kind());
    count.files = !settings->table && !settings->markdown;
    count.count = plan_make(settings, &count.points);
    int code = leave_out(&count);
    if (!code && count.files && csv_folder_writable(settings->output))
        code = EXIT_USAGE;
    if (!code) {
        order_by_n(&count);
        count.lines = calloc((size_t)count.count, sizeof *count.lines);
        if (!count.lines)
            abort();
        code = count_planned(&count);
    }
    free(count.lines);
    free(count.points);
    return code;
}

const struct verb verb_count = {
    .name = "count",
    .summary = "count launches, additions, memory accesses, bank conflicts of every kernel (in the count build)",
    .usage = "[OPTIONS]",
    .options =
        "algorithms sizes type kind op threads seed output machine budget memory resident schedule table markdown",
    .examples = "  scanbench count                                           every algorithm, into results/\n"
                "  scanbench count --table -a hillis_steele,blelloch -n 1024  a table, no files\n"
                "  scanbench count --markdown -a block_scan --threads all -n 2^16\n",
    .run = run,
};
