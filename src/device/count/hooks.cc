/* SPDX-License-Identifier: MIT */
/*
 * What the compiler calls at every access of a kernel, under -fsanitize=thread. The sanitizer's library is not linked:
 * these are its names, and they come here.
 *
 * A kernel that uses CUDA's atomics announces them itself (count_atomic); the __tsan_atomic functions serve those that
 * use the compiler's.
 */
#include <string.h>

#include "device/count/seen.h"

#define SITE reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define HOOK extern "C" __attribute__((visibility("default")))

static inline __attribute__((always_inline)) void access(void *pointer, unsigned bytes, unsigned what, uintptr_t site)
{
    seen_access(reinterpret_cast<uintptr_t>(pointer), bytes, what, site);
}

#define ACCESS(name, bytes, what)                                                                                      \
    HOOK void name(void *address)                                                                                      \
    {                                                                                                                  \
        access(address, bytes, what, SITE);                                                                            \
    }
#define EACH_SIZE(name, what) /* volatile: CUDA's kernels use it to wait for each other */                             \
    ACCESS(__tsan_##name##1, 1, what)                                                                                  \
    ACCESS(__tsan_##name##2, 2, what)                                                                                  \
    ACCESS(__tsan_##name##4, 4, what)                                                                                  \
    ACCESS(__tsan_##name##8, 8, what)                                                                                  \
    ACCESS(__tsan_##name##16, 16, what)                                                                                \
    ACCESS(__tsan_unaligned_##name##2, 2, what)                                                                        \
    ACCESS(__tsan_unaligned_##name##4, 4, what)                                                                        \
    ACCESS(__tsan_unaligned_##name##8, 8, what)                                                                        \
    ACCESS(__tsan_unaligned_##name##16, 16, what)
EACH_SIZE(read, SEEN_READ)
EACH_SIZE(write, SEEN_WRITE)

static void volatile_access(void *address, unsigned bytes, enum seen_what what, uintptr_t site);
#define VOLATILE(name, bytes, what)                                                                                    \
    HOOK void name(void *address)                                                                                      \
    {                                                                                                                  \
        volatile_access(address, bytes, what, SITE);                                                                   \
    }
#define EACH_VOLATILE_SIZE(name, what)                                                                                 \
    VOLATILE(__tsan_volatile_##name##1, 1, what)                                                                       \
    VOLATILE(__tsan_volatile_##name##2, 2, what)                                                                       \
    VOLATILE(__tsan_volatile_##name##4, 4, what)                                                                       \
    VOLATILE(__tsan_volatile_##name##8, 8, what)                                                                       \
    VOLATILE(__tsan_volatile_##name##16, 16, what)                                                                     \
    VOLATILE(__tsan_unaligned_volatile_##name##2, 2, what)                                                             \
    VOLATILE(__tsan_unaligned_volatile_##name##4, 4, what)                                                             \
    VOLATILE(__tsan_unaligned_volatile_##name##8, 8, what)                                                             \
    VOLATILE(__tsan_unaligned_volatile_##name##16, 16, what)
EACH_VOLATILE_SIZE(read, SEEN_READ)
EACH_VOLATILE_SIZE(write, SEEN_WRITE)

/* A struct of an odd size is one access for every 16 bytes. */
static void range(void *pointer, size_t bytes, unsigned what, uintptr_t site)
{
    char *at = static_cast<char *>(pointer);
    for (; bytes > 16; at += 16, bytes -= 16)
        access(at, 16, what | SEEN_PART, site);
    access(at, unsigned(bytes), what | SEEN_PART, site);
}
HOOK void __tsan_read_range(void *address, size_t bytes)
{
    range(address, bytes, SEEN_READ, SITE);
}
HOOK void __tsan_write_range(void *address, size_t bytes)
{
    range(address, bytes, SEEN_WRITE, SITE);
}

HOOK void __tsan_init(void) {}
HOOK void __tsan_func_entry(void *) {}
HOOK void __tsan_func_exit(void) {}
HOOK void __tsan_vptr_update(void **, void *) {}
HOOK void __tsan_vptr_read(void **) {}

/* ---------------------------------------------------------------------------------------------- atomics */

/* An atomic access orders what the thread has done before, so that the checker looks at that first. */
static void atomic(const volatile void *pointer, unsigned bytes, unsigned what, int order, uintptr_t site)
{
    if (!seen.on)
        return;
    struct counting *c = seen.counting;
    const unsigned thread = count_now.thread;
    counted->counts.atomics++;
    for (unsigned way : {unsigned(SEEN_READ), unsigned(SEEN_WRITE)})
        if (what & way) /* the two ways of a read-modify-write are two requests */
            access(const_cast<void *>(pointer), bytes, way | SEEN_ATOMIC, site - (way == SEEN_WRITE));
    requests_check_running(c);
    const struct atomic_access made = {
        reinterpret_cast<uintptr_t>(pointer), bytes, bool(what & SEEN_READ), bool(what & SEEN_WRITE), order, site};
    order_atomic(c, thread, &made);
}

static void volatile_access(void *address, unsigned bytes, enum seen_what what, uintptr_t site)
{
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    if (at - memory_base < memory_all_bytes)
        atomic(address, bytes, what, __ATOMIC_RELAXED, site);
}

extern "C" void count_atomic(const void *address, size_t bytes, int what, int order);
extern "C" void count_atomic(const void *address, size_t bytes, int what, int order)
{
    atomic(address, unsigned(bytes), unsigned(what), order, SITE);
}

static void fence(int order, bool in_block)
{
    if (!seen.on)
        return;
    requests_check_running(seen.counting);
    order_fence(seen.counting, count_now.thread, order, in_block);
}

extern "C" void count_fence(int order, bool in_block);
extern "C" void count_fence(int order, bool in_block)
{
    fence(order, in_block);
}

/* One worker runs, and threads take turns only where they stop: plain accesses are whole. */
#define ATOMIC(bits, T)                                                                                                \
    HOOK T __tsan_atomic##bits##_load(const volatile T *address, int order)                                            \
    {                                                                                                                  \
        atomic(address, sizeof(T), SEEN_READ, order, SITE);                                                            \
        return *address;                                                                                               \
    }                                                                                                                  \
    HOOK void __tsan_atomic##bits##_store(volatile T *address, T value, int order)                                     \
    {                                                                                                                  \
        atomic(address, sizeof(T), SEEN_WRITE, order, SITE);                                                           \
        *address = value;                                                                                              \
        worker.events++;                                                                                               \
    }                                                                                                                  \
    HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile T *address, T *expected, T value, int order, int)  \
    {                                                                                                                  \
        atomic(address, sizeof(T), SEEN_READ | SEEN_WRITE, order, SITE);                                               \
        worker.events++;                                                                                               \
        if (*address == *expected) {                                                                                   \
            *address = value;                                                                                          \
            return 1;                                                                                                  \
        }                                                                                                              \
        *expected = *address;                                                                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile T *address, T *expected, T value, int a, int b)      \
    {                                                                                                                  \
        return __tsan_atomic##bits##_compare_exchange_strong(address, expected, value, a, b);                          \
    }                                                                                                                  \
    READ_MODIFY_WRITE(bits, T, exchange, value)                                                                        \
    READ_MODIFY_WRITE(bits, T, fetch_add, T(old + value))                                                              \
    READ_MODIFY_WRITE(bits, T, fetch_sub, T(old - value))                                                              \
    READ_MODIFY_WRITE(bits, T, fetch_and, T(old &value))                                                               \
    READ_MODIFY_WRITE(bits, T, fetch_or, T(old | value))                                                               \
    READ_MODIFY_WRITE(bits, T, fetch_xor, T(old ^ value))                                                              \
    READ_MODIFY_WRITE(bits, T, fetch_nand, T(~(old & value)))

#define READ_MODIFY_WRITE(bits, T, name, result)                                                                       \
    HOOK T __tsan_atomic##bits##_##name(volatile T *address, T value, int order)                                       \
    {                                                                                                                  \
        atomic(address, sizeof(T), SEEN_READ | SEEN_WRITE, order, SITE);                                               \
        worker.events++;                                                                                               \
        const T old = *address;                                                                                        \
        *address = result;                                                                                             \
        return old;                                                                                                    \
    }

__extension__ typedef unsigned __int128 bits128;
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, bits128)
HOOK void __tsan_atomic_thread_fence(int order)
{
    fence(order, false);
}
HOOK void __tsan_atomic_signal_fence(int) {}
