/* SPDX-License-Identifier: MIT */
/* What single_pass keeps from run to run: status words that are never cleared, told apart by the epoch of their run.
 * One workspace serves a thousand runs of all kinds; epochs come round; graphs are replayed; and a run that waits for
 * what never comes ends in an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/gpu.cuh"
extern "C" {
#include "registry.h"
}

static int failures;

static void result(const char *name, bool good, const char *why)
{
    if (!good)
        failures++;
    printf(good ? "ok single_pass: %s\n" : "not ok single_pass: %s: %s\n", name, why);
    fflush(stdout);
}

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % limit;
}

static const struct algorithm *single_pass;
static bool mutant; /* is compiled for affine maps alone */

/* ---------------------------------------------------------------------------------------------- a run */

constexpr uint64_t N = 200000;
constexpr size_t BYTES = (N + 8) * sizeof(int64_t);

/* As kernels/parts/lookback.cuh lays it out. */
constexpr uint64_t EPOCHS = UINT64_C(1) << 30;
constexpr size_t STATUS_AT = 256;

struct memory {
    char *in, *out, *workspace;
    size_t workspace_bytes;
};

static struct memory take(const struct problem *largest)
{
    struct memory memory = {};
    memory.workspace_bytes = single_pass->workspace(largest);
    memory.in = static_cast<char *>(device_malloc(BYTES));
    memory.out = static_cast<char *>(device_malloc(BYTES));
    memory.workspace = static_cast<char *>(device_malloc(memory.workspace_bytes));
    struct problem p = *largest;
    p.workspace = memory.workspace;
    single_pass->prepare(&p);
    return memory;
}

static void give(struct memory *memory)
{
    device_free(memory->in);
    device_free(memory->out);
    device_free(memory->workspace);
}

static char input[BYTES], output[BYTES];

/* A new input; small whole numbers, so that floats are exact. */
static void put_input(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        using T = typename decltype(op)::value;
        for (uint64_t i = 0; i < p->n; i++) {
            T x = T(int64_t(random_below(17)) - 8);
            memcpy(input + i * sizeof x, &x, sizeof x);
        }
    });
    device_upload(const_cast<void *>(p->in), input, p->n * type_size(p->type));
    if (p->in != p->out)
        device_fill(p->out, 0xee, p->n * type_size(p->type));
}

/* The first wrong element; n: none. */
static uint64_t first_wrong(const struct problem *p)
{
    uint64_t wrong = p->n;
    device_download(output, p->out, p->n * type_size(p->type));
    with_operator(p, [&](auto op) {
        using T = typename decltype(op)::value;
        T before = op.identity();
        for (uint64_t i = 0; i < p->n && wrong == p->n; i++) {
            T x, y;
            memcpy(&x, input + i * sizeof x, sizeof x);
            memcpy(&y, output + i * sizeof y, sizeof y);
            T next = op(before, x);
            if (y != (p->kind == INCLUSIVE ? next : before))
                wrong = i;
            before = next;
        }
    });
    return wrong;
}

static struct problem problem_at(const struct memory *memory, uint64_t n, enum type type, enum op op, enum kind kind)
{
    return {.n = n,
            .type = type,
            .op = mutant ? AFFINE : op,
            .kind = kind,
            .threads = single_pass->threads[0],
            .in = memory->in,
            .out = memory->out,
            .workspace = memory->workspace};
}

static bool run_is_right(const struct problem *p)
{
    put_input(p);
    single_pass->run(p);
    return !device_error() && first_wrong(p) == p->n;
}

static uint64_t state_of(const struct memory *memory)
{
    uint64_t next;
    device_download(&next, memory->workspace, sizeof next);
    return next;
}

static void set_epoch(const struct memory *memory, uint64_t epoch)
{
    uint64_t next = epoch % EPOCHS << 32;
    device_upload(memory->workspace, &next, sizeof next);
}

static const char *why_of(char (&text)[200], uint64_t run)
{
    if (device_error())
        snprintf(text, sizeof text, "run %llu: %.150s", static_cast<unsigned long long>(run), device_error_text());
    else
        snprintf(text, sizeof text, "run %llu is wrong", static_cast<unsigned long long>(run));
    return text;
}

static bool open_device(int resident, int workers, enum schedule schedule, uint64_t seed)
{
    struct device_options options = {};
    char why[200] = "";
    options.resident = resident;
    options.workers = workers;
    options.schedule = schedule;
    options.seed = seed;
    options.memory_bytes = UINT64_C(1) << 26;
    if (!device_open(0, &options, why, sizeof why))
        return true;
    result("device", false, why);
    return false;
}

/* ---------------------------------------------------------------------------------------------- cases */

static struct problem random_problem(const struct memory *memory)
{
    static const enum type types[] = {I32, I64, F32, F64};
    static const enum op ops[] = {SUM, MAX, AFFINE};
    struct problem p =
        problem_at(memory, 0, types[random_below(mutant ? 2 : 4)], SUM, random_below(2) ? INCLUSIVE : EXCLUSIVE);
    if (!mutant)
        p.op = ops[random_below(p.type == I32 || p.type == I64 ? 3 : 2)];
    do {
        p.n = 1 + random_below(random_below(3) ? 20000 : N);
        p.threads = single_pass->threads[random_below(3)];
    } while (single_pass->workspace(&p) > memory->workspace_bytes);
    p.in = memory->in + random_below(5) * type_size(p.type);
    p.out = random_below(4) ? memory->out + random_below(5) * type_size(p.type) : const_cast<void *>(p.in);
    return p;
}

/* Types, operators, kinds, sizes, block sizes and alignments in any order on one workspace. */
static void test_many_runs(int resident, int workers, enum schedule schedule, int runs)
{
    if (!open_device(resident, workers, schedule, 5))
        return;
    const struct problem largest = {.n = N, .type = I64, .op = SUM, .kind = INCLUSIVE, .threads = 128};
    struct memory memory = take(&largest);
    int right = 0;
    while (right < runs) {
        struct problem p = random_problem(&memory);
        if (!run_is_right(&p))
            break;
        right++;
    }
    char name[120], why[200];
    snprintf(name, sizeof name, "%d runs in one workspace, %d blocks resident on %d workers", runs, resident, workers);
    result(name, right == runs, why_of(why, uint64_t(right)));
    give(&memory);
    device_close();
}

static void test_epochs(void)
{
    if (!open_device(2, 1, SCHEDULE_SHUFFLED, 3))
        return;
    const struct problem largest = {.n = N, .type = I32, .op = SUM, .kind = EXCLUSIVE, .threads = 256};
    struct memory memory = take(&largest);
    char why[200];
    uint64_t run = 0;
    bool good = true;
    set_epoch(&memory, EPOCHS - 4);
    for (; run < 8 && good; run++) {
        struct problem p = problem_at(&memory, N - run * 1000, run % 2 ? I64 : I32, SUM, EXCLUSIVE);
        good = single_pass->workspace(&p) <= memory.workspace_bytes ? run_is_right(&p) : true;
        if (single_pass->workspace(&p) > memory.workspace_bytes) {
            p.n /= 2;
            good = run_is_right(&p);
        }
    }
    result("epochs go from 2^30 - 1 to 0", good && state_of(&memory) == UINT64_C(4) << 32, why_of(why, run));

    /* A long run, then as many short ones as bring its epoch round again, of which the last are run: its words must
     * not be believed. */
    const uint64_t words = (memory.workspace_bytes - STATUS_AT) / 8, epoch = 77;
    set_epoch(&memory, epoch);
    struct problem p = problem_at(&memory, N, I32, SUM, EXCLUSIVE),
                   shorter = problem_at(&memory, 9000, I32, SUM, EXCLUSIVE);
    good = run_is_right(&p);
    set_epoch(&memory, epoch + EPOCHS - words);
    for (run = 1; run <= words && good; run++)
        good = run_is_right(&shorter);
    good = good && state_of(&memory) == epoch << 32 && run_is_right(&p);
    result("an epoch that comes round again", good, why_of(why, run));
    give(&memory);
    device_close();
}

static void test_two_workspaces(void)
{
    if (!open_device(4, 2, SCHEDULE_SHUFFLED, 4))
        return;
    const struct problem largest = {.n = N, .type = I64, .op = SUM, .kind = INCLUSIVE, .threads = 128};
    struct memory memories[2] = {take(&largest), take(&largest)};
    char why[200];
    uint64_t run = 0;
    bool good = true;
    for (; run < 60 && good; run++) {
        struct problem p = random_problem(&memories[random_below(2)]);
        good = run_is_right(&p);
    }
    result("two workspaces in turns", good, why_of(why, run));
    give(&memories[0]);
    give(&memories[1]);
    device_close();
}

/* The same launch again, with the same arguments; other runs in between. */
static void test_graphs(int resident)
{
    if (!open_device(resident, 1, SCHEDULE_SHUFFLED, 6))
        return;
    const struct problem largest = {.n = N, .type = I32, .op = SUM, .kind = INCLUSIVE, .threads = 256};
    struct memory memory = take(&largest);
    struct problem p = problem_at(&memory, N, I32, SUM, INCLUSIVE),
                   other = problem_at(&memory, 50000, I64, MAX, EXCLUSIVE);
    char name[100], why[200] = "";
    uint64_t replay = 0;
    struct device_graph *graph = device_graph_capture(single_pass, &p, why, sizeof why);
    bool good = graph && device_graph_launches(graph) == 1;
    for (; replay < 30 && good; replay++) {
        put_input(&p);
        device_graph_replay(graph);
        good = !device_error() && first_wrong(&p) == p.n && (replay % 3 || run_is_right(&other));
    }
    device_graph_destroy(graph);
    snprintf(name, sizeof name, "a graph of one launch, replayed 30 times, %d blocks resident", resident);
    result(name, good, why[0] ? why : why_of(why, replay));
    give(&memory);
    device_close();
}

/* Ticket 0 is gone before the run: tile 1 waits for what nobody will tell. */
static void test_lost_tile(void)
{
    if (!open_device(2, 1, SCHEDULE_ASCENDING, 0))
        return;
    const struct problem largest = {.n = N, .type = I32, .op = SUM, .kind = INCLUSIVE, .threads = 256};
    struct memory memory = take(&largest);
    const uint64_t next = 1;
    device_upload(memory.workspace, &next, sizeof next);
    struct problem p = problem_at(&memory, N, I32, SUM, INCLUSIVE);
    single_pass->run(&p);
    device_synchronize();
    result("a tile that is never told ends in an error", device_error() != 0, "no error");
    if (device_error())
        printf("    %s\n", device_error_text());
    give(&memory);
    device_close();
}

/* unit_single_pass [MUTANT]: what of it runs affine maps, on a mutant of single_pass. */
int main(int count, char **words)
{
    single_pass = registry_find(count > 1 ? words[1] : "single_pass");
    mutant = count > 1;
    if (!single_pass) {
        printf("not ok single_pass: there is no %s\n", words[count - 1]);
        return 1;
    }
    const int few = mutant ? 4 : 1;
    test_many_runs(16, 2, SCHEDULE_SHUFFLED, 400 / few);
    test_many_runs(2, 1, SCHEDULE_DESCENDING, 300 / few);
    test_many_runs(1, 1, SCHEDULE_SHUFFLED, 300 / few);
    test_epochs();
    test_two_workspaces();
    test_graphs(1);
    test_graphs(64);
    if (!mutant) /* a second of waiting */
        test_lost_tile();
    return failures != 0;
}
