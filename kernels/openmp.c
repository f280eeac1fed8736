/* SPDX-License-Identifier: MIT */
/*
 * Every core: tiles are dealt out to the threads in turn, and each thread goes twice over its tile, in the L2 of
 * its core. What came before the tile, the carry, arrives from the thread with the tile before.
 *
 *     tile         0            1            2            3           4 threads
 *     sum          s0           s1           s2           s3          first pass: read from the L2
 *     carry        0  --------> s0 --------> s0+s1 -----> ...         one addition a tile, from core to core
 *     scan         s0+in        ...                                   second pass: the same, written to memory
 *
 * While a tile is scanned, the thread's next one is fetched from memory, strip by strip: neither memory nor the adders
 * wait for the other. A tile's sum is taken before its carry is awaited, so that the threads wait for one addition
 * each, and none for a whole tile; from the second tile on they are staggered and the carry is there. The last tile
 * needs no sum. Within a tile: four running sums for the first pass, vectors (parts/simd.h) for the second. Reads
 * almost 2n words, of which n come from memory, and writes n: 2n where it counts. Additions and steps are the
 * compiler's.
 *
 * What a reader without a GPU would use, and what a GPU should be compared with. Below a few tiles it is one core's
 * SIMD loop: the others would come too late. `parallel for` with an inscan reduction says all of this in three lines,
 * but compilers implement it with passes over the whole array.
 *
 * As many threads as OpenMP gives (OMP_NUM_THREADS). The count build has no threads: it takes the tiles in order.
 */
#include "parts/simd.h"

#include <sched.h>
#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#else /* one thread takes the tiles of all */
static int omp_get_max_threads(void)
{
    return 2;
}
static int omp_get_num_threads(void)
{
    return 1;
}
#endif

enum {
    STRIP = 512,  /* elements: 2 or 4 KiB, as much as may be on its way from memory at once */
    LINE = 64,    /* bytes of a cache line */
    CHAINS = 4,   /* running sums, as many as an addition of floats takes cycles */
    SLOTS = 64,   /* where carries wait: a thread looks at its own, up to so many threads */
    LOOKS = 1000, /* at a carry that is not there, before others may have the core */
};

/* A sum of any type. */
union word {
    int32_t I32;
    int64_t I64;
    float F32;
    double F64;
};

/* What is done with a tile; `in` and `out` are the whole array's, `from` is the tile's place. */
struct loops {
    union word (*sum)(const void *in, uint64_t from);
    union word (*add)(union word carry, union word sum);
    void (*scan)(const void *in, void *out, uint64_t from, uint64_t n, uint64_t ahead, union word carry,
                 bool exclusive);
    union word identity;
};

/* The sum of a whole tile, in four quarters side by side: they are combined in order. */
#define SUMS(op, type, T, pragma)                                                                                      \
    WIDE static union word sum_##op##_##type(const void *array, uint64_t from)                                         \
    {                                                                                                                  \
        enum { QUARTER = TILE / CHAINS };                                                                              \
        const T *in = (const T *)array + from;                                                                         \
        T a = identity_##op##_##type, b = a, c = a, d = a;                                                             \
        pragma for (uint64_t i = 0; i < QUARTER; i++)                                                                  \
        {                                                                                                              \
            a = apply_##op##_##type(a, in[i]);                                                                         \
            b = apply_##op##_##type(b, in[i + QUARTER]);                                                               \
            c = apply_##op##_##type(c, in[i + 2 * QUARTER]);                                                           \
            d = apply_##op##_##type(d, in[i + 3 * QUARTER]);                                                           \
        }                                                                                                              \
        return (union word){.type = apply_##op##_##type(apply_##op##_##type(a, b), apply_##op##_##type(c, d))};        \
    }
#define ADD PRAGMA(omp simd reduction(+ : a, b, c, d))
#define GREATEST PRAGMA(omp simd reduction(max : a, b, c, d))
SUMS(SUM, I32, int32_t, ADD)
SUMS(SUM, I64, int64_t, ADD)
SUMS(SUM, F32, float, ADD)
SUMS(SUM, F64, double, ADD)
SUMS(MAX, I32, int32_t, GREATEST)
SUMS(MAX, I64, int64_t, GREATEST)
SUMS(MAX, F32, float, GREATEST)
SUMS(MAX, F64, double, GREATEST)
SUMS(AFFINE, I32, int32_t, )
SUMS(AFFINE, I64, int64_t, )

/* Asks for memory that is read soon, line by line. */
static inline void fetch(const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE)
        __builtin_prefetch((const char *)from + i, 0, 2);
}

/* The scan of a tile, or of all. With `ahead` in strips: while one is scanned, memory brings the same strip of the tile
 * that lies so many elements ahead. */
#define LOOPS(op, type, T)                                                                                             \
    static union word add_##op##_##type(union word carry, union word sum)                                              \
    {                                                                                                                  \
        return (union word){.type = apply_##op##_##type(carry.type, sum.type)};                                        \
    }                                                                                                                  \
                                                                                                                       \
    static void tile_##op##_##type(const void *in_array, void *out_array, uint64_t from, uint64_t n, uint64_t ahead,   \
                                   union word carry, bool exclusive)                                                   \
    {                                                                                                                  \
        const T *in = (const T *)in_array + from;                                                                      \
        T *out = (T *)out_array + from, s = carry.type;                                                                \
        uint64_t count, strip = ahead ? STRIP : n;                                                                     \
        for (uint64_t i = 0; i < n; i += count) {                                                                      \
            count = n - i < strip ? n - i : strip;                                                                     \
            bool between = exclusive && i + count < n; /* the next strip needs what this one leaves out */             \
            T end = between ? in[i + count - 1] : s;                                                                   \
            if (ahead)                                                                                                 \
                fetch(in + i + ahead, count * sizeof(T));                                                              \
            s = scan_##op##_##type(in + i, out + i, count, s, exclusive);                                              \
            if (between)                                                                                               \
                s = apply_##op##_##type(s, end);                                                                       \
        }                                                                                                              \
    }
EACH_OPERATOR(LOOPS)

/* The carry of tile i, once the tile before has left it: the slot says whose it holds. */
struct slot {
    _Alignas(64) _Atomic uint64_t tile;
    union word carry;
};

static union word await(struct slot *slot, uint64_t tile)
{
    for (int looks = 0; atomic_load_explicit(&slot->tile, memory_order_acquire) != tile; looks++)
        if (looks >= LOOKS)
            sched_yield(); /* more threads than cores: the one before may be waiting for this one's */
    return slot->carry;
}

static void leave(struct slot *slot, uint64_t tile, union word carry)
{
    slot->carry = carry;
    atomic_store_explicit(&slot->tile, tile, memory_order_release);
}

/* A thread takes its tiles in ascending order, so that the first unfinished one waits for nobody. A slot is used again
 * SLOTS tiles later: by then its carry has been taken, or the chain would not have come so far. */
static void scan_tiles(const struct problem *p, const struct loops *loops)
{
    struct slot slots[SLOTS];
    uint64_t tiles = divide_up(p->n, TILE);
    for (int i = 0; i < SLOTS; i++)
        atomic_init(&slots[i].tile, UINT64_MAX);
    leave(&slots[0], 0, loops->identity);
#pragma omp parallel for schedule(static, 1)
    for (uint64_t i = 0; i < tiles; i++) {
        bool last = i + 1 == tiles;
        uint64_t threads = (uint64_t)omp_get_num_threads();
        union word carry, sum = loops->identity;
        if (!last)
            sum = loops->sum(p->in, i * TILE);
        carry = await(&slots[i % SLOTS], i);
        if (!last)
            leave(&slots[(i + 1) % SLOTS], i + 1, loops->add(carry, sum));
        loops->scan(p->in, p->out, i * TILE, last ? p->n - i * TILE : TILE,
                    i + threads < tiles - 1 ? threads * TILE : 0, carry, p->kind == EXCLUSIVE);
    }
}

static bool on_one_core(const struct problem *p)
{
    return p->n <= SMALL || omp_get_max_threads() == 1;
}

static void scan(const struct problem *p, const struct loops *loops)
{
    if (on_one_core(p))
        loops->scan(p->in, p->out, 0, p->n, 0, loops->identity, p->kind == EXCLUSIVE);
    else
        scan_tiles(p, loops);
}

static void run(const struct problem *p)
{
#define CASE(op, type, T)                                                                                              \
    case op | type << 8:                                                                                               \
        scan(p, &(struct loops){                                                                                       \
                    sum_##op##_##type, add_##op##_##type, tile_##op##_##type, {.type = identity_##op##_##type}});      \
        break;
    switch (p->op | p->type << 8) {
        EACH_OPERATOR(CASE)
    }
}

static struct cost model(const struct problem *p)
{
    uint64_t exclusive = p->kind == EXCLUSIVE, tiles = divide_up(p->n, TILE), summed = (tiles - 1) * TILE;
    struct cost cost = {.additions = UNKNOWN, .steps = UNKNOWN, .words_read = p->n - exclusive, .words_written = p->n};
    if (!on_one_core(p))
        cost.words_read = summed + p->n - exclusive * tiles;
    return cost;
}

ALGORITHM(openmp) = {
    .title = "OpenMP, every core",
    .runs_on = HOST,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .items = TILE,
    .additions = "the compiler's",
    .launches = "0",
    .traffic = "3 n, of which n in the L2",
    .run = HAS_CORES ? run : NULL,
    .missing = HAS_CORES ? NULL : NEEDS_OPENMP,
    .model = model,
};
