/* SPDX-License-Identifier: MIT */
/*
 * How the tests of the count build run a small kernel: in several orders of threads and blocks, each of which must give
 * the same counts and the same reports.
 */
#ifndef COUNTING_CUH
#define COUNTING_CUH

#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/atomic.cuh"
#include "device/cooperative.cuh"
#include "device/counts.h"
#include "device/device.h"

static const struct counter *counter;
static int failures;
static const char *subject; /* of this program, for its lines */

static void result(const char *name, const char *why)
{
    if (*why)
        failures++;
    if (*why)
        printf("not ok %s: %s: %s\n", subject, name, why);
    else
        printf("ok %s: %s\n", subject, name);
    fflush(stdout);
}

constexpr unsigned ALL_LANES = 0xffffffffu;

/* ---------------------------------------------------------------------------------------------- the harness */

static const struct order {
    const char *name;
    struct device_options options;
} orders[] = {
    {"ascending", {}},
    {"ascending, 5 resident", {.resident = 5}},
    {"ascending, 1 resident", {.resident = 1}},
    {"descending", {.schedule = SCHEDULE_DESCENDING}},
    {"shuffled by 1", {.schedule = SCHEDULE_SHUFFLED, .seed = 1}},
    {"shuffled by 2, 3 resident", {.resident = 3, .schedule = SCHEDULE_SHUFFLED, .seed = 2}},
};

static void reopen(const struct order *order)
{
    struct device_options options = order->options;
    char why[400];
    options.memory_bytes = 64 << 20;
    options.workers = 1;
    options.launch_limit_s = 10;
    device_close();
    if (device_open(0, &options, why, sizeof why)) {
        printf("not ok %s: open: %s\n", subject, why);
        exit(1);
    }
}

/* Device memory that nobody has written. */
template <class T> static T *unset(size_t count)
{
    return static_cast<T *>(device_malloc(count * sizeof(T)));
}

template <class T> static T *filled(size_t count, int byte = 0)
{
    T *data = unset<T>(count);
    device_fill(data, byte, count * sizeof(T));
    return data;
}

struct want {
    const char *field;
    uint64_t value;
};

static uint64_t field_of(const struct counts *counts, const char *field)
{
#define FIELD(name)                                                                                                    \
    if (!strcmp(field, #name))                                                                                         \
        return counts->name;
    EACH_COUNT(FIELD)
    EACH_COUNT_INSIDE(FIELD)
#undef FIELD
    printf("not ok %s: there is no count of the name %s\n", subject, field);
    exit(1);
}

static struct counts all_launches(void)
{
    struct counts all = {};
    const struct launch_counts *list;
    int count = counter->launches(&list);
    for (int i = 0; i < count; i++) {
        const struct counts *one = &list[i].counts;
#define ADD(name) all.name += one->name;
        EACH_COUNT(ADD)
        EACH_COUNT_INSIDE(ADD)
#undef ADD
    }
    return all;
}

/* Kernels whose blocks wait for each other want so many of them resident; orders with fewer are left out. */
static int least_resident;

static bool leaves_out(const struct order *order)
{
    return order->options.resident && order->options.resident < least_resident;
}

/* f() launches; the fields that `wanted` names must have its values, and nothing may be reported. */
template <class F> static void counts(const char *name, std::initializer_list<want> wanted, F f)
{
    char why[700] = "";
    for (const struct order &order : orders) {
        const struct report *reports;
        if (leaves_out(&order))
            continue;
        reopen(&order);
        counter->begin(true);
        f();
        counter->end();
        const struct counts got = all_launches();
        for (const struct want &want : wanted)
            if (field_of(&got, want.field) != want.value && !*why)
                snprintf(why, sizeof why, "%s: %s is %llu, not %llu", order.name, want.field,
                         static_cast<unsigned long long>(field_of(&got, want.field)),
                         static_cast<unsigned long long>(want.value));
        if (counter->reports(&reports) && !*why)
            snprintf(why, sizeof why, "%s: %s: %s", order.name, reports[0].kind, reports[0].text);
        if (device_error() && !*why)
            snprintf(why, sizeof why, "%s: %s", order.name, device_error_text());
    }
    result(name, why);
}

/* The number of the line of the program that ends in the comment "here: NAME". */
static int line_of(const char *name)
{
    char wanted[100], line[400];
    snprintf(wanted, sizeof wanted, "/* here: %s */", name);
    FILE *file = fopen(__BASE_FILE__, "r");
    for (int number = 1; file && fgets(line, sizeof line, file); number++)
        if (strstr(line, wanted)) {
            fclose(file);
            return number;
        }
    printf("not ok %s: no line of %s has \"%s\"\n", subject, __BASE_FILE__, wanted);
    exit(1);
}

static bool names_line(const struct report *report, const char *here)
{
    char place[100];
    const char *at = report->text;
    const char *file = strrchr(__BASE_FILE__, '/');
    int length = snprintf(place, sizeof place, "%s:%d", file ? file + 1 : __BASE_FILE__, line_of(here));
    while ((at = strstr(at, place))) {
        if (at[length] < '0' || at[length] > '9')
            return true;
        at += length;
    }
    return false;
}

/* Does the text have the words, with FILE:LINE of the line `here` in place of "%s"? */
static bool has_words(const struct report *report, const char *words, const char *here)
{
    char wanted[300], place[100];
    const char *file = strrchr(__BASE_FILE__, '/'), *hole = strstr(words, "%s");
    snprintf(place, sizeof place, "%s:%d", file ? file + 1 : __BASE_FILE__, line_of(here));
    snprintf(wanted, sizeof wanted, "%.*s%s%s", int(hole ? hole - words : strlen(words)), words, hole ? place : "",
             hole ? hole + 2 : "");
    return strstr(report->text, wanted);
}

struct expected {
    const char *kind, *here;
    bool may;         /* be missing: a matter of the order */
    const char *says; /* where given: it ends so, but for a file and its line: "the flag at %s was written" */
    const char *at;   /* that line */
};

/* f() launches a wrong kernel: in every order there is each expected report, and no other one. */
template <class F> static void reports(const char *name, std::initializer_list<expected> all, F f)
{
    char why[700] = "";
    for (const struct order &order : orders) {
        const struct report *list;
        if (leaves_out(&order))
            continue;
        reopen(&order);
        counter->begin(true);
        f();
        counter->end();
        const int count = counter->reports(&list);
        for (int i = 0; i < count && !*why; i++) {
            bool known = false;
            for (const struct expected &one : all)
                known = known || (!strcmp(list[i].kind, one.kind) && names_line(&list[i], one.here));
            if (!known)
                snprintf(why, sizeof why, "%s: unexpected %s: %s", order.name, list[i].kind, list[i].text);
        }
        for (const struct expected &one : all) {
            bool found = false;
            for (int i = 0; i < count; i++)
                found = found || (!strcmp(list[i].kind, one.kind) && names_line(&list[i], one.here) &&
                                  (!one.says || has_words(&list[i], one.says, one.at)));
            if (!found && !one.may && !*why)
                snprintf(why, sizeof why, "%s: no %s at line %d%s%s, but %s", order.name, one.kind, line_of(one.here),
                         one.says ? ", " : "", one.says ? one.says : "", count ? list[0].text : "silence");
        }
        if (!all.size() && device_error() && !*why)
            snprintf(why, sizeof why, "%s: %s", order.name, device_error_text());
    }
    result(name, why);
}

template <class F> static void quiet(const char *name, F f)
{
    reports(name, {}, f);
}

[[maybe_unused]] static __device__ unsigned number()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Calls `test`, if this is the count build. */
static int run_tests(const char *of, void (*test)(void))
{
    subject = of;
    counter = device_counter();
    if (!counter) {
        printf("skip %s: only the count build can tell\n", subject);
        return 0;
    }
    test();
    device_close();
    return failures != 0;
}

#endif
