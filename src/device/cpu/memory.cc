/* SPDX-License-Identifier: MIT */
/* The CPU device's memory: one reserved range of a given size, first fit, filled with 0xA5, never with zeros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/cpu/block.h"
#include "device/cpu/cpu.h"
#include "device/cpu/observe.h"
#include "device/cpu/simulate.h"

constexpr uint64_t ALIGNMENT = 256;
/* On both sides of every allocation; a stray store there is found when the array is freed. */
constexpr uint64_t GUARD = 256;
constexpr uint64_t LARGE = 1 << 20, PAGE = 1 << 16; /* 64 KiB: the largest page in use */

/* Arrays in the order of their addresses. */
struct array {
    uint64_t offset, bytes; /* guards included */
    uint64_t asked;
    struct array *next;
};

static char *memory;
static uint64_t memory_size;
static struct array *arrays;

/* Where accesses are observed, the blocks' shared memory lies behind the device's. */
constexpr uint64_t ARENA = 64 << 10, ARENAS = OBSERVED ? 4096 : 0;
static uint64_t arenas_made;
static char *arenas_spare; /* a list: the first word of each leads to the next */

bool cpu_memory_open(uint64_t bytes)
{
    memory_size = bytes / ALIGNMENT * ALIGNMENT;
    arenas_made = 0;
    arenas_spare = nullptr;
    memory = static_cast<char *>(mmap(nullptr, memory_size + ARENAS * ARENA, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED)
        memory = nullptr;
    if (memory)
        observe_memory(memory, memory_size, memory_size + ARENAS * ARENA);
    return memory != nullptr;
}

void cpu_memory_close(void)
{
    while (arrays) {
        struct array *next = arrays->next;
        free(arrays);
        arrays = next;
    }
    observe_memory_closed();
    if (memory)
        munmap(memory, memory_size + ARENAS * ARENA);
    memory = nullptr;
}

char *cpu_shared_memory(void)
{
    char *arena = arenas_spare;
    if (arena) {
        memcpy(&arenas_spare, arena, sizeof arenas_spare);
    } else if (arenas_made + 1 < ARENAS) {
        arena = memory + memory_size + ++arenas_made * ARENA; /* nobody's memory lies before the first */
    } else {
        void *own = mmap(nullptr, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (OBSERVED || own == MAP_FAILED) {
            fprintf(stderr, "scanbench: the CPU device has no shared memory for one more block\n");
            abort();
        }
        arena = static_cast<char *>(own);
    }
    return arena;
}

void cpu_shared_memory_free(char *shared)
{
    if (!OBSERVED) {
        munmap(shared, ARENA);
        return;
    }
    memcpy(shared, &arenas_spare, sizeof arenas_spare);
    arenas_spare = shared;
}

uint64_t device_memory_free(void)
{
    /* The largest gap: what one array can have. */
    uint64_t largest = 0, at = 0;
    for (struct array *a = arrays; a; a = a->next) {
        if (a->offset - at > largest)
            largest = a->offset - at;
        at = a->offset + a->bytes;
    }
    if (memory_size - at > largest)
        largest = memory_size - at;
    return largest > 2 * GUARD ? largest - 2 * GUARD : 0;
}

void *device_malloc(size_t asked)
{
    if (cpu_capture_forbids("device_malloc") || (simulated && !simulate_malloc()) || device_error() ||
        asked > memory_size)
        return nullptr;
    const uint64_t bytes = (asked + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + 2 * GUARD;
    struct array **link = &arrays;
    uint64_t at = 0;
    while (*link && (*link)->offset - at < bytes) {
        at = (*link)->offset + (*link)->bytes;
        link = &(*link)->next;
    }
    if (!*link && memory_size - at < bytes)
        return nullptr;
    struct array *a = static_cast<struct array *>(malloc(sizeof *a));
    *a = {at, bytes, asked, *link};
    *link = a;
    memset(memory + at, 0xa5, bytes);
    observe_array(memory + at + GUARD, asked, true);
    return memory + at + GUARD;
}

void device_free(void *pointer)
{
    if (!pointer || cpu_capture_forbids("device_free"))
        return;
    const uint64_t offset = uint64_t(static_cast<char *>(pointer) - memory) - GUARD;
    struct array **link = &arrays;
    while (*link && (*link)->offset != offset)
        link = &(*link)->next;
    if (!*link) {
        cpu_set_error(1, "free of %p, which is no array of the device", pointer);
        return;
    }
    struct array *a = *link;
    observe_array(memory + a->offset, a->bytes, false);
    const char *start = memory + a->offset;
    for (uint64_t i = 0; i < a->bytes; i++) {
        if (i == GUARD)
            i = GUARD + a->asked;
        if (start[i] != char(0xa5)) {
            cpu_set_error(700, "a kernel has written %lld bytes %s an array of %llu bytes",
                          static_cast<long long>(i < GUARD ? GUARD - i : i - GUARD - a->asked + 1),
                          i < GUARD ? "before" : "behind", static_cast<unsigned long long>(a->asked));
            break;
        }
    }
    /* Only whole pages: the neighbours' guards share the others. */
    const uint64_t first = (a->offset + PAGE - 1) / PAGE * PAGE, last = (a->offset + a->bytes) / PAGE * PAGE;
    if (a->bytes >= LARGE)
        madvise(memory + first, last - first, MADV_DONTNEED);
    *link = a->next;
    free(a);
}

void device_upload(void *to, const void *from, size_t bytes)
{
    if (cpu_capture_forbids("device_upload"))
        return;
    if (simulated && !device_error())
        simulate_transfer(bytes);
    if (!device_error()) {
        memcpy(to, from, bytes);
        observe_host_write(to, bytes);
    }
}

/* Whoever looks at results also hears of a stack that was overrun. */
void device_download(void *to, const void *from, size_t bytes)
{
    if (cpu_capture_forbids("device_download"))
        return;
    if (simulated && !device_error())
        simulate_transfer(bytes);
    for (int i = 0; i < worker_count; i++)
        if (!scheduler_stacks_whole(&worker_list[i]))
            cpu_set_error(719, "a kernel's thread has used more than the %zu KiB of its stack", STACK_BYTES >> 10);
    if (!device_error())
        memcpy(to, from, bytes);
}

void device_fill(void *to, int byte, size_t bytes)
{
    if (device_error() || cpu_capture_forbids("device_fill"))
        return;
    if (simulated)
        simulate_fill(bytes);
    memset(to, byte, bytes);
    observe_host_write(to, bytes);
}
