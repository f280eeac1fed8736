/* SPDX-License-Identifier: MIT */
#include "csv.h"

#include "job.h"
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- fields */

static bool starts_with_mark(const char *text, size_t *length)
{
    static const char *const marks[] = {"(R)", "(r)", "(TM)", "(tm)"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        *length = strlen(marks[i]);
        if (!strncmp(text, marks[i], *length))
            return true;
    }
    return false;
}

void csv_slug(const char *text, char *slug, size_t size)
{
    size_t used = 0, mark;
    bool gap = false;
    while (*text && used + 1 < size) {
        char c = *text;
        if (starts_with_mark(text, &mark)) {
            text += mark;
            continue;
        }
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        text++;
        if (!plain || c == '-') {
            gap = true;
        } else if (used > 0 || c != '.') {
            if (gap && used > 0) {
                slug[used++] = '-';
                if (used + 1 >= size)
                    break;
            }
            gap = false;
            slug[used++] = c;
        }
    }
    while (used > 0 && (slug[used - 1] == '-' || slug[used - 1] == '.'))
        used--;
    slug[used] = 0;
    if (!used)
        snprintf(slug, size, "unknown");
}

static void append(struct csv_row *row, const char *text)
{
    /* The end of the buffer is kept for commas: fields too long lose their ends, never the row its shape. */
    size_t length = strlen(text), limit = sizeof row->text - 256;
    if (row->length + length > limit)
        length = row->length > limit ? 0 : limit - row->length;
    memcpy(row->text + row->length, text, length);
    row->length += length;
    row->text[row->length++] = ',';
    row->text[row->length] = 0;
}

void csv_text(struct csv_row *row, const char *text)
{
    char clean[2048];
    size_t used = 0;
    for (; *text && used + 1 < sizeof clean; text++) {
        char c = *text;
        clean[used++] = c <= ' ' || c > '~' || c == ',' || c == '"' || c == '\'' ? ' ' : c;
    }
    while (used > 0 && clean[used - 1] == ' ')
        used--;
    clean[used] = 0;
    append(row, clean);
}

void csv_missing(struct csv_row *row)
{
    append(row, "");
}

void csv_integer(struct csv_row *row, uint64_t value)
{
    char text[32] = "";
    if (value != UNKNOWN)
        snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    append(row, text);
}

void csv_positive(struct csv_row *row, uint64_t value)
{
    csv_integer(row, value ? value : UNKNOWN);
}

void csv_number(struct csv_row *row, double value)
{
    char text[32] = "";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.9g", value);
    append(row, text);
}

/* ---- words */

static bool is_plain(unsigned char c)
{
    return c > ' ' && c <= '~' && !strchr("%,;\"'", c);
}

/* One word as it stands in the field. Returns its length there; `text` has room for three times the word's. */
static size_t encode_word(const char *word, char *text)
{
    size_t used = 0;
    if (!*word)
        text[used++] = '%';
    for (const char *at = word; *at; at++) {
        if (*at == ',')
            text[used++] = ';';
        else if (is_plain((unsigned char)*at))
            text[used++] = *at;
        else
            used += (size_t)sprintf(text + used, "%%%02X", (unsigned char)*at);
    }
    text[used] = 0;
    return used;
}

void csv_words(struct csv_row *row, char *const *words, int count)
{
    static const char torn[] = "%+";
    char field[6000] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        char *word = malloc(3 * strlen(words[i]) + 2);
        size_t length = word ? encode_word(words[i], word) : sizeof field;
        if (used + length + sizeof " " + sizeof torn >= sizeof field) {
            strcpy(field + used, " %+");
            free(word);
            break;
        }
        if (i)
            field[used++] = ' ';
        memcpy(field + used, word, length + 1);
        used += length;
        free(word);
    }
    append(row, field);
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

char **csv_words_read(const char *field, int *count)
{
    size_t length = strlen(field), words = *field != 0;
    for (const char *at = field; *at; at++)
        words += *at == ' ';
    char **list = malloc((words + 1) * sizeof *list + length + 1);
    if (!list)
        return NULL;
    char *text = (char *)(list + words + 1);
    *count = 0;
    for (const char *at = field; *at; at += *at == ' ') {
        list[(*count)++] = text;
        if (*at == '%' && (!at[1] || at[1] == ' ')) {
            at++;
        } else {
            if (*at == ' ')
                goto wrong;
            for (; *at && *at != ' '; at++) {
                int high = *at == '%' ? digit_of(at[1]) : 0, low = *at == '%' && high >= 0 ? digit_of(at[2]) : 0;
                if (high < 0 || low < 0 || (*at == '%' && !high && !low))
                    goto wrong;
                *text++ = (char)(*at == '%' ? 16 * high + low : *at == ';' ? ',' : *at);
                at += *at == '%' ? 2 : 0;
            }
        }
        *text++ = 0;
        if (*at == ' ' && !at[1])
            goto wrong;
    }
    list[*count] = NULL;
    return list;

wrong:
    free(list);
    return NULL;
}

/* ---- files */

static int complain(const char *what, const char *path)
{
    fprintf(stderr, "scanbench: %s %s: %s\n", what, path, strerror(errno));
    return -1;
}

static void part_name(const struct csv_file *file, char *name, size_t size)
{
    snprintf(name, size, "%s.part", file->path);
}

/* Bytes or nothing: what a full disk took of them is cut off again. */
static int write_whole(struct csv_file *file, const char *bytes, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t wrote = write(file->fd, bytes + done, length - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            int reason = wrote < 0 ? errno : ENOSPC;
            if (done > 0 && (ftruncate(file->fd, file->whole) || lseek(file->fd, file->whole, SEEK_SET) < 0))
                complain("cannot cut the torn row off", file->path);
            errno = reason;
            return -1;
        }
        done += (size_t)wrote;
    }
    file->whole += (off_t)length;
    return 0;
}

int csv_open(struct csv_file *file, const char *folder, const char *name, const char *header)
{
    char part[4200];
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes shall be a failed write, not the end of the program */
    snprintf(file->path, sizeof file->path, "%s/%s", folder, name);
    part_name(file, part, sizeof part);
    file->whole = 0;
    file->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return complain("cannot write", part);
    if (write_whole(file, header, strlen(header))) {
        complain("cannot write", part);
        csv_abandon(file);
        return -1;
    }
    return 0;
}

/* `path` has this text from one moment to the next; the file stays open where `fd` is not NULL. */
static int write_new(const char *path, const char *text, size_t length, bool sync, int *fd)
{
    struct csv_file file = {.fd = -1};
    char fresh[4500];
    signal(SIGXFSZ, SIG_IGN);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    snprintf(file.path, sizeof file.path, "%.*s", (int)sizeof file.path - 1, path);
    file.fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file.fd < 0)
        return complain("cannot write", fresh);
    if (write_whole(&file, text, length) || (sync && fsync(file.fd) && errno != EINVAL)) {
        complain("cannot write", fresh);
    } else if (rename(fresh, path)) {
        complain("cannot rename", fresh);
    } else if (fd) {
        *fd = file.fd;
        return 0;
    } else if (close(file.fd)) {
        return complain("cannot finish writing", path);
    } else {
        return 0;
    }
    close(file.fd);
    unlink(fresh);
    return -1;
}

int csv_reopen(struct csv_file *file, const char *folder, const char *name, const char *text, size_t length)
{
    char part[4200];
    snprintf(file->path, sizeof file->path, "%s/%s", folder, name);
    part_name(file, part, sizeof part);
    file->fd = -1;
    file->whole = (off_t)length;
    return write_new(part, text, length, true, &file->fd);
}

int csv_write(const char *folder, const char *name, const char *text, size_t length)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return write_new(path, text, length, true, NULL);
}

char *csv_read(const char *path, size_t *length)
{
    struct stat about;
    char *text = NULL;
    int reason, fd = open(path, O_RDONLY | O_CLOEXEC);
    *length = 0;
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &about) && (text = malloc((size_t)about.st_size + 1))) {
        ssize_t got = 1;
        while (*length < (size_t)about.st_size && got > 0) {
            got = read(fd, text + *length, (size_t)about.st_size - *length);
            if (got < 0 && errno == EINTR)
                got = 1;
            else if (got > 0)
                *length += (size_t)got;
        }
        text[*length] = 0;
        if (got < 0) {
            free(text);
            text = NULL;
        }
    }
    reason = errno;
    close(fd);
    errno = reason;
    return text;
}

int csv_split(char *line, char **fields, int most)
{
    int count = 0;
    for (char *at = line; at; count++) {
        if (count == most)
            return most + 1;
        fields[count] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return count;
}

int csv_append(struct csv_file *file, struct csv_row *row)
{
    char part[4200];
    row->text[row->length - 1] = '\n'; /* in the place of the last comma */
    int failed = write_whole(file, row->text, row->length);
    row->length = 0;
    if (!failed)
        return 0;
    part_name(file, part, sizeof part);
    return complain("cannot add a row, the earlier ones stay whole:", part);
}

int csv_complete(struct csv_file *file)
{
    char part[4200];
    part_name(file, part, sizeof part);
    int failed = fsync(file->fd) && errno != EINVAL; /* EINVAL: a file that cannot be synced, as on a pipe */
    int reason = errno;
    if (close(file->fd) && !failed) {
        failed = 1;
        reason = errno;
    }
    file->fd = -1;
    errno = reason;
    if (failed)
        return complain("cannot finish writing", part);
    if (rename(part, file->path))
        return complain("cannot rename", part);
    return 0;
}

void csv_abandon(struct csv_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* ---- folders */

/* mkdir with parents; existing folders are fine. *made counts the folders that were not there, deepest last. */
static int make_folders(const char *folder, int *made)
{
    char path[4096];
    size_t length = strlen(folder);
    if (length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (size_t i = 1; i <= length; i++) {
        if (folder[i] != '/' && folder[i] != 0)
            continue;
        memcpy(path, folder, i);
        path[i] = 0;
        if (!mkdir(path, 0777))
            ++*made;
        else if (errno != EEXIST)
            return -1;
    }
    return 0;
}

/* Takes the last `made` folders of the path away again, where they are empty. */
static void unmake_folders(const char *folder, int made)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", folder);
    while (made > 0) {
        if (!rmdir(path))
            made--;
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            return;
        *slash = 0;
    }
}

int csv_folder_writable(const char *folder)
{
    char probe[4200];
    int made = 0;
    if (!*folder) {
        errno = ENOENT;
    } else if (!make_folders(folder, &made)) {
        snprintf(probe, sizeof probe, "%s/.writable-%ld", folder, (long)getpid());
        if (!mkdir(probe, 0777)) {
            rmdir(probe);
            return 0;
        }
    }
    int reason = errno;
    unmake_folders(folder, made);
    fprintf(stderr, "scanbench: --output '%s': cannot write there (%s); name a folder that can be written\n", folder,
            strerror(reason));
    return -1;
}

int csv_run_folder(const char *output, const char *machine, time_t now, char *folder, size_t folder_size, char *run,
                   size_t run_size)
{
    struct tm utc;
    char stamp[32];
    int made = 0;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
    snprintf(folder, folder_size, "%s/%s", output, machine);
    if (make_folders(folder, &made))
        return complain("cannot make the folder", folder);
    for (int i = 1;; i++) {
        if (i == 1)
            snprintf(run, run_size, "%s", stamp);
        else
            snprintf(run, run_size, "%s-%d", stamp, i);
        snprintf(folder, folder_size, "%s/%s/%s", output, machine, run);
        if (!mkdir(folder, 0777))
            return 0;
        if (errno != EEXIST)
            return complain("cannot make the folder", folder);
    }
}

/* ---- results.csv */

const char csv_results_header[] =
    "schema,run,machine,device,algorithm,kind,type,op,n,threads,launch,cache,status,detail,flags,max_rel_err,samples,"
    "discarded,repeats,device_min_s,device_q1_s,device_median_s,device_q3_s,device_max_s,device_ci_lo_s,"
    "device_ci_hi_s,host_samples,host_min_s,host_median_s,host_ci_lo_s,host_ci_hi_s,prepare_s,launches,additions,"
    "additions_how,steps,bytes_useful,bytes_moved,workspace_bytes,elements_per_s,useful_gb_per_s,sm_clock_mhz\n";

bool csv_has_time(const struct row *row)
{
    return row->status == STATUS_OK || row->status == STATUS_UNSTABLE || row->status == STATUS_THROTTLED;
}

static void count(struct csv_row *text, bool known, int value)
{
    csv_integer(text, known ? (uint64_t)value : UNKNOWN);
}

void csv_result(struct csv_row *text, const char *run, const char *machine, const char *device,
                const struct point *point, const struct row *row)
{
    bool timed = csv_has_time(row);
    struct summary none = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const struct summary *on_device = timed ? &row->device : &none, *on_host = timed ? &row->host : &none;
    double bytes_useful = 2.0 * (double)point->n * (double)type_size(point->type);

    text->length = 0;
    csv_integer(text, CSV_SCHEMA);
    csv_text(text, run);
    csv_text(text, machine);
    csv_text(text, point->algorithm->runs_on == HOST ? "host" : device);
    csv_text(text, point->algorithm->name);
    csv_text(text, kind_name(point->kind));
    csv_text(text, type_name(point->type));
    csv_text(text, op_name(point->op));
    csv_integer(text, point->n);
    csv_positive(text, (uint64_t)point->threads);
    csv_text(text, launch_mode_name(point->launch));
    csv_text(text, cache_state_name(point->cache));
    csv_text(text, status_name(row->status));
    csv_text(text, row->detail);
    csv_text(text, row->flags);
    csv_number(text, row->max_rel_err);

    count(text, timed, on_device->samples);
    count(text, timed, row->discarded);
    count(text, timed, row->repeats);
    csv_number(text, on_device->min);
    csv_number(text, on_device->q1);
    csv_number(text, on_device->median);
    csv_number(text, on_device->q3);
    csv_number(text, on_device->max);
    csv_number(text, on_device->ci_lo);
    csv_number(text, on_device->ci_hi);
    count(text, timed && on_host->samples > 0, on_host->samples);
    csv_number(text, on_host->min);
    csv_number(text, on_host->median);
    csv_number(text, on_host->ci_lo);
    csv_number(text, on_host->ci_hi);
    csv_number(text, timed ? row->prepare_s : NAN);

    csv_integer(text, row->launches);
    csv_integer(text, row->additions);
    csv_text(text, row->additions_how);
    csv_integer(text, row->steps);
    csv_integer(text, 2 * point->n * type_size(point->type));
    csv_integer(text, row->bytes_moved);
    csv_integer(text, row->workspace_bytes);
    csv_number(text, (double)point->n / on_device->median);
    csv_number(text, bytes_useful / 1e9 / on_device->median);
    csv_number(text, timed && row->sm_clock_mhz > 0 ? row->sm_clock_mhz : NAN);
}

/* ---- samples */

int csv_samples(const char *folder, const struct point *point, bool with_threads, const struct sample *samples,
                int count)
{
    static const char header[] = "clock,sample,at_s,seconds,discarded\n";
    enum { LONGEST_LINE = 96 };
    char path[4400], threads[16] = "";
    int number[2] = {0, 0};
    int length = snprintf(path, sizeof path, "%.4095s/samples", folder);
    if (mkdir(path, 0777) && errno != EEXIST)
        return complain("cannot make the folder", path);
    if (with_threads && point->threads)
        snprintf(threads, sizeof threads, "-%d", point->threads);
    snprintf(path + length, sizeof path - (size_t)length, "/%s-%s-%s-%s-%llu%s-%s-%s.csv", point->algorithm->name,
             kind_name(point->kind), type_name(point->type), op_name(point->op), (unsigned long long)point->n, threads,
             launch_mode_name(point->launch), cache_state_name(point->cache));
    char *text = malloc(sizeof header + (size_t)count * LONGEST_LINE);
    if (!text) {
        errno = ENOMEM;
        return complain("cannot write", path);
    }
    size_t used = (size_t)sprintf(text, "%s", header);
    for (int i = 0; i < count; i++) {
        const struct sample *sample = &samples[i];
        used += (size_t)snprintf(text + used, LONGEST_LINE, "%s,%d,%.9g,%.9g,%d\n", sample->of_host ? "host" : "device",
                                 ++number[sample->of_host], sample->at_s, sample->seconds, sample->discarded);
    }
    int failed = write_new(path, text, used, false, NULL);
    free(text);
    return failed;
}

/* ---- counts.csv, launches.csv */

#define POINT_COLUMNS "schema,run,algorithm,kind,type,op,n,threads"
#define COUNT_COLUMNS                                                                                                  \
    "additions,steps,global_loads,global_stores,global_load_requests,global_store_requests,global_load_sectors,"       \
    "global_store_sectors,global_load_footprint,global_store_footprint,bytes_read,bytes_written,shared_loads,"         \
    "shared_stores,shared_requests,shared_wavefronts,bank_conflicts,barriers,warp_ops,atomics,lookback_mean,"          \
    "lookback_max,races,out_of_bounds,uninitialised,divergent_barriers,model_agrees"

const char csv_counts_header[] = POINT_COLUMNS ",launches,blocks,threads_launched," COUNT_COLUMNS "\n";
const char csv_launches_header[] =
    POINT_COLUMNS ",launch_number,kernel,blocks,threads_launched,active_threads," COUNT_COLUMNS "\n";

static void point_columns(struct csv_row *text, const char *run, const struct point *point)
{
    text->length = 0;
    csv_integer(text, CSV_SCHEMA);
    csv_text(text, run);
    csv_text(text, point->algorithm->name);
    csv_text(text, kind_name(point->kind));
    csv_text(text, type_name(point->type));
    csv_text(text, op_name(point->op));
    csv_integer(text, point->n);
    csv_positive(text, (uint64_t)point->threads);
}

/* One count, in the order of counts.h; what nobody looked back for has no depth. */
static void count_column(struct csv_row *text, const char *name, const struct counts *counts, uint64_t value)
{
    bool looked_back = counts->lookbacks && counts->lookbacks != UNKNOWN;
    if (!strcmp(name, "lookbacks"))
        csv_number(text, looked_back ? (double)counts->lookback_tiles / (double)counts->lookbacks : NAN);
    else if (!strcmp(name, "lookback_max"))
        csv_integer(text, looked_back ? value : UNKNOWN);
    else if (strcmp(name, "lookback_tiles") != 0)
        csv_integer(text, value);
}

static void count_columns(struct csv_row *text, const struct counts *counts)
{
#define COLUMN(name) count_column(text, #name, counts, counts->name);
    EACH_COUNT(COLUMN)
#undef COLUMN
}

void csv_counts(struct csv_row *text, const char *run, const struct point *point, const struct job_counts *counts)
{
    point_columns(text, run, point);
    csv_integer(text, counts->launches);
    csv_integer(text, counts->blocks);
    csv_integer(text, counts->threads_launched);
    count_columns(text, &counts->all);
    csv_text(text, counts->agreement == MODEL_AGREES ? "yes" : counts->agreement == MODEL_DISAGREES ? "no" : "");
}

void csv_launch(struct csv_row *text, const char *run, const struct point *point, const struct job_counts *counts,
                int launch)
{
    const struct launch_counts *one = &counts->list[launch];
    point_columns(text, run, point);
    csv_integer(text, (uint64_t)launch + 1);
    csv_text(text, one->kernel);
    csv_integer(text, one->blocks);
    csv_integer(text, one->threads_launched);
    csv_integer(text, one->active_threads);
    count_columns(text, &one->counts);
    csv_missing(text); /* a model is of all launches */
}
