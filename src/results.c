/* SPDX-License-Identifier: MIT */
#include "results.h"
#include "job.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SCHEMA = 1, MOST_COLUMNS = 256 };

/* Where a number of a row goes, and under which column it stands. */
static const struct number {
    const char *column;
    size_t offset;
} numbers[] = {
#define NUMBER(clock, field)                                                                                           \
    {                                                                                                                  \
#clock "_" #field "_s", offsetof(struct result, clock##_time.field)                                            \
    }
    NUMBER(device, min),  NUMBER(device, q1),    NUMBER(device, median), NUMBER(device, q3),
    NUMBER(device, max),  NUMBER(device, ci_lo), NUMBER(device, ci_hi),  NUMBER(host, min),
    NUMBER(host, median), NUMBER(host, ci_lo),   NUMBER(host, ci_hi),
#undef NUMBER
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const struct text {
    const char *column;
    size_t offset;
} texts[] = {
#define TEXT(field)                                                                                                    \
    {                                                                                                                  \
#field, offsetof(struct result, field)                                                                         \
    }
    TEXT(device), TEXT(algorithm), TEXT(kind), TEXT(type), TEXT(op), TEXT(launch), TEXT(cache), TEXT(status),
#undef TEXT
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* The other columns that are read. */
enum { C_SCHEMA, C_RUN, C_MACHINE, C_N, C_THREADS, C_SAMPLES, C_HOST_SAMPLES, OTHERS };
static const char *const others[OTHERS] = {"schema", "run", "machine", "n", "threads", "samples", "host_samples"};

struct reader {
    struct results *results;
    int line, columns;
    char *names[MOST_COLUMNS];
    int number_at[NUMBERS], text_at[TEXTS], other_at[OTHERS];
    char *why;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *reader, const char *format, ...)
{
    int length = reader->line ? snprintf(reader->why, reader->size, "%s:%d: ", reader->results->path, reader->line)
                              : snprintf(reader->why, reader->size, "%s: ", reader->results->path);
    if (length >= 0 && (size_t)length < reader->size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(reader->why + length, reader->size - (size_t)length, format, arguments);
        va_end(arguments);
    }
    return -1;
}

/* Cuts a line at its commas. Returns the number of fields, or MOST_COLUMNS + 1 for more than that. */
static int split(char *line, char **fields)
{
    int count = 0;
    for (char *at = line; at; count++) {
        if (count == MOST_COLUMNS)
            return MOST_COLUMNS + 1;
        fields[count] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return count;
}

static int find_column(struct reader *reader, const char *name, int *at)
{
    *at = -1;
    for (int i = 0; i < reader->columns; i++) {
        if (strcmp(reader->names[i], name) != 0)
            continue;
        if (*at >= 0)
            return refuse(reader, "two columns are named %s; restore the file as it was written", name);
        *at = i;
    }
    return *at >= 0 ? 0 : refuse(reader, "no column %s; this is not a results.csv of schema %d", name, SCHEMA);
}

static int read_header(struct reader *reader, char *line)
{
    if (strchr(line, ';'))
        return refuse(reader,
                      "columns are separated by ';'; restore the file as it was written (a spreadsheet saved it)");
    if (strchr(line, '"'))
        return refuse(reader, "quotes; restore the file as it was written (a spreadsheet saved it)");
    reader->columns = split(line, reader->names);
    if (reader->columns > MOST_COLUMNS)
        return refuse(reader, "more than %d columns; this is not a results.csv", MOST_COLUMNS);
    for (int i = 0; i < OTHERS; i++)
        if (find_column(reader, others[i], &reader->other_at[i]))
            return -1;
    for (int i = 0; i < TEXTS; i++)
        if (find_column(reader, texts[i].column, &reader->text_at[i]))
            return -1;
    for (int i = 0; i < NUMBERS; i++)
        if (find_column(reader, numbers[i].column, &reader->number_at[i]))
            return -1;
    return 0;
}

static int read_whole(struct reader *reader, const char *column, const char *text, uint64_t *value)
{
    *value = 0;
    if (!*text)
        return 0;
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*end || errno || text[strspn(text, "0123456789")])
        return refuse(reader, "%s is \"%.40s\", not a whole number; restore the file as it was written", column, text);
    return 0;
}

static int read_time(struct reader *reader, const char *column, const char *text, double *value)
{
    *value = NAN;
    if (!*text)
        return 0;
    char *end;
    *value = strtod(text, &end);
    if (*end || text[strspn(text, "0123456789+-.eE")])
        return refuse(reader, "%s is \"%.40s\", not a number; restore the file as it was written", column, text);
    if (!(*value > 0 && *value < HUGE_VAL))
        return refuse(reader, "%s is %.40s, but a time is above zero; remove the row or measure again", column, text);
    return 0;
}

/* Names become file names of charts: letters, digits and "._-", and no dot in front. */
static int check_slug(struct reader *reader, const char *column, const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (*text && *text != '.' && !text[strspn(text, allowed)])
        return 0;
    return refuse(reader,
                  "%s is \"%.40s\", not a name of letters, digits and \"._-\"; restore the file as it was written",
                  column, text);
}

static int check_status(struct reader *reader, const char *text)
{
    for (int i = 0; i < STATUSES; i++)
        if (!strcmp(text, status_name((enum status)i)))
            return 0;
    return refuse(reader,
                  "status is \"%.40s\", which this scanbench does not know; restore the file as it was written, or use "
                  "the scanbench that wrote it",
                  text);
}

/* Each of the numbers that are there is at least as large as the one before. */
static int check_order(struct reader *reader, const char *clock, const char *const *names, const double *values,
                       int count)
{
    for (int i = 0, last = -1; i < count; i++) {
        if (isnan(values[i]))
            continue;
        if (last >= 0 && values[last] > values[i])
            return refuse(reader, "%s_%s_s is above %s_%s_s; restore the file as it was written", clock, names[last],
                          clock, names[i]);
        last = i;
    }
    return 0;
}

static int check_timing(struct reader *reader, const char *clock, const struct timing *timing)
{
    static const char *const quartiles[] = {"min", "q1", "median", "q3", "max"};
    static const char *const interval[] = {"ci_lo", "median", "ci_hi"};
    const double a[] = {timing->min, timing->q1, timing->median, timing->q3, timing->max};
    const double b[] = {timing->ci_lo, timing->median, timing->ci_hi};
    return check_order(reader, clock, quartiles, a, 5) || check_order(reader, clock, interval, b, 3) ? -1 : 0;
}

static int read_row(struct reader *reader, char *line)
{
    struct results *results = reader->results;
    struct result *row = &results->rows[results->count];
    char *fields[MOST_COLUMNS];
    int count = split(line, fields);
    if (count != reader->columns)
        return refuse(reader,
                      "%d fields, but the header has %d (a torn line, or a decimal comma?); remove the line or "
                      "restore the file",
                      count, reader->columns);

    row->line = reader->line;
    uint64_t whole[OTHERS] = {0};
    for (int i = 0; i < OTHERS; i++)
        if (i != C_RUN && i != C_MACHINE && read_whole(reader, others[i], fields[reader->other_at[i]], &whole[i]))
            return -1;
    if (whole[C_SCHEMA] != SCHEMA)
        return refuse(reader, "schema is \"%.40s\", but this scanbench reads %d; use the one that wrote the file",
                      fields[reader->other_at[C_SCHEMA]], SCHEMA);
    if (!whole[C_N])
        return refuse(reader, "n is \"%.40s\", not a number of elements; remove the row",
                      fields[reader->other_at[C_N]]);
    row->n = whole[C_N];
    row->threads = (int)whole[C_THREADS];
    row->device_time.samples = (int)whole[C_SAMPLES];
    row->host_time.samples = (int)whole[C_HOST_SAMPLES];
    row->host_time.q1 = row->host_time.q3 = row->host_time.max = NAN;

    for (int i = 0; i < TEXTS; i++) {
        const char *text = fields[reader->text_at[i]];
        bool optional = !strcmp(texts[i].column, "launch") || !strcmp(texts[i].column, "cache");
        if (!(optional && !*text) && check_slug(reader, texts[i].column, text))
            return -1;
        *(const char **)((char *)row + texts[i].offset) = text;
    }
    for (int i = 0; i < NUMBERS; i++)
        if (read_time(reader, numbers[i].column, fields[reader->number_at[i]],
                      (double *)((char *)row + numbers[i].offset)))
            return -1;
    if (check_status(reader, row->status))
        return -1;
    if (check_timing(reader, "device", &row->device_time) || check_timing(reader, "host", &row->host_time))
        return -1;

    const char *run = fields[reader->other_at[C_RUN]], *machine = fields[reader->other_at[C_MACHINE]];
    if (check_slug(reader, "run", run) || check_slug(reader, "machine", machine))
        return -1;
    if (!results->count) {
        results->run = run;
        results->machine = machine;
    } else if (strcmp(run, results->run) != 0 || strcmp(machine, results->machine) != 0) {
        return refuse(reader, "run %.60s of machine %.80s in a file of run %.60s of machine %.80s; keep one run a file",
                      run, machine, results->run, results->machine);
    }
    results->count++;
    return 0;
}

/* By everything that names a point, then by line. */
static int compare_points(const void *left, const void *right)
{
    const struct result *a = *(const struct result *const *)left, *b = *(const struct result *const *)right;
    for (int i = 0; i < TEXTS; i++) {
        if (texts[i].offset == offsetof(struct result, status))
            continue;
        int order = strcmp(*(const char *const *)((const char *)a + texts[i].offset),
                           *(const char *const *)((const char *)b + texts[i].offset));
        if (order)
            return order;
    }
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return (a->threads > b->threads) - (a->threads < b->threads);
}

static int check_duplicates(struct reader *reader)
{
    struct results *results = reader->results;
    const struct result **sorted = malloc((size_t)(results->count + 1) * sizeof *sorted);
    if (!sorted)
        return refuse(reader, "out of memory");
    for (int i = 0; i < results->count; i++)
        sorted[i] = &results->rows[i];
    qsort(sorted, (size_t)results->count, sizeof *sorted, compare_points);
    const struct result *first = NULL, *second = NULL;
    for (int i = 1; i < results->count; i++) {
        if (compare_points(&sorted[i - 1], &sorted[i]) != 0)
            continue;
        const struct result *a = sorted[i - 1], *b = sorted[i];
        if (!second || (a->line > b->line ? a : b)->line < second->line) {
            first = a->line < b->line ? a : b;
            second = a->line < b->line ? b : a;
        }
    }
    free(sorted);
    if (!second)
        return 0;
    reader->line = second->line;
    return refuse(reader, "%s at n = %llu is there already, in line %d; remove one of the two", second->algorithm,
                  (unsigned long long)second->n, first->line);
}

static int read_lines(struct reader *reader, size_t length)
{
    struct results *results = reader->results;
    int lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += results->text[i] == '\n';
    results->rows = calloc((size_t)lines + 1, sizeof *results->rows);
    if (!results->rows)
        return refuse(reader, "out of memory");
    if (!length)
        return refuse(reader, "the file is empty; remove the run or measure again");
    for (char *line = results->text, *end; line < results->text + length; line = end + 1) {
        reader->line++;
        end = memchr(line, '\n', (size_t)(results->text + length - line));
        if (!end)
            return refuse(reader, "the last line is torn (no end of line); remove it");
        *end = '\0';
        if (strlen(line) != (size_t)(end - line))
            return refuse(reader, "a zero byte; restore the file as it was written");
        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
        if (reader->line == 1 ? read_header(reader, line) : read_row(reader, line))
            return -1;
    }
    return check_duplicates(reader);
}

static int find_file(struct reader *reader, const char *path)
{
    struct results *results = reader->results;
    size_t size = sizeof results->path;
    struct stat status;
    size_t slashes = strlen(path);
    while (slashes > 1 && path[slashes - 1] == '/')
        slashes--;
    if (snprintf(results->path, size, "%.*s", (int)slashes, path) >= (int)size - 32)
        return refuse(reader, "the path is too long");
    if (stat(path, &status))
        return refuse(reader, "%s; name the folder of a run, results/MACHINE/RUN", strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return 0;
    strcat(results->path, "/results.csv");
    if (!stat(results->path, &status))
        return 0;
    strcat(results->path, ".part");
    int incomplete = !stat(results->path, &status);
    results->path[strlen(results->path) - strlen(".part")] = '\0';
    if (incomplete)
        return refuse(reader, "the run is not complete; name %s.part to read what is there", results->path);
    char counts[sizeof results->path + 16];
    snprintf(counts, sizeof counts, "%.*s/counts.csv", (int)slashes, path);
    if (!stat(counts, &status))
        return refuse(reader, "the run has counts and no times: nothing to compare on the clock");
    return refuse(reader, "%s; name the folder of a run, results/MACHINE/RUN", strerror(ENOENT));
}

int results_read(const char *path, struct results *results, char *why, size_t size)
{
    struct reader reader = {.results = results, .why = why, .size = size};
    memset(results, 0, sizeof *results);
    results->run = results->machine = "";
    if (find_file(&reader, path))
        return -1;
    FILE *file = fopen(results->path, "rb");
    if (!file)
        return refuse(&reader, "%s", strerror(errno));
    size_t length = 0, room = 1 << 16, got;
    results->text = malloc(room);
    while (results->text && (got = fread(results->text + length, 1, room - length, file)) > 0) {
        length += got;
        if (length < room)
            continue;
        char *larger = realloc(results->text, room *= 2);
        if (!larger)
            free(results->text);
        results->text = larger;
    }
    int error = ferror(file) ? errno : 0;
    fclose(file);
    int failed;
    if (!results->text)
        failed = refuse(&reader, "out of memory");
    else if (error)
        failed = refuse(&reader, "%s", strerror(error));
    else
        failed = read_lines(&reader, length);
    if (failed)
        results_free(results);
    return failed;
}

void results_free(struct results *results)
{
    free(results->rows);
    free(results->text);
    results->rows = NULL;
    results->text = NULL;
    results->count = 0;
    results->run = results->machine = "";
}

bool result_has_time(const struct result *result)
{
    return !strcmp(result->status, "ok") || !strcmp(result->status, "unstable") || !strcmp(result->status, "throttled");
}

/* Names of runs are a time, then perhaps -2, -3 ... where several began in one second. */
static int compare_runs(const char *a, const char *b)
{
    enum { STAMP = sizeof "20260102-030405" - 1 };
    int order = strncmp(a, b, STAMP);
    if (order || strlen(a) <= STAMP || strlen(b) <= STAMP)
        return order ? order : strcmp(a, b);
    long left = strtol(a + STAMP, NULL, 10), right = strtol(b + STAMP, NULL, 10); /* negative: "-2" */
    return left != right ? (left < right) - (left > right) : strcmp(a, b);
}

static bool is_simulated(const char *machine)
{
    static const char sign[] = "simulated";
    size_t length = strlen(machine);
    return length >= sizeof sign - 1 && !strcmp(machine + length - (sizeof sign - 1), sign);
}

int results_newest(const char *root, char *folder, size_t size)
{
    char best[256] = "", best_path[4096] = "";
    DIR *machines = opendir(root);
    if (!machines)
        return -1;
    for (struct dirent *machine; (machine = readdir(machines));) {
        char path[4096];
        if (machine->d_name[0] == '.' || is_simulated(machine->d_name) ||
            snprintf(path, sizeof path, "%s/%s", root, machine->d_name) >= (int)sizeof path)
            continue;
        DIR *runs = opendir(path);
        if (!runs)
            continue;
        for (struct dirent *run; (run = readdir(runs));) {
            char file[4096 + 300];
            snprintf(file, sizeof file, "%s/%s/results.csv", path, run->d_name);
            struct stat status;
            if (run->d_name[0] == '.' || stat(file, &status))
                continue;
            int order = compare_runs(run->d_name, best);
            file[strlen(file) - strlen("/results.csv")] = '\0';
            if (order > 0 || (order == 0 && strcmp(file, best_path) < 0)) {
                snprintf(best, sizeof best, "%s", run->d_name);
                snprintf(best_path, sizeof best_path, "%.4095s", file);
            }
        }
        closedir(runs);
    }
    closedir(machines);
    if (!*best || strlen(best_path) >= size)
        return -1;
    strcpy(folder, best_path);
    return 0;
}
