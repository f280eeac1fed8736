/* SPDX-License-Identifier: MIT */
/*
 * What the CPU device's scheduler and the words in a kernel share: a slot per thread, the state of the worker that
 * runs them, and the switch from one thread to another.
 *
 * A block begins as a plain loop over its threads. The first thread that has to wait leaves the loop, and from then on
 * every thread of the block is a fiber with a stack and a slot of its own. Two schedulers run fibers:
 *
 *   the ring     threads stop in index order at the same kind of stop, so "next" is the next slot: no bookkeeping.
 *                The sentinel behind the last slot leads back to the first.
 *   the general  one (scheduler.cc) keeps the state of each thread and serves every order, partial masks, early
 *                exits, waiting on memory and several resident blocks. Anything the ring does not expect goes there.
 */
#ifndef FIBER_H
#define FIBER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(SCANBENCH_UCONTEXT)
#define FIBER_ASSEMBLY 1
#else
#define FIBER_ASSEMBLY 0
#include <ucontext.h>
#endif

#if defined(__AVX512F__)
#error "the switch does not save the registers of AVX-512: compile kernels without -mavx512*"
#endif

#define FIBER_INLINE __attribute__((always_inline)) inline

constexpr int WARP = 32;
constexpr uint32_t FULL_MASK = 0xffffffffu;

/* 32 bytes, so that a warp's slots are 1 KiB. */
struct slot {
    void *stack;  /* saved stack pointer (ucontext: its ucontext_t) */
    void *resume; /* where to go on */
    void *frame;  /* saved frame pointer; the sentinel: the first slot */
    uint16_t x, y, z;
    uint16_t exchange; /* where the values of the thread's last warp operation lie: see thread_exchange */
};

/* Why a thread stops. The first that a warp shares is STOP_EXCHANGE. */
enum stop : uint32_t {
    STOP_GENERAL, /* never expected: the general scheduler decides */
    STOP_BARRIER,
    STOP_END,
    STOP_EXCHANGE,
    STOP_BALLOT,
    STOP_SYNCWARP,
    STOP_PARTIAL, /* the same three with a mask that is not full */
    STOP_SPIN,    /* waits for memory */
    STOP_GRID,    /* waits for all threads of the grid */
};

/* Values of one warp operation. */
struct alignas(512) exchange {
    uint64_t value[WARP];
    uint32_t ballot;
    uint32_t absent; /* lanes that have ended or never were; never any in the ring */
};

/* A block's slots begin a range of addresses in which every exchange follows from a slot's address alone. In units of
 * 64 KiB: the slots; two exchanges for each warp; and for each lane number one exchange for each warp, into which the
 * general scheduler puts what that thread alone is to read. */
constexpr size_t EXCHANGE_PLANE = 64 << 10;
constexpr size_t SLOTS_BYTES = EXCHANGE_PLANE * (2 + WARP);
constexpr uint16_t own_exchange(unsigned lane)
{
    return uint16_t((1 + lane) * (EXCHANGE_PLANE / sizeof(struct exchange)));
}

static FIBER_INLINE struct exchange *thread_exchange(const struct slot *me)
{
    const uintptr_t warp = reinterpret_cast<uintptr_t>(me) & ~uintptr_t(WARP * sizeof *me - 1);
    return reinterpret_cast<struct exchange *>(warp + EXCHANGE_PLANE) + me->exchange;
}

static FIBER_INLINE unsigned thread_lane(const struct slot *me)
{
    return unsigned(reinterpret_cast<uintptr_t>(me) / sizeof *me) % WARP;
}

/* From the last lane to the first. The empty statement keeps the branch a branch: the next slot is guessed, not waited
 * for. */
static FIBER_INLINE struct slot *fiber_wrap(struct slot *me)
{
    asm("" : "+r"(me));
    return me - (WARP - 1);
}

struct block;
struct kernel;

/* The state of one OS thread of the device; every word of a kernel goes through it. */
struct worker_state {
    uint32_t polls, poll_limit;
    struct slot *slots; /* of the current block */
    char *shared;       /* the block's shared memory */
    uint64_t launch;    /* number of the launch: tells whether an offset into `shared` is of now */
    uint64_t additions;
    uint64_t events;                 /* writes that others may wait for */
    uint64_t block_next, block_last; /* blocks this worker has drawn */
    const struct kernel *kernel;
    const void *arguments;
    struct block *block; /* NULL while the block is a plain loop */
    uint32_t threads, threads_x, threads_y, threads_z;
    uint32_t blocks_x, blocks_y, blocks_z;
    uint32_t shared_bytes; /* reserved in this launch */
};

#define WORKER_LOCAL __thread __attribute__((tls_model("local-exec")))
extern WORKER_LOCAL struct worker_state worker;

/* What every switch touches stands alone: members of a struct are reached through a base in a register, which every
 * switch has to load anew. */
extern WORKER_LOCAL struct slot *worker_current; /* the thread that runs */
extern WORKER_LOCAL uint32_t worker_expected;    /* the ring: the kind of stop that needs no question */
extern WORKER_LOCAL bool worker_flat;            /* one dimension of blocks and threads */

/* A kernel with its template arguments, as `launch` hands it over. */
struct kernel {
    const char *name;
    void (*run_blocks)(void);                    /* all of block_next..block_last */
    void (*thread)(void *unused, struct slot *); /* one thread on a stack of its own; does not return */
    void (*begin)(void);                         /* tells the file's gridDim and blockDim */
    void (*enter_block)(uint64_t block);         /* tells its blockIdx */
    bool *spins;                                 /* has this kernel waited for memory? */
    size_t arguments_bytes;
};

/* The thread `index` leaves the plain loop: it and those behind it become fibers. */
void fiber_leave_loop(unsigned index);
/* May this stop go on in the ring? Otherwise the block is with the general scheduler from now on. */
bool fiber_enter(uint32_t stop);
/* A stop under the general scheduler; returns when the thread may go on. */
void fiber_stop(uint32_t stop, uint32_t mask, uint64_t value);
/* The end of a thread under the general scheduler. */
[[noreturn]] void fiber_end(void);
/* The end of the thread that left the plain loop: returns when the whole block has ended. */
void fiber_finish_block(void);
/* A thread has given up: ends the launch. */
[[noreturn]] void fiber_trap(uint64_t block, unsigned thread);
/* Waits until all threads of the grid have come. Ends the launch where it is not a cooperative one. */
void fiber_stop_at_grid(void);
/* Fills a block's shared memory with 0xA5. */
void fiber_fill_shared(void);
/* Reserves shared memory for one array in this launch; its offset. Ends the launch when there is no room. */
uint32_t fiber_reserve_shared(const char *name, size_t bytes);

void fiber_copy_async(unsigned index, void *to, const void *from, size_t bytes, size_t zeros);
void fiber_copy_commit(unsigned index);
void fiber_copy_wait(unsigned index, unsigned prior);

/* Stops in `me`, goes on in `next`; returns, as `me`, when somebody goes on in `me`. */
#if FIBER_ASSEMBLY

/* The stack pointer, the frame pointer and the place are kept in the slot; every other register is declared lost, so
 * that the compiler saves exactly those that live. Whoever resumes a thread leaves its slot in rsi. */
static FIBER_INLINE struct slot *fiber_switch(struct slot *me, struct slot *next)
{
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "movq %%rsp, (%%rdi)\n\t"
                 "movq %%rax, 8(%%rdi)\n\t"
                 "movq %%rbp, 16(%%rdi)\n\t"
                 "movq (%%rsi), %%rsp\n\t"
                 "movq 16(%%rsi), %%rbp\n\t"
                 "jmpq *8(%%rsi)\n"
                 "1:"
                 : "+D"(me), "+S"(next)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                   "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                   "xmm14", "xmm15", "cc", "memory");
    return next;
}

[[noreturn]] static FIBER_INLINE void fiber_jump(struct slot *next)
{
    asm volatile("movq (%%rsi), %%rsp\n\t"
                 "movq 16(%%rsi), %%rbp\n\t"
                 "jmpq *8(%%rsi)"
                 :
                 : "S"(next)
                 : "memory");
    __builtin_unreachable();
}

#else

static inline struct slot *fiber_switch(struct slot *me, struct slot *next)
{
    worker_current = next; /* for a thread that begins */
    swapcontext(static_cast<ucontext_t *>(me->stack), static_cast<ucontext_t *>(next->stack));
    return me;
}

[[noreturn]] static inline void fiber_jump(struct slot *next)
{
    worker_current = next;
    setcontext(static_cast<ucontext_t *>(next->stack));
    __builtin_unreachable();
}

#endif
#endif
