// SPDX-License-Identifier: MIT
/*
 * One pass, and no chain: a tile that does not know yet what lies before it can already tell what it comes to itself,
 * and whoever waits adds up what it finds.
 *
 * Each tile has a descriptor: a flag, its aggregate (what its own elements come to) and its inclusive prefix (what
 * everything up to its end comes to). The flag says which of the two are there: X none, A the aggregate, P the prefix.
 * Five tiles of aggregates 8 22 21 9 14, over time; a tile that looks back goes left until it finds a P:
 *
 *     tile                   0     1     2     3     4
 *     cleared                X     X     X     X     X
 *     upsweep               P 8   A 22   X    A 9   A 14   tile 2 is late
 *     look-back of 1         ^-----+                       22 behind  8: its prefix is 30
 *     look-back of 4                     ^-----^-----+     as far as 2, and waits there: X
 *                           P 8   P 30  A 21  A 9   A 14
 *     look-back of 4               ^-----^-----^-----+     14 behind 9 behind 21 behind 30: 74, though 2 and 3
 *                           P 8   P 30  A 21  A 9   P 74   have not looked back themselves
 *     downsweep                                            each scans its elements from what lies before them
 *
 * The look-back of a tile goes over 32 tiles at once, a lane each: the first warp of the block does it.
 *
 * - A block takes the next tile by drawing a ticket: whoever it waits for has started, and tells its aggregate without
 * waiting for anybody.
 * - Aggregate and prefix have a word each, so that neither is overwritten while others read it; the flag goes up after
 * the word it stands for (release) and is read before it (acquire). Elements of any type can be scanned so: nobody ever
 * sees half of one.
 * - Flags are cleared before each run: those of the last run would be believed.
 *
 * B elements a tile in W = B / 480 warps, G = ceil(n / B) tiles: 2 launches, one of them the clear; G (2 B + 130 (W +
 * 1)) additions, about 2n, and 130 for each window of 32 tiles that somebody looks at; 2n words of elements, and 3 G or
 * so beside them. How far a look-back goes, and so its reads, additions and steps, is a matter of timing.
 *
 * As little memory traffic as a scan can have, and no tile waits for a prefix to come all the way along: CUB's scan is
 * built on it. What it still pays for is the clear, the fences that keep flag and value in order, and a look-back that
 * begins only when the tile has been read.
 *
 * D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back", NVR-2016-002, NVIDIA 2016.
 */
#include "device/atomic.cuh"
#include "parts/tile.cuh"

enum flag : unsigned { X, A, P }; /* 0, as cleared: nothing; the aggregate; the inclusive prefix as well */
using device_flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/* The workspace: the descriptors of G tiles, an array for each part of them, for lanes that read neighbours. */
template <class T> struct descriptors {
    unsigned *ticket; /* of the next block */
    unsigned *flag;
    T *aggregate, *prefix;
};

/* Ticket and flags, in whole words of 8 bytes. */
static size_t bytes_to_clear(const struct problem *p)
{
    return divide_up(1 + tiles_of(p), 2) * 8;
}

static size_t workspace(const struct problem *p)
{
    return bytes_to_clear(p) + 2 * tiles_of(p) * type_size(p->type);
}

template <class T> static __device__ __forceinline__ void publish(unsigned *flag, enum flag which, T *word, T value)
{
    *word = value;
    device_flag(*flag).store(which, cuda::memory_order_release);
}

/* What lies before tile `tile`, in every lane of the warp that calls it. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ T look_back(struct descriptors<T> tiles, unsigned tile)
{
    T before = Op::identity(); /* from the end of the window on, up to `tile` */
    for (int64_t end = tile;; end -= LANES) {
        int64_t mine = end - LANES + lane_number();
        unsigned flag, prefixes, waiting;
        int nearest; /* lane with the last P; lanes before it are not needed, and before tile 0 there is nothing */
        for (;;) {
            flag = mine < 0 ? unsigned(P) : device_flag(tiles.flag[mine]).load(cuda::memory_order_acquire);
            prefixes = __ballot_sync(ALL_LANES, flag == P);
            waiting = __ballot_sync(ALL_LANES, flag == X);
            nearest = prefixes ? LANES - 1 - __clz(int(prefixes)) : 0;
            if (waiting >> nearest == 0)
                break;
            __nanosleep(20);
        }

        T value = Op::identity();
        if (mine >= 0 && lane_number() >= nearest)
            value = flag == P ? tiles.prefix[mine] : tiles.aggregate[mine];
        before = Op{}(warp_total<Op>(value), before);
        if (prefixes) {
            if (lane_number() == nearest)
                count_lookback(uint64_t(tile - mine));
            return before;
        }
    }
}

template <class Op>
static __global__ void __launch_bounds__(MOST_THREADS, LEAST_BLOCKS)
    scan(const typename Op::value *in, typename Op::value *out, struct descriptors<typename Op::value> tiles,
         uint64_t n, bool inclusive)
{
    using T = typename Op::value;
    SHARED(T, items, MOST_THREADS * ITEMS);
    SHARED(T, warps, LANES);
    SHARED(unsigned, ticket, 1);
    tile_room<T> room = {items, warps};

    if (threadIdx.x == 0)
        ticket[0] = atomicAdd(tiles.ticket, 1u);
    __syncthreads(); /* the ticket is drawn */
    unsigned tile = ticket[0];
    uint64_t first = uint64_t(tile) * blockDim.x * ITEMS;

    T x[ITEMS];
    load_tile<Op>(in, first, n, room, x);
    T before_thread = upsweep<Op>(x, room);

    if (warp_number() == 0) {
        T aggregate, before_warp = scan_warps<Op>(room, &aggregate), before_tile = Op::identity();
        if (tile > 0) {
            if (lane_number() == 0)
                publish(&tiles.flag[tile], A, &tiles.aggregate[tile], aggregate);
            before_tile = look_back<Op>(tiles, tile);
        }
        if (lane_number() == 0)
            publish(&tiles.flag[tile], P, &tiles.prefix[tile], Op{}(before_tile, aggregate));
        seed_warps<Op>(before_tile, before_warp, room);
    }

    downsweep<Op>(x, before_thread, inclusive, room);
    store_tile(out, first, n, room);
}

static void run(const struct problem *p)
{
    launch_memset(p->workspace, 0, bytes_to_clear(p));
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        unsigned *flags = static_cast<unsigned *>(p->workspace);
        T *values = reinterpret_cast<T *>(static_cast<char *>(p->workspace) + bytes_to_clear(p));
        struct descriptors<T> tiles = {
            flags, flags + 1, values, values + tiles_of(p)
        };
        launch(scan<Op>, unsigned(tiles_of(p)), p->threads, static_cast<const T *>(p->in), static_cast<T *>(p->out),
               tiles, p->n, p->kind == INCLUSIVE);
    });
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(p->n, tile_size(p));
}

/* Aggregates of all tiles but the first, and prefixes of all. */
static struct cost model(const struct problem *p)
{
    uint64_t tiles = tiles_of(p);
    struct cost cost = {.launches = 2, .additions = UNKNOWN, .steps = UNKNOWN, .words_read = UNKNOWN};
    cost.words_written = p->n + 2 * tiles - 1 + bytes_to_clear(p) / type_size(p->type);
    return cost;
}

ALGORITHM(decoupled_lookback) = {
    .title = "Decoupled look-back",
    .source = "Merrill and Garland 2016",
    .year = 2016,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 128, 64, 32},
    .items = ITEMS,
    .additions = "G (2 B + 130 (B / 480 + 1)) + 130 for each window looked at",
    .launches = "2",
    .traffic = "2 n + 2 G - 1 + clear of G + 1 flags + look-back",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
