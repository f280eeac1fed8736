/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include "device/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of expressions: 0 the identity, 1 to n the elements of the input, from FIRST_CELL on those given to cells,
 * above LEAVES the additions. The gap in between is for whatever else kernels keep in memory: counters, flags. */
enum { FIRST_CELL = 1 << 16, LEAVES = 1 << 18 };
static const uint32_t FRESH = 0xA5A5A5A5; /* memory that nobody has written to */
enum { NOT_AN_ELEMENT = -4 };

/* An array as the device has it. */
struct raw {
    char name[64];
    bool shared;
    uint64_t block, cells;
    void *data;
    uint32_t *held; /* after the last event, the cells' own numbers already there */
};

struct raw_event {
    char kernel[64];
    int launch, barrier, raw; /* raw -1: nothing changed */
    uint64_t block;
    uint32_t named; /* numbers below were given to cells before */
    uint32_t *before, *after;
};

enum { RAW_IN, RAW_OUT, RAW_WORKSPACE, RAW_SHARED };

struct capture {
    const struct counter *counter;
    struct raw *raws;
    int raw_count;
    struct raw_event *events;
    int event_count, event_room;
    int launches;
    struct trace_expression *cells; /* by number, from FIRST_CELL on */
    uint32_t next_cell, named;      /* the next number for a cell; the first one of this launch or barrier */
    uint64_t *blocks;               /* that have come to a barrier in this launch, and how often */
    int *barriers;
    int block_count;
    bool full;
};

static void *must(void *pointer)
{
    if (!pointer)
        abort();
    return pointer;
}

static void *grown(void *list, int count, size_t size)
{
    return must(realloc(list, (size_t)count * size));
}

static uint32_t *copy_of(const uint32_t *cells, uint64_t count)
{
    return memcpy(must(malloc(count * sizeof *cells + 1)), cells, count * sizeof *cells);
}

__attribute__((format(printf, 3, 4))) static bool fail(char *why, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, size, format, arguments);
    va_end(arguments);
    return false;
}

/* ------------------------------------------------------------------------------------------------ watching */

/* What a cell may hold: a number given to a cell, or an addition. */
static bool is_expression(const struct capture *capture, uint32_t x, uint32_t expressions)
{
    return (x >= FIRST_CELL && x < capture->next_cell) || (x > LEAVES && x < expressions);
}

/* Gives the cells numbers of their own. An identity is an expression only among expressions: elsewhere it may be any
 * zero. */
static void name_cells(struct capture *capture, int raw, uint32_t *cells)
{
    const struct expression *list;
    uint32_t expressions = capture->counter->expressions(&list);
    uint64_t count = capture->raws[raw].cells;
    bool elements = false, others = false;
    for (uint64_t c = 0; c < count; c++) {
        bool expression = is_expression(capture, cells[c], expressions);
        elements |= expression;
        others |= !expression && cells[c] != 0 && cells[c] != FRESH;
    }
    for (uint64_t c = 0; c < count; c++) {
        uint32_t x = cells[c];
        if (x == 0 ? others || !elements : !is_expression(capture, x, expressions))
            continue;
        if (x >= FIRST_CELL && x < LEAVES) {
            const struct trace_expression *held = &capture->cells[x - FIRST_CELL];
            if (held->array == raw && held->cell == c)
                continue;
        }
        if (capture->next_cell == LEAVES) {
            capture->full = true;
            return;
        }
        cells[c] = capture->next_cell++;
        capture->cells[cells[c] - FIRST_CELL] =
            (struct trace_expression){.array = raw, .cell = (uint32_t)c, .left = x, .right = 0};
    }
}

static struct raw_event *add_event(struct capture *capture, const char *kernel)
{
    if (capture->event_count == capture->event_room) {
        capture->event_room = capture->event_room ? 2 * capture->event_room : 64;
        capture->events = grown(capture->events, capture->event_room, sizeof *capture->events);
    }
    struct raw_event *event = &capture->events[capture->event_count++];
    memset(event, 0, sizeof *event);
    event->launch = capture->launches;
    event->named = capture->named;
    event->raw = -1;
    snprintf(event->kernel, sizeof event->kernel, "%s", kernel);
    return event;
}

/* Compares an array with what it held, and names its cells anew: true if `cells`, which then has their numbers, is to
 * be written back. */
static bool look(struct capture *capture, int raw, uint32_t *cells, const char *kernel, int barrier, uint64_t block)
{
    struct raw *array = &capture->raws[raw];
    bool again = false;
    /* A thread that keeps its value in a register may store it again: the cell holds what it held. */
    for (uint64_t c = 0; barrier && c < array->cells; c++) {
        uint32_t held = array->held[c];
        if (held >= FIRST_CELL && held < LEAVES && capture->cells[held - FIRST_CELL].left == cells[c]) {
            again |= cells[c] != held;
            cells[c] = held;
        }
    }
    if (!memcmp(cells, array->held, array->cells * sizeof *cells))
        return again;
    struct raw_event *event = add_event(capture, kernel);
    event->raw = raw;
    event->barrier = barrier;
    event->block = block;
    event->before = array->held;
    event->after = copy_of(cells, array->cells);
    name_cells(capture, raw, cells);
    array->held = copy_of(cells, array->cells);
    return true;
}

static void on_launched(void *arg, const char *kernel)
{
    struct capture *capture = arg;
    int events = capture->event_count;
    capture->named = capture->next_cell;
    /* Barriers do not know their kernel's name. */
    capture->launches++;
    for (int e = 0; e < events; e++)
        if (capture->events[e].launch == capture->launches)
            snprintf(capture->events[e].kernel, sizeof capture->events[e].kernel, "%s", kernel);
    for (int r = RAW_IN; r <= RAW_WORKSPACE; r++) {
        const struct raw *array = &capture->raws[r];
        uint32_t *cells = must(malloc(array->cells * sizeof *cells + 1));
        device_download(cells, array->data, array->cells * sizeof *cells);
        if (look(capture, r, cells, kernel, 0, 0))
            device_upload(array->data, cells, array->cells * sizeof *cells);
        free(cells);
    }
    if (capture->event_count == events)
        add_event(capture, kernel);
    /* Shared arrays end with the launch. */
    for (int r = RAW_SHARED; r < capture->raw_count; r++)
        capture->raws[r].data = NULL;
    capture->block_count = 0;
}

/* The entry of a shared array, as it was before anybody wrote to it if this is the first time in this launch. */
static int shared_raw(struct capture *capture, uint64_t block, const struct shared_view *view)
{
    int r = RAW_SHARED;
    while (r < capture->raw_count && (capture->raws[r].block != block || capture->raws[r].cells != view->count ||
                                      strcmp(capture->raws[r].name, view->name) != 0))
        r++;
    if (r == capture->raw_count) {
        capture->raws = grown(capture->raws, ++capture->raw_count, sizeof *capture->raws);
        capture->raws[r] = (struct raw){.shared = true, .block = block, .cells = view->count};
        snprintf(capture->raws[r].name, sizeof capture->raws[r].name, "%s", view->name);
    }
    struct raw *array = &capture->raws[r];
    if (!array->data) {
        free(array->held);
        array->held = must(malloc(array->cells * sizeof *array->held + 1));
        for (uint64_t c = 0; c < array->cells; c++)
            array->held[c] = FRESH;
    }
    array->data = (void *)(uintptr_t)view->data; /* nobody else runs: it may be written to */
    return r;
}

static int barrier_number(struct capture *capture, uint64_t block)
{
    int b = 0;
    while (b < capture->block_count && capture->blocks[b] != block)
        b++;
    if (b == capture->block_count) {
        capture->block_count++;
        capture->blocks = grown(capture->blocks, capture->block_count, sizeof *capture->blocks);
        capture->barriers = grown(capture->barriers, capture->block_count, sizeof *capture->barriers);
        capture->blocks[b] = block;
        capture->barriers[b] = 0;
    }
    return ++capture->barriers[b];
}

static void on_barrier(void *arg, uint64_t block, const struct shared_view *arrays, int count)
{
    struct capture *capture = arg;
    int barrier = barrier_number(capture, block), events = capture->event_count;
    capture->named = capture->next_cell;
    capture->launches++; /* the one that is under way */
    for (int i = 0; i < count; i++) {
        if (arrays[i].element_bytes != sizeof(uint32_t) || !arrays[i].count)
            continue;
        int raw = shared_raw(capture, block, &arrays[i]);
        uint32_t *cells = copy_of(arrays[i].data, arrays[i].count);
        if (look(capture, raw, cells, "", barrier, block))
            memcpy(capture->raws[raw].data, cells, arrays[i].count * sizeof *cells);
        free(cells);
    }
    if (capture->event_count == events) {
        struct raw_event *event = add_event(capture, "");
        event->barrier = barrier;
        event->block = block;
    }
    capture->launches--;
}

/* ------------------------------------------------------------------------------------------------ running */

static bool take_memory(struct capture *capture, struct problem *problem, const struct algorithm *algorithm)
{
    size_t workspace = algorithm->workspace ? algorithm->workspace(problem) : 0, bytes = problem->n * 4;
    capture->raw_count = RAW_SHARED;
    capture->raws = must(calloc(RAW_SHARED, sizeof *capture->raws));
    static const char *const names[] = {"in", "out", "workspace"};
    const size_t sizes[] = {bytes, bytes, workspace};
    for (int r = RAW_IN; r <= RAW_WORKSPACE; r++) {
        struct raw *array = &capture->raws[r];
        snprintf(array->name, sizeof array->name, "%s", names[r]);
        array->cells = sizes[r] / sizeof(uint32_t);
        array->data = device_malloc(sizes[r] ? sizes[r] : 4);
        if (!array->data)
            return false;
    }
    problem->in = capture->raws[RAW_IN].data;
    problem->out = capture->raws[RAW_OUT].data;
    problem->workspace = capture->raws[RAW_WORKSPACE].data;
    return true;
}

/* The input's cells get their numbers; what the others hold is what there is. */
static void load(struct capture *capture)
{
    for (int r = RAW_IN; r <= RAW_WORKSPACE; r++) {
        struct raw *array = &capture->raws[r];
        array->held = must(malloc(array->cells * sizeof *array->held + 1));
        for (uint64_t c = 0; r == RAW_IN && c < array->cells; c++) {
            array->held[c] = capture->next_cell++;
            capture->cells[array->held[c] - FIRST_CELL] =
                (struct trace_expression){.array = RAW_IN, .cell = (uint32_t)c, .left = (uint32_t)c + 1};
        }
        if (r == RAW_IN)
            device_upload(array->data, array->held, array->cells * sizeof *array->held);
        else
            device_download(array->held, array->data, array->cells * sizeof *array->held);
    }
}

static bool run_on_device(struct capture *capture, const struct algorithm *algorithm, struct problem *problem,
                          char *why, size_t size)
{
    if (!take_memory(capture, problem, algorithm))
        return fail(why, size, "the device has no memory for %llu elements and the workspace",
                    (unsigned long long)problem->n);
    if (algorithm->prepare)
        algorithm->prepare(problem);
    device_synchronize();
    load(capture);
    const struct watcher watcher = {.launched = on_launched, .barrier = on_barrier, .arg = capture};
    capture->counter->watch(&watcher);
    algorithm->run(problem);
    device_synchronize();
    capture->counter->watch(NULL);
    if (device_error())
        return fail(why, size, "%s", device_error_text());
    if (capture->full)
        return fail(why, size, "more than %d cells have changed: too many to keep", LEAVES - FIRST_CELL);
    return true;
}

/* Without launches and barriers there is nothing to watch: the additions tell. */
static bool run_on_host(const struct algorithm *algorithm, struct problem *problem, uint32_t *output)
{
    uint32_t *in = must(malloc(problem->n * sizeof *in + 1));
    void *workspace = NULL;
    for (uint32_t i = 0; i < problem->n; i++) {
        in[i] = i + 1;
        output[i] = FRESH;
    }
    if (algorithm->workspace)
        workspace = must(malloc(algorithm->workspace(problem) + 1));
    problem->in = in;
    problem->out = output;
    problem->workspace = workspace;
    if (algorithm->prepare)
        algorithm->prepare(problem);
    algorithm->run(problem);
    free(in);
    free(workspace);
    for (uint64_t i = 0; i < problem->n; i++)
        if (output[i] == FRESH)
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------ meaning */

/* One table of all expressions. */
static void keep_expressions(struct trace *trace, const struct capture *capture)
{
    const struct expression *list;
    uint32_t count = capture->counter->expressions(&list);
    if (count < LEAVES + 1)
        count = LEAVES + 1;
    struct trace_expression *all = must(malloc(count * sizeof *all));
    for (uint32_t e = 0; e < count; e++)
        all[e] = (struct trace_expression){.array = NOT_AN_ELEMENT};
    all[0].array = TRACE_IDENTITY;
    for (uint32_t i = 0; i < trace->n; i++)
        all[i + 1] = (struct trace_expression){.array = TRACE_LEAF, .cell = i};
    for (uint32_t e = FIRST_CELL; e < capture->next_cell; e++)
        all[e] = capture->cells[e - FIRST_CELL];
    for (uint32_t e = LEAVES + 1; e < count; e++)
        all[e] = (struct trace_expression){.array = TRACE_ADDITION, .left = list[e].left, .right = list[e].right};
    trace->expressions = all;
    trace->expression_count = count;
    trace->first_addition = LEAVES + 1;
    trace->meanings = must(calloc(count, sizeof *trace->meanings));
}

static struct trace_meaning meaning_of(const struct trace *trace, uint32_t e)
{
    struct trace_meaning none = {.count = TRACE_NOTHING, .known = true};
    return e < trace->expression_count ? trace->meanings[e] : none;
}

static void learn(struct trace *trace, uint32_t e)
{
    if (e >= trace->expression_count || trace->meanings[e].known)
        return;
    const struct trace_expression *expression = &trace->expressions[e];
    struct trace_meaning meaning = {.count = TRACE_NOTHING};
    if (expression->array == TRACE_IDENTITY) {
        meaning.count = 0;
    } else if (expression->array == TRACE_LEAF) {
        meaning = (struct trace_meaning){trace->values[expression->cell], expression->cell, 1, true};
    } else if (expression->array >= 0) {
        learn(trace, expression->left);
        meaning = meaning_of(trace, expression->left);
    } else if (expression->array == TRACE_ADDITION) {
        learn(trace, expression->left);
        learn(trace, expression->right);
        struct trace_meaning left = meaning_of(trace, expression->left);
        struct trace_meaning right = meaning_of(trace, expression->right);
        meaning.value = (int32_t)((uint32_t)left.value + (uint32_t)right.value);
        if (left.count != TRACE_NOTHING && right.count != TRACE_NOTHING &&
            (!left.count || !right.count || left.first + left.count == right.first)) {
            meaning.first = left.count ? left.first : right.first;
            meaning.count = left.count + right.count;
        }
    }
    meaning.known = true;
    trace->meanings[e] = meaning;
}

int32_t trace_value(const struct trace *trace, uint32_t expression)
{
    return meaning_of(trace, expression).value;
}

uint64_t trace_span(const struct trace *trace, uint32_t expression, uint64_t *first)
{
    struct trace_meaning meaning = meaning_of(trace, expression);
    *first = meaning.first;
    return meaning.count == TRACE_NOTHING ? UNKNOWN : meaning.count;
}

bool trace_is_past(const struct trace *trace, const struct trace_event *event, uint32_t expression)
{
    const struct trace_expression *e = &trace->expressions[expression];
    for (uint32_t later = expression + 1; later < event->named; later++)
        if (trace->expressions[later].array == e->array && trace->expressions[later].cell == e->cell)
            return true;
    return false;
}

bool trace_is_right(const struct trace *trace, enum kind kind, uint64_t *first_wrong)
{
    for (uint64_t i = 0; i < trace->n; i++) {
        uint64_t first, count = trace_span(trace, trace->output[i], &first);
        uint64_t expected = kind == COPY ? 1 : kind == INCLUSIVE ? i + 1 : i;
        *first_wrong = i;
        if (count != expected || (count && first != (kind == COPY ? i : 0)))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ arrays */

/* The parts of the workspace that launches write to: ranges that overlap are one. */
struct part {
    uint64_t first, end;
};

static int by_first(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

static int find_parts(const struct capture *capture, struct part **parts)
{
    struct part *list = NULL;
    int count = 0, kept = 0;
    for (int e = 0; e < capture->event_count; e++) {
        const struct raw_event *event = &capture->events[e];
        struct part part = {UINT64_MAX, 0};
        if (event->raw != RAW_WORKSPACE)
            continue;
        for (uint64_t c = 0; c < capture->raws[RAW_WORKSPACE].cells; c++)
            if (event->before[c] != event->after[c]) {
                part.first = part.first < c ? part.first : c;
                part.end = c + 1;
            }
        list = grown(list, ++count, sizeof *list);
        list[count - 1] = part;
    }
    if (count)
        qsort(list, (size_t)count, sizeof *list, by_first);
    for (int i = 0; i < count; i++) {
        if (kept && list[i].first < list[kept - 1].end)
            list[kept - 1].end = list[i].end > list[kept - 1].end ? list[i].end : list[kept - 1].end;
        else
            list[kept++] = list[i];
    }
    if (kept > 26) { /* no letters left: one array */
        list[0].end = list[kept - 1].end;
        kept = 1;
    }
    *parts = list;
    return kept;
}

/* in, out, the parts of the workspace, the shared arrays; and the array that each raw one has become. */
static void keep_arrays(struct trace *trace, const struct capture *capture, const struct part *parts, int part_count)
{
    trace->array_count = 2 + part_count + capture->raw_count - RAW_SHARED;
    trace->arrays = must(calloc((size_t)trace->array_count, sizeof *trace->arrays));
    for (int a = 0; a < trace->array_count; a++) {
        struct trace_array *array = &trace->arrays[a];
        if (a >= 2 && a < 2 + part_count) {
            const struct part *part = &parts[a - 2];
            array->first = part->first;
            array->cells = part->end - part->first;
            if (part_count == 1)
                strcpy(array->name, "workspace");
            else
                array->name[0] = (char)('A' + a - 2);
            continue;
        }
        const struct raw *raw = &capture->raws[a < 2 ? a : a - 2 - part_count + RAW_SHARED];
        memcpy(array->name, raw->name, sizeof array->name);
        array->cells = raw->cells;
        array->shared = raw->shared;
        array->block = raw->block;
    }
}

/* The array and the cell in it of a cell of a raw array; -1 for a part of the workspace that nobody writes to. */
static int place_of(const struct trace *trace, int raw, uint32_t *cell, int part_count)
{
    if (raw < RAW_WORKSPACE)
        return raw;
    if (raw >= RAW_SHARED)
        return 2 + part_count + raw - RAW_SHARED;
    for (int a = 2; a < 2 + part_count; a++)
        if (*cell >= trace->arrays[a].first && *cell - trace->arrays[a].first < trace->arrays[a].cells) {
            *cell -= (uint32_t)trace->arrays[a].first;
            return a;
        }
    return -1;
}

static void keep_event(struct trace *trace, const struct raw_event *raw, int array, uint64_t first)
{
    trace->events = grown(trace->events, ++trace->event_count, sizeof *trace->events);
    struct trace_event *event = &trace->events[trace->event_count - 1];
    memset(event, 0, sizeof *event);
    memcpy(event->kernel, raw->kernel, sizeof event->kernel);
    event->launch = raw->launch;
    event->barrier = raw->barrier;
    event->block = raw->block;
    event->named = raw->named;
    event->array = array;
    if (array < 0)
        return;
    uint64_t cells = trace->arrays[array].cells;
    event->before = copy_of(raw->before + first, cells);
    event->after = copy_of(raw->after + first, cells);
    for (uint64_t c = 0; c < cells; c++) {
        uint32_t *both[] = {&event->before[c], &event->after[c]};
        for (int i = 0; i < 2; i++) {
            uint32_t x = *both[i];
            if (x >= trace->expression_count || trace->expressions[x].array == NOT_AN_ELEMENT ||
                trace->expressions[x].array == TRACE_LEAF)
                *both[i] = TRACE_NOTHING;
        }
    }
}

static void keep_events(struct trace *trace, const struct capture *capture, int part_count)
{
    for (int e = 0; e < capture->event_count; e++) {
        const struct raw_event *event = &capture->events[e];
        if (event->raw != RAW_WORKSPACE) {
            keep_event(trace, event, event->raw < 0 ? -1 : place_of(trace, event->raw, NULL, part_count), 0);
            continue;
        }
        for (int a = 2; a < 2 + part_count; a++) {
            const struct trace_array *array = &trace->arrays[a];
            if (memcmp(event->before + array->first, event->after + array->first, array->cells * sizeof(uint32_t)))
                keep_event(trace, event, a, array->first);
        }
    }
}

/* Blocks stand side by side: one after the other reads better. Stable. */
static void order_events(struct trace *trace)
{
    for (int i = 1; i < trace->event_count; i++) {
        struct trace_event event = trace->events[i];
        int at = i;
        while (at > 0 && event.barrier && trace->events[at - 1].launch == event.launch &&
               trace->events[at - 1].barrier && trace->events[at - 1].block > event.block) {
            trace->events[at] = trace->events[at - 1];
            at--;
        }
        trace->events[at] = event;
    }
}

static void keep(struct trace *trace, const struct capture *capture)
{
    struct part *parts;
    int part_count = find_parts(capture, &parts);
    trace->launches = capture->launches;
    keep_arrays(trace, capture, parts, part_count);
    for (uint32_t e = FIRST_CELL; e < capture->next_cell; e++) {
        struct trace_expression *expression = &trace->expressions[e];
        int array = place_of(trace, expression->array, &expression->cell, part_count);
        expression->array = array < 0 ? NOT_AN_ELEMENT : array;
    }
    keep_events(trace, capture, part_count);
    order_events(trace);
    free(parts);
}

static void release(struct capture *capture)
{
    for (int r = 0; r < capture->raw_count; r++) {
        if (r < RAW_SHARED && capture->raws[r].data)
            device_free(capture->raws[r].data);
        free(capture->raws[r].held);
    }
    for (int e = 0; e < capture->event_count; e++) {
        free(capture->events[e].before);
        free(capture->events[e].after);
    }
    free(capture->raws);
    free(capture->events);
    free(capture->cells);
    free(capture->blocks);
    free(capture->barriers);
}

bool trace_make(struct trace *trace, const struct algorithm *algorithm, const struct problem *problem,
                const int32_t *values, char *why, size_t size)
{
    struct capture capture = {.counter = device_counter(), .next_cell = FIRST_CELL};
    struct problem traced = *problem;
    memset(trace, 0, sizeof *trace);
    if (!capture.counter)
        return fail(why, size, "only the count build sees the cells of arrays");
    if (problem->n >= (uint64_t)FIRST_CELL)
        return fail(why, size, "a trace of more than %d elements is not kept", FIRST_CELL - 1);
    traced.type = I32;
    traced.op = problem->kind == COPY ? NONE : TRACE;
    trace->n = problem->n;
    trace->values = values;
    trace->output = must(malloc(problem->n * sizeof *trace->output + 1));
    capture.cells = must(malloc((LEAVES - FIRST_CELL) * sizeof *capture.cells));

    capture.counter->begin(false);
    capture.counter->leaves(LEAVES);
    bool on_host = algorithm->runs_on == HOST, done;
    if (on_host)
        done = run_on_host(algorithm, &traced, trace->output) ||
               fail(why, size, "nothing to trace: its additions are the compiler's");
    else
        done = run_on_device(&capture, algorithm, &traced, why, size);
    capture.counter->end();
    if (done) {
        keep_expressions(trace, &capture);
        if (!on_host) {
            memcpy(trace->output, capture.raws[RAW_OUT].held, problem->n * sizeof *trace->output);
            keep(trace, &capture);
        }
        for (uint32_t e = 0; e < trace->expression_count; e++)
            learn(trace, e);
    }
    release(&capture);
    if (!done)
        trace_free(trace);
    return done;
}

void trace_free(struct trace *trace)
{
    for (int e = 0; e < trace->event_count; e++) {
        free(trace->events[e].before);
        free(trace->events[e].after);
    }
    free(trace->events);
    free(trace->arrays);
    free(trace->output);
    free(trace->expressions);
    free(trace->meanings);
    memset(trace, 0, sizeof *trace);
}
