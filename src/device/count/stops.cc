/* SPDX-License-Identifier: MIT */
/*
 * The kernels' way to the schedulers in the count build: what cpu/stops.cuh does inline, done out of line and unseen,
 * with a word to the counter at every stop.
 */
#include <string.h>
#include <type_traits>

#include "device/count/seen.h"
#include "device/cpu/observe.h"

#define SITE reinterpret_cast<uintptr_t>(__builtin_return_address(0))

struct count_index {
    unsigned x, y, z;
};
WORKER_LOCAL struct count_index threadIdx __asm__("count_threadIdx"), blockIdx __asm__("count_blockIdx"),
    blockDim __asm__("count_blockDim"), gridDim __asm__("count_gridDim");

extern "C" {
uint32_t count_loop;                         /* how many threads the plain loop runs; 0 once a thread has left it */
struct request *count_first = &seen_nothing; /* of the warp that runs in the loop */
bool count_flat;
}
static bool loop_runs; /* a block has begun as a loop */

struct shared_declaration shared_declarations[64];
unsigned shared_declaration_count;

static unsigned index_of(const struct slot *slot)
{
    return unsigned(slot - worker.slots);
}

/* ---------------------------------------------------------------------------------------------- threads */

static inline __attribute__((always_inline)) void resume(struct slot *me)
{
    struct counting *c = worker.block->counting;
    const unsigned i = index_of(me);
    worker_current = me;
    threadIdx = {me->x, me->y, me->z};
    count_now = {seen.on ? c->cursor[i] : &seen_nothing, i % WARP, 1u << i % WARP, i};
    seen.active = &c->active[i / WARP];
    if (seen.counting == c && c->on_loop_stack != i && seen.stack_low != launch_stack_low) [[likely]]
        return;
    seen.counting = c;
    seen.stack_low = c->on_loop_stack == i ? launch_stack_low : reinterpret_cast<uintptr_t>(worker.block->stacks);
    seen.stack_bytes = c->on_loop_stack == i ? LAUNCH_STACK : worker.block->stacks_bytes;
}

/* Before every stop: where the thread will go on. */
static void stop_at(uintptr_t site)
{
    if (!seen.counting)
        return;
    seen.counting->cursor[count_now.thread] = count_now.cursor;
    seen.counting->stop_site[count_now.thread] = site;
}

static bool asks(uint32_t stop)
{
    if (count_loop) {
        const unsigned i = count_now.thread;
        count_loop = 0;
        fiber_leave_loop(i);
        worker.block->counting->on_loop_stack = i;
    }
    return fiber_enter(stop);
}

static void waits(uint32_t stop, uint32_t mask, uint64_t value)
{
    struct slot *me = worker_current;
    fiber_stop(stop, mask, value);
    resume(me);
}

static __attribute__((noinline)) void tell_divergence(const struct counting *c, unsigned i)
{
    if (report_is_new(DIVERGENT_BARRIER, c->stop_site[0], c->stop_site[i]))
        report_add(DIVERGENT_BARRIER, "kernel %s, block %llu: thread 0 waits at the barrier at %s, thread %u at %s",
                   launch_name, static_cast<unsigned long long>(c->index), place_text(c->stop_site[0]), i,
                   place_text(c->stop_site[i]));
}

/* In the ring thread `i` is the last of its warp, or of the block, to come to this stop. */
static bool last_of_warp(unsigned i)
{
    return i % WARP == WARP - 1 || i + 1 == launch_threads;
}

extern "C" void count_resume(struct slot *me)
{
    resume(me);
}

extern "C" struct slot *count_barrier(void)
{
    const uintptr_t site = SITE;
    stop_at(site);
    if (worker_expected != STOP_BARRIER && !asks(STOP_BARRIER)) {
        waits(STOP_BARRIER, FULL_MASK, 0);
        return nullptr;
    }
    struct slot *me = worker_current;
    struct counting *c = worker.block->counting;
    const unsigned i = index_of(me);
    if (site != c->stop_site[0]) [[unlikely]]
        tell_divergence(c, i);
    if (last_of_warp(i)) {
        requests_close(c, i / WARP); /* while it is in the cache */
        if (i + 1 == launch_threads)
            barrier_opens(c);
    }
    return me;
}

extern "C" void count_grid_sync(void)
{
    struct slot *me = worker_current;
    stop_at(SITE);
    fiber_stop_at_grid();
    resume(me);
}

extern "C" [[noreturn]] void count_trap(void)
{
    fiber_trap((uint64_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, count_now.thread);
}

/* As in cpu/stops.cuh. */
static struct slot *warp_operation(uint32_t stop, uint32_t mask, uint64_t value, uintptr_t site)
{
    stop_at(site);
    if (!(mask >> count_now.lane & 1) && report_is_new(WARP_MISMATCH, site, 0))
        report_add(WARP_MISMATCH,
                   "kernel %s, block %llu: thread %u is in the warp operation at %s, whose mask 0x%08x is without it",
                   launch_name, static_cast<unsigned long long>(worker.block ? worker.block->index : 0),
                   count_now.thread, place_text(site), mask);
    if ((worker_expected == stop && mask == FULL_MASK) || asks(mask == FULL_MASK ? stop : uint32_t(STOP_PARTIAL))) {
        struct slot *me = worker_current;
        struct counting *c = worker.block->counting;
        const unsigned lane = thread_lane(me), i = index_of(me);
        me->exchange ^= 1;
        struct exchange *given = thread_exchange(me);
        if (stop == STOP_EXCHANGE)
            given->value[lane] = value;
        if (stop == STOP_BALLOT)
            given->ballot = (lane ? given->ballot : 0) | uint32_t(value) << lane;
        if (lane == 0)
            given->absent = 0;
        struct slot *next = me + 1;
        if (lane == WARP - 1) {
            next = fiber_wrap(me);
            requests_close(c, i / WARP);
            counted->counts.warp_ops++;
            if (stop == STOP_SYNCWARP)
                checker_syncwarp(c, i / WARP, FULL_MASK, true);
        }
        fiber_switch(me, next);
        resume(me);
        return me;
    }
    waits(stop, mask, value);
    return worker_current;
}

extern "C" void count_syncwarp(uint32_t mask)
{
    warp_operation(STOP_SYNCWARP, mask, 0, SITE);
}

extern "C" uint32_t count_ballot(uint32_t mask, bool predicate)
{
    return thread_exchange(warp_operation(STOP_BALLOT, mask, predicate, SITE))->ballot;
}

extern "C" const struct exchange *count_exchange(uint32_t mask, uint64_t word)
{
    return thread_exchange(warp_operation(STOP_EXCHANGE, mask, word, SITE));
}

extern "C" uint64_t count_shuffle(uint32_t mask, uint64_t word, unsigned source)
{
    const uintptr_t site = SITE;
    const struct slot *me = warp_operation(STOP_EXCHANGE, mask, word, site);
    const struct exchange *given = thread_exchange(me);
    if ((!(mask >> source & 1) || (given->absent >> source & 1)) && report_is_new(WARP_MISMATCH, site, 1))
        report_add(
            WARP_MISMATCH, "kernel %s, block %llu: thread %u at %s takes the value of lane %u, which has no part in it",
            launch_name, static_cast<unsigned long long>(worker.block->index), index_of(me), place_text(site), source);
    return given->value[source];
}

extern "C" unsigned count_lane(void)
{
    return count_now.thread % WARP;
}

/* ---------------------------------------------------------------------------------------------- memory */

extern "C" void *count_shared_array(const char *name, size_t element, size_t count, const void *key)
{
    for (unsigned i = 0; i < shared_declaration_count; i++)
        if (shared_declarations[i].key == key)
            return worker.shared + shared_declarations[i].offset;
    const uint32_t offset = fiber_reserve_shared(name, element * count);
    observe_shared_array(name, element, count, offset);
    shared_declarations[shared_declaration_count - 1].key = key;
    return worker.shared + offset;
}

extern "C" void count_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

extern "C" void count_polls(void)
{
    if (++worker.polls >= worker.poll_limit) {
        worker.polls = 0;
        stop_at(SITE);
        asks(STOP_SPIN);
        waits(STOP_SPIN, FULL_MASK, 0);
    }
}

extern "C" void count_sleeps(void)
{
    worker.polls = 0;
    stop_at(SITE);
    asks(STOP_SPIN);
    waits(STOP_SPIN, FULL_MASK, 0);
}

extern "C" void count_wrote(void)
{
    worker.events++;
}

/* ---------------------------------------------------------------------------------------------- kernels */

extern "C" const void *count_body(void)
{
    return worker.arguments;
}

extern "C" void count_begin(void)
{
    count_loop = 0;
    loop_runs = false;
    blockDim = {worker.threads_x, worker.threads_y, worker.threads_z};
    gridDim = {worker.blocks_x, worker.blocks_y, worker.blocks_z};
}

extern "C" void count_enter_block(uint64_t block)
{
    blockIdx.x = unsigned(block % worker.blocks_x);
    blockIdx.y = unsigned(block / worker.blocks_x % worker.blocks_y);
    blockIdx.z = unsigned(block / worker.blocks_x / worker.blocks_y);
}

/* The next block of those that the worker has drawn, as a loop; before that the end of the one that has run. */
extern "C" bool count_next_block(void)
{
    struct block *b = worker_own->loop_block;
    if (loop_runs) {
        loop_runs = false;
        if (count_loop)
            observe_block_ends(b);
        else
            fiber_finish_block();
    }
    if (worker.block_next == worker.block_last)
        return false;
    const uint64_t index = worker.block_next++;
    count_enter_block(index);
    if (worker.shared_bytes)
        fiber_fill_shared();
    observe_block_begins(b, index);
    count_loop = worker.threads;
    count_flat = worker_flat;
    threadIdx = {0, 0, 0};
    loop_runs = true;
    return true;
}

extern "C" unsigned count_next_warp(unsigned first)
{
    struct counting *c = worker_own->loop_block->counting;
    if (!count_loop)
        return 0;
    if (first)
        requests_close(c, first / WARP - 1);
    if (first >= count_loop)
        return 0;
    seen.counting = c;
    seen.active = &c->active[first / WARP];
    seen.stack_low = launch_stack_low;
    seen.stack_bytes = LAUNCH_STACK;
    count_first = seen.on ? c->requests[first / WARP] : &seen_nothing;
    return count_loop - first < WARP ? count_loop - first : WARP;
}

extern "C" void count_index_of(unsigned thread)
{
    threadIdx = {thread % worker.threads_x, thread / worker.threads_x % worker.threads_y,
                 thread / worker.threads_x / worker.threads_y};
}

extern "C" void count_thread_begins(struct slot *me)
{
#if !FIBER_ASSEMBLY
    me = worker_current;
#endif
    resume(me);
}

extern "C" [[noreturn]] void count_thread_ends(void)
{
    stop_at(SITE);
    if (worker_expected == STOP_END || fiber_enter(STOP_END)) {
        const unsigned i = index_of(worker_current);
        if (last_of_warp(i))
            requests_close(worker.block->counting, i / WARP);
        fiber_jump(worker_current + 1);
    }
    fiber_end();
}

/* ---------------------------------------------------------------------------------------------- copies */

/* An asynchronous copy loads and stores where it is written; what it stores is there after the wait. */
extern "C" void count_copy_async(void *to, const void *from, size_t bytes, size_t zeros)
{
    const uintptr_t site = SITE;
    if (seen.on) {
        if (bytes > zeros)
            seen_access(reinterpret_cast<uintptr_t>(from), unsigned(bytes - zeros), SEEN_READ, site);
        seen_access(reinterpret_cast<uintptr_t>(to), unsigned(bytes), SEEN_WRITE, site - 1);
    }
    fiber_copy_async(count_now.thread, to, from, bytes, zeros);
}

extern "C" void count_copy_commit(void)
{
    fiber_copy_commit(count_now.thread);
}

static uintptr_t wait_site; /* of the copies that are carried out now */

extern "C" void count_copy_wait(unsigned prior)
{
    wait_site = SITE;
    fiber_copy_wait(count_now.thread, prior);
}

void observe_copied(void *to, size_t bytes)
{
    if (seen.on)
        checker_copied(seen.counting, count_now.thread, reinterpret_cast<uintptr_t>(to), unsigned(bytes), wait_site);
}
