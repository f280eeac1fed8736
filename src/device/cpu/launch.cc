/* SPDX-License-Identifier: MIT */
/*
 * Launches on the CPU device: limits, the pool of workers, and what ends a launch that went wrong.
 *
 * A launch is carried out at once, in the calling thread, unless a graph is being captured. Waking a sleeping worker
 * costs some 100 us, so small grids run inline; for others the workers draw chunks of blocks from one ticket.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device/cpu/block.h"
#include "device/cpu/cpu.h"
#include "device/cpu/observe.h"
#include "device/cpu/simulate.h"

struct grid grid;
struct device_options cpu_options;
struct worker_private *worker_list;
int worker_count;
bool cpu_counts_additions;

uint64_t cpu_launches;
static uint64_t opened_launches; /* since the device was opened: the seed's orders begin anew */
static int sticky_error;
static char sticky_text[400];
static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;

/* A grid with fewer threads than this is not worth waking anybody. */
constexpr uint64_t SMALL_GRID = 1 << 15;

double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/* ---------------------------------------------------------------------------------------------- errors */

void cpu_set_error(int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&error_lock);
    if (!sticky_error) {
        sticky_error = error;
        vsnprintf(sticky_text, sizeof sticky_text, format, arguments);
    }
    pthread_mutex_unlock(&error_lock);
    va_end(arguments);
}

int device_error(void)
{
    return sticky_error;
}

const char *device_error_text(void)
{
    return sticky_text;
}

void cpu_clear_error(void)
{
    sticky_error = 0;
    sticky_text[0] = 0;
}

/* Error 0: another worker has said why. */
void launch_failed(int error, const char *format, ...)
{
    char text[sizeof sticky_text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    worker_own->in_kernel = 0;
    if (error)
        cpu_set_error(error, "%s", text);
    grid.failed = 1;
    siglongjmp(worker_own->bail, 1);
}

/* A bad address or a hung loop inside a kernel ends the launch, not the program. The handler runs on a stack of its
 * own: a fiber's is small. */
static void on_fault(int number, siginfo_t *info, void *)
{
    if (!worker_own || !worker_own->in_kernel) {
        if (number == SIGUSR2)
            return;
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    worker_own->in_kernel = 0;
    if (number == SIGUSR2)
        cpu_set_error(702, "kernel %s: ended after %.0f s of wall time", grid.kernel->name, cpu_options.launch_limit_s);
    else
        cpu_set_error(700, "kernel %s: %s at address %p", grid.kernel->name,
                      number == SIGFPE ? "division fault"
                                       : "access outside of mapped memory (or of the thread's stack)",
                      info->si_addr);
    grid.failed = 1;
    siglongjmp(worker_own->bail, 1);
}

static void take_signals(void)
{
    stack_t stack = {};
    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, nullptr);
}

static void drop_signals(void)
{
    stack_t stack = {}, off = {};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, &stack);
    free(stack.ss_sp);
}

/* ---------------------------------------------------------------------------------------------- workers */

static pthread_t *threads;
static pthread_t first_thread;
static std::atomic<uint32_t> generation; /* futex: a new grid */
static std::atomic<bool> open_grid;
static std::atomic<uint32_t> quit; /* futex: the watchdog sleeps on it */
static std::atomic<int> entered, left;

static void futex(std::atomic<uint32_t> *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, nullptr, nullptr, 0);
}

/* Takes part in the open grid. The launcher closes it, then waits until all that entered have left. */
static void take_part(void)
{
    entered.fetch_add(1);
    if (open_grid.load()) {
        scheduler_run();
        worker_own->active = false;
    }
    left.fetch_add(1);
}

static void *worker_main(void *argument)
{
    scheduler_begin(static_cast<struct worker_private *>(argument));
    take_signals();
    uint32_t seen = 0;
    left.fetch_add(1); /* ready: cpu_start waits for this */
    for (;;) {
        for (int i = 0; generation.load(std::memory_order_acquire) == seen && i < 2000; i++)
            __builtin_ia32_pause();
        while (generation.load() == seen)
            futex(&generation, FUTEX_WAIT_PRIVATE, seen);
        seen = generation.load();
        if (quit)
            break;
        take_part();
    }
    scheduler_end();
    drop_signals();
    return nullptr;
}

/* Ends launches that take too long. It looks four times a second. */
static pthread_t watchdog;
static std::atomic<uint64_t> running_launch; /* 0: none */

static void *watchdog_main(void *)
{
    uint64_t seen = 0;
    double since = 0;
    while (!quit) {
        const struct timespec pause = {0, 250000000};
        syscall(SYS_futex, &quit, FUTEX_WAIT_PRIVATE, 0, &pause, nullptr, 0);
        const uint64_t now = running_launch.load();
        if (!now || now != seen) {
            seen = now;
            since = clock_s();
        } else if (clock_s() - since > cpu_options.launch_limit_s) {
            pthread_kill(first_thread, SIGUSR2);
            for (int i = 1; i < worker_count; i++)
                pthread_kill(threads[i], SIGUSR2);
        }
    }
    return nullptr;
}

void cpu_start(const struct device_options *options)
{
    cpu_options = *options;
    worker_count = options->workers;
    worker_list = new worker_private[size_t(worker_count)]();
    threads = static_cast<pthread_t *>(calloc(size_t(worker_count), sizeof *threads));
    first_thread = pthread_self();
    generation = 0;
    opened_launches = 0;
    quit = 0;
    entered = left = 0;

    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGUSR2})
        sigaction(number, &action, nullptr);
    take_signals();

    scheduler_begin(&worker_list[0]);
    sigset_t all, before; /* the program's signals are the first thread's business */
    sigfillset(&all);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGUSR2})
        sigdelset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (int i = 1; i < worker_count; i++) {
        worker_list[i].number = i;
        pthread_create(&threads[i], nullptr, worker_main, &worker_list[i]);
    }
    while (left.load() < worker_count - 1)
        sched_yield();
    left = 0;
    pthread_create(&watchdog, nullptr, watchdog_main, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void cpu_stop(void)
{
    quit = 1;
    futex(&quit, FUTEX_WAKE_PRIVATE, INT32_MAX);
    generation.fetch_add(1);
    futex(&generation, FUTEX_WAKE_PRIVATE, INT32_MAX);
    for (int i = 1; i < worker_count; i++)
        pthread_join(threads[i], nullptr);
    pthread_join(watchdog, nullptr);
    scheduler_end();
    drop_signals();
    free(threads);
    delete[] worker_list;
    worker_list = nullptr;
    worker_count = 0;
}

/* ---------------------------------------------------------------------------------------------- launch */

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t c = a % b;
        a = b;
        b = c;
    }
    return a;
}

static uint64_t mix(uint64_t x)
{
    /* splitmix64 */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Block t of the order drawn is t * stride + shift modulo the count. */
static void order_blocks(void)
{
    grid.stride = 1;
    grid.shift = 0;
    if (cpu_options.schedule == SCHEDULE_DESCENDING) {
        grid.stride = grid.count - 1;
        grid.shift = grid.count - 1;
    } else if (cpu_options.schedule == SCHEDULE_SHUFFLED) {
        const uint64_t random = mix(cpu_options.seed ^ opened_launches);
        grid.shift = random % grid.count;
        grid.stride = mix(random) % grid.count | 1;
        while (greatest_common_divisor(grid.stride, grid.count) != 1)
            grid.stride++;
    }
}

/* Most blocks at once, on each worker. */
static uint64_t most_on_worker(void)
{
    return uint64_t(cpu_options.resident ? cpu_options.resident : 16);
}

uint64_t cpu_resident_blocks(void)
{
    return worker_count ? most_on_worker() * uint64_t(worker_count) : 1;
}

void cpu_launch(const struct kernel *kernel, const void *arguments, const uint64_t blocks[3],
                const uint64_t block_threads[3], bool cooperative)
{
    if (sticky_error)
        return;
    const uint64_t count = blocks[0] * blocks[1] * blocks[2];
    const uint64_t per_block = block_threads[0] * block_threads[1] * block_threads[2];
    if (blocks[0] < 1 || blocks[1] < 1 || blocks[2] < 1 || blocks[0] > INT32_MAX || blocks[1] > 65535 ||
        blocks[2] > 65535) {
        cpu_set_error(9,
                      "kernel %s: a grid of %llu x %llu x %llu blocks; at least 1, at most 2147483647 x 65535 x 65535",
                      kernel->name, static_cast<unsigned long long>(blocks[0]),
                      static_cast<unsigned long long>(blocks[1]), static_cast<unsigned long long>(blocks[2]));
        return;
    }
    if (block_threads[0] < 1 || block_threads[1] < 1 || block_threads[2] < 1 || block_threads[2] > 64 ||
        block_threads[0] > MAX_THREADS || block_threads[1] > MAX_THREADS || per_block > MAX_THREADS) {
        cpu_set_error(9, "kernel %s: blocks of %llu x %llu x %llu threads; at least 1, at most %u in all", kernel->name,
                      static_cast<unsigned long long>(block_threads[0]),
                      static_cast<unsigned long long>(block_threads[1]),
                      static_cast<unsigned long long>(block_threads[2]), MAX_THREADS);
        return;
    }
    if (cooperative && count > cpu_resident_blocks()) {
        cpu_set_error(720, "kernel %s: %llu blocks must be resident, %llu can be (--resident %llu, %d workers)",
                      kernel->name, static_cast<unsigned long long>(count),
                      static_cast<unsigned long long>(cpu_resident_blocks()),
                      static_cast<unsigned long long>(most_on_worker()), worker_count);
        return;
    }
    if (cpu_detour) [[unlikely]] {
        if (cpu_captures_kernel(kernel, arguments, blocks, block_threads, cooperative))
            return;
        if (!simulate_kernel(kernel, kernel->name, count, count * per_block)) {
            cpu_launches++;
            return;
        }
    }
    cpu_launches++;
    grid.kernel = kernel;
    grid.arguments = arguments;
    grid.launch++;
    opened_launches++;
    grid.count = count;
    for (int i = 0; i < 3; i++) {
        grid.blocks[i] = blocks[i];
        grid.threads[i] = block_threads[i];
    }
    grid.cooperative = cooperative;
    const bool shared_out = worker_count > 1 && count > 1 && count * per_block >= SMALL_GRID;
    /* A worker that has the grid for itself stands in for the others. */
    grid.limit = unsigned(cooperative ? count : shared_out ? most_on_worker() : cpu_resident_blocks());
    const bool ascending = cpu_options.schedule == SCHEDULE_ASCENDING;
    grid.eager = unsigned(cooperative                ? (count + uint64_t(worker_count) - 1) / uint64_t(worker_count)
                          : cpu_options.resident > 1 ? uint64_t(cpu_options.resident)
                          : ascending                ? 0
                          : cpu_options.resident     ? 1
                                                     : 4);
    order_blocks();
    grid.next = 0;
    grid.failed = 0;
    grid.arrived = grid.round = 0;

    grid.chunk = 1;
    if (shared_out && ascending && !grid.eager && !*kernel->spins) {
        const uint64_t chunk = count / (8 * uint64_t(worker_count));
        grid.chunk = unsigned(chunk < 1 ? 1 : chunk > 32 ? 32 : chunk);
    } else if (!shared_out && !grid.eager) {
        grid.chunk = unsigned(count < 1024 ? count : 1024);
    }
    running_launch = grid.launch;
    observe_launch(kernel->name, count, per_block);
    for (int i = 0; i < worker_count; i++) {
        worker_list[i].random = mix(cpu_options.seed * 31 + opened_launches * 7 + uint64_t(i)) | 1;
        worker_list[i].with_any.vain = worker_list[i].with_writes.vain = NEVER;
        worker_list[i].active = shared_out || i == 0; /* one that sleeps will wake and may bring what others wait for */
    }
    if (shared_out) {
        open_grid = true;
        generation.fetch_add(1);
        futex(&generation, FUTEX_WAKE_PRIVATE, INT32_MAX);
    }
    scheduler_run();
    worker_list[0].active = false;
    if (shared_out) {
        open_grid = false;
        /* `left` first: who enters between the two looks and leaves at once must not stand in for one who still runs */
        for (int gone = left.load(); entered.load() != gone; gone = left.load())
            __builtin_ia32_pause();
    }
    running_launch = 0;
    observe_launched();
}

void launch_memcpy(void *to, const void *from, size_t bytes)
{
    if (sticky_error)
        return;
    if (cpu_detour && cpu_captures_bytes(to, from, 0, bytes))
        return;
    cpu_launches++;
    if (simulated && !simulate_bytes("memcpy", bytes))
        return;
    memcpy(to, from, bytes);
    observe_memcpy(to, from, bytes);
}

void launch_memset(void *to, int byte, size_t bytes)
{
    if (sticky_error)
        return;
    if (cpu_detour && cpu_captures_bytes(to, nullptr, byte, bytes))
        return;
    cpu_launches++;
    if (simulated && !simulate_bytes("memset", bytes))
        return;
    memset(to, byte, bytes);
    observe_memset(to, bytes);
}

uint64_t device_launches(void)
{
    return cpu_launches;
}

bool device_counts_additions(enum type type, enum op op)
{
    return OBSERVED || (type == I32 && op == SUM);
}

void device_count_additions(bool on)
{
    cpu_counts_additions = on;
}

uint64_t device_additions(void)
{
    uint64_t additions = 0;
    for (int i = 0; i < worker_count; i++)
        additions += worker_list[i].state->additions;
    return additions;
}
