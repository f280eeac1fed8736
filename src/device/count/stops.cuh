/* SPDX-License-Identifier: MIT */
/*
 * How a kernel of the count build stops, waits and is run. Kernel files are compiled so that every access to memory
 * becomes a call; what is not the kernel's own access stands in stops.cc, which is compiled without, or is marked
 * UNSEEN. Nothing here is shared with other files but by these declarations.
 */
#ifndef COUNT_STOPS_CUH
#define COUNT_STOPS_CUH

/* const: accesses to what cannot change are not reported. */
struct count_index {
    unsigned x, y, z;
};
extern const WORKER_LOCAL struct count_index threadIdx __asm__("count_threadIdx"), blockIdx __asm__("count_blockIdx"),
    blockDim __asm__("count_blockDim"), gridDim __asm__("count_gridDim");

enum count_atomic { COUNT_LOAD = 1, COUNT_STORE = 2, COUNT_RMW = 3 };

extern "C" {
struct slot *count_barrier(void); /* the thread itself where the ring goes on; NULL: it has waited */
void count_resume(struct slot *me);
void count_grid_sync(void);
[[noreturn]] void count_trap(void);
void count_syncwarp(uint32_t mask);
uint32_t count_ballot(uint32_t mask, bool predicate);
uint64_t count_shuffle(uint32_t mask, uint64_t word, unsigned source);
const struct exchange *count_exchange(uint32_t mask, uint64_t word);
unsigned count_lane(void);

/* `key` stands for the declaration. */
void *count_shared_array(const char *name, size_t element, size_t count, const void *key);

/* An atomic access is told before it is made. One worker runs, and it switches threads only where a thread stops. */
void count_atomic(const void *address, size_t bytes, enum count_atomic what, int order);
void count_fence(int order, bool in_block);
void count_copy(void *to, const void *from, size_t bytes);
void count_polls(void);
void count_sleeps(void);
void count_wrote(void);
void count_copy_async(void *to, const void *from, size_t bytes, size_t zeros);
void count_copy_commit(void);
void count_copy_wait(unsigned prior);

const void *count_body(void);
bool count_next_block(void);
unsigned count_next_warp(unsigned first); /* how many threads from there on run as a loop; 0: no more */
void count_index_of(unsigned thread);     /* tells a thread its threadIdx */
void count_thread_begins(struct slot *me);
[[noreturn]] void count_thread_ends(void);
void count_begin(void);
void count_enter_block(uint64_t block);

void count_addition(void);
uint64_t count_step(uint64_t length);
uint32_t count_expression(uint32_t left, uint32_t right);
void count_lookback(uint64_t tiles);
}

/* ---------------------------------------------------------------------------------------------- stops */

[[maybe_unused]] static FIBER_INLINE void __syncthreads()
{
    struct slot *me = count_barrier();
    if (me) /* here, where few registers live that a switch has to save */
        count_resume(fiber_switch(me, me + 1));
}

[[maybe_unused]] static FIBER_INLINE void grid_sync()
{
    count_grid_sync();
}

[[noreturn]] [[maybe_unused]] static FIBER_INLINE void __trap()
{
    count_trap();
}

[[maybe_unused]] static FIBER_INLINE void __syncwarp(unsigned mask = FULL_MASK)
{
    count_syncwarp(mask);
}

[[maybe_unused]] static FIBER_INLINE unsigned __ballot_sync(unsigned mask, int predicate)
{
    return count_ballot(mask, predicate != 0);
}

/* Values go through registers: a local whose address is taken would be seen. */
template <class T> static UNSEEN uint64_t word_of(T value)
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof value);
    return word;
}

template <class T> static UNSEEN T value_of(uint64_t word)
{
    T value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
}

/* The value of lane source(lane). */
template <class T, class F> static FIBER_INLINE T shuffle(unsigned mask, T value, F source)
{
    return value_of<T>(count_shuffle(mask, word_of(value), source(count_lane())));
}

/* What all lanes of `mask` gave. */
static FIBER_INLINE const struct exchange *warp_values(unsigned mask, uint64_t word)
{
    return count_exchange(mask, word);
}

/* ---------------------------------------------------------------------------------------------- memory */

#define SHARED(T, name, count)                                                                                         \
    static const char name##_key = 0;                                                                                  \
    T(&name)[count] = *static_cast<T(*)[count]>(count_shared_array(#name, sizeof(T), count, &name##_key))

[[maybe_unused]] static FIBER_INLINE void __nanosleep(unsigned)
{
    count_sleeps();
}
[[maybe_unused]] static FIBER_INLINE void thread_fence(int order, bool in_block)
{
    count_fence(order, in_block);
    count_polls();
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

/* Applies `f` to the word at `address` in one piece; returns what was there. A read-modify-write is an event for those
 * who wait, unless it changed nothing: then it waits itself. */
template <class T, class F> static UNSEEN T atomic_changed(T *address, F f)
{
    T old;
    count_copy(&old, address, sizeof old);
    T desired = f(old);
    const bool changed = __builtin_memcmp(&old, &desired, sizeof old) != 0;
    count_copy(address, &desired, sizeof desired);
    if (changed)
        count_wrote();
    else
        count_polls();
    return old;
}

template <class T, class F> static FIBER_INLINE T atomic_apply(T *address, F f, int order = __ATOMIC_RELAXED)
{
    count_atomic(address, sizeof(T), COUNT_RMW, order);
    return atomic_changed(address, f);
}

template <class T> static FIBER_INLINE T atomic_plus(T *address, T value)
{
    return atomic_apply(address, [=](T old) UNSEEN { return T(old + value); });
}

template <class T> static UNSEEN T atomic_value(const T *address)
{
    T value;
    count_copy(&value, address, sizeof value);
    return value;
}

template <class T> static FIBER_INLINE T atomic_read(T *address, int order)
{
    count_polls();
    count_atomic(address, sizeof(T), COUNT_LOAD, order);
    return atomic_value(address);
}

template <class T> static FIBER_INLINE void atomic_write(T *address, T value, int order)
{
    count_atomic(address, sizeof(T), COUNT_STORE, order);
    count_wrote();
    count_copy(address, &value, sizeof value);
}

/* True: `expected` was there, and `value` is now; otherwise `expected` becomes what is there. */
template <class T> static FIBER_INLINE bool atomic_exchange_if(T *address, T &expected, T value, int order)
{
    count_atomic(address, sizeof(T), COUNT_RMW, order);
    const T wanted = expected;
    expected = atomic_changed(address,
                              [=](T old) UNSEEN { return __builtin_memcmp(&old, &wanted, sizeof old) ? old : value; });
    return __builtin_memcmp(&expected, &wanted, sizeof wanted) == 0;
}

/* Asynchronous copies are carried out at their wait, the last moment the program allows. */
[[maybe_unused]] static FIBER_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes,
                                                                  size_t zeros = 0)
{
    count_copy_async(to, from, bytes, zeros);
}
[[maybe_unused]] static FIBER_INLINE void __pipeline_commit()
{
    count_copy_commit();
}
[[maybe_unused]] static FIBER_INLINE void __pipeline_wait_prior(unsigned prior)
{
    count_copy_wait(prior);
}

/* ---------------------------------------------------------------------------------------------- kernels */

/* Of the thread that runs, what changes from lane to lane (seen.h). */
struct count_now {
    struct request *cursor;
    uint32_t lane, bit, thread;
};
extern "C" {
extern struct count_now count_now;
extern struct request *count_first; /* where the lanes of the warp begin */
extern uint32_t count_loop;         /* threads that the plain loop runs; 0: one of them has left it */
extern bool count_flat;             /* threads have one dimension */
}
extern WORKER_LOCAL struct count_index count_index __asm__("count_threadIdx"); /* the same, to be written */

/* The next lane of the warp becomes the thread that runs; false behind the last, and when one has left the loop. */
[[maybe_unused]] static FIBER_INLINE UNSEEN bool count_next_lane(unsigned first, unsigned lane, unsigned lanes)
{
    if (lane == lanes || !count_loop)
        return false;
    count_now = {count_first, lane, 1u << lane, first + lane};
    if (count_flat)
        count_index.x = first + lane;
    else
        count_index_of(first + lane);
    return true;
}

/* How a kernel is run: as a plain loop over threads, or as one thread on a stack of its own. Body is the kernel with
 * its arguments. */
template <class Body> struct kernel_body {
    static inline bool spins;

    UNSEEN static void run_blocks()
    {
        const Body *body = static_cast<const Body *>(count_body());
        while (count_next_block())
            for (unsigned first = 0; const unsigned lanes = count_next_warp(first); first += WARP)
                for (unsigned lane = 0; count_next_lane(first, lane, lanes); lane++)
                    (*body)();
    }

    UNSEEN static void thread(void *, struct slot *me)
    {
        count_thread_begins(me);
        (*static_cast<const Body *>(count_body()))();
        count_thread_ends();
    }
};

template <auto function> struct kernel_of;

template <class... P, void (*function)(P...)> struct kernel_of<function> {
    UNSEEN static void enqueue(const char *name, bool cooperative, extent blocks, extent threads, P... values)
    {
        const auto body = [=]() UNSEEN { function(values...); };
        using how = kernel_body<std::remove_cv_t<decltype(body)>>;
        static_assert((std::is_trivially_copyable_v<P> && ...)); /* a graph keeps a copy */
        static const struct kernel kernel = {name,        how::run_blocks, how::thread, count_begin, count_enter_block,
                                             &how::spins, sizeof body};
        cpu_launch(&kernel, &body, blocks.of, threads.of, cooperative);
    }
};

#endif
