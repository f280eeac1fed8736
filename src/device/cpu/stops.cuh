/* SPDX-License-Identifier: MIT */
/*
 * How a kernel of the run build stops, waits and is run: everything inline in the kernel's file. words.cuh builds
 * CUDA's words on it; device/count/stops.cuh is its twin in the count build.
 *
 * threadIdx and its kin are objects of each file, and nobody takes their address: so the compiler knows that no store
 * of a kernel can change them, and keeps them in registers.
 */
#ifndef STOPS_CUH
#define STOPS_CUH

/* ---------------------------------------------------------------------------------------------- thread and block */

[[maybe_unused]] static __thread struct {
    unsigned x, y, z;
} threadIdx, blockIdx, blockDim, gridDim;

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

/* What all lanes of `mask` gave. */
static FIBER_INLINE const struct exchange *warp_values(unsigned mask, uint64_t word)
{
    return thread_exchange(warp_operation(STOP_EXCHANGE, mask, word));
}

/* ---------------------------------------------------------------------------------------------- grid */

[[noreturn]] [[maybe_unused]] static __attribute__((noinline)) void __trap()
{
    fiber_trap((uint64_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, linear_thread());
}

[[maybe_unused]] static __attribute__((noinline)) void grid_sync()
{
    struct slot *me = worker_current;
    fiber_stop_at_grid();
    thread_resumes(me);
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

[[maybe_unused]] static FIBER_INLINE void thread_fence(int order, bool)
{
    __atomic_thread_fence(order);
    thread_polls();
}
[[maybe_unused]] static FIBER_INLINE void __threadfence()
{
    thread_fence(__ATOMIC_SEQ_CST, false);
}
[[maybe_unused]] static FIBER_INLINE void __threadfence_block()
{
    thread_fence(__ATOMIC_SEQ_CST, true);
}
[[maybe_unused]] static FIBER_INLINE void __threadfence_system()
{
    thread_fence(__ATOMIC_SEQ_CST, false);
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

template <class T> static FIBER_INLINE T atomic_plus(T *address, T value)
{
    if constexpr (std::is_integral_v<T>)
        return thread_wrote(__atomic_fetch_add(address, value, __ATOMIC_SEQ_CST), value != 0);
    else
        return atomic_apply(address, [=](T old) { return old + value; });
}

template <class T> static FIBER_INLINE T atomic_read(T *address, int order)
{
    thread_polls();
    T value;
    __atomic_load(address, &value, order);
    return value;
}

template <class T> static FIBER_INLINE void atomic_write(T *address, T value, int order)
{
    worker.events++;
    __atomic_store(address, &value, order);
}

/* True: `expected` was there, and `value` is now; otherwise `expected` becomes what is there. */
template <class T> static FIBER_INLINE bool atomic_exchange_if(T *address, T &expected, T value, int order)
{
    const bool changed = __atomic_compare_exchange(address, &expected, &value, false, order, __ATOMIC_RELAXED);
    thread_wrote(0, changed);
    return changed;
}

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

/* ---------------------------------------------------------------------------------------------- kernels */

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
        static_assert((std::is_trivially_copyable_v<P> && ...)); /* a graph keeps a copy */
        static const struct kernel kernel = {name, run_blocks, thread, begin, enter_block, &spins, sizeof(arguments)};
        const arguments packed(values...);
        cpu_launch(&kernel, &packed, blocks.of, threads.of, cooperative);
    }
};

[[maybe_unused]] static __forceinline__ void count_addition()
{
    worker.additions++;
}
[[maybe_unused]] static __forceinline__ void count_lookback(uint64_t) {}

/* Additions are counted where check asks for it, on i32 with sum alone: every counted operator is a kernel more to
 * compile. The count build counts them all. */
extern bool cpu_counts_additions;
[[maybe_unused]] static inline bool device_counting()
{
    return cpu_counts_additions;
}

#endif
