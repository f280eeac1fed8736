/* SPDX-License-Identifier: MIT */
/* list: the algorithms, what they can and what they cost. */
#include "job.h"
#include "json.h"
#include "registry.h"
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

static void join(char *text, size_t size, const char *name, bool wanted)
{
    size_t used = strlen(text);
    if (wanted)
        snprintf(text + used, size - used, "%s%s", used ? " " : "", name);
}

static void format_sets(const struct algorithm *algorithm, char *kinds, char *types, char *ops, size_t size)
{
    static const enum type all_types[] = {I32, I64, F32, F64};
    static const enum kind all_kinds[] = {INCLUSIVE, EXCLUSIVE, COPY};
    static const enum op all_ops[] = {SUM, MAX, AFFINE};
    kinds[0] = types[0] = ops[0] = '\0';
    for (int i = 0; i < 3; i++)
        join(kinds, size, kind_name(all_kinds[i]), algorithm->kinds & all_kinds[i]);
    for (int i = 0; i < 4; i++)
        join(types, size, type_name(all_types[i]), algorithm->types & all_types[i]);
    for (int i = 0; i < 3; i++)
        join(ops, size, op_name(all_ops[i]), algorithm->ops & all_ops[i]);
    if (!*ops)
        strcpy(ops, "-");
}

static const char *where(const struct algorithm *algorithm)
{
    if (!algorithm->run)
        return point_unavailable(&(struct point){.algorithm = algorithm});
    switch (algorithm->runs_on) {
    case HOST: return "host";
    case DEVICE: return strcmp(device_kind(), "cpu") ? "GPU" : "GPU, CPU device";
    case NVIDIA: return "GPU, vendor's library";
    }
    return "";
}

static const char *or_dash(const char *text)
{
    return text && *text ? text : "-";
}

enum { COLUMNS = 7 };

/* A table whose columns are as wide as their longest cell. Rows come from `cells`, called twice for each. */
static void print_table(const struct settings *settings, const char *const *header, int columns,
                        void (*cells)(const struct algorithm *, char (*row)[160]))
{
    char row[COLUMNS][160];
    int width[COLUMNS];
    for (int c = 0; c < columns; c++)
        width[c] = (int)strlen(header[c]);
    for (int i = 0; i < settings->algorithm_count; i++) {
        cells(settings->algorithms[i], row);
        for (int c = 0; c < columns; c++)
            if ((int)strlen(row[c]) > width[c])
                width[c] = (int)strlen(row[c]);
    }
    for (int c = 0; c < columns - 1; c++)
        printf("%-*s  ", width[c], header[c]);
    printf("%s\n", header[columns - 1]);
    for (int i = 0; i < settings->algorithm_count; i++) {
        cells(settings->algorithms[i], row);
        for (int c = 0; c < columns - 1; c++)
            printf("%-*s  ", width[c], row[c]);
        printf("%s\n", row[columns - 1]);
    }
}

static void abilities(const struct algorithm *algorithm, char (*row)[160])
{
    size_t size = sizeof *row;
    format_sets(algorithm, row[3], row[4], row[5], size);
    snprintf(row[0], size, "%s", algorithm->name);
    snprintf(row[1], size, "%s", algorithm->title);
    snprintf(row[2], size, "%s", where(algorithm));
    snprintf(row[6], size, "%s", algorithm->threads[0] ? "" : "-");
    for (int i = 0; i < 8 && algorithm->threads[i]; i++) {
        char threads[16];
        snprintf(threads, sizeof threads, "%d", algorithm->threads[i]);
        join(row[6], size, threads, true);
    }
}

static void costs(const struct algorithm *algorithm, char (*row)[160])
{
    size_t size = sizeof *row;
    snprintf(row[0], size, "%s", algorithm->name);
    snprintf(row[1], size, "%s", or_dash(algorithm->launches));
    snprintf(row[2], size, "%s", or_dash(algorithm->additions));
    snprintf(row[3], size, "%s", or_dash(algorithm->traffic));
}

static const char legend[] =
    "n elements, k = ceil(log2 n), m = 2^k, B elements a block takes at once, G = ceil(n / B), "
    "R blocks that are resident; "
    "words moved: to the last few, where n is a power of two (the models count every word, at "
    "every n and of both kinds)";

/* A bar ends a cell, and a star or an underscore begins emphasis. */
static void print_cell(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (strchr("|*_\\<>", *at))
            putchar('\\');
        putchar(*at);
    }
}

/* The place of an algorithm in words that hold for every build: the README is written by any of them. */
static const char *markdown_place(const struct algorithm *algorithm)
{
    switch (algorithm->runs_on) {
    case HOST: return "host";
    case DEVICE: return "GPU, CPU device";
    case NVIDIA: return "NVIDIA GPU";
    }
    return "";
}

static void print_markdown(const struct settings *settings)
{
    printf("| algorithm | source | runs on | launches | additions | words moved |\n");
    printf("|---|---|---|---|---|---|\n");
    for (int i = 0; i < settings->algorithm_count; i++) {
        const struct algorithm *algorithm = settings->algorithms[i];
        char year[16] = "";
        const char *source = algorithm->source ? algorithm->source : "";
        if (algorithm->year)
            snprintf(year, sizeof year, "%d", algorithm->year);
        printf("| `%s`: ", algorithm->name);
        print_cell(algorithm->title);
        printf(" | ");
        print_cell(*source || *year ? source : "-");
        if (*year && !strstr(source, year))
            printf("%s%s", *source ? " " : "", year);
        printf(" | %s | ", markdown_place(algorithm));
        print_cell(or_dash(algorithm->launches));
        printf(" | ");
        print_cell(or_dash(algorithm->additions));
        printf(" | ");
        print_cell(or_dash(algorithm->traffic));
        printf(" |\n");
    }
    printf("\n");
    print_cell(legend);
    printf(".\n");
}

/* An array of strings under a name, from words with spaces between them. */
static void print_words(const char *name, const char *words)
{
    printf(", \"%s\": [", name);
    for (const char *at = words; *at && strcmp(words, "-") != 0; at += strspn(at, " ")) {
        int length = (int)strcspn(at, " ");
        printf("%s\"%.*s\"", at == words ? "" : ", ", length, at);
        at += length;
    }
    printf("]");
}

static void print_text(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    json_string(text, stdout);
}

static void print_json(const struct settings *settings)
{
    for (int i = 0; i < settings->algorithm_count; i++) {
        const struct algorithm *algorithm = settings->algorithms[i];
        char kinds[160], types[160], ops[160];
        format_sets(algorithm, kinds, types, ops, sizeof kinds);
        printf("%s\n  {\"name\": \"%s\"", i ? "," : "[", algorithm->name);
        print_text("title", algorithm->title);
        print_text("source", algorithm->source);
        printf(algorithm->year ? ", \"year\": %d" : ", \"year\": null", algorithm->year);
        print_text("runs_on", where(algorithm));
        print_words("kinds", kinds);
        print_words("types", types);
        print_words("ops", ops);
        printf(", \"threads\": [");
        for (int t = 0; t < 8 && algorithm->threads[t]; t++)
            printf("%s%d", t ? ", " : "", algorithm->threads[t]);
        printf("], \"in_place\": %s", algorithm->in_place ? "true" : "false");
        print_text("launches", algorithm->launches);
        print_text("additions", algorithm->additions);
        print_text("words_moved", algorithm->traffic);
        printf("}");
    }
    printf("\n]\n");
}

static int run(struct settings *settings)
{
    if (settings->json) {
        print_json(settings);
        return EXIT_RIGHT;
    }
    if (settings->markdown) {
        print_markdown(settings);
        return EXIT_RIGHT;
    }
    static const char *const ability_header[] = {
        "algorithm", "title", "runs on", "kinds", "types", "ops", "threads (its own choice first)"};
    static const char *const cost_header[] = {"algorithm", "launches", "additions", "words moved"};
    print_table(settings, ability_header, 7, abilities);
    printf("\n");
    print_table(settings, cost_header, 4, costs);
    printf("\n%s\n", legend);
    return EXIT_RIGHT;
}

const struct verb verb_list = {
    .name = "list",
    .summary = "the algorithms: kinds, types, operators, where they run, what they cost",
    .usage = "[OPTIONS]",
    .options = "algorithms markdown format",
    .examples = "  scanbench list\n"
                "  scanbench list --markdown -a hillis_steele,blelloch\n",
    .run = run,
};
