/* SPDX-License-Identifier: MIT */
/* The counter as the harness sees it (counts.h), and what the CPU device tells of launches, memory and blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/count/seen.h"
#include "device/cpu/observe.h"

uint32_t stamp_now = FIRST_STAMP, launch_begun;
uint64_t launch_number;
const char *launch_name = "";
uint32_t launch_threads = 1, launch_blocks;
uintptr_t launch_stack_low;

static struct launch_counts *launches;
static int launch_count, launch_room;
static struct launch_counts outside; /* of launches: host algorithms */
struct launch_counts *counted = &outside;

static uint64_t additions_before; /* what the worker had counted when the last launch or begin() was */

static bool memory_wanted = true;
static const struct watcher *watcher;
static struct watcher watcher_given;

/* ---------------------------------------------------------------------------------------------- memory */

void observe_memory(char *memory, uint64_t device_bytes, uint64_t all_bytes)
{
    memory_base = reinterpret_cast<uintptr_t>(memory);
    memory_device_bytes = device_bytes;
    memory_all_bytes = all_bytes;
    checker_open();
}

void observe_memory_closed(void)
{
    if (memory_all_bytes)
        checker_close();
}

void observe_array(char *data, uint64_t bytes, bool there)
{
    checker_mark(reinterpret_cast<uintptr_t>(data), bytes, there ? NO_CONTENT : NOT_THERE);
}

void observe_host_write(void *to, size_t bytes)
{
    checker_mark(reinterpret_cast<uintptr_t>(to), bytes, FROM_HOST);
}

static void forbid(void *data, size_t bytes)
{
    checker_mark(reinterpret_cast<uintptr_t>(data), bytes, NOT_THERE);
}

static void forget(void *data, size_t bytes)
{
    checker_mark(reinterpret_cast<uintptr_t>(data), bytes, NO_CONTENT);
}

/* ---------------------------------------------------------------------------------------------- launches */

/* "upsweep" of "(upsweep<Op, 4>)". */
static void name_kernel(char *text, size_t size, const char *expression)
{
    size_t length = 0;
    while (*expression == '(' || *expression == ' ')
        expression++;
    for (; *expression && *expression != '<' && *expression != ')' && length + 1 < size; expression++)
        if (*expression != ' ')
            text[length++] = *expression;
    text[length] = '\0';
}

static void begin_launch(const char *kernel, uint64_t blocks, uint64_t threads)
{
    if (launch_count == launch_room) {
        launch_room = launch_room ? 2 * launch_room : 256;
        launches =
            static_cast<struct launch_counts *>(realloc(launches, static_cast<size_t>(launch_room) * sizeof *launches));
        if (!launches)
            abort();
    }
    counted = &launches[launch_count++];
    memset(counted, 0, sizeof *counted);
    name_kernel(counted->kernel, sizeof counted->kernel, kernel);
    counted->blocks = blocks;
    counted->threads_launched = blocks * threads;
    launch_name = counted->kernel;
    launch_number++;
}

static void end_launch(void)
{
    const struct launch_counts done = *counted;
    counted = &outside;
    launch_name = "";
    if (watcher && watcher->launched)
        watcher->launched(watcher->arg, done.kernel);
}

void observe_launch(const char *kernel, uint64_t blocks, uint64_t threads)
{
    begin_launch(kernel, blocks, threads);
    launch_threads = uint32_t(threads);
    launch_blocks = uint32_t(blocks);
    outside.counts.additions += worker.additions - additions_before; /* of host algorithms */
    additions_before = worker.additions;
    launch_stack_low = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - LAUNCH_STACK;
    shared_declaration_count = 0;
    checker_launch();
    if (places_renew()) { /* between launches no block is resident */
        requests_forget_sites(worker_own->loop_block->counting);
        for (unsigned i = 0; i < worker_own->spare_count; i++)
            requests_forget_sites(worker_own->spare[i]->counting);
    }
    seen.on = memory_wanted;
}

void observe_launched(void)
{
    seen.on = false;
    count_now.cursor = &seen_nothing;
    seen.counting = nullptr;
    seen.active = &nobody_active;
    seen.stack_bytes = 0;
    counted->counts.additions = worker.additions - additions_before;
    additions_before = worker.additions;
    end_launch();
}

void observe_memcpy(void *to, const void *from, size_t bytes)
{
    begin_launch("memcpy", 0, 0);
    const auto source = reinterpret_cast<uintptr_t>(from), target = reinterpret_cast<uintptr_t>(to);
    if (memory_wanted && bytes && checker_inside(source, bytes, false) && checker_inside(target, bytes, true)) {
        requests_count_bulk(source, bytes, false);
        requests_count_bulk(target, bytes, true);
        checker_move(target, source, bytes);
    }
    end_launch();
}

void observe_memset(void *to, size_t bytes)
{
    begin_launch("memset", 0, 0);
    const auto target = reinterpret_cast<uintptr_t>(to);
    if (memory_wanted && bytes && checker_inside(target, bytes, true)) {
        requests_count_bulk(target, bytes, true);
        checker_set(target, bytes);
    }
    end_launch();
}

/* ---------------------------------------------------------------------------------------------- blocks */

void observe_block_made(struct block *block)
{
    const size_t requests = MAX_THREADS / WARP * sizeof *block->counting->requests;
    struct counting *c = static_cast<struct counting *>(calloc(1, sizeof *c));
    void *memory = mmap(nullptr, requests, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!c || memory == MAP_FAILED)
        abort();
    c->block = block;
    c->order = order_make();
    c->requests = static_cast<struct request(*)[REQUESTS + 1]>(memory);
    block->counting = c;
    requests_forget(c);
}

void observe_block_destroyed(struct block *block)
{
    munmap(block->counting->requests, MAX_THREADS / WARP * sizeof *block->counting->requests);
    free(block->counting->order);
    free(block->counting);
    block->counting = nullptr;
}

static void declare(struct counting *c, const struct shared_declaration *d)
{
    checker_mark(reinterpret_cast<uintptr_t>(c->block->shared) + d->offset, d->element * d->count, NO_CONTENT);
}

void observe_block_begins(struct block *block, uint64_t index)
{
    struct counting *c = block->counting;
    c->index = index;
    c->first_thread = uint32_t(index * launch_threads);
    c->on_loop_stack = MAX_THREADS;
    if (!seen.on)
        return;
    if (c->launch != launch_number) {
        if (c->launch)
            checker_mark(reinterpret_cast<uintptr_t>(block->shared), SHARED_BYTES, NOT_THERE);
        c->launch = launch_number;
        if (c->past_used) /* within a launch stamps only grow: what is left of another block is past anyway */
            memset(c->past, 0, sizeof c->past);
        c->past_used = false;
        for (unsigned i = 0; i < shared_declaration_count; i++)
            declare(c, &shared_declarations[i]);
    }
    c->begun = ++stamp_now; /* what has content without a write of this block bears this stamp */
    c->interval = ++stamp_now;
    memset(c->active, 0, sizeof c->active);
    memset(c->warp_sync, 0, sizeof c->warp_sync);
}

void observe_block_ends(struct block *block)
{
    struct counting *c = block->counting;
    for (unsigned warp = 0; warp * WARP < launch_threads; warp++) {
        requests_close(c, warp);
        if (c->active[warp])
            counted->active_threads += unsigned(__builtin_popcount(c->active[warp]));
        c->active[warp] = 0;
    }
    order_forget(c->order);
}

void observe_abandoned(struct block *block)
{
    /* What its threads have done may be why. */
    for (unsigned warp = 0; seen.on && warp * WARP < launch_threads; warp++)
        requests_close(block->counting, warp);
    requests_forget(block->counting);
    order_forget(block->counting->order);
}

/* The arenas of all blocks that are resident get it at once; others when they begin. */
void observe_shared_array(const char *name, size_t element, size_t count, uint32_t offset)
{
    if (shared_declaration_count == sizeof shared_declarations / sizeof *shared_declarations)
        return;
    struct shared_declaration *d = &shared_declarations[shared_declaration_count++];
    *d = {nullptr, name, element, count, offset};
    for (unsigned i = 0; i < worker_own->resident_count; i++)
        if (worker_own->resident[i]->counting->launch == launch_number)
            declare(worker_own->resident[i]->counting, d);
    struct counting *loop = worker_own->loop_block->counting;
    if (loop->launch == launch_number)
        declare(loop, d);
}

/* ---------------------------------------------------------------------------------------------- stops */

void barrier_opens(struct counting *c)
{
    const struct block *b = c->block;
    for (unsigned warp = 0; warp * WARP < launch_threads; warp++)
        requests_close(c, warp);
    counted->counts.barriers++;
    checker_barrier(c);
    if (!watcher || !watcher->barrier)
        return;
    struct shared_view views[sizeof shared_declarations / sizeof *shared_declarations];
    for (unsigned i = 0; i < shared_declaration_count; i++) {
        const struct shared_declaration *d = &shared_declarations[i];
        views[i] = {d->name, b->shared + d->offset, d->element, d->count};
    }
    watcher->barrier(watcher->arg, c->index, views, int(shared_declaration_count));
}

void observe_barrier(struct block *b)
{
    struct counting *c = b->counting;
    unsigned first = MAX_THREADS, other = MAX_THREADS, ended = MAX_THREADS;
    for (unsigned i = 0; i < launch_threads; i++) {
        if (b->state[i] == ENDED)
            ended = ended == MAX_THREADS ? i : ended;
        else if (first == MAX_THREADS)
            first = i;
        else if (other == MAX_THREADS && c->stop_site[i] != c->stop_site[first])
            other = i;
    }
    if (other != MAX_THREADS && report_is_new(DIVERGENT_BARRIER, c->stop_site[first], c->stop_site[other]))
        report_add(DIVERGENT_BARRIER, "kernel %s, block %llu: thread %u waits at the barrier at %s, thread %u at %s",
                   launch_name, static_cast<unsigned long long>(c->index), first, place_text(c->stop_site[first]),
                   other, place_text(c->stop_site[other]));
    if (ended != MAX_THREADS && first != MAX_THREADS && report_is_new(THREAD_ENDED, c->stop_site[first], 0))
        report_add(THREAD_ENDED,
                   "kernel %s, block %llu: thread %u has ended while thread %u waits at the barrier at %s", launch_name,
                   static_cast<unsigned long long>(c->index), ended, first, place_text(c->stop_site[first]));
    barrier_opens(c);
}

void observe_meeting(struct block *b, unsigned first, uint32_t lanes)
{
    struct counting *c = b->counting;
    const unsigned warp = first / WARP, some = first + unsigned(__builtin_ctz(lanes));
    const uint32_t there = launch_threads - first < WARP ? (1u << (launch_threads - first)) - 1 : FULL_MASK;
    /* By the mask, not by who still lives: whether others have ended is a matter of the order. */
    if (!(there & ~b->mask[some]))
        requests_close(c, warp);
    else
        requests_check(c, warp, lanes);
    counted->counts.warp_ops++;
    if (b->stop[some] == STOP_SYNCWARP)
        checker_syncwarp(c, warp, lanes, lanes == there); /* an ended lane meets nobody */
}

void observe_grid(void)
{
    checker_grid();
}

/* Who waits where, when nobody can go on. */
void observe_deadlock(struct block *b)
{
    const struct counting *c = b->counting;
    unsigned barrier = MAX_THREADS, warp = MAX_THREADS, other = MAX_THREADS, ended = MAX_THREADS;
    for (unsigned i = 0; i < launch_threads; i++) {
        if (b->state[i] == AT_BARRIER && barrier == MAX_THREADS)
            barrier = i;
        if (b->state[i] == ENDED && ended == MAX_THREADS)
            ended = i;
        if (b->state[i] == IN_WARP) {
            if (warp == MAX_THREADS)
                warp = i;
            else if (other == MAX_THREADS && i / WARP == warp / WARP &&
                     (b->mask[i] != b->mask[warp] || b->stop[i] != b->stop[warp]))
                other = i;
        }
    }
    const auto index = static_cast<unsigned long long>(c->index);
    if (warp != MAX_THREADS && other != MAX_THREADS) {
        if (report_is_new(WARP_MISMATCH, c->stop_site[warp], c->stop_site[other]))
            report_add(
                WARP_MISMATCH,
                "kernel %s, block %llu: thread %u is in the warp operation at %s with mask 0x%08x, thread %u at %s "
                "with mask 0x%08x",
                launch_name, index, warp, place_text(c->stop_site[warp]), b->mask[warp], other,
                place_text(c->stop_site[other]), b->mask[other]);
    } else if (warp != MAX_THREADS && barrier != MAX_THREADS) {
        if (report_is_new(WARP_MISMATCH, c->stop_site[warp], c->stop_site[barrier]))
            report_add(
                WARP_MISMATCH,
                "kernel %s, block %llu: thread %u is in the warp operation at %s, thread %u waits at the barrier "
                "at %s",
                launch_name, index, warp, place_text(c->stop_site[warp]), barrier, place_text(c->stop_site[barrier]));
    } else if (warp != MAX_THREADS) {
        if (report_is_new(WARP_MISMATCH, c->stop_site[warp], 0))
            report_add(WARP_MISMATCH,
                       "kernel %s, block %llu: thread %u waits in the warp operation at %s for lanes that do not come "
                       "(mask 0x%08x)",
                       launch_name, index, warp, place_text(c->stop_site[warp]), b->mask[warp]);
    }
}

/* ---------------------------------------------------------------------------------------------- additions */

static struct expression *expressions;
static uint32_t expression_count, expression_room;

extern "C" void count_addition(void)
{
    worker.additions++;
    *seen.active |= count_now.bit;
}

extern "C" uint64_t count_step(uint64_t length)
{
    if (length > counted->counts.steps)
        counted->counts.steps = length;
    return length;
}

static uint32_t add_expression(struct expression expression)
{
    if (expression_count == expression_room) {
        expression_room = expression_room ? 2 * expression_room : 1024;
        expressions = static_cast<struct expression *>(realloc(expressions, expression_room * sizeof *expressions));
        if (!expressions)
            abort();
    }
    expressions[expression_count] = expression;
    return expression_count++;
}

extern "C" uint32_t count_expression(uint32_t left, uint32_t right)
{
    return add_expression({left, right});
}

extern "C" void count_lookback(uint64_t tiles)
{
    struct counts *counts = &counted->counts;
    counts->lookbacks++;
    counts->lookback_tiles += tiles;
    if (tiles > counts->lookback_max)
        counts->lookback_max = tiles;
}

static void leaves(uint32_t n)
{
    expression_count = 0;
    for (uint32_t i = 0; i <= n; i++)
        add_expression({0, 0});
}

static uint32_t list_expressions(const struct expression **list)
{
    *list = expressions;
    return expression_count;
}

/* ---------------------------------------------------------------------------------------------- host arrays */

/* Host algorithms: who lies in one of their arrays is counted. */
static struct {
    uintptr_t data;
    size_t bytes;
} host_arrays[4];
static unsigned host_array_count;

static void host_array(const void *data, size_t bytes)
{
    if (host_array_count < sizeof host_arrays / sizeof *host_arrays)
        host_arrays[host_array_count++] = {reinterpret_cast<uintptr_t>(data), bytes};
}

void host_access(uintptr_t address, unsigned bytes, bool write)
{
    for (unsigned i = 0; i < host_array_count; i++) {
        if (address - host_arrays[i].data >= host_arrays[i].bytes)
            continue;
        struct counts *counts = &outside.counts;
        *(write ? &counts->global_stores : &counts->global_loads) += 1;
        *(write ? &counts->bytes_written : &counts->bytes_read) += bytes;
        return;
    }
}

static void host_counts(struct counts *counts)
{
    *counts = outside.counts;
    counts->additions += worker.additions - additions_before;
}

/* ---------------------------------------------------------------------------------------------- the harness */

static void begin(bool memory)
{
    launch_count = 0;
    memset(&outside, 0, sizeof outside);
    additions_before = worker.additions;
    counted = &outside;
    host_array_count = 0;
    reports_clear();
    order_begin();
    memory_wanted = memory;
}

static void end(void)
{
    host_array_count = 0;
    if (!memory_wanted && memory_all_bytes)
        checker_trust();
    memory_wanted = true;
}

static int list_launches(const struct launch_counts **list)
{
    *list = launches;
    return launch_count;
}

static void watch(const struct watcher *given)
{
    watcher = given ? &watcher_given : nullptr;
    if (given)
        watcher_given = *given;
}

const struct counter *device_counter(void)
{
    static const struct counter counter = {begin,  end,    list_launches, reports_list,     host_array, host_counts,
                                           forbid, forget, leaves,        list_expressions, watch,      order_given_up};
    return &counter;
}
