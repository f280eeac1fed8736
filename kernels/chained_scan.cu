// SPDX-License-Identifier: MIT
/*
 * One pass: each block scans a tile, waits until its left neighbour says what everything up to there comes to, and
 * says the same of itself. With tiles of 4 elements:
 *
 *     in          3   1   4   1   |   5   9   2   6   |   5   3   5   8
 *     total               9       |          22       |          21        each for itself, at once
 *     prefix              9 ------|--+-----> 31 ------|--+-----> 52        one after the other
 *     out         0   3   4   8   |   9  14  23  25   |  31  36  39  44
 *
 * - A block takes the next tile by drawing a ticket. So whoever it waits for has started before it, and ends whether
 * or not all blocks fit on the device at once, and in whichever order they start.
 * - A prefix is written first, and the flag that it is there second; release and acquire keep that order for the
 * reader. Flags are cleared before each run: those of the last run would be believed.
 * - Elements are in registers while the block waits: they are read once, and written once.
 *
 * B elements a tile in W = B / 480 warps, G = ceil(n / B) tiles: 2 launches, one of them the clear; G (2 B + 130 (W +
 * 1)) additions, about 2n; G + 40 steps for two tiles or more; 2n words of elements, and 3 G or so beside them.
 *
 * The array is moved twice and not three or four times. But the prefix goes from tile to tile, one at a time, and each
 * time a word has to get from one multiprocessor to another: a chain as long as there are tiles, however fast the
 * memory is. Look-back (decoupled_lookback.cu) takes it apart.
 *
 * S. Yan, G. Long and Y. Zhang, "StreamScan: fast scan algorithms for GPUs without global barrier synchronization",
 * PPoPP 2013.
 */
#include "device/atomic.cuh"
#include "parts/tile.cuh"

using device_flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

/* The workspace, for G tiles. */
template <class T> struct chain {
    unsigned *ticket; /* of the next block */
    unsigned *ready;  /* G flags: is the prefix there? */
    T *prefix;        /* G: everything up to the end of the tile */
};

/* Ticket and flags, in whole words of 8 bytes. */
static size_t bytes_to_clear(const struct problem *p)
{
    return divide_up(1 + tiles_of(p), 2) * 8;
}

static size_t workspace(const struct problem *p)
{
    return bytes_to_clear(p) + tiles_of(p) * type_size(p->type);
}

template <class T> static __device__ __forceinline__ void publish(struct chain<T> chain, unsigned tile, T prefix)
{
    chain.prefix[tile] = prefix;
    device_flag(chain.ready[tile]).store(1, cuda::memory_order_release);
}

template <class T> static __device__ __forceinline__ T wait_for(struct chain<T> chain, unsigned tile)
{
    while (!device_flag(chain.ready[tile]).load(cuda::memory_order_acquire))
        __nanosleep(20);
    return chain.prefix[tile];
}

template <class Op>
static __global__ void __launch_bounds__(MOST_THREADS, LEAST_BLOCKS)
    chained(const typename Op::value *in, typename Op::value *out, struct chain<typename Op::value> chain, uint64_t n,
            bool inclusive)
{
    using T = typename Op::value;
    SHARED(T, items, MOST_THREADS * ITEMS);
    SHARED(T, warps, LANES);
    SHARED(unsigned, ticket, 1);
    tile_room<T> room = {items, warps};

    if (threadIdx.x == 0)
        ticket[0] = atomicAdd(chain.ticket, 1u);
    __syncthreads(); /* the ticket is drawn */
    unsigned tile = ticket[0];
    uint64_t first = uint64_t(tile) * blockDim.x * ITEMS;

    T x[ITEMS];
    load_tile<Op>(in, first, n, room, x);
    T before_thread = upsweep<Op>(x, room);

    if (warp_number() == 0) {
        T total, before_warp = scan_warps<Op>(room, &total), carry = Op::identity();
        if (lane_number() == 0) {
            if (tile > 0)
                carry = wait_for(chain, tile - 1);
            publish(chain, tile, Op{}(carry, total));
        }
        carry = __shfl_sync(ALL_LANES, carry, 0);
        seed_warps<Op>(carry, before_warp, room);
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
        struct chain<T> chain = {
            flags, flags + 1, reinterpret_cast<T *>(static_cast<char *>(p->workspace) + bytes_to_clear(p))
        };
        launch(chained<Op>, unsigned(tiles_of(p)), p->threads, static_cast<const T *>(p->in), static_cast<T *>(p->out),
               chain, p->n, p->kind == INCLUSIVE);
    });
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(p->n, tile_size(p));
}

static struct cost model(const struct problem *p)
{
    uint64_t tiles = tiles_of(p);
    struct cost cost = {.launches = 2};
    cost.additions = tiles * (total_additions(p) + 1 + downsweep_additions(p));
    cost.words_read = p->n + tiles - 1;
    cost.words_written = p->n + tiles + bytes_to_clear(p) / type_size(p->type);

    /* To the last tile: a total, and an addition for every tile before it. */
    cost.steps = downsweep_steps(p, tiles > 1 ? TOTAL_STEPS + tiles - 1 : 0);
    return cost;
}

ALGORITHM(chained_scan) = {
    .title = "Chained scan",
    .source = "Yan, Long and Zhang 2013",
    .year = 2013,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 128, 64, 32},
    .items = ITEMS,
    .additions = "G (2 B + 130 (B / 480 + 1))",
    .launches = "2",
    .traffic = "2 n + 2 G - 1 + clear of G + 1 flags",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
