/* SPDX-License-Identifier: MIT */
/*
 * CUDA's words for kernels on the CPU device. A kernel file includes them through device/gpu.cuh.
 *
 * threadIdx and its kin are objects of each file, and nobody takes their address: so the compiler knows that no store
 * of a kernel can change them, and keeps them in registers.
 */
#ifndef WORDS_CUH
#define WORDS_CUH

#include <cmath>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "device/cpu/fiber.h"

#define __global__ __attribute__((always_inline)) inline
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

/* ---------------------------------------------------------------------------------------------- thread and block */

[[maybe_unused]] static __thread struct {
    unsigned x, y, z;
} threadIdx, blockIdx, blockDim, gridDim;

constexpr int warpSize = WARP;

/* How many threads the plain loop runs; 0 once a thread has left it. */
static __thread unsigned loop_limit;

[[maybe_unused]] static FIBER_INLINE unsigned linear_thread()
{
    return worker_flat ? threadIdx.x : (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/* After every stop: this is thread `me` again. */
static FIBER_INLINE struct slot *thread_resumes(struct slot *me)
{
    worker_current = me;
    threadIdx.x = me->x;
    if (!worker_flat) [[unlikely]] {
        threadIdx.y = me->y;
        threadIdx.z = me->z;
    }
    return me;
}

/* A stop that the ring did not expect. True: it is the ring's all the same. */
[[maybe_unused]] static __attribute__((noinline)) bool thread_asks(uint32_t stop)
{
    if (loop_limit) {
        loop_limit = 0;
        fiber_leave_loop(linear_thread());
    }
    return fiber_enter(stop);
}

/* A stop under the general scheduler. */
[[maybe_unused]] static __attribute__((noinline)) void thread_waits(uint32_t stop, uint32_t mask, uint64_t value)
{
    struct slot *me = worker_current;
    fiber_stop(stop, mask, value);
    thread_resumes(me);
}

[[maybe_unused]] static FIBER_INLINE void __syncthreads()
{
    if (worker_expected == STOP_BARRIER || thread_asks(STOP_BARRIER)) [[likely]]
        thread_resumes(fiber_switch(worker_current, worker_current + 1));
    else
        thread_waits(STOP_BARRIER, FULL_MASK, 0);
}

/* ---------------------------------------------------------------------------------------------- warp operations */

/* One lane's part of a warp operation: gives `value`, waits for the others, and is its thread again; what all gave is
 * in thread_exchange(). Two exchanges alternate: lane 0 gives its next value before lane 1 has read the last ones. */
static FIBER_INLINE struct slot *warp_operation(uint32_t stop, uint32_t mask, uint64_t value)
{
    if ((worker_expected == stop && mask == FULL_MASK) ||
        thread_asks(mask == FULL_MASK ? stop : uint32_t(STOP_PARTIAL))) [[likely]] {
        struct slot *me = worker_current;
        const unsigned lane = thread_lane(me);
        me->exchange ^= 1;
        struct exchange *given = thread_exchange(me);
        if (stop == STOP_EXCHANGE)
            given->value[lane] = value;
        if (stop == STOP_BALLOT)
            given->ballot = (lane ? given->ballot : 0) | uint32_t(value) << lane;
        struct slot *next = me + 1;
        if (lane == WARP - 1) [[unlikely]]
            next = fiber_wrap(me);
        return thread_resumes(fiber_switch(me, next));
    }
    thread_waits(stop, mask, value);
    return worker_current;
}

[[maybe_unused]] static FIBER_INLINE void __syncwarp(unsigned mask = FULL_MASK)
{
    warp_operation(STOP_SYNCWARP, mask, 0);
}

[[maybe_unused]] static FIBER_INLINE unsigned __ballot_sync(unsigned mask, int predicate)
{
    return thread_exchange(warp_operation(STOP_BALLOT, mask, predicate != 0))->ballot;
}

[[maybe_unused]] static FIBER_INLINE int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

[[maybe_unused]] static FIBER_INLINE int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

/* The value of lane source(lane). */
template <class T, class F> static FIBER_INLINE T shuffle(unsigned mask, T value, F source)
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    const struct slot *me = warp_operation(STOP_EXCHANGE, mask, word);
    memcpy(&value, &thread_exchange(me)->value[source(thread_lane(me))], sizeof value);
    return value;
}

/* A source outside the segment of `width` lanes is the lane itself. */
template <class T> static FIBER_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = WARP)
{
    return shuffle(mask, value, [=](unsigned lane) {
        return (lane & ~unsigned(width - 1)) | (unsigned(source) & unsigned(width - 1));
    });
}

template <class T> static FIBER_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = WARP)
{
    return shuffle(mask, value,
                   [=](unsigned lane) { return (lane & unsigned(width - 1)) >= delta ? lane - delta : lane; });
}

template <class T> static FIBER_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = WARP)
{
    return shuffle(mask, value, [=](unsigned lane) {
        return (lane & unsigned(width - 1)) + delta < unsigned(width) ? lane + delta : lane;
    });
}

template <class T> static FIBER_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = WARP)
{
    return shuffle(mask, value, [=](unsigned lane) {
        const unsigned source = lane ^ unsigned(lanes);
        return source < (lane & ~unsigned(width - 1)) + unsigned(width) ? source : lane;
    });
}

/* The lanes of `mask` that hold the same value as this one. */
template <class T> static FIBER_INLINE unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    const struct exchange *all = thread_exchange(warp_operation(STOP_EXCHANGE, mask, word));
    unsigned same = 0;
    for (int lane = 0; lane < WARP; lane++)
        same |= unsigned(((mask & ~all->absent) >> lane & 1) && all->value[lane] == word) << lane;
    return same;
}

template <class F> static FIBER_INLINE unsigned warp_reduce(unsigned mask, unsigned value, F f)
{
    const struct exchange *all = thread_exchange(warp_operation(STOP_EXCHANGE, mask, value));
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

/* Offset and launch of one shared array, kept by the file so that the usual case is one compare. */
struct shared_array {
    uint64_t launch;
    uint32_t offset;
};

#define SHARED(T, name, count)                                                                                         \
    static __thread struct shared_array name##_array;                                                                  \
    if (name##_array.launch != worker.launch) [[unlikely]] {                                                           \
        name##_array.offset = fiber_reserve_shared(#name, sizeof(T) * (count));                                        \
        name##_array.launch = worker.launch;                                                                           \
    }                                                                                                                  \
    T(&name)[count] = *reinterpret_cast<T(*)[count]>(worker.shared + name##_array.offset)

/* Reading what another thread may write: now and then somebody else gets a turn. */
static FIBER_INLINE void thread_polls()
{
    if (++worker.polls >= worker.poll_limit) [[unlikely]] {
        worker.polls = 0;
        thread_asks(STOP_SPIN);
        thread_waits(STOP_SPIN, FULL_MASK, 0);
    }
}

[[maybe_unused]] static FIBER_INLINE void __nanosleep(unsigned)
{
    worker.polls = 0;
    thread_asks(STOP_SPIN);
    thread_waits(STOP_SPIN, FULL_MASK, 0);
}

[[maybe_unused]] static FIBER_INLINE void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    thread_polls();
}
[[maybe_unused]] static FIBER_INLINE void __threadfence_block()
{
    __threadfence();
}
[[maybe_unused]] static FIBER_INLINE void __threadfence_system()
{
    __threadfence();
}

/* A read-modify-write is an event for those who wait, unless it changed nothing: then it waits itself. */
template <class T> static FIBER_INLINE T thread_wrote(T old, bool changed)
{
    if (changed)
        worker.events++;
    else
        thread_polls();
    return old;
}

/* Applies `f` to the word at `address` in one piece; returns what was there. */
template <class T, class F> static FIBER_INLINE T atomic_apply(T *address, F f, int order = __ATOMIC_SEQ_CST)
{
    T old, desired;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    do
        desired = f(old);
    while (!__atomic_compare_exchange(address, &old, &desired, false, order, __ATOMIC_RELAXED));
    return thread_wrote(old, memcmp(&old, &desired, sizeof old) != 0);
}

template <class T> using same = std::type_identity_t<T>;

template <class T> static FIBER_INLINE T atomicAdd(T *address, same<T> value)
{
    if constexpr (std::is_integral_v<T>)
        return thread_wrote(__atomic_fetch_add(address, value, __ATOMIC_SEQ_CST), value != 0);
    else
        return atomic_apply(address, [=](T old) { return old + value; });
}
template <class T> static FIBER_INLINE T atomicSub(T *address, same<T> value)
{
    return thread_wrote(__atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST), value != 0);
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
    FIBER_INLINE T load(memory_order order = memory_order_seq_cst) const
    {
        thread_polls();
        T value;
        __atomic_load(address, &value, order);
        return value;
    }
    FIBER_INLINE void store(T value, memory_order order = memory_order_seq_cst) const
    {
        worker.events++;
        __atomic_store(address, &value, order);
    }
    FIBER_INLINE T exchange(T value, memory_order order = memory_order_seq_cst) const
    {
        return atomic_apply(
            address, [=](T) { return value; }, order);
    }
    FIBER_INLINE bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst) const
    {
        const bool changed = __atomic_compare_exchange(address, &expected, &value, false, order, __ATOMIC_RELAXED);
        thread_wrote(0, changed);
        return changed;
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

[[maybe_unused]] static FIBER_INLINE void atomic_thread_fence(memory_order, thread_scope = thread_scope_system)
{
    __threadfence();
}
} // namespace cuda

/* Asynchronous copies are carried out at their wait, the last moment the program allows. */
[[maybe_unused]] static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
    fiber_copy_async(linear_thread(), to, from, bytes, zeros);
}
[[maybe_unused]] static inline void __pipeline_commit()
{
    fiber_copy_commit(linear_thread());
}
[[maybe_unused]] static inline void __pipeline_wait_prior(unsigned prior)
{
    fiber_copy_wait(linear_thread(), prior);
}

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

/* ---------------------------------------------------------------------------------------------- launch */

/* Both are counted as launches and carried out at once. */
void cpu_launch(const struct kernel *kernel, const void *arguments, const uint64_t blocks[3], const uint64_t threads[3],
                bool cooperative);
void launch_memcpy(void *to, const void *from, size_t bytes);
void launch_memset(void *to, int byte, size_t bytes);

/* dim3, but of any width, so that a count of blocks that does not fit is refused and not cut. */
struct extent {
    uint64_t of[3];
    template <class T>
    requires std::is_integral_v<T>
    constexpr extent(T x) : of{uint64_t(x), 1, 1} {}
    constexpr extent(dim3 d) : of{d.x, d.y, d.z} {}
};

template <auto function> struct kernel_of;

/* How a kernel is run: as a plain loop over threads, or as one thread on a stack of its own. */
template <class... P, void (*function)(P...)> struct kernel_of<function> {
    using arguments = std::tuple<std::remove_cv_t<P>...>;

    static FIBER_INLINE void call(const arguments &values)
    {
        [&]<size_t... i>(std::index_sequence<i...>) __attribute__((always_inline))
        {
            function(std::get<i>(values)...);
        }
        (std::index_sequence_for<P...>{});
    }

    static void begin()
    {
        loop_limit = 0; /* of a loop that ran here before: without one, all threads are fibers from the start */
        blockDim = {worker.threads_x, worker.threads_y, worker.threads_z};
        gridDim = {worker.blocks_x, worker.blocks_y, worker.blocks_z};
    }

    static void enter_block(uint64_t block)
    {
        if (worker_flat) {
            blockIdx = {unsigned(block), 0, 0};
        } else {
            blockIdx.x = unsigned(block % worker.blocks_x);
            blockIdx.y = unsigned(block / worker.blocks_x % worker.blocks_y);
            blockIdx.z = unsigned(block / worker.blocks_x / worker.blocks_y);
        }
    }

    static void run_blocks()
    {
        const arguments values = *static_cast<const arguments *>(worker.arguments);
        const unsigned threads = worker.threads, width = worker.threads_x, height = worker.threads_y;
        while (worker.block_next < worker.block_last) {
            enter_block(worker.block_next++);
            if (worker.shared_bytes)
                fiber_fill_shared();
            loop_limit = threads;
            if (worker_flat) {
                threadIdx.y = threadIdx.z = 0;
                for (unsigned x = 0; x < loop_limit; x++) {
                    threadIdx.x = x;
                    call(values);
                }
            } else {
                for (unsigned i = 0; i < loop_limit; i++) {
                    threadIdx = {i % width, i / width % height, i / width / height};
                    call(values);
                }
            }
            if (!loop_limit)
                fiber_finish_block();
        }
    }

    static void thread(void *, struct slot *me)
    {
#if !FIBER_ASSEMBLY
        me = worker_current;
#endif
        thread_resumes(me);
        threadIdx.y = me->y;
        threadIdx.z = me->z;
        call(*static_cast<const arguments *>(worker.arguments));
        if (worker_expected == STOP_END || fiber_enter(STOP_END)) [[likely]]
            fiber_jump(worker_current + 1);
        fiber_end();
    }

    static inline bool spins;
    static void enqueue(const char *name, bool cooperative, extent blocks, extent threads, P... values)
    {
        static const struct kernel kernel = {name, run_blocks, thread, begin, enter_block, &spins};
        const arguments packed(values...);
        cpu_launch(&kernel, &packed, blocks.of, threads.of, cooperative);
    }
};

#define launch(kernel, ...) kernel_of<(kernel)>::enqueue(#kernel, false, __VA_ARGS__)
#define launch_cooperative(kernel, ...) kernel_of<(kernel)>::enqueue(#kernel, true, __VA_ARGS__)

[[maybe_unused]] static __forceinline__ void count_addition()
{
    worker.additions++;
}

extern bool cpu_counts_additions;
template <class F> static inline void with_counting(F f)
{
    if (cpu_counts_additions)
        f(std::true_type{});
    else
        f(std::false_type{});
}

#endif
