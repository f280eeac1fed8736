/* SPDX-License-Identifier: MIT */
/* trace: the cells after every launch and at every barrier, as a table for a handout. */
#include "trace.h"
#include "job.h"
#include "registry.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 32, MOST_VALUES = 32 };
static const int32_t textbook[] = {3, 1, 4, 1, 5, 9, 2, 6};

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

/* Appends to a text that has room for `size`. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* ------------------------------------------------------------------------------------------------ lines */

enum { CHANGES = 64, CHANGE = 200 };

/* A row of the table. */
struct line {
    char label[160]; /* "1 upsweep", "1 scan_tiles, barrier 2" */
    char array[140]; /* "workspace", "in -> out" */
    char (*cells)[16];
    bool *marked;
    char changes[CHANGES][CHANGE];
    int change_count;
    bool unseen;               /* only cells that have no column have changed */
    int launch, first_barrier; /* of lines without a seen change, which are drawn together */
};

struct table {
    const struct trace *trace;
    bool **shown;      /* by array and cell */
    uint64_t *columns; /* numbers of cells */
    int column_count;
    struct line *lines;
    int line_count;
};

static struct line *add_line(struct table *table)
{
    table->lines = realloc(table->lines, (size_t)(table->line_count + 1) * sizeof *table->lines);
    if (!table->lines)
        abort();
    struct line *line = &table->lines[table->line_count++];
    memset(line, 0, sizeof *line);
    line->cells = calloc((size_t)table->column_count, sizeof *line->cells);
    line->marked = calloc((size_t)table->column_count, sizeof *line->marked);
    if (!line->cells || !line->marked)
        abort();
    return line;
}

/* ------------------------------------------------------------------------------------------------ columns */

/* Is it the identity, however it came about? Padding is. */
static bool is_padding(const struct trace *trace, uint32_t expression)
{
    uint64_t first;
    return trace_span(trace, expression, &first) == 0;
}

/* Marks the cells through which an expression has come. */
static void need(struct table *table, uint32_t expression, bool *done)
{
    const struct trace *trace = table->trace;
    if (expression >= trace->expression_count || done[expression] || is_padding(trace, expression))
        return;
    const struct trace_expression *e = &trace->expressions[expression];
    done[expression] = true;
    if (e->array >= 0) {
        table->shown[e->array][e->cell] = true;
        need(table, e->left, done);
    } else if (e->array == TRACE_ADDITION) {
        need(table, e->left, done);
        need(table, e->right, done);
    }
}

/* Arrays no longer than the tree of n elements are shown whole; of longer ones, which are filled up with identities,
 * the cells through which something comes into the output. */
static void choose_cells(struct table *table)
{
    const struct trace *trace = table->trace;
    uint64_t m = UINT64_C(1) << log2_ceil(trace->n);
    bool *done = calloc(trace->expression_count, sizeof *done);
    table->shown = calloc((size_t)trace->array_count + 1, sizeof *table->shown);
    if (!done || !table->shown)
        abort();
    for (int a = 0; a < trace->array_count; a++)
        if (!(table->shown[a] = calloc(trace->arrays[a].cells + 1, sizeof **table->shown)))
            abort();
    for (uint64_t i = 0; i < trace->n; i++)
        need(table, trace->output[i], done);
    for (int a = 0; a < trace->array_count; a++)
        for (uint64_t c = 0; c < trace->arrays[a].cells && trace->arrays[a].cells <= m; c++)
            table->shown[a][c] = true;
    free(done);
}

static void choose_columns(struct table *table)
{
    const struct trace *trace = table->trace;
    uint64_t most = trace->n;
    choose_cells(table);
    for (int a = 0; a < trace->array_count; a++)
        most = trace->arrays[a].cells > most ? trace->arrays[a].cells : most;
    table->columns = calloc(most + 1, sizeof *table->columns);
    if (!table->columns)
        abort();
    for (uint64_t c = 0; c < most; c++) {
        bool wanted = c < trace->n;
        for (int a = 0; a < trace->array_count; a++)
            wanted |= c < trace->arrays[a].cells && table->shown[a][c];
        if (wanted)
            table->columns[table->column_count++] = c;
    }
}

/* ------------------------------------------------------------------------------------------------ who added whom */

/* How places are written: as they are, or by their distance from cell i. */
struct notation {
    const struct trace *trace;
    const struct trace_event *event;
    int home;      /* the array whose name goes without saying */
    unsigned from; /* bit t: term t is written by its distance; all bits: every term */
    uint32_t i;
    int terms;
};

static void write_place(struct notation *notation, int array, uint32_t cell, char *text, size_t size)
{
    const struct trace_array *place = &notation->trace->arrays[array];
    bool by_distance = notation->from >> (notation->terms < 31 ? notation->terms : 31) & 1;
    int64_t distance = (int64_t)cell - notation->i;
    if (array != notation->home)
        append(text, size, "%s", place->name);
    if (array != notation->home && place->shared && place->block != 0)
        append(text, size, "(%" PRIu64 ")", place->block);
    if (!by_distance)
        append(text, size, "[%" PRIu32 "]", cell);
    else if (!distance)
        append(text, size, "[i]");
    else
        append(text, size, "[i%+" PRId64 "]", distance);
    notation->terms++;
}

/* Is it what the changed cell held? A thread that keeps the sum that it has stored there does not read it again. */
static bool is_own(const struct notation *notation, uint32_t expression)
{
    uint32_t before = notation->event->before[notation->i];
    const struct trace *trace = notation->trace;
    return before < trace->expression_count && trace->expressions[before].array == notation->event->array &&
           trace->expressions[before].left == expression;
}

static void write_expression(struct notation *notation, uint32_t expression, bool right, char *text, size_t size)
{
    const struct trace *trace = notation->trace;
    const struct trace_expression *e = &trace->expressions[expression < trace->expression_count ? expression : 0];
    if (expression >= trace->expression_count) {
        append(text, size, "no sum of elements"); /* a flag */
    } else if (e->array == TRACE_IDENTITY) {
        append(text, size, "0");
    } else if (e->array == TRACE_ADDITION && is_own(notation, expression)) {
        write_place(notation, notation->event->array, notation->i, text, size);
    } else if (e->array == TRACE_ADDITION) {
        append(text, size, "%s", right ? "(" : "");
        write_expression(notation, e->left, false, text, size);
        append(text, size, " + ");
        write_expression(notation, e->right, true, text, size);
        append(text, size, "%s", right ? ")" : "");
    } else if (e->array >= 0) {
        write_place(notation, e->array, e->cell, text, size);
        if (trace_is_past(trace, notation->event, expression))
            append(text, size, "'");
    } else {
        append(text, size, "no sum of elements"); /* a flag */
    }
}

/* What the cells of an event are made of: the places named in `count[array]`. */
static void count_places(const struct notation *notation, uint32_t expression, int *count)
{
    const struct trace *trace = notation->trace;
    if (expression >= trace->expression_count)
        return;
    const struct trace_expression *e = &trace->expressions[expression];
    if (e->array == TRACE_ADDITION && is_own(notation, expression)) {
        count[notation->event->array]++;
        return;
    }
    if (e->array >= 0)
        count[e->array]++;
    if (e->array != TRACE_ADDITION)
        return;
    count_places(notation, e->left, count);
    count_places(notation, e->right, count);
}

static bool is_seen(const struct table *table, const struct trace_event *event, uint64_t cell)
{
    return table->shown[event->array][cell] && event->before[cell] != event->after[cell];
}

/* The array that most operands were read from: the event's own if it is one of several. */
static int source_of(const struct table *table, const struct trace_event *event)
{
    const struct trace *trace = table->trace;
    int *count = calloc((size_t)trace->array_count + 1, sizeof *count), source = event->array;
    if (!count)
        abort();
    for (uint64_t c = 0; c < trace->arrays[event->array].cells; c++)
        if (is_seen(table, event, c)) {
            const struct notation notation = {.trace = trace, .event = event, .i = (uint32_t)c};
            count_places(&notation, event->after[c], count);
        }
    for (int a = 0; a < trace->array_count; a++)
        if (count[a] > count[source])
            source = a;
    free(count);
    return source;
}

/* From the same place of another array: carried over, as it was. */
static bool is_carried(const struct trace *trace, const struct trace_event *event, uint64_t cell)
{
    uint32_t x = event->after[cell];
    return x < trace->expression_count && trace->expressions[x].array >= 0 &&
           trace->expressions[x].array != event->array && trace->expressions[x].cell == cell;
}

/* "[3] <- [1] + [3]", or with the bits of `from` "[i] <- [i-2] + [i]". */
static void write_change(const struct trace *trace, const struct trace_event *event, int home, uint64_t cell,
                         unsigned from, char *text)
{
    struct notation notation = {.trace = trace, .event = event, .home = home, .from = from, .i = (uint32_t)cell};
    uint32_t x = event->after[cell];
    text[0] = '\0';
    if (from)
        append(text, CHANGE, "[i]");
    else
        append(text, CHANGE, "[%" PRIu64 "]", cell);
    if (x == 0 && event->before[cell] != TRACE_NOTHING) {
        append(text, CHANGE, " cleared");
    } else {
        append(text, CHANGE, " <- ");
        write_expression(&notation, x, false, text, CHANGE);
    }
    /* A thread that adds up a whole row names too many. */
    if (strlen(text) > 60) {
        uint64_t first, count = trace_span(trace, x, &first);
        char *end = strstr(text, " <- ");
        end[4] = '\0';
        if (count == UNKNOWN)
            append(text, CHANGE, "a sum of %d cells", notation.terms);
        else if (count == 0)
            append(text, CHANGE, "0");
        else
            append(text, CHANGE, "in[%" PRIu64 "] + ... + in[%" PRIu64 "]", first, first + count - 1);
    }
}

/* "1, 3, 5, 7", "2..7", "1, 3, ..., 31". */
static void write_list(const uint64_t *list, int count, char *text, size_t size)
{
    uint64_t step = count > 1 ? list[1] - list[0] : 0;
    bool even = count > 1;
    for (int i = 1; i < count; i++)
        even &= list[i] - list[i - 1] == step;
    if (even && step == 1 && count > 2)
        append(text, size, "%" PRIu64 "..%" PRIu64, list[0], list[count - 1]);
    else if (even && count > 6)
        append(text, size, "%" PRIu64 ", %" PRIu64 ", ..., %" PRIu64, list[0], list[1], list[count - 1]);
    else
        for (int i = 0; i < count; i++)
            append(text, size, "%s%" PRIu64, i ? ", " : "", list[i]);
}

/* Cells that say the same of themselves in terms of i share a line. */
static void write_changes(const struct table *table, const struct trace_event *event, int home, struct line *line)
{
    const struct trace *trace = table->trace;
    static const unsigned ways[] = {~0u, 1u << 1, 1u << 0, 1u << 30}; /* distances: of all, one, or none of the terms */
    uint64_t cells = trace->arrays[event->array].cells, *list = calloc(cells + 1, sizeof *list), left = 0, all = 0;
    bool *done = calloc(cells + 1, sizeof *done);
    if (!list || !done)
        abort();
    for (uint64_t c = 0; c < cells; c++) {
        left += is_seen(table, event, c);
        all += table->shown[event->array][c];
        done[c] = !is_seen(table, event, c);
    }
    all = all == left ? all : 0;                  /* cells that have not changed have no part in "all" */
    for (int carried = 0; carried < 2; carried++) /* those last */
        for (uint64_t c = 0; c < cells; c++) {
            if (done[c] || is_carried(trace, event, c) != (carried == 1))
                continue;
            char change[CHANGE] = "", other[CHANGE];
            int best = 0;
            unsigned best_way = 0;
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                int same = 0;
                write_change(trace, event, home, c, ways[w], change);
                for (uint64_t d = c; d < cells; d++) {
                    if (done[d] || is_carried(trace, event, d) != (carried == 1))
                        continue;
                    write_change(trace, event, home, d, ways[w], other);
                    same += !strcmp(change, other);
                }
                if (same > best) {
                    best = same;
                    best_way = ways[w];
                }
            }
            write_change(trace, event, home, c, best > 1 ? best_way : 0, change);
            done[c] = true;
            if (best > 1) {
                int count = 0;
                list[count++] = c;
                for (uint64_t d = c + 1; d < cells; d++) {
                    if (done[d] || is_carried(trace, event, d) != (carried == 1))
                        continue;
                    write_change(trace, event, home, d, best_way, other);
                    if (strcmp(change, other) != 0)
                        continue;
                    done[d] = true;
                    list[count++] = d;
                }
                if ((uint64_t)best == left && all) {
                    append(change, CHANGE, all == (uint64_t)best ? ", all i" : ", all other i");
                } else {
                    append(change, CHANGE, ", i = ");
                    write_list(list, count, change, CHANGE);
                }
            }
            left -= (uint64_t)best;
            if (line->change_count < CHANGES)
                strcpy(line->changes[line->change_count++], change);
        }
    free(list);
    free(done);
}

/* ------------------------------------------------------------------------------------------------ rows */

static void write_cell(const struct trace *trace, uint32_t expression, char *text)
{
    if (expression == TRACE_NOTHING)
        strcpy(text, ".");
    else
        snprintf(text, 16, "%" PRId32, trace_value(trace, expression));
}

/* Cells of one array, those that have changed marked. */
static void fill_cells(const struct table *table, const struct trace_event *event, struct line *line)
{
    const struct trace *trace = table->trace;
    for (int column = 0; column < table->column_count; column++) {
        uint64_t c = table->columns[column];
        if (c >= trace->arrays[event->array].cells || !table->shown[event->array][c])
            continue;
        write_cell(trace, event->after[c], line->cells[column]);
        line->marked[column] = event->before[c] != event->after[c] && !is_carried(trace, event, c);
    }
}

static void add_event(struct table *table, const struct trace_event *event, bool several_blocks)
{
    const struct trace *trace = table->trace;
    bool seen = false;
    for (uint64_t c = 0; event->array >= 0 && c < trace->arrays[event->array].cells && !seen; c++)
        seen = is_seen(table, event, c);

    struct line *last = table->line_count ? &table->lines[table->line_count - 1] : NULL;
    char block[40] = "";
    if (event->barrier && several_blocks)
        snprintf(block, sizeof block, ", block %" PRIu64, event->block);
    if (!seen && event->barrier && last && last->unseen && last->launch == event->launch) {
        snprintf(last->label, sizeof last->label, "%d %s%s, barriers %d %s %d", event->launch, event->kernel, block,
                 last->first_barrier, event->barrier == last->first_barrier + 1 ? "and" : "to", event->barrier);
        return;
    }
    struct line *line = add_line(table);
    snprintf(line->label, sizeof line->label, "%d %s%s", event->launch, event->kernel, block);
    if (event->barrier)
        append(line->label, sizeof line->label, ", barrier %d", event->barrier);
    if (!seen) {
        line->unseen = event->barrier != 0;
        line->launch = event->launch;
        line->first_barrier = event->barrier;
        strcpy(line->changes[line->change_count++],
               event->array < 0 ? "no cell changes" : "only cells change that are not shown");
        return;
    }
    int source = source_of(table, event);
    if (source != event->array)
        append(line->array, sizeof line->array, "%s -> ", trace->arrays[source].name);
    append(line->array, sizeof line->array, "%s", trace->arrays[event->array].name);
    fill_cells(table, event, line);
    write_changes(table, event, source, line);
}

static void add_input(struct table *table)
{
    struct line *line = add_line(table);
    strcpy(line->array, "in");
    for (int column = 0; column < table->column_count; column++)
        if (table->columns[column] < table->trace->n)
            snprintf(line->cells[column], 16, "%" PRId32, table->trace->values[table->columns[column]]);
}

static void make_lines(struct table *table)
{
    const struct trace *trace = table->trace;
    add_input(table);
    for (int e = 0; e < trace->event_count; e++) {
        bool several = false;
        for (int f = 0; f < trace->event_count; f++)
            several |= trace->events[f].launch == trace->events[e].launch && trace->events[f].block != 0;
        add_event(table, &trace->events[e], several);
    }
}

/* Without launches: a row an addition, each in the column of the last element that it adds up. */
static void write_operand(const struct trace *trace, uint32_t e, char *text, size_t size)
{
    if (e == 0)
        append(text, size, "0");
    else if (e >= trace->first_addition)
        append(text, size, "(%" PRIu32 ")", e - trace->first_addition + 1);
    else
        append(text, size, "in[%" PRIu32 "]", trace->expressions[e].cell);
}

static void make_host_lines(struct table *table)
{
    const struct trace *trace = table->trace;
    add_input(table);
    for (uint32_t e = trace->first_addition; e < trace->expression_count; e++) {
        struct line *line = add_line(table);
        uint64_t first, count = trace_span(trace, e, &first);
        snprintf(line->label, sizeof line->label, "addition %" PRIu32, e - trace->first_addition + 1);
        if (count != UNKNOWN && count) {
            write_cell(trace, e, line->cells[first + count - 1]);
            line->marked[first + count - 1] = true;
        }
        char *change = line->changes[line->change_count++];
        write_operand(trace, trace->expressions[e].left, change, CHANGE);
        append(change, CHANGE, " + ");
        write_operand(trace, trace->expressions[e].right, change, CHANGE);
    }
    struct line *line = add_line(table);
    strcpy(line->array, "out");
    for (uint64_t i = 0; i < trace->n; i++)
        write_cell(trace, trace->output[i], line->cells[i]);
}

/* ------------------------------------------------------------------------------------------------ printing */

static void print_plain(const struct table *table)
{
    int label = (int)strlen("launch"), array = (int)strlen("array"), cell = 1;
    for (int l = 0; l < table->line_count; l++) {
        const struct line *line = &table->lines[l];
        label = (int)strlen(line->label) > label ? (int)strlen(line->label) : label;
        array = (int)strlen(line->array) > array ? (int)strlen(line->array) : array;
        for (int c = 0; c < table->column_count; c++)
            cell = (int)strlen(line->cells[c]) > cell ? (int)strlen(line->cells[c]) : cell;
    }
    if (table->columns[table->column_count - 1] > 9 && cell < 2)
        cell = 2;
    printf("%-*s  %-*s ", label, "", array, "cell");
    for (int c = 0; c < table->column_count; c++)
        printf(" %*" PRIu64 "%s", cell + 1, table->columns[c], c + 1 < table->column_count ? " " : "\n");
    for (int l = 0; l < table->line_count; l++) {
        const struct line *line = &table->lines[l];
        printf("%-*s  %-*s ", label, line->label, array, line->array);
        int last = table->column_count;
        while (!line->change_count && last && !line->cells[last - 1][0])
            last--;
        for (int c = 0; c < last; c++) {
            int used = (int)strlen(line->cells[c]);
            printf(" %*s%s%s%s", cell - used + 1, line->marked[c] ? "[" : "", line->cells[c],
                   line->marked[c] ? "]" : "", !line->marked[c] && (line->change_count || c + 1 < last) ? " " : "");
        }
        for (int i = 0; i < line->change_count; i++) {
            if (i)
                printf("%*s", label + 2 + array + 1 + table->column_count * (cell + 3), "");
            printf("  %s\n", line->changes[i]);
        }
        if (!line->change_count)
            printf("\n");
    }
}

static void print_markdown(const struct table *table)
{
    printf("| launch | array |");
    for (int c = 0; c < table->column_count; c++)
        printf(" %" PRIu64 " |", table->columns[c]);
    printf(" what changed |\n|---|---|");
    for (int c = 0; c < table->column_count; c++)
        printf("---:|");
    printf("---|\n");
    for (int l = 0; l < table->line_count; l++) {
        const struct line *line = &table->lines[l];
        const char *code = line->label[0] >= '0' && line->label[0] <= '9' ? "`" : "";
        const char *name = strchr(line->label, ' '), *rest = name ? strchr(name, ',') : NULL;
        if (*code) /* only the kernel's name in the type of code */
            printf("| %.*s `%.*s`%s | ", (int)(name - line->label), line->label,
                   (int)(rest ? rest - name - 1 : (long)strlen(name + 1)), name + 1, rest ? rest : "");
        else
            printf("| %s | ", line->label);
        printf(line->array[0] ? "`%s` |" : "%s |", line->array);
        for (int c = 0; c < table->column_count; c++)
            printf(line->marked[c] ? " **%s** |" : " %s |", line->cells[c]);
        for (int i = 0; i < line->change_count; i++) {
            const char *list = strstr(line->changes[i], ", i = ");
            bool formula =
                line->changes[i][0] == '[' || line->changes[i][0] == '(' || !strncmp(line->changes[i], "in[", 3);
            printf(i ? "<br>" : " ");
            if (!list)
                list = strstr(line->changes[i], ", all ");
            if (formula)
                printf("`%.*s`%s", (int)(list ? list - line->changes[i] : (long)strlen(line->changes[i])),
                       line->changes[i], list ? list : "");
            else
                printf("%s", line->changes[i]);
        }
        printf(" |\n");
    }
}

/* Names upright, an arrow for "<-" and "->". */
static void print_math(const char *text)
{
    static const char letter[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (const char *at = text; *at;) {
        size_t letters = strspn(at, letter);
        if (letters > 1 || (letters == 1 && *at != 'i')) {
            printf("\\mathrm{");
            for (size_t i = 0; i < letters; i++)
                printf(at[i] == '_' ? "\\_" : "%c", at[i]);
            putchar('}');
            at += letters;
        } else if (!strncmp(at, "<-", 2) || !strncmp(at, "->", 2)) {
            printf(*at == '<' ? "\\leftarrow" : "\\to");
            at += 2;
        } else if (!strncmp(at, "..", 2)) {
            printf("\\dots ");
            at += strspn(at, ".");
        } else if (*at == ' ') { /* around signs TeX leaves space of its own */
            bool words = at > text && strchr("abcdefghijklmnopqrstuvwxyz,]", at[-1]) && strspn(at + 1, letter);
            printf(words || (at > text && at[-1] == ',') ? "\\ " : " ");
            at++;
        } else {
            putchar(*at++);
        }
    }
}

static void print_escaped(const char *text)
{
    for (const char *at = text; *at; at++)
        printf(strchr("_&%#$", *at) ? "\\%c" : "%c", *at);
}

static void print_latex(const struct table *table)
{
    printf("%% needs \\usepackage{booktabs}\n\\begin{tabular}{ll");
    for (int c = 0; c < table->column_count; c++)
        printf("r");
    printf("l}\n\\toprule\nlaunch & array");
    for (int c = 0; c < table->column_count; c++)
        printf(" & %" PRIu64, table->columns[c]);
    printf(" & what changed \\\\\n\\midrule\n");
    for (int l = 0; l < table->line_count; l++) {
        const struct line *line = &table->lines[l];
        print_escaped(line->label);
        printf(line->array[0] ? " & $" : " & ");
        print_math(line->array);
        printf(line->array[0] ? "$" : "");
        for (int c = 0; c < table->column_count; c++)
            printf(line->marked[c] ? " & \\textbf{%s}" : " & %s", line->cells[c]);
        for (int i = 0; i < line->change_count || !i; i++) {
            if (i) {
                printf(" \\\\\n &");
                for (int c = 0; c < table->column_count; c++)
                    printf(" &");
            }
            printf(" & ");
            if (i < line->change_count) {
                printf("$");
                print_math(line->changes[i]);
                printf("$");
            }
        }
        printf(" \\\\\n");
    }
    printf("\\bottomrule\n\\end{tabular}\n");
}

/* What the signs mean, after the table. */
static void print_legend(const struct table *table, const struct settings *settings)
{
    const struct trace *trace = table->trace;
    bool dots = false, past = false;
    for (int l = 0; l < table->line_count; l++) {
        for (int c = 0; c < table->column_count; c++)
            dots |= !strcmp(table->lines[l].cells[c], ".");
        for (int i = 0; i < table->lines[l].change_count; i++)
            past |= strchr(table->lines[l].changes[i], '\'') != NULL;
    }
    const char *cells = settings->markdown || settings->latex ? "Cells in bold type" : "Cells in [brackets]";
    const char *code = settings->markdown ? "`" : settings->latex ? "$" : "";
    const char *arrow = settings->latex ? "\\leftarrow" : "<-", *to = settings->latex ? "\\to" : "->";
    if (settings->latex)
        printf("\\par\\smallskip\n");
    else
        printf("\n");
    if (!trace->array_count) {
        printf("%s: the sum of an addition, below the last element that it adds up; (1) is the sum of addition 1.\n",
               cells);
        return;
    }
    printf("%s have changed. %s[i] %s [j] + [k]%s: cell i takes the sum of what cells j and k held before.\n", cells,
           code, arrow, code);
    printf("%sA %s B%s: read from array A, written to array B.", code, to, code);
    if (dots)
        printf(" A dot: no sum of elements stands there.");
    if (past)
        printf(" %s[j]'%s: what a thread kept of cell j from earlier.", code, code);
    printf("\n");
    bool several = false;
    for (int a = 0; a < trace->array_count; a++) {
        const struct trace_array *array = &trace->arrays[a];
        if (strlen(array->name) != 1 || array->shared)
            continue;
        printf("%s%s is workspace[%" PRIu64 "..%" PRIu64 "]", several ? ", " : "", array->name, array->first,
               array->first + array->cells - 1);
        several = true;
    }
    if (several)
        printf(".\n");
    for (int a = 0; a < trace->array_count; a++) {
        const struct trace_array *array = &trace->arrays[a];
        uint64_t hidden = 0;
        for (uint64_t c = 0; c < array->cells; c++)
            hidden += !table->shown[a][c];
        if (!hidden || (array->shared && array->block != 0))
            continue;
        printf("Of the %" PRIu64 " cells of ", array->cells);
        if (settings->latex)
            print_escaped(array->name);
        else
            printf("%s%s%s", code, array->name, code);
        printf(" those are shown through which an element comes into the output.\n");
    }
}

static void print_heading(const struct settings *settings, const struct algorithm *algorithm, const struct problem *p)
{
    char threads[40] = "";
    if (p->threads)
        snprintf(threads, sizeof threads, ", %d threads a block", p->threads);
    printf("%s%s: %s%s of %" PRIu64 " element%s%s\n%s", settings->latex ? "% " : "", algorithm->title,
           kind_name(p->kind), p->kind == COPY ? "" : " scan", p->n, p->n == 1 ? "" : "s", threads,
           settings->latex ? "" : "\n");
}

static void print_table(const struct settings *settings, const struct table *table)
{
    if (settings->markdown)
        print_markdown(table);
    else if (settings->latex)
        print_latex(table);
    else
        print_plain(table);
    print_legend(table, settings);
}

static void free_table(struct table *table)
{
    for (int l = 0; l < table->line_count; l++) {
        free(table->lines[l].cells);
        free(table->lines[l].marked);
    }
    for (int a = 0; a < table->trace->array_count; a++)
        free(table->shown[a]);
    free(table->shown);
    free(table->columns);
    free(table->lines);
}

/* ------------------------------------------------------------------------------------------------ what to run */

static bool one_bit(unsigned set)
{
    return set && !(set & (set - 1));
}

/* The values, one after the other and again from the first, and how many there are. */
static int read_values(const char *text, int32_t *values, int *count)
{
    *count = 0;
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long long value = strtoll(at, &end, 10);
        size_t length = strcspn(at, ",");
        if (end == at || end != at + length || strchr(" \t", *at))
            return complain("--values: place %d: \"%.*s\" is not a whole number", *count + 1,
                            (int)(length < 40 ? length : 40), at);
        if (errno || value < INT32_MIN || value > INT32_MAX)
            return complain("--values: place %d: \"%.*s\" is not an i32, from -2147483648 to 2147483647", *count + 1,
                            (int)(length < 40 ? length : 40), at);
        if (*count == MOST_VALUES)
            return complain("--values: more than %d: a trace has a column for every element", MOST_VALUES);
        values[(*count)++] = (int32_t)value;
        at = end;
        if (!*at)
            return 0;
    }
}

static int choose_problem(const struct settings *settings, const struct algorithm **algorithm, struct problem *p,
                          int32_t *values)
{
    int count = (int)(sizeof textbook / sizeof *textbook);
    if (!settings->algorithms_given || settings->algorithm_count != 1)
        return complain("--algorithms: trace shows one algorithm: -a %s for example",
                        settings->algorithms_given ? settings->algorithms[0]->name : "blelloch");
    if (!one_bit(settings->kinds) && settings->algorithms[0]->kinds != COPY)
        return complain("--kind: trace takes one kind");
    if (settings->thread_count > 1 || settings->all_threads)
        return complain("--threads: trace takes one number");
    if (settings->size_count > 1)
        return complain("--sizes: trace takes one number of elements");
    if (settings->markdown && settings->latex)
        return complain("--markdown: either --markdown or --latex");
    memcpy(values, textbook, sizeof textbook);
    if (settings->values) {
        int code = read_values(settings->values, values, &count);
        if (code)
            return code;
    }
    *algorithm = settings->algorithms[0];
    p->n = settings->size_count ? settings->sizes[0] : (uint64_t)count;
    if (p->n < 1 || p->n > MOST_ELEMENTS)
        return complain("--sizes %" PRIu64 ": a trace has a column for every element: 1 to %d of them", p->n,
                        MOST_ELEMENTS);
    for (uint64_t i = (uint64_t)count; i < p->n; i++)
        values[i] = values[i - (uint64_t)count];
    p->type = I32;
    p->kind = (*algorithm)->kinds == COPY ? COPY : (enum kind)settings->kinds;
    if ((*algorithm)->runs_on == HOST)
        return 0;
    /* Its smallest block, so that as little of it as possible is padding. */
    for (int i = 0; i < 8 && (*algorithm)->threads[i]; i++)
        if (!p->threads || (*algorithm)->threads[i] < p->threads)
            p->threads = (*algorithm)->threads[i];
    if (settings->thread_count)
        p->threads = settings->threads[0];
    return 0;
}

/* The same command line for the build that can answer. */
static int name_the_other_build(const struct settings *settings)
{
    fprintf(stderr, "scanbench: only the count build sees the cells: make DEVICE=count builds it; then "
                    "build/count/scanbench trace");
    for (int i = 0; i < settings->argc; i++)
        fprintf(stderr, " %.100s", settings->argv[i]);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

/* The cells may come out right by luck: what check finds at this very size is said, too. */
static bool is_sound(const struct algorithm *algorithm, const struct problem *p)
{
    const struct point point = {.algorithm = algorithm,
                                .kind = p->kind,
                                .type = p->type,
                                .op = p->kind == COPY ? NONE : SUM,
                                .n = p->n,
                                .threads = p->threads};
    const struct job_options options = {.seed = 1};
    struct row row;
    job_run(&point, &options, &row);
    if (row.status != STATUS_OK)
        complain("%s: %s", algorithm->name, row.message);
    return row.status == STATUS_OK;
}

static int show(const struct settings *settings, const struct algorithm *algorithm, const struct problem *p,
                const int32_t *values)
{
    char why[600];
    struct trace trace;
    if (!trace_make(&trace, algorithm, p, values, why, sizeof why)) {
        complain("%s: %s", algorithm->name, why);
        return EXIT_WRONG;
    }
    struct table table = {.trace = &trace};
    choose_columns(&table);
    if (algorithm->runs_on == HOST)
        make_host_lines(&table);
    else
        make_lines(&table);
    print_heading(settings, algorithm, p);
    print_table(settings, &table);
    uint64_t wrong;
    bool right = trace_is_right(&trace, p->kind, &wrong);
    if (!right)
        complain("%s: the answer is wrong, first at element %" PRIu64, algorithm->name, wrong);
    else
        right = is_sound(algorithm, p);
    free_table(&table);
    trace_free(&trace);
    return right ? EXIT_RIGHT : EXIT_WRONG;
}

static int run(struct settings *settings)
{
    const struct algorithm *algorithm = NULL;
    struct problem p = {0};
    int32_t values[MOST_VALUES];
    char why[400];
    if (!device_counter())
        return name_the_other_build(settings);
    int code = choose_problem(settings, &algorithm, &p, values);
    if (code)
        return code;
    struct point point = {.algorithm = algorithm};
    const char *unavailable = point_unavailable(&point);
    if (unavailable) {
        complain("%s %s", algorithm->name, unavailable);
        return EXIT_NO_DEVICE;
    }
    const char *refusal = algorithm->refuse ? algorithm->refuse(&p) : NULL;
    if (refusal) {
        complain("%s: not for this algorithm: %s", algorithm->name, refusal);
        return EXIT_WRONG;
    }
    if (algorithm->runs_on == HOST)
        return show(settings, algorithm, &p, values);
    if (device_open(settings->device, &settings->device_options, why, sizeof why)) {
        complain("%s", why);
        return EXIT_NO_DEVICE;
    }
    code = show(settings, algorithm, &p, values);
    device_close();
    return code;
}

const struct verb verb_trace = {
    .name = "trace",
    .summary = "the cells of the arrays after every launch and at every barrier, and who added whom",
    .usage = "-a ALGORITHM [OPTIONS]",
    .options = "algorithms sizes kind threads values markdown latex",
    .examples = "  scanbench trace -a blelloch                              of 3 1 4 1 5 9 2 6\n"
                "  scanbench trace -a hillis_steele --values 1,2,3,4,5 --kind inclusive\n"
                "  scanbench trace -a blelloch_lesson -n 16 --latex >table.tex\n",
    .run = run,
};
