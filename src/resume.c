/* SPDX-License-Identifier: MIT */
#include "resume.h"

#include "registry.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

__attribute__((format(printf, 2, 3))) static int refuse(const struct resume *resume, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "scanbench: --resume %s: ", resume->folder);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return -1;
}

/* ---- what differs, in one line */

struct difference {
    char text[1200];
    size_t used;
    int count;
};

/* Nothing, where the two are the same. */
static void differ(struct difference *difference, const char *name, const char *there, const char *here)
{
    enum { MOST_TOLD = 4, LONGEST = 80 };
    if (!strcmp(there, here) || ++difference->count > MOST_TOLD || difference->used >= sizeof difference->text)
        return;
    difference->used +=
        (size_t)snprintf(difference->text + difference->used, sizeof difference->text - difference->used,
                         "%s%s is %.*s there and %.*s here", difference->used ? "; " : "", name, LONGEST,
                         *there ? there : "unknown", LONGEST, *here ? here : "unknown");
}

static void differ_in_columns(struct difference *difference, const struct machine_record *there,
                              const struct machine_record *here, const char *const *names)
{
    for (; *names; names++)
        differ(difference, *names, machine_record_field(there, *names), machine_record_field(here, *names));
}

/* What has to be the same, known before the device is opened ... */
static const char *const build_columns[] = {"schema",   "version",  "commit",     "dirty",
                                            "compiler", "host_cpu", "host_cores", NULL};
/* ... and after. */
static const char *const device_columns[] = {
    "machine", "gpu_name", "uuid",       "compute_capability", "sm_count",  "mig", "driver", "runtime",
    "nvcc",    "cub",      "arch_flags", "l2_bytes",           "simulated", "wsl", NULL};

/* The record of a machine as it would be written now. */
static void record_now(const struct machine *machine, const char *slug, struct machine_record *record)
{
    static char text[sizeof record->header + sizeof record->row];
    struct csv_row row;
    char why[200];
    machine_row(machine, "", slug, &row);
    snprintf(text, sizeof text, "%s%s\n", machine_header, row.text);
    if (machine_record_read(text, record, why, sizeof why))
        memset(record, 0, sizeof *record);
}

static int check_build(const struct resume *resume, const struct settings *given)
{
    static struct machine machine;
    static struct machine_record here;
    struct difference difference = {.used = 0};
    struct worker_hello unknown = {0};
    machine_describe(&machine, given, &unknown, 0);
    record_now(&machine, "", &here);
    differ_in_columns(&difference, &resume->record, &here, build_columns);
    if (difference.count)
        return refuse(resume, "%s: measure anew", difference.text);
    return 0;
}

int resume_check(const struct resume *resume, const struct machine *machine, const char *slug)
{
    static struct machine_record here;
    struct difference difference = {.used = 0};
    record_now(machine, slug, &here);
    differ_in_columns(&difference, &resume->record, &here, device_columns);
    if (difference.count)
        return refuse(resume, "%s: measure anew", difference.text);
    return 0;
}

/* ---- options */

enum { OPTIONS = 21 };

static void join_set(char *text, size_t size, unsigned set, const char *(*name)(unsigned))
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned bit = 1; bit <= 8; bit *= 2)
        if (set & bit && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", name(bit));
}
static const char *type_of(unsigned bit)
{
    return type_name((enum type)bit);
}
static const char *kind_of(unsigned bit)
{
    return kind_name((enum kind)bit);
}
static const char *op_of(unsigned bit)
{
    return op_name((enum op)bit);
}
static const char *launch_of(unsigned bit)
{
    return launch_mode_name((enum launch_mode)bit);
}
static const char *cache_of(unsigned bit)
{
    return cache_state_name((enum cache_state)bit);
}

/* Option number `option` in words; its name. */
static const char *option_text(const struct settings *s, int option, char *text, size_t size)
{
    const struct device_options *device = &s->device_options;
    size_t used = 0;
    text[0] = 0;
    switch (option) {
    case 0:
        for (int i = 0; i < s->algorithm_count && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", s->algorithms[i]->name);
        return "--algorithms";
    case 1:
        for (int i = 0; i < s->size_count && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? "," : "", s->sizes[i]);
        return "--sizes";
    case 2: join_set(text, size, s->types, type_of); return "--type";
    case 3: join_set(text, size, s->kinds, kind_of); return "--kind";
    case 4: join_set(text, size, s->ops, op_of); return "--op";
    case 5:
        snprintf(text, size, "%s", s->all_threads ? "all" : s->thread_count ? "" : "own");
        for (int i = 0; i < s->thread_count && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%d", i ? "," : "", s->threads[i]);
        return "--threads";
    case 6: snprintf(text, size, "%" PRIu64, s->seed); return "--seed";
    case 7: snprintf(text, size, "%d", s->device); return "--device";
    case 8: snprintf(text, size, "%s", s->output); return "--output";
    case 9: snprintf(text, size, "%s", s->machine ? s->machine : "none"); return "--machine";
    case 10: snprintf(text, size, "%d", s->min_samples); return "--min-samples";
    case 11: snprintf(text, size, "%d", s->max_samples); return "--max-samples";
    case 12: snprintf(text, size, "%.9g", s->budget_s); return "--budget";
    case 13: join_set(text, size, s->launches, launch_of); return "--launch";
    case 14: join_set(text, size, s->caches, cache_of); return "--cache";
    case 15: snprintf(text, size, "%s", s->samples ? "yes" : "no"); return "--samples";
    case 16: snprintf(text, size, "%s", s->no_gate ? "yes" : "no"); return "--no-gate";
    case 17: snprintf(text, size, "%" PRIu64, device->memory_bytes >> 20); return "--memory";
    case 18: snprintf(text, size, "%d/%d", device->workers, device->resident); return "--workers/--resident";
    case 19: snprintf(text, size, "%d/%" PRIu64, (int)device->schedule, device->seed); return "--schedule";
    default: snprintf(text, size, "%s", device->simulate ? device->simulate : "none"); return "--simulate";
    }
}

static int check_options(const struct resume *resume, struct settings *stored, struct settings *asked)
{
    static char there[1 << 16], here[1 << 16];
    struct difference difference = {.used = 0};
    settings_defaults(stored, device_kind());
    settings_defaults(asked, device_kind());
    for (int i = 0; i < OPTIONS; i++) {
        option_text(stored, i, there, sizeof there);
        differ(&difference, option_text(asked, i, here, sizeof here), there, here);
    }
    if (difference.count)
        return refuse(resume, "%s: options given besides have to be those of the run", difference.text);
    return 0;
}

/* The run's own words, then those given now. */
static int read_options(struct resume *resume, const struct settings *given, struct settings *settings)
{
    struct settings stored;
    int count, code;
    resume->stored = csv_words_read(machine_record_field(&resume->record, "argv"), &count);
    if (!resume->stored || count < 1)
        return refuse(resume, "the options of the run cannot be read from its machine.csv: measure anew"), EXIT_USAGE;
    if (strcmp(resume->stored[0], given->verb->name) != 0)
        return refuse(resume, "it is a run of %s, not of %s", resume->stored[0], given->verb->name), EXIT_USAGE;
    resume->words = malloc(((size_t)count + (size_t)given->argc) * sizeof *resume->words);
    if (!resume->words)
        abort();
    memcpy(resume->words, resume->stored + 1, (size_t)(count - 1) * sizeof *resume->words);
    memcpy(resume->words + count - 1, given->argv, (size_t)given->argc * sizeof *resume->words);

    code = settings_parse(&stored, given->verb, count - 1, resume->stored + 1);
    if (!code && (stored.profile || stored.dry_run || stored.resume))
        code = (refuse(resume, "its machine.csv has options no run has: measure anew"), EXIT_USAGE);
    if (!code)
        code = settings_parse(settings, given->verb, count - 1 + given->argc, resume->words);
    if (!code) {
        bool sizes_given = settings->size_count > 0;
        code = check_options(resume, &stored, settings) ? EXIT_USAGE : 0;
        if (!sizes_given) { /* settings_defaults fills them in again */
            free(settings->sizes);
            settings->sizes = NULL;
            settings->size_count = 0;
        }
    }
    settings_free(&stored);
    return code;
}

/* ---- files */

static bool there(const struct resume *resume, const char *name, char *path, size_t size)
{
    struct stat about;
    snprintf(path, size, "%s/%s", resume->folder, name);
    return !stat(path, &about) && S_ISREG(about.st_mode);
}

static int read_machine(struct resume *resume)
{
    char path[4200], why[200];
    size_t length;
    struct stat about;
    if (stat(resume->folder, &about))
        return refuse(resume, "%s; name the folder of a run, results/MACHINE/RUN", strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return refuse(resume, "not a folder; name the folder of a run, results/MACHINE/RUN");
    if (!there(resume, "machine.csv.part", path, sizeof path) && !there(resume, "machine.csv", path, sizeof path))
        return refuse(resume, "no machine.csv in it; name the folder of a run, results/MACHINE/RUN");
    char *text = csv_read(path, &length);
    if (!text)
        return refuse(resume, "cannot read %s: %s", path, strerror(errno));
    int wrong = machine_record_read(text, &resume->record, why, sizeof why);
    free(text);
    return wrong ? refuse(resume, "%s: %s; measure anew", path, why) : 0;
}

static int read_results(struct resume *resume)
{
    char path[4200], part[4200];
    resume->complete = there(resume, "results.csv", path, sizeof path);
    bool incomplete = there(resume, "results.csv.part", part, sizeof part);
    if (resume->complete && incomplete)
        return refuse(resume, "both results.csv and results.csv.part are in it; remove one of them");
    if (!resume->complete && !incomplete) /* a run that was killed before its first row */
        return 0;
    resume->results = csv_read(incomplete ? part : path, &resume->results_length);
    return resume->results ? 0 : refuse(resume, "cannot read its rows: %s", strerror(errno));
}

int resume_open(struct resume *resume, const struct settings *given, struct settings *settings)
{
    char why[4400];
    memset(resume, 0, sizeof *resume);
    memset(settings, 0, sizeof *settings);
    resume->claim.fd = -1;
    size_t length = strlen(given->resume);
    while (length > 1 && given->resume[length - 1] == '/')
        length--;
    snprintf(resume->folder, sizeof resume->folder, "%.*s", (int)length, given->resume);
    if (read_machine(resume) || check_build(resume, given))
        return EXIT_USAGE;
    int code = read_options(resume, given, settings);
    if (code)
        return code;
    if (!settings->dry_run && claim_folder(&resume->claim, resume->folder, why, sizeof why)) {
        refuse(resume, "%s", why);
        return EXIT_USAGE;
    }
    /* Only now that nobody else writes there. */
    return read_machine(resume) || read_results(resume) ? EXIT_USAGE : 0;
}

/* ---- rows */

/* Fields of results.csv that are read; those from ALGORITHM to CACHE name a point. */
enum {
    RUN = 1,
    MACHINE = 2,
    ALGORITHM = 4,
    CACHE = 11,
    STATUS = 12,
    DETAIL = 13,
    FLAGS = 14,
    DEVICE_MIN = 19,
    MEDIAN = 21,
    CI_LO = 24,
    CI_HI = 25,
    HOST_MIN = 27,
    HOST_MEDIAN = 28,
    HOST_CI_LO = 29,
    HOST_CI_HI = 30,
    FIELDS = 42
};

struct key {
    char text[200];
    int index;
};

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->text, ((const struct key *)b)->text);
}

static struct key *make_keys(const struct point *points, int count)
{
    struct key *keys = calloc((size_t)count + 1, sizeof *keys);
    if (!keys)
        abort();
    for (int i = 0; i < count; i++) {
        const struct point *p = &points[i];
        char threads[16] = "";
        if (p->threads)
            snprintf(threads, sizeof threads, "%d", p->threads);
        snprintf(keys[i].text, sizeof keys[i].text, "%s,%s,%s,%s,%" PRIu64 ",%s,%s,%s", p->algorithm->name,
                 kind_name(p->kind), type_name(p->type), op_name(p->op), p->n, threads, launch_mode_name(p->launch),
                 cache_state_name(p->cache));
        keys[i].index = i;
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    return keys;
}

static enum status status_of(const char *name)
{
    int status = 0;
    while (status < STATUSES && strcmp(name, status_name((enum status)status)) != 0)
        status++;
    return (enum status)status;
}

static bool stays(const struct row *row, bool sizes_given)
{
    return (csv_has_time(row) && !strstr(row->flags, "cut-short")) || row->status == STATUS_UNSUPPORTED ||
           (row->status == STATUS_OOM && !sizes_given);
}

/* Fields of times, each at least as large as the one before where both are there: as the charts' reader wants them. */
static int check_order(const struct resume *resume, char *const *fields, int number, const char *const *names,
                       const int *at, int count)
{
    double before = NAN;
    const char *name = "";
    for (int i = 0; i < count; i++) {
        char *end;
        double value = strtod(fields[at[i]], &end);
        if (!*fields[at[i]])
            continue;
        if (*end || !(value > 0 && value < HUGE_VAL))
            return refuse(resume, "line %d: %s is '%.40s', and no time; restore the file as it was written", number,
                          names[i], fields[at[i]]);
        if (before > value)
            return refuse(resume, "line %d: %s is above %s; restore the file as it was written", number, name,
                          names[i]);
        before = value;
        name = names[i];
    }
    return 0;
}

static int check_times(const struct resume *resume, char *const *fields, int number)
{
    static const char *const names[4][5] = {
        {"device_min_s", "device_q1_s", "device_median_s", "device_q3_s", "device_max_s"},
        {"device_ci_lo_s", "device_median_s", "device_ci_hi_s"},
        {"host_min_s", "host_median_s"},
        {"host_ci_lo_s", "host_median_s", "host_ci_hi_s"},
    };
    static const int at[4][5] = {
        {DEVICE_MIN, DEVICE_MIN + 1, MEDIAN, MEDIAN + 1, MEDIAN + 2},
        {CI_LO, MEDIAN, CI_HI},
        {HOST_MIN, HOST_MEDIAN},
        {HOST_CI_LO, HOST_MEDIAN, HOST_CI_HI},
    };
    static const int counts[4] = {5, 3, 2, 3};
    for (int i = 0; i < 4; i++)
        if (check_order(resume, fields, number, names[i], at[i], counts[i]))
            return -1;
    return 0;
}

/* One line, without its LF; it is cut at its commas. Returns the point's place, or -1 after one line on stderr. */
static int read_row(const struct resume *resume, char *line, int number, const struct key *keys, int count,
                    struct row *row)
{
    char *fields[FIELDS + 1];
    struct key key = {.index = 0};
    size_t used = 0;
    const char *run = machine_record_field(&resume->record, "run");
    if (csv_split(line, fields, FIELDS) != FIELDS)
        return refuse(resume, "line %d of its rows has not %d fields; restore the file as it was written", number,
                      FIELDS);
    if (strcmp(fields[RUN], run) != 0 || strcmp(fields[MACHINE], machine_record_field(&resume->record, "machine")) != 0)
        return refuse(resume, "line %d is of run %.60s on %.80s, machine.csv is of %.60s; keep one run a folder",
                      number, fields[RUN], fields[MACHINE], run);
    for (int i = ALGORITHM; i <= CACHE && used < sizeof key.text; i++)
        used += (size_t)snprintf(key.text + used, sizeof key.text - used, "%s%s", i > ALGORITHM ? "," : "", fields[i]);
    const struct key *found = bsearch(&key, keys, (size_t)count, sizeof *keys, compare_keys);
    if (!found)
        return refuse(resume,
                      "line %d (%s) is not in the plan of the run's options; restore the file as it was written",
                      number, key.text);
    row_set(row, status_of(fields[STATUS]), fields[DETAIL], "");
    snprintf(row->flags, sizeof row->flags, "%s", fields[FLAGS]);
    char *end = "";
    row->device.median = *fields[MEDIAN] ? strtod(fields[MEDIAN], &end) : NAN;
    if (row->status == STATUSES || (csv_has_time(row) && (*end || !(row->device.median > 0))))
        return refuse(resume, "line %d has the status '%.20s' and the time '%.40s'; restore the file as it was written",
                      number, fields[STATUS], fields[MEDIAN]);
    return check_times(resume, fields, number) ? -1 : found->index;
}

int resume_rows(struct resume *resume, const struct point *points, int count, bool sizes_given, struct row *rows,
                bool *done)
{
    size_t header = strlen(csv_results_header);
    char *text = resume->results, *end = text ? text + resume->results_length : NULL;
    bool *seen = calloc((size_t)count + 1, sizeof *seen);
    struct key *keys = make_keys(points, count);
    int wrong = 0, number = 2;
    resume->kept_text = malloc(header + resume->results_length + 1);
    if (!resume->kept_text || !seen)
        abort();
    memcpy(resume->kept_text, csv_results_header, header);
    resume->kept_length = header;
    if (text && memchr(text, '\r', resume->results_length))
        wrong = refuse(resume, "lines of its rows end in CR LF, not in LF; restore the file as it was written");
    else if (text && resume->results_length >= header && memcmp(text, csv_results_header, header) != 0)
        wrong = refuse(resume, "its rows have other columns than this version writes: measure anew");
    else if (text)
        text += resume->results_length < header ? resume->results_length : header;

    for (char *stop; !wrong && text && text < end; text = stop + 1, number++) {
        stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop) {
            fprintf(stderr, "scanbench: the last line of the rows in %s is torn, and dropped\n", resume->folder);
            break;
        }
        struct row row;
        size_t length = (size_t)(stop - text) + 1;
        *stop = 0;
        memcpy(resume->kept_text + resume->kept_length, text, length);
        resume->kept_text[resume->kept_length + length - 1] = '\n';
        int index = read_row(resume, text, number, keys, count, &row);
        if (index < 0) {
            wrong = -1;
        } else if (seen[index]) {
            wrong = refuse(resume, "line %d is there twice; restore the file as it was written", number);
        } else if (seen[index] = true, stays(&row, sizes_given)) {
            rows[index] = row;
            done[index] = true;
            resume->kept++;
            resume->kept_length += length;
        } else {
            resume->replaced++;
        }
    }
    free(keys);
    free(seen);
    return wrong;
}

/* ---- writing */

/* NAME becomes NAME.part again. */
static int make_incomplete(const struct resume *resume, const char *name)
{
    char whole[4200], part[4300];
    if (!there(resume, name, whole, sizeof whole))
        return 0;
    snprintf(part, sizeof part, "%s.part", whole);
    if (!rename(whole, part))
        return 0;
    return refuse(resume, "cannot rename %s: %s", whole, strerror(errno));
}

int resume_begin(struct resume *resume, struct csv_file *file)
{
    struct machine_value resumed = {.name = "resumed"};
    snprintf(resumed.value, sizeof resumed.value, "%d", 1 + atoi(machine_record_field(&resume->record, "resumed")));
    /* results.csv first: as long as it is there, the run counts as complete. */
    if (make_incomplete(resume, "results.csv") || make_incomplete(resume, "machine.csv") ||
        machine_record_write(&resume->record, &resumed, 1, resume->folder, false) ||
        csv_reopen(file, resume->folder, "results.csv", resume->kept_text, resume->kept_length))
        return -1;
    return read_machine(resume);
}

int resume_finish(struct resume *resume, double copy_gb_per_s, int temp_end_c)
{
    struct machine_value values[] = {{.name = "copy_gb_per_s"}, {.name = "temp_end_c"}};
    if (isfinite(copy_gb_per_s))
        snprintf(values[0].value, sizeof values[0].value, "%.9g", copy_gb_per_s);
    if (temp_end_c >= 0)
        snprintf(values[1].value, sizeof values[1].value, "%d", temp_end_c);
    return machine_record_write(&resume->record, values, 2, resume->folder, true);
}

void resume_close(struct resume *resume)
{
    claim_release(&resume->claim);
    free(resume->results);
    free(resume->kept_text);
    free(resume->words);
    free(resume->stored);
}
