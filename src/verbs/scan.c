/* SPDX-License-Identifier: MIT */
/* scan: one algorithm on given numbers, the answer checked before it is printed. */
#include "job.h"
#include "reference.h"
#include "registry.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct numbers {
    enum type type;
    char *bytes;
    uint64_t count, room;
};

__attribute__((format(printf, 1, 2))) static int complain(const char *format, ...)
{
    va_list arguments;
    fputs("scanbench: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

/* ------------------------------------------------------------------------------------------------ reading */

static bool make_room(struct numbers *numbers, uint64_t more)
{
    size_t size = type_size(numbers->type);
    if (numbers->count + more <= numbers->room)
        return true;
    uint64_t room = numbers->room ? 2 * numbers->room : 1 << 14;
    while (room < numbers->count + more)
        room *= 2;
    char *larger = realloc(numbers->bytes, room * size);
    if (!larger)
        return false;
    numbers->bytes = larger;
    numbers->room = room;
    return true;
}

/* Appends the number that `text` of `length` characters is. NULL, or what belongs there. */
static const char *append(struct numbers *numbers, const char *text, size_t length)
{
    char *end = NULL;
    union {
        int32_t i;
        int64_t l;
        float f;
        double d;
    } value;
    if (!make_room(numbers, 1))
        return "memory, of which the host has no more";
    errno = 0;
    switch (numbers->type) {
    case I32: {
        long long wide = strtoll(text, &end, 10);
        if (errno || wide < INT32_MIN || wide > INT32_MAX)
            return "an i32, from -2147483648 to 2147483647";
        value.i = (int32_t)wide;
        break;
    }
    case I64:
        value.l = strtoll(text, &end, 10);
        if (errno)
            return "an i64, from -9223372036854775808 to 9223372036854775807";
        break;
    case F32:
        value.f = strtof(text, &end);
        if (errno && isinf(value.f))
            return "an f32, at most 3.4028235e38";
        break;
    case F64:
        value.d = strtod(text, &end);
        if (errno && isinf(value.d))
            return "an f64, at most 1.797e308";
        break;
    }
    /* strto... passes over leading white space; what it leaves, or an empty text, is no number. */
    if (!length || end == text || end != text + length || strchr(" \t\n\v\f\r", text[0])) {
        static const char *const wholes[] = {"a whole number", "a decimal number"};
        return wholes[numbers->type == F32 || numbers->type == F64];
    }
    memcpy(numbers->bytes + numbers->count * type_size(numbers->type), &value, type_size(numbers->type));
    numbers->count++;
    return NULL;
}

/* For messages: the start of it, without what a terminal would act on. */
static void quote(const char *text, size_t length, char *quoted, size_t size)
{
    size_t shown = length < size - 4 ? length : size - 4;
    for (size_t i = 0; i < shown; i++)
        quoted[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    strcpy(quoted + shown, shown < length ? "..." : "");
}

static int read_values(struct numbers *numbers, const char *values)
{
    if (!*values)
        return 0;
    for (const char *at = values;; at++) {
        size_t length = strcspn(at, ",");
        char part[400], quoted[64];
        const char *wanted = length < sizeof part ? NULL : "a number";
        if (!wanted) {
            memcpy(part, at, length);
            part[length] = '\0';
            wanted = append(numbers, part, length);
        }
        if (wanted) {
            quote(at, length, quoted, sizeof quoted);
            return complain("--values: place %" PRIu64 ": \"%s\" is not %s", numbers->count + 1, quoted, wanted);
        }
        at += length;
        if (!*at)
            return 0;
    }
}

static int read_lines(struct numbers *numbers, FILE *file, const char *name)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t got;
    int code = 0;
    for (uint64_t number = 1; !code && (got = getline(&line, &room, file)) >= 0; number++) {
        size_t length = (size_t)got;
        while (length && strchr(" \t\r\n", line[length - 1]))
            length--;
        line[length] = '\0';
        char *start = line + strspn(line, " \t");
        length -= (size_t)(start - line);
        const char *wanted = append(numbers, start, length);
        if (wanted) {
            char quoted[64];
            quote(start, length, quoted, sizeof quoted);
            code = complain("%s: line %" PRIu64 ": \"%s\" is not %s", name, number, quoted, wanted);
        }
    }
    free(line);
    return code;
}

static int read_raw(struct numbers *numbers, FILE *file, const char *name)
{
    size_t size = type_size(numbers->type), got;
    uint64_t bytes = 0;
    do {
        if (!make_room(numbers, 1 << 16))
            return complain("%s: the host has no memory for more than %" PRIu64 " elements", name, bytes / size);
        got = fread(numbers->bytes + bytes, 1, (numbers->room * size) - bytes, file);
        bytes += got;
        numbers->count = bytes / size;
    } while (got);
    if (bytes % size)
        return complain("%s: %" PRIu64 " bytes are not a whole number of %s, of %zu bytes each", name, bytes,
                        type_name(numbers->type), size);
    return 0;
}

static int read_numbers(struct numbers *numbers, const struct settings *settings)
{
    if (settings->values)
        return read_values(numbers, settings->values);
    bool standard = !settings->input || !strcmp(settings->input, "-");
    const char *name = standard ? "standard input" : settings->input;
    FILE *file = standard ? stdin : fopen(settings->input, "rb");
    if (!file)
        return complain("--input %s: %s", settings->input, strerror(errno));
    if (standard && isatty(STDIN_FILENO))
        fprintf(stderr, "scanbench: numbers are read from standard input, one a line; Ctrl-D ends them\n");
    int code = (settings->raw ? read_raw : read_lines)(numbers, file, name);
    if (!code && ferror(file))
        code = complain("%s: %s", name, strerror(errno));
    if (!standard)
        fclose(file);
    return code;
}

/* Max of a NaN depends on the order of comparisons: there is no right answer. */
static int refuse_nan(const struct numbers *numbers, enum op op)
{
    for (uint64_t i = 0; op == MAX && i < numbers->count; i++) {
        bool nan = (numbers->type == F32 && isnan(((const float *)(const void *)numbers->bytes)[i])) ||
                   (numbers->type == F64 && isnan(((const double *)(const void *)numbers->bytes)[i]));
        if (nan)
            return complain("--op max: element %" PRIu64 " is not a number, which has no order", i + 1);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ what to run */

static bool one_bit(unsigned set)
{
    return set && !(set & (set - 1));
}

/* The settings as one point, still without n. */
static int choose_point(const struct settings *settings, struct point *point)
{
    if (settings->algorithms_given && settings->algorithm_count > 1)
        return complain("--algorithms: scan runs one algorithm, %d were named", settings->algorithm_count);
    if (!one_bit(settings->types))
        return complain("--type: scan takes one type");
    if (!one_bit(settings->kinds))
        return complain("--kind: scan takes one kind");
    if (!one_bit(settings->ops))
        return complain("--op: scan takes one operator");
    if (settings->thread_count > 1 || settings->all_threads)
        return complain("--threads: scan takes one number");

    for (int i = 0; i < settings->algorithm_count && !point->algorithm; i++) {
        const struct algorithm *algorithm = settings->algorithms[i];
        bool copies = algorithm->kinds == COPY && settings->algorithms_given;
        enum kind kind = copies ? COPY : (enum kind)settings->kinds;
        bool able = (algorithm->kinds & kind) && (algorithm->types & settings->types) &&
                    (kind == COPY || (algorithm->ops & settings->ops));
        if (!able)
            continue;
        point->algorithm = algorithm;
        point->kind = kind;
        point->type = (enum type)settings->types;
        point->op = kind == COPY ? NONE : (enum op)settings->ops;
    }
    if (!point->algorithm)
        return complain("nothing to run: no algorithm that was chosen has this kind, type and operator");
    if (point->op == AFFINE && (point->type & (F32 | F64)))
        return complain("--op affine: only on the types i32 and i64");
    if (point->algorithm->runs_on != HOST)
        point->threads = settings->thread_count ? settings->threads[0] : point->algorithm->threads[0];
    return 0;
}

/* ------------------------------------------------------------------------------------------------ printing */

static void print_numbers(const struct settings *settings, enum type type, const char *bytes, uint64_t count)
{
    size_t size = type_size(type);
    char text[64];
    if (settings->raw) {
        fwrite(bytes, size, count, stdout);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        format_element(type, bytes + i * size, text, sizeof text);
        if (settings->values && i)
            putchar(' ');
        fputs(text, stdout);
        if (!settings->values || i + 1 == count)
            putchar('\n');
    }
}

static int scan(const struct settings *settings, const struct point *point, struct numbers *numbers)
{
    char why[400];
    struct row row;
    bool device = point->algorithm->runs_on != HOST;
    if (device && device_open(settings->device, &settings->device_options, why, sizeof why)) {
        complain("%s", why);
        return EXIT_NO_DEVICE;
    }
    char *answer = malloc(numbers->count * type_size(point->type) + 1);
    if (answer)
        job_scan(point, numbers->bytes, answer, &row);
    else
        row_set(&row, STATUS_OOM, "", "the host has no memory for the answer");
    if (device)
        device_close();
    if (row.status == STATUS_OK)
        print_numbers(settings, point->type, answer, numbers->count);
    else
        complain("%s: %s: %s", point->algorithm->name, status_name(row.status), row.message);
    free(answer);
    return row.status == STATUS_OK ? EXIT_RIGHT : EXIT_WRONG;
}

static int run(struct settings *settings)
{
    struct point point = {0};
    int code = choose_point(settings, &point);
    if (code)
        return code;
    const char *unavailable = point_unavailable(&point);
    if (unavailable) {
        complain("%s %s", point.algorithm->name, unavailable);
        return EXIT_NO_DEVICE;
    }
    struct numbers numbers = {.type = point.type};
    code = read_numbers(&numbers, settings);
    if (!code)
        code = refuse_nan(&numbers, point.op);
    point.n = numbers.count;
    if (!code && point.n)
        code = scan(settings, &point, &numbers);
    free(numbers.bytes);
    return code;
}

const struct verb verb_scan = {
    .name = "scan",
    .summary = "run one algorithm on given numbers and print the answer",
    .usage = "[OPTIONS]",
    .options = "algorithms type kind op threads values input raw device memory workers resident schedule",
    .examples = "  scanbench scan -a hillis_steele --kind inclusive --values 3,1,4,1,5\n"
                "  seq 1000000 | scanbench scan -a blelloch -t i64 | tail -1\n",
    .run = run,
};
