/* SPDX-License-Identifier: MIT */
/* lesson: the lesson's exercise, its answers and what they cost, side by side. */
#include "verbs/lesson.h"
#include "registry.h"
#include "verbs/verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t value(uint64_t i)
{
    return (int32_t)(i % 10);
}

int32_t lesson_sum(uint64_t count)
{
    int32_t tens = (int32_t)(count / 10), left = (int32_t)(count % 10);
    return 45 * tens + left * (left - 1) / 2;
}

static struct point point_of(const struct algorithm *algorithm)
{
    return (struct point){.algorithm = algorithm,
                          .kind = EXCLUSIVE,
                          .type = I32,
                          .op = SUM,
                          .n = LESSON_N,
                          .threads = algorithm->runs_on == HOST ? 0 : algorithm->threads[0]};
}

void lesson_answer(const struct algorithm *algorithm, struct lesson_answer *answer)
{
    struct point point = point_of(algorithm);
    int32_t input[LESSON_N], output[LESSON_N] = {0};
    for (uint64_t i = 0; i < LESSON_N; i++)
        input[i] = value(i);
    job_scan(&point, input, output, &answer->row);
    if (answer->row.status == STATUS_OK && algorithm->runs_on != HOST && !*answer->row.additions_how) {
        /* Only a whole check counts additions; they do not depend on the input. */
        struct job_options options = {.seed = 1};
        struct row row;
        job_run(&point, &options, &row);
        if (row.status == STATUS_OK && !strcmp(row.additions_how, "counted")) {
            answer->row.additions = row.additions;
            strcpy(answer->row.additions_how, row.additions_how);
        }
    }
    answer->at_place = output[LESSON_PLACE];
    answer->total = output[LESSON_N - 1] + input[LESSON_N - 1];
}

/* ------------------------------------------------------------------------------------------------ the table */

enum { COLUMNS = 7, CELL = 64, MOST_LINES = 8 };

struct entry {
    const struct algorithm *algorithm;
    struct lesson_answer answer;
    uint64_t additions;
    bool counted; /* the additions; otherwise they are the model's */
    struct row timed;
    bool has_time;
};

struct lesson {
    struct entry entries[MOST_LINES];
    int count;
    bool gpu;
};

static void write_time(const struct entry *entry, char *text)
{
    const struct summary *s = &entry->timed.device;
    if (!entry->has_time)
        strcpy(text, "-");
    else if (isnan(s->ci_lo))
        snprintf(text, CELL, "%.3g us", s->median * 1e6);
    else
        snprintf(text, CELL, "%.3g us (%.3g to %.3g)", s->median * 1e6, s->ci_lo * 1e6, s->ci_hi * 1e6);
}

static void write_row(const struct entry *entry, char (*cells)[CELL])
{
    snprintf(cells[0], CELL, "%s", entry->algorithm->name);
    snprintf(cells[1], CELL, "%s", entry->algorithm->title);
    snprintf(cells[2], CELL, "%" PRId32, entry->answer.at_place);
    snprintf(cells[3], CELL, "%" PRId32, entry->answer.total);
    if (entry->additions == UNKNOWN)
        strcpy(cells[4], "-");
    else
        snprintf(cells[4], CELL, "%" PRIu64 "%s", entry->additions, entry->counted ? "" : "*");
    snprintf(cells[5], CELL, "%" PRIu64, entry->answer.row.launches);
    write_time(entry, cells[6]);
}

static void print_table(const struct lesson *lesson, bool markdown)
{
    char rows[MOST_LINES + 1][COLUMNS][CELL] = {
        {"algorithm", "title", "exclusive[512]", "grand total", "additions", "launches", "time, median (95 %)"}};
    int columns = lesson->gpu ? COLUMNS : COLUMNS - 1, width[COLUMNS] = {0};
    for (int i = 0; i < lesson->count; i++)
        write_row(&lesson->entries[i], rows[i + 1]);
    for (int i = 0; i <= lesson->count; i++)
        for (int c = 0; c < columns; c++)
            width[c] = (int)strlen(rows[i][c]) > width[c] ? (int)strlen(rows[i][c]) : width[c];
    for (int i = 0; i <= lesson->count; i++) {
        for (int c = 0; c < columns; c++)
            if (markdown)
                printf(c ? " %s |" : i ? "| `%s` |" : "| %s |", rows[i][c]);
            else
                printf("%s%*s", c ? "  " : "", c > 1 ? width[c] : -width[c], rows[i][c]);
        printf("\n");
        for (int c = 0; c < columns && markdown && !i; c++)
            printf("%s%s", c > 1 ? "---:|" : c ? "---|" : "|---|", c + 1 == columns ? "\n" : "");
    }
}

/* ------------------------------------------------------------------------------------------------ what it shows */

static const struct entry *find(const struct lesson *lesson, const char *name)
{
    for (int i = 0; i < lesson->count; i++)
        if (!strcmp(lesson->entries[i].algorithm->name, name))
            return &lesson->entries[i];
    return NULL;
}

/* "fewer additions than hillis_steele, 2046 against 9217" */
static void compare(const char *what, uint64_t a, const char *name, uint64_t b)
{
    if (a == b)
        printf("as many %s as %s, %" PRIu64, what, name, a);
    else
        printf("%s %s than %s, %" PRIu64 " against %" PRIu64, a < b ? "fewer" : "more", what, name, a, b);
}

static void compare_times(const struct entry *a, const struct entry *b)
{
    const struct summary *x = &a->timed.device, *y = &b->timed.device;
    bool slower = x->ci_lo > y->ci_hi, faster = x->ci_hi < y->ci_lo;
    if (slower || faster)
        printf("It is %.2f times as %s.%s\n", slower ? x->median / y->median : y->median / x->median,
               slower ? "slow" : "fast",
               a->additions < b->additions && slower ? " The algorithm with fewer additions loses." : "");
    else
        printf("Which of them is faster, these times do not tell: their intervals meet.\n");
}

static void print_conclusion(const struct lesson *lesson)
{
    const struct entry *a = find(lesson, "blelloch_lesson"), *b = find(lesson, "hillis_steele");
    if (!a)
        a = find(lesson, "blelloch");
    if (!a || !b)
        return;
    printf("\n%s needs ", a->algorithm->name);
    compare("additions", a->additions, b->algorithm->name, b->additions);
    printf(", and ");
    compare("launches", a->answer.row.launches, b->algorithm->name, b->answer.row.launches);
    printf(". ");
    if (a->has_time && b->has_time)
        compare_times(a, b);
    else
        printf("Which of them is faster, only a GPU can tell.\n");
}

static void print_by_hand(int count)
{
    printf("%d values are %d rounds from 0 to 9 and %d more, %d x 45 + %" PRId32 " = %" PRId32, count, count / 10,
           count % 10, count / 10, lesson_sum((uint64_t)count % 10), lesson_sum((uint64_t)count));
}

static void print_notes(const struct lesson *lesson)
{
    bool models = false, all_models = true;
    for (int i = 0; i < lesson->count; i++) {
        models |= !lesson->entries[i].counted;
        all_models &= !lesson->entries[i].counted;
    }
    printf("\nBy hand: ");
    print_by_hand(LESSON_PLACE);
    printf("; ");
    print_by_hand(LESSON_N);
    printf(".\nEvery element was compared with a sequential sum; the grand total is exclusive[%d] + values[%d].\n",
           LESSON_N - 1, LESSON_N - 1);
    printf("Launches%s were counted in this run%s.", all_models ? "" : " and additions",
           lesson->gpu ? "" : ", on the CPU device");
    if (models)
        printf(" * from the model, %s; the count build counts %s.", all_models ? "exact for every n" : "n - 1",
               all_models ? "them" : "these, too");
    printf("\n");
    if (!lesson->gpu)
        printf("Times need a GPU: those of the CPU device say nothing about one.\n");
    else
        printf("Times are between events on the device; of the serial loop, the host's. Stream launch, warm.\n");
}

/* ------------------------------------------------------------------------------------------------ running */

static void measure(struct entry *entry)
{
    struct point point = point_of(entry->algorithm);
    struct job_options options = {.seed = 1, .timed = true, .min_samples = 30, .max_samples = 1000, .budget_s = 1};
    job_run(&point, &options, &entry->timed);
    entry->has_time = entry->timed.device.samples > 0;
}

/* False after a line on stderr. */
static bool add_entry(struct lesson *lesson, const struct algorithm *algorithm)
{
    struct entry *entry = &lesson->entries[lesson->count++];
    memset(entry, 0, sizeof *entry);
    entry->algorithm = algorithm;
    lesson_answer(algorithm, &entry->answer);
    const struct row *row = &entry->answer.row;
    if (row->status != STATUS_OK) {
        fprintf(stderr, "scanbench: %s: %s: %s\n", algorithm->name, status_name(row->status), row->message);
        return false;
    }
    if (entry->answer.at_place != lesson_sum(LESSON_PLACE) || entry->answer.total != lesson_sum(LESSON_N)) {
        fprintf(stderr, "scanbench: %s: %" PRId32 " and %" PRId32 ", but by hand %" PRId32 " and %" PRId32 "\n",
                algorithm->name, entry->answer.at_place, entry->answer.total, lesson_sum(LESSON_PLACE),
                lesson_sum(LESSON_N));
        return false;
    }
    struct point point = point_of(algorithm);
    entry->counted = !strcmp(row->additions_how, "counted");
    entry->additions = entry->counted ? row->additions : point_model(&point).additions;
    if (lesson->gpu)
        measure(entry);
    return true;
}

static int run(struct settings *settings)
{
    static const char *const names[] = {"serial", "hillis_steele", "blelloch_lesson", "blelloch"};
    struct lesson lesson = {.gpu = !strcmp(device_kind(), "cuda")};
    char why[400];
    bool right = true;
    if (device_open(settings->device, &settings->device_options, why, sizeof why)) {
        fprintf(stderr, "scanbench: %s\n", why);
        return EXIT_NO_DEVICE;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && right; i++) {
        const struct algorithm *algorithm = registry_find(names[i]);
        if (algorithm)
            right = add_entry(&lesson, algorithm);
    }
    device_close();
    if (!right)
        return EXIT_WRONG;
    if (!lesson.count) {
        fprintf(stderr, "scanbench: the algorithms of the lesson are not in this program\n");
        return EXIT_WRONG;
    }
    printf("The exclusive scan of %d values, %s%s%s\n\n", LESSON_N, settings->markdown ? "`" : "", LESSON_INPUT,
           settings->markdown ? "`" : "");
    print_table(&lesson, settings->markdown);
    print_notes(&lesson);
    print_conclusion(&lesson);
    return EXIT_RIGHT;
}

const struct verb verb_lesson = {
    .name = "lesson",
    .summary = "the lesson's exercise at n = 1024: answers, additions and launches side by side, and times on a GPU",
    .usage = "[OPTIONS]",
    .options = "device markdown",
    .examples = "  scanbench lesson\n"
                "  scanbench lesson --markdown\n",
    .run = run,
};
