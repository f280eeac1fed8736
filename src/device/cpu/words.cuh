/* SPDX-License-Identifier: MIT */
/*
 * CUDA's words for kernels on the CPU device. A kernel file includes them through device/gpu.cuh.
 *
 * What they stand on differs between the run build (cpu/stops.cuh) and the count build (count/stops.cuh).
 */
#ifndef WORDS_CUH
#define WORDS_CUH

#include <cmath>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "device/cpu/fiber.h"

#ifdef SCANBENCH_COUNT
#define __global__
#define UNSEEN __attribute__((no_sanitize_thread)) /* its accesses are not the kernel's */
#else
#define __global__ __attribute__((always_inline)) inline
#define UNSEEN
#endif
#define __device__
#define __host__
#define __constant__
#define __forceinline__ __attribute__((always_inline)) inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

/* ---------------------------------------------------------------------------------------------- vector types */

/* As in CUDA, a pointer to any type may be read as one of these. */
#define VECTOR_TYPE(T, name, bytes2, bytes4)                                                                           \
    struct __attribute__((may_alias, aligned(bytes2))) name##2                                                         \
    {                                                                                                                  \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    struct __attribute__((may_alias)) name##3                                                                          \
    {                                                                                                                  \
        T x, y, z;                                                                                                     \
    };                                                                                                                 \
    struct __attribute__((may_alias, aligned(bytes4))) name##4                                                         \
    {                                                                                                                  \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    [[maybe_unused]] static FIBER_INLINE name##2 make_##name##2(T x, T y)                                              \
    {                                                                                                                  \
        return {x, y};                                                                                                 \
    }                                                                                                                  \
    [[maybe_unused]] static FIBER_INLINE name##3 make_##name##3(T x, T y, T z)                                         \
    {                                                                                                                  \
        return {x, y, z};                                                                                              \
    }                                                                                                                  \
    [[maybe_unused]] static FIBER_INLINE name##4 make_##name##4(T x, T y, T z, T w)                                    \
    {                                                                                                                  \
        return {x, y, z, w};                                                                                           \
    }

VECTOR_TYPE(int, int, 8, 16)
VECTOR_TYPE(unsigned, uint, 8, 16)
VECTOR_TYPE(float, float, 8, 16)
VECTOR_TYPE(long long, longlong, 16, 16)
VECTOR_TYPE(unsigned long long, ulonglong, 16, 16)
VECTOR_TYPE(double, double, 16, 16)
#undef VECTOR_TYPE

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

constexpr int warpSize = WARP;

/* dim3, but of any width, so that a count of blocks that does not fit is refused and not cut. */
struct extent {
    uint64_t of[3];
    template <class T>
    requires std::is_integral_v<T>
    constexpr extent(T x) : of{uint64_t(x), 1, 1} {}
    constexpr extent(dim3 d) : of{d.x, d.y, d.z} {}
};

/* Counted as launches and carried out at once, unless a graph is being captured. */
void cpu_launch(const struct kernel *kernel, const void *arguments, const uint64_t blocks[3], const uint64_t threads[3],
                bool cooperative);
void launch_memcpy(void *to, const void *from, size_t bytes);
void launch_memset(void *to, int byte, size_t bytes);

/* Of any kernel. */
uint64_t cpu_resident_blocks(void);
template <auto kernel> static inline uint64_t most_resident(int)
{
    return cpu_resident_blocks();
}

/* Everything that kernels of ours ask for is there, but where a simulated GPU says otherwise. */
[[maybe_unused]] static constexpr int compute_capability()
{
    return 90;
}
bool cpu_cooperative_launches(void);
[[maybe_unused]] static inline bool cooperative_launches()
{
    return cpu_cooperative_launches();
}

#ifdef SCANBENCH_COUNT
#include "device/count/stops.cuh"
#else
#include "device/cpu/stops.cuh"
#endif

#define resident_blocks(kernel, threads) most_resident<(kernel)>(threads)
#define launch(kernel, ...) kernel_of<(kernel)>::enqueue(#kernel, false, __VA_ARGS__)
#define launch_cooperative(kernel, ...) kernel_of<(kernel)>::enqueue(#kernel, true, __VA_ARGS__)

/* ---------------------------------------------------------------------------------------------- warp operations */

[[maybe_unused]] static FIBER_INLINE int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

[[maybe_unused]] static FIBER_INLINE int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

/* A source outside the segment of `width` lanes is the lane itself. */
template <class T> static FIBER_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = WARP)
{
    return shuffle(mask, value, [=](unsigned lane) UNSEEN {
        return (lane & ~unsigned(width - 1)) | (unsigned(source) & unsigned(width - 1));
    });
}

template <class T> static FIBER_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = WARP)
{
    return shuffle(mask, value,
                   [=](unsigned lane) UNSEEN { return (lane & unsigned(width - 1)) >= delta ? lane - delta : lane; });
}

template <class T> static FIBER_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = WARP)
{
    return shuffle(mask, value, [=](unsigned lane) UNSEEN {
        return (lane & unsigned(width - 1)) + delta < unsigned(width) ? lane + delta : lane;
    });
}

template <class T> static FIBER_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = WARP)
{
    return shuffle(mask, value, [=](unsigned lane) UNSEEN {
        const unsigned source = lane ^ unsigned(lanes);
        return source < (lane & ~unsigned(width - 1)) + unsigned(width) ? source : lane;
    });
}

/* The lanes of `mask` that hold the same value as this one. */
template <class T> static FIBER_INLINE unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    const struct exchange *all = warp_values(mask, word);
    unsigned same = 0;
    for (int lane = 0; lane < WARP; lane++)
        same |= unsigned(((mask & ~all->absent) >> lane & 1) && all->value[lane] == word) << lane;
    return same;
}

template <class F> static FIBER_INLINE unsigned warp_reduce(unsigned mask, unsigned value, F f)
{
    const struct exchange *all = warp_values(mask, value);
    unsigned result = 0;
    bool first = true;
    for (int lane = 0; lane < WARP; lane++) {
        if ((mask & ~all->absent) >> lane & 1) {
            result = first ? unsigned(all->value[lane]) : f(result, unsigned(all->value[lane]));
            first = false;
        }
    }
    return result;
}

template <class T> static FIBER_INLINE T __reduce_add_sync(unsigned mask, T value)
{
    return T(warp_reduce(mask, unsigned(value), [](unsigned a, unsigned b) { return a + b; }));
}

template <class T> static FIBER_INLINE T __reduce_max_sync(unsigned mask, T value)
{
    return T(warp_reduce(mask, unsigned(value), [](unsigned a, unsigned b) { return unsigned(T(a) < T(b) ? b : a); }));
}

template <class T> static FIBER_INLINE T __reduce_min_sync(unsigned mask, T value)
{
    return T(warp_reduce(mask, unsigned(value), [](unsigned a, unsigned b) { return unsigned(T(b) < T(a) ? b : a); }));
}

/* ---------------------------------------------------------------------------------------------- memory */

template <class T> using same = std::type_identity_t<T>;

template <class T> static FIBER_INLINE T atomicAdd(T *address, same<T> value)
{
    return atomic_plus(address, value);
}
template <class T> static FIBER_INLINE T atomicSub(T *address, same<T> value)
{
    return atomic_plus(address, T(T(0) - value));
}
template <class T> static FIBER_INLINE T atomicExch(T *address, same<T> value)
{
    return atomic_apply(address, [=](T) { return value; });
}
template <class T> static FIBER_INLINE T atomicMax(T *address, same<T> value)
{
    return atomic_apply(address, [=](T old) { return old < value ? value : old; });
}
template <class T> static FIBER_INLINE T atomicMin(T *address, same<T> value)
{
    return atomic_apply(address, [=](T old) { return value < old ? value : old; });
}
template <class T> static FIBER_INLINE T atomicAnd(T *address, same<T> value)
{
    return atomic_apply(address, [=](T old) { return old & value; });
}
template <class T> static FIBER_INLINE T atomicOr(T *address, same<T> value)
{
    return atomic_apply(address, [=](T old) { return old | value; });
}
template <class T> static FIBER_INLINE T atomicXor(T *address, same<T> value)
{
    return atomic_apply(address, [=](T old) { return old ^ value; });
}
template <class T> static FIBER_INLINE T atomicCAS(T *address, same<T> compare, same<T> value)
{
    return atomic_apply(address, [=](T old) { return old == compare ? value : old; });
}
[[maybe_unused]] static FIBER_INLINE unsigned atomicInc(unsigned *address, unsigned limit)
{
    return atomic_apply(address, [=](unsigned old) { return old >= limit ? 0 : old + 1; });
}
[[maybe_unused]] static FIBER_INLINE unsigned atomicDec(unsigned *address, unsigned limit)
{
    return atomic_apply(address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

namespace cuda
{
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
enum memory_order {
    memory_order_relaxed = __ATOMIC_RELAXED,
    memory_order_consume = __ATOMIC_CONSUME,
    memory_order_acquire = __ATOMIC_ACQUIRE,
    memory_order_release = __ATOMIC_RELEASE,
    memory_order_acq_rel = __ATOMIC_ACQ_REL,
    memory_order_seq_cst = __ATOMIC_SEQ_CST,
};
namespace std = ::cuda; /* cuda::std::memory_order_relaxed */

template <class T, thread_scope = thread_scope_system> struct atomic_ref {
    T *address;
    explicit FIBER_INLINE atomic_ref(T &object) : address(&object) {}
    FIBER_INLINE T load(memory_order order = memory_order_seq_cst) const { return atomic_read(address, order); }
    FIBER_INLINE void store(T value, memory_order order = memory_order_seq_cst) const
    {
        atomic_write(address, value, order);
    }
    FIBER_INLINE T exchange(T value, memory_order order = memory_order_seq_cst) const
    {
        return atomic_apply(
            address, [=](T) { return value; }, order);
    }
    FIBER_INLINE bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst) const
    {
        return atomic_exchange_if(address, expected, value, order);
    }
    FIBER_INLINE T fetch_add(T value, memory_order order = memory_order_seq_cst) const
    {
        return atomic_apply(
            address, [=](T old) { return T(old + value); }, order);
    }
    FIBER_INLINE T fetch_max(T value, memory_order order = memory_order_seq_cst) const
    {
        return atomic_apply(
            address, [=](T old) { return old < value ? value : old; }, order);
    }
    FIBER_INLINE T fetch_or(T value, memory_order order = memory_order_seq_cst) const
    {
        return atomic_apply(
            address, [=](T old) { return T(old | value); }, order);
    }
};

[[maybe_unused]] static FIBER_INLINE void atomic_thread_fence(memory_order order,
                                                              thread_scope scope = thread_scope_system)
{
    if (order != memory_order_relaxed)
        thread_fence(order, scope >= thread_scope_block);
}
} // namespace cuda

template <class T> static FIBER_INLINE T __ldg(const T *address)
{
    return *address;
}
template <class T> static FIBER_INLINE T __ldca(const T *address)
{
    return *address;
}
template <class T> static FIBER_INLINE T __ldcg(const T *address)
{
    return *address;
}
template <class T> static FIBER_INLINE T __ldcs(const T *address)
{
    return *address;
}
template <class T> static FIBER_INLINE void __stcg(T *address, same<T> value)
{
    *address = value;
}
template <class T> static FIBER_INLINE void __stcs(T *address, same<T> value)
{
    *address = value;
}
template <class T> static FIBER_INLINE void __stwt(T *address, same<T> value)
{
    *address = value;
}

/* ---------------------------------------------------------------------------------------------- bits */

[[maybe_unused]] static FIBER_INLINE int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
[[maybe_unused]] static FIBER_INLINE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
[[maybe_unused]] static FIBER_INLINE int __clz(int x)
{
    return x ? __builtin_clz(unsigned(x)) : 32;
}
[[maybe_unused]] static FIBER_INLINE int __clzll(long long x)
{
    return x ? __builtin_clzll(x) : 64;
}
[[maybe_unused]] static FIBER_INLINE int __ffs(int x)
{
    return __builtin_ffs(x);
}
[[maybe_unused]] static FIBER_INLINE int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
[[maybe_unused]] static FIBER_INLINE unsigned __brev(unsigned x)
{
    unsigned y = 0;
    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}
template <class T> static FIBER_INLINE constexpr T min(T a, T b)
{
    return b < a ? b : a;
}
template <class T> static FIBER_INLINE constexpr T max(T a, T b)
{
    return a < b ? b : a;
}

#endif
