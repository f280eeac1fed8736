/* SPDX-License-Identifier: MIT */
/* The CSV writer: slugs, fields, whole rows on a full disk, folders that are never shared. */
#include "csv.h"
#include "job.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static char scratch[] = "/tmp/scanbench-csv-XXXXXX";

static bool report(bool right, const char *name, const char *why)
{
    if (right)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %s\n", name, why);
    failures += !right;
    return right;
}

static void test_slugs(void)
{
    static const struct {
        const char *text, *slug;
    } known[] = {
        {"NVIDIA H200", "nvidia-h200"},
        {"NVIDIA GeForce RTX 4090/PCIe, SSE2", "nvidia-geforce-rtx-4090-pcie-sse2"},
        {"Intel(R) Xeon(R) Processor @ 2.00GHz-cpu", "intel-xeon-processor-2.00ghz-cpu"},
        {"AMD Ryzen 7 5800X 8-Core Processor", "amd-ryzen-7-5800x-8-core-processor"},
        {"..", "unknown"},
        {"../../etc/passwd", "etc-passwd"},
        {"", "unknown"},
        {"\xc3\xa9\xc3\xa8", "unknown"},
        {"a_b.c", "a_b.c"},
        {"trailing - ", "trailing"},
    };
    char why[300] = "", slug[64], tiny[5];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        csv_slug(known[i].text, slug, sizeof slug);
        if (strcmp(slug, known[i].slug))
            snprintf(why, sizeof why, "'%s' gave '%s', not '%s'", known[i].text, slug, known[i].slug);
    }
    csv_slug("abc defgh", tiny, sizeof tiny);
    if (strcmp(tiny, "abc"))
        snprintf(why, sizeof why, "cut to four characters: '%s', not 'abc'", tiny);
    report(!why[0], "slugs", why);
}

static void test_fields(void)
{
    struct csv_row row = {.length = 0};
    csv_text(&row, "a,b \"c\" 'd'\ne\xff");
    csv_integer(&row, UNKNOWN);
    csv_integer(&row, UNKNOWN - 1);
    csv_positive(&row, 0);
    csv_number(&row, NAN);
    csv_number(&row, INFINITY);
    csv_number(&row, 1.0 / 3e6);
    csv_missing(&row);
    report(!strcmp(row.text, "a b  c   d  e,,18446744073709551614,,,,3.33333333e-07,,"), "fields", row.text);
}

/* Written and read again, the words are the same. */
static bool same_words(char *const *words, int count)
{
    struct csv_row row = {.length = 0};
    int read;
    csv_words(&row, words, count);
    row.text[--row.length] = 0;
    bool clean = !row.text[strcspn(row.text, ",\"'\n\r\t")];
    for (const char *at = row.text; *at; at++)
        clean = clean && *at >= ' ' && *at <= '~';
    char **again = csv_words_read(row.text, &read);
    bool same = again && read == count && !again[count] && clean;
    for (int i = 0; same && i < count; i++)
        same = !strcmp(words[i], again[i]);
    free(again);
    return same;
}

static void test_words(void)
{
    char every[256], long_word[9000];
    for (int i = 1; i < 256; i++)
        every[i - 1] = (char)i;
    every[255] = 0;
    memset(long_word, 'x', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = 0;

    char *options[] = {"bench", "-a", "serial,copy", "-n", "2^10:2^20:x4", "--output", "a b;c%2C \xc3\xa9", "",
                       " ",     "%"};
    char *bytes[] = {every, "", "", "end "};
    report(same_words(options, 10), "words_of_options", "another list came back");
    report(same_words(bytes, 4), "words_of_every_byte", "another list came back");
    report(same_words(options, 1), "words_one", "another list came back");

    struct csv_row row = {.length = 0};
    csv_words(&row, options, 7);
    report(!strcmp(row.text, "bench -a serial;copy -n 2^10:2^20:x4 --output a%20b%3Bc%252C%20%C3%A9,"), "words_field",
           row.text);

    int count;
    struct csv_row too_long = {.length = 0};
    char *words[] = {"bench", long_word};
    csv_words(&too_long, words, 2);
    too_long.text[--too_long.length] = 0;
    report(!csv_words_read(too_long.text, &count), "words_too_long", "a field that was cut off must not be read");
    static const char *const wrong[] = {"a%", "%2", "%zz", "a  b", "a ", " a", "%00", "a%+", "%2c"};
    char why[100] = "";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char **list = csv_words_read(wrong[i], &count);
        if (list)
            snprintf(why, sizeof why, "'%s' was read as %d words", wrong[i], count);
        free(list);
    }
    report(!why[0], "words_malformed", why);
}

static int fields(const char *line)
{
    int count = 1;
    for (; *line && *line != '\n'; line++)
        count += *line == ',';
    return count;
}

/* Field number `column` of a line, by the header's name. */
static void field(const char *line, const char *name, char *value, size_t size)
{
    const char *header = csv_results_header;
    while (strncmp(header, name, strlen(name)) || (header[strlen(name)] != ',' && header[strlen(name)] != '\n')) {
        header = strchr(header, ',') + 1;
        line = strchr(line, ',') + 1;
    }
    snprintf(value, size, "%.*s", (int)strcspn(line, ",\n"), line);
}

static const struct algorithm subject = {.name = "subject", .runs_on = DEVICE};
static const struct point point = {.algorithm = &subject,
                                   .kind = EXCLUSIVE,
                                   .type = I32,
                                   .op = SUM,
                                   .n = 1000,
                                   .threads = 256,
                                   .launch = LAUNCH_GRAPH,
                                   .cache = CACHE_COLD};

static struct row timed_row(enum status status)
{
    struct row row = {.status = status, .max_rel_err = NAN, .repeats = 1, .prepare_s = 0.5, .launches = 10};
    row.device = (struct summary){7, 1e-6, 1.5e-6, 2e-6, 3e-6, 4e-6, 1e-6, 4e-6};
    row.host = (struct summary){8, 2e-6, 2.5e-6, 3e-6, 3e-6, 5e-6, 2e-6, 5e-6};
    row.sm_clock_mhz = 1410;
    row.additions = row.steps = row.bytes_moved = UNKNOWN;
    return row;
}

static void test_results(void)
{
    static const char *const times[] = {
        "samples",        "device_min_s",   "device_q1_s",    "device_median_s", "device_q3_s",   "device_max_s",
        "device_ci_lo_s", "device_ci_hi_s", "host_samples",   "host_min_s",      "host_median_s", "host_ci_lo_s",
        "host_ci_hi_s",   "prepare_s",      "elements_per_s", "useful_gb_per_s", "sm_clock_mhz"};
    struct csv_row text;
    char value[64], why[300] = "";
    struct row row = timed_row(STATUS_OK);
    csv_result(&text, "r", "m", "cpu", &point, &row);
    report(fields(csv_results_header) == 42 && fields(text.text) == 43, "results_columns",
           "42 columns, and one comma behind the last field until the row is written");

    static const char *const expected[][2] = {{"device", "cpu"},
                                              {"n", "1000"},
                                              {"op", "sum"},
                                              {"launch", "graph"},
                                              {"cache", "cold"},
                                              {"sm_clock_mhz", "1410"},
                                              {"status", "ok"},
                                              {"launches", "10"},
                                              {"additions", ""},
                                              {"max_rel_err", ""},
                                              {"device_median_s", "2e-06"},
                                              {"bytes_useful", "8000"},
                                              {"host_samples", "8"},
                                              {"elements_per_s", "500000000"},
                                              {"useful_gb_per_s", "4"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        field(text.text, expected[i][0], value, sizeof value);
        if (strcmp(value, expected[i][1]))
            snprintf(why, sizeof why, "%s is '%s', not '%s'", expected[i][0], value, expected[i][1]);
    }
    report(!why[0], "results_row", why);

    for (int status = 0; status < STATUSES; status++) {
        bool with = status == STATUS_OK || status == STATUS_UNSTABLE || status == STATUS_THROTTLED;
        row = timed_row((enum status)status);
        csv_result(&text, "r", "m", "cpu", &point, &row);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            field(text.text, times[i], value, sizeof value);
            if (with != (value[0] != 0))
                snprintf(why, sizeof why, "%s: %s is '%s'", status_name((enum status)status), times[i], value);
        }
    }
    report(!why[0], "wrong_rows_have_no_time", why);
}

static char *content(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    text[0] = 0;
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
    }
    return text;
}

/* Depths are a mean and a maximum, and missing where nobody looked back. */
static void test_counts(void)
{
    struct csv_row counts_row, launch_row;
    struct launch_counts launches[2] = {
        {.kernel = "chained", .blocks = 3, .threads_launched = 96, .active_threads = 90}, {.kernel = "memset"}};
    struct job_counts counts = {.launches = 2, .blocks = 3, .list = launches, .list_count = 2};
    launches[0].counts = counts.all =
        (struct counts){.lookbacks = 4, .lookback_tiles = 10, .lookback_max = 7, .races = 2};
    counts.agreement = MODEL_DISAGREES;
    csv_counts(&counts_row, "run", &point, &counts);
    report(fields(csv_counts_header) == 38 && fields(counts_row.text) == 39, "counts_columns",
           "as many fields as names, and 38 of them");
    report(strstr(counts_row.text, ",2.5,7,2,0,0,0,no,") != NULL, "counts_depths", counts_row.text);
    csv_launch(&launch_row, "run", &point, &counts, 0);
    report(fields(csv_launches_header) == 40 && fields(launch_row.text) == 41, "launches_columns",
           "as many fields as names, and 40 of them");
    report(strstr(launch_row.text, ",1,chained,3,96,90,") && strstr(launch_row.text, ",2.5,7,2,0,0,0,,"),
           "launches_row", launch_row.text);
    csv_launch(&launch_row, "run", &point, &counts, 1);
    report(strstr(launch_row.text, ",2,memset,0,0,0,") && strstr(launch_row.text, ",0,,,0,0,0,0,,"),
           "launches_no_depth", launch_row.text);
}

static void test_complete(void)
{
    struct csv_file file;
    struct csv_row row = {.length = 0};
    struct stat about;
    char part[256], path[200];
    snprintf(path, sizeof path, "%s/complete.csv", scratch);
    snprintf(part, sizeof part, "%s.part", path);
    bool right = !csv_open(&file, scratch, "complete.csv", "a,b\n") && !stat(part, &about) && stat(path, &about);
    csv_text(&row, "1");
    csv_text(&row, "2");
    right = right && !csv_append(&file, &row) && row.length == 0;
    right = right && !strcmp(content(part), "a,b\n1,2\n"); /* there at once */
    right = right && !csv_complete(&file) && stat(part, &about) && !strcmp(content(path), "a,b\n1,2\n");
    report(right, "part_until_complete", "a row is on disk at once, .part goes when the file is complete");
}

/* Writes rows until it fails, then says whether what is left is the header and whole rows only. */
static bool whole_after_full(const char *folder)
{
    struct csv_file file;
    struct csv_row row = {.length = 0};
    char path[300], field_text[64];
    if (csv_open(&file, folder, "full.csv", "a,b\n"))
        return false;
    memset(field_text, 'x', sizeof field_text - 1);
    field_text[sizeof field_text - 1] = 0;
    bool failed = false;
    for (int i = 0; i < 4000 && !failed; i++) {
        csv_text(&row, field_text);
        csv_text(&row, field_text);
        failed = csv_append(&file, &row) < 0;
    }
    csv_abandon(&file);
    snprintf(path, sizeof path, "%s/full.csv.part", folder);
    const char *text = content(path);
    size_t length = strlen(text);
    return failed && length > 4 && (length - 4) % 128 == 0 && text[length - 1] == '\n';
}

/* In a child, as limits and mounts are for good; stderr is closed, as the complaint is expected. */
static int in_child(bool (*test)(const char *), const char *folder, void (*before)(void))
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        before();
        _exit(test(folder) ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return status;
}

static void limit_files(void)
{
    struct rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void nothing(void) {}

static void test_full_disk(void)
{
    report(in_child(whole_after_full, scratch, limit_files) == 0, "whole_rows_at_file_size_limit",
           "a row that does not fit is cut off again");

    char folder[200];
    snprintf(folder, sizeof folder, "%s/small", scratch);
    if (mkdir(folder, 0777) || mount("none", folder, "tmpfs", 0, "size=16k")) {
        printf("skip whole_rows_on_full_disk: only root can mount a small tmpfs here\n");
        rmdir(folder);
        return;
    }
    report(in_child(whole_after_full, folder, nothing) == 0, "whole_rows_on_full_disk",
           "a row that does not fit is cut off again");
    umount(folder);
    rmdir(folder);
}

/* Ten processes begin a run in the same second. */
static void test_folders(void)
{
    enum { RUNS = 10 };
    char output[200], folder[300], run[40], first[40];
    time_t now = 1700000000;
    snprintf(output, sizeof output, "%s/deep/results", scratch);
    report(!csv_run_folder(output, "m", now, folder, sizeof folder, first, sizeof first) &&
               !strcmp(first, "20231114-221320") &&
               !csv_run_folder(output, "m", now, folder, sizeof folder, run, sizeof run) &&
               !strcmp(run, "20231114-221320-2"),
           "two_runs_in_one_second", "RUN, then RUN-2");

    fflush(stdout);
    for (int i = 0; i < RUNS; i++)
        if (fork() == 0)
            _exit(csv_run_folder(output, "m", now, folder, sizeof folder, run, sizeof run) ? 1 : 0);
    bool right = true;
    int status;
    while (wait(&status) > 0)
        right = right && status == 0;
    for (int i = 2; i <= RUNS + 2; i++) {
        struct stat about;
        snprintf(folder, sizeof folder, "%s/m/%s-%d", output, first, i);
        right = right && !stat(folder, &about);
    }
    report(right, "ten_runs_at_once", "each has a folder of its own");
}

static void test_whole_files(void)
{
    static const struct sample samples[] = {
        {0, 1.5e-6, false, false}, {0.25, 2e-6, false, true}, {0.5, 3e-6, true, false}};
    char path[300], folder[200];
    struct stat about;
    snprintf(folder, sizeof folder, "%s", scratch);
    snprintf(path, sizeof path, "%s/samples/subject-exclusive-i32-sum-1000-graph-cold.csv", folder);
    bool right = !csv_samples(folder, &point, false, samples, 3);
    report(right && !strcmp(content(path), "clock,sample,at_s,seconds,discarded\ndevice,1,0,1.5e-06,0\n"
                                           "device,2,0.25,2e-06,1\nhost,1,0.5,3e-06,0\n"),
           "samples", content(path));
    snprintf(path, sizeof path, "%s/samples/subject-exclusive-i32-sum-1000-256-graph-cold.csv", folder);
    report(!csv_samples(folder, &point, true, samples, 0) && !stat(path, &about), "samples_threads", path);

    struct csv_file file;
    struct csv_row row = {.length = 0};
    snprintf(path, sizeof path, "%s/again.csv.part", scratch);
    right =
        !csv_write(scratch, "again.csv.part", "a\n1\n2\n3", 7) && !csv_reopen(&file, scratch, "again.csv", "a\n1\n", 4);
    csv_integer(&row, 7);
    right = right && !csv_append(&file, &row);
    csv_abandon(&file);
    report(right && !strcmp(content(path), "a\n1\n7\n"), "reopened", content(path));
    snprintf(path, sizeof path, "%s/again.csv.part.new", scratch);
    report(stat(path, &about) != 0, "no_file_left_over", path);
}

static bool refuses(const char *folder)
{
    return csv_folder_writable(folder) == -1;
}

static void test_writable(void)
{
    char path[200], parent[200];
    struct stat about;
    snprintf(path, sizeof path, "%s/complete.csv/below", scratch); /* a file is in the way */
    report(in_child(refuses, path, nothing) == 0, "unwritable_folder", "a file in the way has to be refused");
    snprintf(path, sizeof path, "%s/new/complete", scratch);
    snprintf(parent, sizeof parent, "%s/new", scratch);
    report(!csv_folder_writable(path) && !stat(path, &about) && !rmdir(path), "writable_folder",
           "is made, and nothing is left in it");
    rmdir(parent);
    report(in_child(refuses, "/proc/none/of/this", nothing) == 0, "unwritable_proc", "/proc takes no folder");
}

int main(void)
{
    char command[300];
    if (!mkdtemp(scratch)) {
        perror(scratch);
        return 1;
    }
    test_slugs();
    test_fields();
    test_words();
    test_results();
    test_counts();
    test_complete();
    test_whole_files();
    test_full_disk();
    test_folders();
    test_writable();
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    if (system(command))
        fprintf(stderr, "cannot remove %s\n", scratch);
    return failures != 0;
}
