/* SPDX-License-Identifier: MIT */
/*
 * The schedulers of the CPU device (fiber.h says how the two divide the work) and the blocks they run.
 *
 * Everything here belongs to one OS thread: a block never moves to another worker, so nothing needs a lock.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/cpu/block.h"
#include "device/cpu/cpu.h"
#include "device/cpu/observe.h"

WORKER_LOCAL struct worker_state worker;
WORKER_LOCAL struct slot *worker_current;
WORKER_LOCAL uint32_t worker_expected;
WORKER_LOCAL bool worker_flat;
__thread struct worker_private *worker_own;

static unsigned index_of(const struct slot *slot)
{
    return unsigned(slot - worker.slots);
}

static unsigned warps_of(unsigned threads)
{
    return (threads + WARP - 1) / WARP;
}

/* A random number below `n`. */
static unsigned random_below(unsigned n)
{
    /* xorshift64*; a product instead of a remainder */
    uint64_t x = worker_own->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    worker_own->random = x;
    return unsigned((x * UINT64_C(0x2545f4914f6cdd1d) >> 32) * n >> 32);
}

/* ---------------------------------------------------------------------------------------------- blocks */

static void *map(size_t bytes)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "scanbench: the CPU device cannot map %zu bytes for a block\n", bytes);
        abort();
    }
    return memory;
}

#if FIBER_ASSEMBLY
/* The sentinel behind the last slot: a round is over, the next begins with the first thread. */
asm(".text\n"
    ".type fiber_sentinel, @function\n"
    "fiber_sentinel:\n\t"
    "movq 16(%rsi), %rsi\n\t"
    "movq (%rsi), %rsp\n\t"
    "movq 16(%rsi), %rbp\n\t"
    "jmpq *8(%rsi)\n"
    ".size fiber_sentinel, .-fiber_sentinel\n");
extern "C" void fiber_sentinel(void);
#endif

static char *stack_bottom(const struct block *b, unsigned i)
{
    return b->stacks + i * STACK_STRIDE;
}

static struct block *block_create(void)
{
    struct block *b = static_cast<struct block *>(map(sizeof *b));
    b->queues = static_cast<struct copy_queue *>(map(MAX_THREADS * sizeof *b->queues));
    b->slots =
        static_cast<struct slot *>(map(SLOTS_BYTES)); /* the sentinel behind the last slot, the exchanges behind it */
    b->shared = cpu_shared_memory();
    /* One guard page at the end, where the lowest stack would run out; the others have a canary. */
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    b->stacks_bytes = (MAX_THREADS * STACK_STRIDE + page - 1) / page * page + page;
    b->stacks = static_cast<char *>(map(b->stacks_bytes));
    mprotect(b->stacks, page, PROT_NONE);
    b->stacks += page;
    for (unsigned i = 0; i < MAX_THREADS; i++)
        memcpy(stack_bottom(b, i), &CANARY, sizeof CANARY);
    observe_block_made(b);
    return b;
}

#if FIBER_ASSEMBLY
static void *stack_top(const struct block *b, unsigned i)
{
    /* As after a call: 8 below a multiple of 16. */
    return stack_bottom(b, i) + STACK_BYTES + 64 - 8 - (uintptr_t(stack_bottom(b, i)) & 15);
}
#else
static void thread_begins(void)
{
    worker.kernel->thread(nullptr, worker_current);
}
#endif

/* Gives every thread from `first` on its beginning. */
static void threads_begin(struct block *b, unsigned first)
{
    const unsigned n = worker.threads;
#if FIBER_ASSEMBLY
    void *begin = reinterpret_cast<void *>(worker.kernel->thread);
    char *top = static_cast<char *>(stack_top(b, 0));
    for (unsigned i = first; i < n; i++) {
        b->slots[i].stack = top + i * STACK_STRIDE;
        b->slots[i].resume = begin;
    }
    struct slot *sentinel = &b->slots[n];
    sentinel->stack = top;
    sentinel->resume = reinterpret_cast<void *>(fiber_sentinel);
    sentinel->frame = b->slots;
#else
    for (unsigned i = first; i < n; i++) {
        if (!b->slots[i].stack)
            b->slots[i].stack = calloc(1, sizeof(ucontext_t));
        ucontext_t *context = static_cast<ucontext_t *>(b->slots[i].stack);
        getcontext(context);
        context->uc_stack.ss_sp = stack_bottom(b, i) + 16;
        context->uc_stack.ss_size = STACK_BYTES - 16;
        context->uc_link = nullptr;
        makecontext(context, thread_begins, 0);
    }
    for (unsigned i = 0; i < first; i++)
        if (!b->slots[i].stack)
            b->slots[i].stack = calloc(1, sizeof(ucontext_t));
#endif
    if (b->mixed_exchanges) {
        b->mixed_exchanges = false;
        for (unsigned i = 0; i < n; i++)
            b->slots[i].exchange = 0;
    }
}

static void copies_forget(struct block *b)
{
    for (unsigned i = 0; i < MAX_THREADS; i++)
        b->queues[i].count = b->queues[i].batch = 0;
    b->copies_pending = false;
}

/* Makes `b` resident as block `index` of the grid. */
static void block_enters(struct block *b, uint64_t index)
{
    struct worker_private *own = worker_own;
    if (own->resident_count == own->capacity) {
        own->in_kernel = 0; /* no jump out of realloc */
        own->capacity = own->capacity ? 2 * own->capacity : 16;
        own->resident = static_cast<struct block **>(realloc(own->resident, own->capacity * sizeof *own->resident));
        own->spare = static_cast<struct block **>(realloc(own->spare, own->capacity * sizeof *own->spare));
        own->in_kernel = 1;
    }
    own->resident[own->resident_count++] = b;
    b->index = index;
    if (b->used < worker.threads)
        b->used = worker.threads;
    const uint32_t shape[3] = {worker.threads_x, worker.threads_y, worker.threads_z};
    if (memcmp(b->shape, shape, sizeof shape)) {
        memcpy(b->shape, shape, sizeof shape);
        for (unsigned i = 0; i < worker.threads; i++) {
            b->slots[i].x = uint16_t(i % shape[0]);
            b->slots[i].y = uint16_t(i / shape[0] % shape[1]);
            b->slots[i].z = uint16_t(i / shape[0] / shape[1]);
        }
        b->mixed_exchanges = true;
    }
}

static void block_use(struct block *b)
{
    worker.block = b;
    worker.slots = b->slots;
    worker.shared = b->shared;
}

static void block_leaves(struct block *b)
{
    struct worker_private *own = worker_own;
    unsigned i = 0;
    observe_block_ends(b);
    while (own->resident[i] != b)
        i++;
    own->resident[i] = own->resident[--own->resident_count];
    if (b != own->loop_block)
        own->spare[own->spare_count++] = b;
    worker.events++;
}

void fiber_fill_shared(void)
{
    if (worker_own->loop_block->copies_pending)
        copies_forget(worker_own->loop_block);
    memset(worker.shared, 0xa5, worker.shared_bytes);
}

uint32_t fiber_reserve_shared(const char *name, size_t bytes)
{
    const uint32_t offset = (worker.shared_bytes + 15) & ~15u;
    if (offset + bytes > SHARED_BYTES)
        launch_failed(1, "kernel %s: shared array %s needs %zu bytes, %zu of %zu are left", worker.kernel->name, name,
                      bytes, SHARED_BYTES - offset, SHARED_BYTES);
    worker.shared_bytes = offset + uint32_t(bytes);
    memset(worker.shared + offset, 0xa5, bytes);
    for (unsigned i = 0; i < worker_own->resident_count; i++)
        memset(worker_own->resident[i]->shared + offset, 0xa5, bytes);
    return offset;
}

/* The next block of the grid for this worker, or false. */
static bool block_draw(uint64_t *index)
{
    if (worker.block_next == worker.block_last) {
        const uint64_t first = grid.next.fetch_add(grid.chunk, std::memory_order_relaxed);
        if (first >= grid.count || grid.failed.load(std::memory_order_relaxed))
            return false;
        worker.block_next = first;
        worker.block_last = first + grid.chunk < grid.count ? first + grid.chunk : grid.count;
    }
    const uint64_t ticket = worker.block_next++;
    *index = uint64_t((static_cast<unsigned __int128>(ticket) * grid.stride + grid.shift) % grid.count);
    return true;
}

static bool blocks_left(void)
{
    return worker.block_next < worker.block_last || grid.next.load(std::memory_order_relaxed) < grid.count;
}

/* Makes one more block resident, all of its threads fibers under the general scheduler. */
static bool block_admit(void)
{
    uint64_t index;
    if (!block_draw(&index))
        return false;
    struct worker_private *own = worker_own;
    struct block *b = own->spare_count ? own->spare[--own->spare_count] : block_create();
    block_enters(b, index);
    const unsigned n = worker.threads;
    if (b->copies_pending)
        copies_forget(b);
    if (worker.shared_bytes)
        memset(b->shared, 0xa5, worker.shared_bytes);
    b->mixed_exchanges = true;
    threads_begin(b, 0);
    observe_block_begins(b, index);
    b->general = true;
    b->live = b->ready = n;
    b->spinning = b->at_barrier = b->in_warp = b->at_grid = 0;
    b->waits_for_grid = false;
    b->ready_set.clear();
    b->spinning_set.clear();
    for (unsigned i = 0; i < n; i++) {
        b->state[i] = READY;
        b->ready_set.add(i);
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- choice */

static void make_ready(struct block *b, unsigned i)
{
    b->state[i] = READY;
    b->ready_set.add(i);
    b->ready++;
}

/* Nobody can go on and no memory is waited for: the program is wrong. */
[[noreturn]] static void fail_deadlock(void)
{
    struct block *b = worker_own->resident[0];
    observe_deadlock(b);
    unsigned barrier = 0, warp = 0, at_grid = 0, ended = 0;
    for (unsigned i = 0; i < worker.threads; i++) {
        barrier += b->state[i] == AT_BARRIER;
        warp += b->state[i] == IN_WARP;
        at_grid += b->state[i] == AT_GRID;
        ended += b->state[i] == ENDED;
    }
    char grid_text[60] = "";
    if (at_grid)
        snprintf(grid_text, sizeof grid_text, " %u at that of the grid,", at_grid);
    launch_failed(
        719,
        "kernel %s: block %llu cannot go on: %u threads wait at a barrier,%s %u in a warp operation, %u have ended",
        worker.kernel->name, static_cast<unsigned long long>(b->index), barrier, grid_text, warp, ended);
    abort();
}

/* Everybody polls and nothing has changed for long: what they wait for is not resident, or does not come. */
[[noreturn]] static void fail_stall(void)
{
    uint64_t resident = 0;
    for (int i = 0; i < worker_count; i++)
        if (worker_list[i].active)
            resident += worker_list[i].resident_count;
    const uint64_t at_grid = grid.arrived.load(std::memory_order_relaxed);
    if (at_grid)
        launch_failed(719, "kernel %s: nothing makes progress: %llu of %llu blocks wait at the barrier of the grid",
                      worker.kernel->name, static_cast<unsigned long long>(at_grid),
                      static_cast<unsigned long long>(grid.count));
    else if (blocks_left())
        launch_failed(
            720, "kernel %s: nothing makes progress: more than %llu blocks must be resident, %llu are (--resident)",
            worker.kernel->name, static_cast<unsigned long long>(resident), static_cast<unsigned long long>(resident));
    else
        launch_failed(719,
                      "kernel %s: nothing makes progress: the %llu resident blocks wait for memory that nobody writes",
                      worker.kernel->name, static_cast<unsigned long long>(resident));
    abort();
}

constexpr double STALL_S = 0.3;
/* Threads that wait for memory may meet in every turn of their loop (a vote on what they have read): nothing but
 * meetings is a stall too, after so many times as long. */
constexpr double MEETINGS_STALL = 3;

/* One round more; `seen` is what all workers have done so far. True: for `limit_s` nobody has got on. A worker that
 * computes, because what it waited for has come, has not polled in vain since. */
static bool patience_ends(struct patience worker_private::*kind, uint64_t seen, double limit_s)
{
    struct patience *mine = &(worker_own->*kind);
    if (mine->seen == seen)
        mine->vain = seen;
    mine->seen = seen;
    for (int i = 0; i < worker_count; i++) {
        if (worker_list[i].active && (worker_list[i].*kind).vain != seen) {
            mine->rounds = 0;
            return false;
        }
    }
    if (++mine->rounds % 1024)
        return false;
    const double now_s = clock_s();
    if (mine->rounds == 1024)
        mine->since_s = now_s;
    return now_s - mine->since_s > limit_s;
}

/* All threads of this worker poll: lets other workers run, and notices when nobody gets anywhere. */
static void poll_round(void)
{
    struct worker_private *own = worker_own;
    if (grid.failed.load(std::memory_order_relaxed))
        launch_failed(0, "%s", "");
    uint64_t writes = 0, meetings = 0;
    for (int i = 0; i < worker_count; i++) {
        writes += *const_cast<volatile uint64_t *>(&worker_list[i].state->events);
        meetings += *const_cast<volatile uint64_t *>(&worker_list[i].meetings);
    }
    if (patience_ends(&worker_private::with_any, writes + meetings, STALL_S))
        fail_stall();
    if (patience_ends(&worker_private::with_writes, writes, MEETINGS_STALL * STALL_S) && blocks_left())
        fail_stall();
    if (worker_count > 1 && ++own->rounds % 16 == 0)
        sched_yield();
    for (unsigned k = 0; k < own->resident_count; k++) {
        struct block *b = own->resident[k];
        for (unsigned w = 0; w < warps_of(worker.threads); w++)
            for (uint32_t bits = b->spinning_set.warp(w); bits; bits &= bits - 1)
                make_ready(b, w * WARP + unsigned(__builtin_ctz(bits)));
        b->spinning_set.clear();
        b->spinning = 0;
    }
}

/* Nobody waits for what another block does. */
static bool none_spins(void)
{
    for (unsigned k = 0; k < worker_own->resident_count; k++)
        if (worker_own->resident[k]->spinning || worker_own->resident[k]->waits_for_grid)
            return false;
    return true;
}

/* Blocks of this worker that have waited for the grid go on, if it has come together. */
static bool leave_grid(void)
{
    bool any = false;
    const uint64_t round = grid.round.load(std::memory_order_acquire);
    for (unsigned k = 0; k < worker_own->resident_count; k++) {
        struct block *b = worker_own->resident[k];
        if (!b->waits_for_grid || b->grid_round == round)
            continue;
        b->waits_for_grid = false;
        b->at_grid = 0;
        for (unsigned i = 0; i < worker.threads; i++)
            make_ready(b, i);
        any = true;
    }
    return any;
}

constexpr unsigned ROUNDS_BEFORE_ADMISSION = 4, MEETINGS_BEFORE_ADMISSION = 64;

/* Whose turn is it? A slot of a resident block, or home when none is left. */
static struct slot *choose(unsigned from)
{
    struct worker_private *own = worker_own;
    for (;;) {
        if (own->resident_count == 0 && !(grid.eager && blocks_left()))
            return &own->home;
        while (own->resident_count < grid.eager && blocks_left())
            if (!block_admit())
                break;
        if (own->resident_count == 0)
            return &own->home;

        struct block *b = worker.block;
        const unsigned start = cpu_options.schedule == SCHEDULE_SHUFFLED ? random_below(own->resident_count) : 0;
        if (cpu_options.schedule == SCHEDULE_SHUFFLED || !b || !b->ready) {
            b = nullptr;
            for (unsigned k = 0; k < own->resident_count && !b; k++) {
                struct block *candidate = own->resident[(start + k) % own->resident_count];
                if (candidate->ready)
                    b = candidate;
            }
        }
        if (b) {
            if (b != worker.block) {
                block_use(b);
                worker_expected = STOP_GENERAL;
                worker.kernel->enter_block(b->index);
                from = 0;
            }
            unsigned i;
            if (cpu_options.schedule == SCHEDULE_ASCENDING)
                i = b->ready_set.next(from % MAX_THREADS);
            else if (cpu_options.schedule == SCHEDULE_DESCENDING)
                i = b->ready_set.previous(from ? (from + MAX_THREADS - 2) % MAX_THREADS : MAX_THREADS - 1);
            else
                i = b->ready_set.next(random_below(worker.threads));
            b->ready_set.remove(i);
            b->ready--;
            return &b->slots[i];
        }
        if (grid.cooperative && leave_grid())
            continue;
        /* What this thread waits for may be about to come: another block only when some rounds brought nothing. */
        if ((own->with_any.rounds >= ROUNDS_BEFORE_ADMISSION || own->with_writes.rounds >= MEETINGS_BEFORE_ADMISSION ||
             none_spins()) &&
            own->resident_count < grid.limit && block_admit())
            continue;
        if (none_spins())
            fail_deadlock();
        poll_round();
    }
}

/* ---------------------------------------------------------------------------------------------- general scheduler */

/* Can the ring take this block again? All of its threads stand at the same barrier. */
static bool ring_possible(const struct block *b)
{
    return FIBER_ASSEMBLY && cpu_options.schedule == SCHEDULE_ASCENDING && !grid.eager && worker.threads % WARP == 0 &&
           b->live == worker.threads && worker_own->resident_count == 1 && b == worker_own->loop_block;
}

static void barrier_opens(struct block *b)
{
    worker_own->meetings++;
    observe_barrier(b);
    b->at_barrier = 0;
    if (ring_possible(b)) {
        b->general = false;
        b->round = STOP_BARRIER;
        worker_expected = STOP_BARRIER;
        for (unsigned i = 0; i < worker.threads; i++)
            b->slots[i].exchange = 0;
        b->mixed_exchanges = false;
        return;
    }
    for (unsigned i = 0; i < worker.threads; i++)
        if (b->state[i] == AT_BARRIER)
            make_ready(b, i);
}

/* If the warp operation that thread `i` waits in has all its live lanes, hands out the values. */
static void warp_completes(struct block *b, unsigned i)
{
    const unsigned first = i / WARP * WARP, n = worker.threads;
    const uint32_t mask = b->mask[i], stop = b->stop[i];
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < WARP && first + lane < n; lane++) {
        if (!(mask >> lane & 1) || b->state[first + lane] == ENDED)
            continue;
        if (b->state[first + lane] != IN_WARP || b->mask[first + lane] != mask || b->stop[first + lane] != stop)
            return;
        lanes |= 1u << lane;
    }
    struct exchange all;
    memset(&all, 0xa5, sizeof all);
    all.ballot = 0;
    all.absent = ~lanes;
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (lanes >> lane & 1) {
            all.value[lane] = b->value[first + lane];
            all.ballot |= uint32_t(b->value[first + lane] != 0) << lane;
        }
    }
    worker_own->meetings++;
    observe_meeting(b, first, lanes);
    b->mixed_exchanges = true;
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (lanes >> lane & 1) {
            b->slots[first + lane].exchange = own_exchange(lane);
            *thread_exchange(&b->slots[first + lane]) = all;
            b->in_warp--;
            make_ready(b, first + lane);
        }
    }
}

/* From the ring to the general scheduler. What each thread does follows from where the ring stands: those before
 * thread `i` in its warp have stopped like each other, earlier warps have stopped as the round says, all others can go
 * on. */
static void leave_ring(struct block *b, unsigned i)
{
    const unsigned n = worker.threads, first = i / WARP * WARP;
    const uint32_t warp_stop = worker_expected, round_stop = b->round;
    b->general = true;
    b->live = n;
    b->ready = b->spinning = b->at_barrier = b->in_warp = b->at_grid = 0;
    b->ready_set.clear();
    b->spinning_set.clear();
    for (unsigned j = 0; j < n; j++) {
        const uint32_t stop = j >= i ? uint32_t(STOP_GENERAL) : j >= first ? warp_stop : round_stop;
        if (j == i) {
            b->state[j] = READY; /* it runs: not in the set */
        } else if (stop == STOP_GENERAL) {
            make_ready(b, j);
        } else if (stop == STOP_BARRIER) {
            b->state[j] = AT_BARRIER;
            b->at_barrier++;
        } else if (stop == STOP_END) {
            b->state[j] = ENDED;
            b->live--;
        } else {
            const struct exchange *given = thread_exchange(&b->slots[j]);
            b->state[j] = IN_WARP;
            b->in_warp++;
            b->stop[j] = stop;
            b->mask[j] = FULL_MASK;
            b->value[j] = stop == STOP_BALLOT ? given->ballot >> j % WARP & 1 : given->value[j % WARP];
        }
    }
    /* Thread 0 has ended: the frame that waits in its slot is the block's way home. */
    if (b->state[0] == ENDED) {
        worker_own->home = b->slots[0];
        worker_own->home_block = b;
    }
    worker_expected = STOP_GENERAL;
    b->mixed_exchanges = true;
}

void fiber_leave_loop(unsigned index)
{
    struct worker_private *own = worker_own;
    struct block *b = own->loop_block;
    const unsigned n = worker.threads;
    block_enters(b, worker.block_next - 1);
    block_use(b);
    threads_begin(b, index + 1);
    worker_current = &b->slots[index];
    worker_expected = STOP_GENERAL;
    b->general = true;
    if (index == 0) {
        b->live = n;
        if (ring_possible(b)) {
            b->general = false;
            return;
        }
    }
    b->live = n - index;
    b->ready = b->spinning = b->at_barrier = b->in_warp = b->at_grid = 0;
    b->ready_set.clear();
    b->spinning_set.clear();
    for (unsigned i = 0; i < n; i++) {
        if (i > index)
            make_ready(b, i);
        else
            b->state[i] = i < index ? ENDED : READY;
    }
}

bool fiber_enter(uint32_t stop)
{
    struct block *b = worker.block;
    if (b->general)
        return false;
    const unsigned i = index_of(worker_current);
    if (i % WARP == 0 && stop < STOP_PARTIAL) {
        if (i == 0 && stop < STOP_EXCHANGE)
            b->round = stop;
        if (stop >= STOP_EXCHANGE || stop == b->round) {
            worker_expected = stop;
            return true;
        }
    }
    leave_ring(b, i);
    return false;
}

void fiber_stop(uint32_t stop, uint32_t mask, uint64_t value)
{
    struct block *b = worker.block;
    struct slot *me = worker_current;
    const unsigned i = index_of(me);
    struct slot *next = nullptr;
    if (stop == STOP_BARRIER) {
        b->state[i] = AT_BARRIER;
        if (++b->at_barrier == b->live) {
            barrier_opens(b);
            if (!b->general)
                next = b->slots;
        }
    } else if (stop == STOP_SPIN) {
        b->state[i] = SPINNING;
        b->spinning_set.add(i);
        b->spinning++;
        *worker.kernel->spins = true;
    } else {
        b->state[i] = IN_WARP;
        b->in_warp++;
        b->stop[i] = stop;
        b->mask[i] = mask;
        b->value[i] = value;
        warp_completes(b, i);
    }
    if (!next)
        next = choose(i + 1);
    if (next != me)
        fiber_switch(me, next);
}

void fiber_trap(uint64_t block, unsigned thread)
{
    launch_failed(719, "kernel %s, block %llu: thread %u has given up (__trap)", worker.kernel->name,
                  static_cast<unsigned long long>(block), thread);
    abort();
}

/* All threads that are left of a block have come to the grid's barrier. Those that have ended will never come. */
static void block_waits_for_grid(struct block *b)
{
    observe_barrier(b);
    if (b->live < worker.threads)
        launch_failed(
            719, "kernel %s: block %llu cannot go on: %u threads wait at the barrier of the grid, %u have ended",
            worker.kernel->name, static_cast<unsigned long long>(b->index), b->live, worker.threads - b->live);
    worker_own->meetings++;
    b->waits_for_grid = true;
    b->grid_round = grid.round.load(std::memory_order_relaxed);
    if (grid.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < grid.count)
        return;
    observe_grid();
    worker.events++;
    grid.arrived.store(0, std::memory_order_relaxed);
    grid.round.fetch_add(1, std::memory_order_release);
}

/* Blocks of a cooperative launch are with the general scheduler from the start. */
void fiber_stop_at_grid(void)
{
    if (!grid.cooperative)
        launch_failed(719, "kernel %s waits for the grid, but launch_cooperative has not started it",
                      worker.kernel->name);
    struct block *b = worker.block;
    struct slot *me = worker_current;
    const unsigned i = index_of(me);
    b->state[i] = AT_GRID;
    if (++b->at_grid == b->live)
        block_waits_for_grid(b);
    struct slot *next = choose(i + 1);
    if (next != me)
        fiber_switch(me, next);
}

/* What the end of thread `i` means for those that wait. True: the block has ended. */
static bool thread_ends(struct block *b, unsigned i)
{
    b->state[i] = ENDED;
    if (--b->live == 0)
        return true;
    if (b->at_barrier == b->live)
        barrier_opens(b);
    if (b->at_grid == b->live)
        block_waits_for_grid(b);
    const unsigned first = i / WARP * WARP;
    for (unsigned j = first; b->in_warp && j < first + WARP && j < worker.threads; j++)
        if (b->state[j] == IN_WARP && (b->mask[j] >> i % WARP & 1))
            warp_completes(b, j);
    return false;
}

void fiber_end(void)
{
    struct worker_private *own = worker_own;
    struct block *b = worker.block;
    const unsigned i = index_of(worker_current);
    if (thread_ends(b, i)) {
        if (b == own->home_block)
            fiber_jump(&own->home);
        block_leaves(b);
        worker.block = nullptr;
    }
    fiber_jump(choose(i + 1));
}

void fiber_finish_block(void)
{
    struct worker_private *own = worker_own;
    struct block *b = worker.block;
    struct slot *me = worker_current;
    if (worker_expected == STOP_END || fiber_enter(STOP_END)) {
        fiber_switch(me, me + 1);
    } else if (!thread_ends(b, index_of(me))) {
        own->home_block = b;
        fiber_switch(&own->home, choose(index_of(me) + 1));
    }
    own->home_block = nullptr;
    block_leaves(b);
    worker.block = nullptr;
    while (own->resident_count) {
        struct slot *next = choose(0);
        if (next == &own->home)
            break;
        fiber_switch(&own->home, next);
    }
    worker.block = nullptr;
    worker.shared = own->loop_block->shared;
    worker_expected = STOP_GENERAL;
}

/* ---------------------------------------------------------------------------------------------- asynchronous copies */

static struct copy_queue *queue_of(unsigned index)
{
    struct block *b = worker.block ? worker.block : worker_own->loop_block;
    b->copies_pending = true;
    return &b->queues[index];
}

void fiber_copy_async(unsigned index, void *to, const void *from, size_t bytes, size_t zeros)
{
    struct copy_queue *queue = queue_of(index);
    if (queue->count == queue->capacity) {
        worker_own->in_kernel = 0;
        queue->capacity = queue->capacity ? 2 * queue->capacity : 8;
        queue->copies =
            static_cast<struct pending_copy *>(realloc(queue->copies, queue->capacity * sizeof *queue->copies));
        worker_own->in_kernel = 1;
    }
    memset(to, 0xa5, bytes);
    queue->copies[queue->count++] = {to, from, bytes, zeros, queue->batch};
}

void fiber_copy_commit(unsigned index)
{
    queue_of(index)->batch++;
}

/* Carries out all but the copies of the `prior` newest batches. */
void fiber_copy_wait(unsigned index, unsigned prior)
{
    struct copy_queue *queue = queue_of(index);
    unsigned kept = 0;
    for (unsigned i = 0; i < queue->count; i++) {
        const struct pending_copy *copy = &queue->copies[i];
        if (copy->batch + prior >= queue->batch) {
            queue->copies[kept++] = *copy;
        } else {
            memcpy(copy->to, copy->from, copy->bytes - copy->zeros);
            memset(static_cast<char *>(copy->to) + copy->bytes - copy->zeros, 0, copy->zeros);
            observe_copied(copy->to, copy->bytes);
        }
    }
    queue->count = kept;
}

/* ---------------------------------------------------------------------------------------------- running */

void scheduler_begin(struct worker_private *own)
{
    worker_own = own;
    own->state = &worker;
    own->loop_block = block_create();
    worker.shared = own->loop_block->shared;
#if !FIBER_ASSEMBLY
    own->home.stack = calloc(1, sizeof(ucontext_t));
#endif
}

static void block_destroy(struct block *b)
{
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    observe_block_destroyed(b);
    for (unsigned i = 0; i < MAX_THREADS; i++)
        free(b->queues[i].copies);
#if !FIBER_ASSEMBLY
    for (unsigned i = 0; i <= MAX_THREADS; i++)
        free(b->slots[i].stack);
#endif
    munmap(b->queues, MAX_THREADS * sizeof *b->queues);
    munmap(b->stacks - page, b->stacks_bytes);
    cpu_shared_memory_free(b->shared);
    munmap(b->slots, SLOTS_BYTES);
    munmap(b, sizeof *b);
}

void scheduler_end(void)
{
    struct worker_private *own = worker_own;
    block_destroy(own->loop_block);
    while (own->spare_count)
        block_destroy(own->spare[--own->spare_count]);
    free(own->resident);
    free(own->spare);
#if !FIBER_ASSEMBLY
    free(own->home.stack);
#endif
    worker_own = nullptr;
}

/* Looks at the stacks that were used since it last looked. */
static bool stacks_whole(struct block *b)
{
    bool whole = true;
    for (unsigned i = 0; i < b->used; i++)
        whole = whole && !memcmp(stack_bottom(b, i), &CANARY, sizeof CANARY);
    b->used = 0;
    return whole;
}

bool scheduler_stacks_whole(const struct worker_private *own)
{
    bool whole = stacks_whole(own->loop_block);
    for (unsigned i = 0; i < own->spare_count; i++)
        whole = stacks_whole(own->spare[i]) && whole;
    return whole;
}

/* After a failed launch no fiber goes on: all blocks are free again. */
static void abandon(void)
{
    struct worker_private *own = worker_own;
    observe_abandoned(own->loop_block);
    for (unsigned i = 0; i < own->resident_count; i++) {
        own->resident[i]->mixed_exchanges = true;
        own->resident[i]->copies_pending = true;
        observe_abandoned(own->resident[i]);
        if (own->resident[i] != own->loop_block)
            own->spare[own->spare_count++] = own->resident[i];
    }
    own->resident_count = 0;
    own->home_block = nullptr;
    worker.block = nullptr;
    worker.shared = own->loop_block->shared;
}

void scheduler_run(void)
{
    struct worker_private *own = worker_own;
    worker.kernel = grid.kernel;
    worker.arguments = grid.arguments;
    worker.launch = grid.launch;
    worker.threads_x = uint32_t(grid.threads[0]);
    worker.threads_y = uint32_t(grid.threads[1]);
    worker.threads_z = uint32_t(grid.threads[2]);
    worker.threads = worker.threads_x * worker.threads_y * worker.threads_z;
    worker.blocks_x = uint32_t(grid.blocks[0]);
    worker.blocks_y = uint32_t(grid.blocks[1]);
    worker.blocks_z = uint32_t(grid.blocks[2]);
    worker_flat = worker.threads_x == worker.threads && grid.blocks[1] * grid.blocks[2] == 1;
    worker.shared_bytes = 0;
    worker_expected = STOP_GENERAL;
    worker.block = nullptr;
    worker.shared = own->loop_block->shared; /* blocks that were admitted have left theirs */
    worker.block_next = worker.block_last = 0;
    worker.polls = 0;
    worker.poll_limit = cpu_options.schedule == SCHEDULE_ASCENDING ? 64 : 2;
    own->with_any.rounds = own->with_writes.rounds = 0;
    own->with_any.seen = own->with_writes.seen = NEVER;
    if (own->loop_block->copies_pending)
        copies_forget(own->loop_block);
    if (sigsetjmp(own->bail, 0) == 0) {
        own->in_kernel = 1;
        worker.kernel->begin();
        if (grid.eager) {
            struct slot *next = choose(0);
            if (next != &own->home)
                fiber_switch(&own->home, next);
        } else {
            uint64_t first;
            while ((first = grid.next.fetch_add(grid.chunk, std::memory_order_relaxed)) < grid.count &&
                   !grid.failed.load(std::memory_order_relaxed)) {
                worker.block_next = first;
                worker.block_last = first + grid.chunk < grid.count ? first + grid.chunk : grid.count;
                worker.kernel->run_blocks();
            }
        }
    } else {
        abandon();
    }
    own->in_kernel = 0;
}
