// SPDX-License-Identifier: MIT
/*
 * Three launches of a number of blocks that does not grow with n: reduce each block's chunk, scan what the chunks come
 * to, scan each chunk from what lies before it. With chunks of two tiles of 2 elements:
 *
 *     in          3   1   4   1   |   5   9   2   6   |   5   3
 *               reduce            | reduce            |                1  every chunk but the last
 *     sums                    9   |              22   |
 *               scan                                                   2  one block, one tile
 *     sums                    9   |              31   |
 *               scan              | scan              | scan           3  a chunk a block, a tile at a time
 *     out         0   3   4   8   |   9  14  23  25   |  31  36
 *
 * What the last chunk comes to nobody wants to know: it is not reduced. So all that are reduced are whole, and equally
 * long, and there is nothing to check at an end. To reduce, every warp goes along a part of the chunk of its own: it
 * waits for no other before the end.
 *
 * B elements a tile in W = B / 480 warps, G = ceil(n / B) tiles, c = ceil(G / 3840) tiles a chunk, C = ceil(G / c)
 * chunks. One tile: 1 launch, 2n words. Otherwise 3 launches; 3n words, less the last chunk, and 4 (C - 1) of the sums;
 * (C - 1) (609 W c + 129) additions to reduce, G (2 B + 130 W + 161) to scan, and 8881 for the sums, about 3n; about
 * 2c + 80 steps.
 *
 * Nobody waits for anybody within a launch, and the array is moved three times where scan-then-propagate
 * (block_scan.cu) moves it four times: of all that read the array twice, the least. A single pass moves it twice.
 *
 * D. Merrill and A. Grimshaw, "Parallel scan for stream architectures", University of Virginia, CS2009-14, 2009.
 */
#include "parts/tile.cuh"

/* As many as one tile of the second launch takes. On a GPU of a hundred multiprocessors about thirty each, several
 * times what they hold: whoever ends early finds another. The number is of no machine: counts are the same on all. */
constexpr uint64_t MOST_CHUNKS = MOST_THREADS * ITEMS;

constexpr int WARP_ITEMS = LANES * ITEMS;
/* On a multiprocessor: up to 64 registers a thread, and 80, and nothing is spilled. */
constexpr int REDUCE_AT_ONCE = 4, SCAN_AT_ONCE = 3;

/* A warp's part of a tile to its room in shared memory, 16 bytes at a time: all are under way before one is used. */
template <class T> static __device__ __forceinline__ void load_vectors(const T *in, T *room)
{
    constexpr int VECTORS = WARP_ITEMS * int(sizeof(T)) / int(sizeof(uint4)), ROWS = (VECTORS + LANES - 1) / LANES;
    const uint4 *from = reinterpret_cast<const uint4 *>(in);
    uint4 *to = reinterpret_cast<uint4 *>(room), vector[ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (row * LANES + lane_number() < VECTORS)
            vector[row] = from[row * LANES + lane_number()];
#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (row * LANES + lane_number() < VECTORS)
            to[row * LANES + lane_number()] = vector[row];
}

/* The same, where the array does not begin at a multiple of 16 bytes. */
template <class T> static __device__ __forceinline__ void load_elements(const T *in, T *room)
{
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        room[i * LANES + lane_number()] = in[i * LANES + lane_number()];
}

/* What `tiles` times WARP_ITEMS elements come to, in every lane. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ T reduce_part(const T *in, uint64_t tiles, T *room)
{
    bool aligned = reinterpret_cast<uintptr_t>(in) % sizeof(uint4) == 0;
    T sum = Op::identity();
    for (uint64_t tile = 0; tile < tiles; tile++, in += WARP_ITEMS) {
        __syncwarp(); /* all lanes have read what was there */
        if (aligned)
            load_vectors(in, room);
        else
            load_elements(in, room);
        __syncwarp(); /* all is there */
        T total = room[lane_number() * ITEMS];
#pragma unroll
        for (int i = 1; i < ITEMS; i++)
            total = Op{}(total, room[lane_number() * ITEMS + i]);
        sum = Op{}(sum, warp_total<Op>(total));
    }
    return sum;
}

/* 1: chunks of so many tiles, all of them whole. */
template <class Op>
static __global__ void __launch_bounds__(MOST_THREADS, REDUCE_AT_ONCE)
    reduce_chunks(const typename Op::value *in, typename Op::value *sums, uint64_t tiles)
{
    using T = typename Op::value;
    SHARED(uint4, items, MOST_THREADS * ITEMS * sizeof(T) / sizeof(uint4));
    SHARED(T, warps, LANES);
    int warp = warp_number(), all = int(blockDim.x) / LANES;
    uint64_t part = tiles * WARP_ITEMS;
    T sum = reduce_part<Op>(in + (uint64_t(blockIdx.x) * all + warp) * part, tiles,
                            reinterpret_cast<T *>(items) + warp * WARP_ITEMS);
    if (lane_number() == 0)
        warps[warp] = sum;
    __syncthreads(); /* all warps have told */
    if (warp == 0) {
        T total = warp_total<Op>(lane_number() < all ? warps[lane_number()] : Op::identity());
        if (lane_number() == 0)
            sums[blockIdx.x] = total;
    }
}

/* 2 and 3: `sums`, unless this is the only chunk, says what lies before all chunks but the first. */
template <class Op>
static __global__ void __launch_bounds__(MOST_THREADS, SCAN_AT_ONCE)
    scan_chunks(const typename Op::value *in, typename Op::value *out, const typename Op::value *sums, uint64_t n,
                uint64_t chunk, bool inclusive)
{
    using T = typename Op::value;
    SHARED(T, items, MOST_THREADS * ITEMS);
    SHARED(T, warps, LANES);
    tile_room<T> room = {items, warps};
    uint64_t first = blockIdx.x * chunk, last = n - first < chunk ? n : first + chunk;

    T carry = Op::identity(); /* the first warp's */
    if (blockIdx.x > 0 && warp_number() == 0) {
        if (lane_number() == 0)
            carry = sums[blockIdx.x - 1];
        carry = __shfl_sync(ALL_LANES, carry, 0);
    }
    for (; first < last; first += blockDim.x * ITEMS) {
        T x[ITEMS];
        load_tile<Op>(in, first, last, room, x);
        T before_thread = upsweep<Op>(x, room);
        if (warp_number() == 0) {
            T total, before_warp = scan_warps<Op>(room, &total);
            seed_warps<Op>(carry, before_warp, room);
            carry = Op{}(carry, total);
        }
        downsweep<Op>(x, before_thread, inclusive, room);
        store_tile(out, first, last, room);
    }
}

static uint64_t tiles_of_chunk(const struct problem *p)
{
    return divide_up(tiles_of(p), MOST_CHUNKS);
}

static uint64_t chunks_of(const struct problem *p)
{
    return divide_up(tiles_of(p), tiles_of_chunk(p));
}

/* The problem of the second launch: one tile of one block, whatever the others have. */
static struct problem sums_of(const struct problem *p)
{
    struct problem sums = *p;
    sums.n = chunks_of(p) - 1;
    sums.threads = MOST_THREADS;
    sums.in = sums.out = p->workspace;
    return sums;
}

static size_t workspace(const struct problem *p)
{
    return sums_of(p).n * type_size(p->type);
}

static void run(const struct problem *p)
{
    struct problem sums = sums_of(p);
    uint64_t tiles = tiles_of_chunk(p);
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        const T *in = static_cast<const T *>(p->in), *none = nullptr;
        T *before = static_cast<T *>(p->workspace);
        if (sums.n > 0) {
            launch(reduce_chunks<Op>, unsigned(sums.n), p->threads, in, before, tiles);
            launch(scan_chunks<Op>, 1, sums.threads, before, before, none, sums.n, tile_size(&sums), true);
        }
        launch(scan_chunks<Op>, unsigned(chunks_of(p)), p->threads, in, static_cast<T *>(p->out), before, p->n,
               tiles * tile_size(p), p->kind == INCLUSIVE);
    });
}

/* To what lies before chunk `chunk` > 0: the longest way through the tile of the sums, from the first one. */
static uint64_t steps_before(uint64_t chunk)
{
    uint64_t thread = (chunk - 1) / ITEMS, item = (chunk - 1) % ITEMS, before_thread = 0;
    if (thread >= LANES) /* over an earlier warp */
        before_thread = ITEMS - 1 + 5 + uint64_t(log2_ceil(thread / LANES)) + 2;
    else if (thread > 0)
        before_thread = ITEMS - 1 + uint64_t(log2_ceil(thread)) + 1;
    return before_thread + 1 + item;
}

static struct cost model(const struct problem *p)
{
    struct problem sums = sums_of(p);
    uint64_t tiles = tiles_of(p), chunk = tiles_of_chunk(p), whole = sums.n, reduced = whole * chunk * tile_size(p);
    uint64_t warps = uint64_t(p->threads) / LANES;
    auto scan_tile = [](const struct problem *p) { return total_additions(p) + LANES + downsweep_additions(p); };
    struct cost cost = {.launches = 1};
    cost.additions = tiles * scan_tile(p);
    cost.words_read = cost.words_written = p->n;
    if (whole == 0) {
        cost.steps = downsweep_steps(p, 0);
        return cost;
    }

    cost.launches = 3;
    cost.additions += whole * (chunk * warps * (WARP_ITEMS + WARP_INCLUSIVE_ADDITIONS) + WARP_INCLUSIVE_ADDITIONS);
    cost.additions += scan_tile(&sums);
    cost.words_read += reduced + 2 * whole;
    cost.words_written += 2 * whole;

    /* A sum has a step more for every tile. From there: to the end of the tile of the sums; through the last chunk; or
     * through a whole chunk, one at the end of a thread's elements perhaps, to which the way is longer. */
    uint64_t sum = TOTAL_STEPS + chunk, before = 0;
    auto at_least = [&](uint64_t steps) { cost.steps = steps > cost.steps ? steps : cost.steps; };
    at_least(sum + downsweep_steps(&sums, 0) - (whole <= WARP_ITEMS)); /* from the first warp it is a step less */
    at_least(downsweep_steps(p, sum + steps_before(whole) + tiles - whole * chunk - 1));
    for (uint64_t i = 1; i < whole; i++)
        before = steps_before(i) > before ? steps_before(i) : before;
    if (before > 0)
        at_least(downsweep_steps(p, sum + before + chunk - 1));
    return cost;
}

ALGORITHM(reduce_then_scan) = {
    .title = "Reduce, then scan",
    .source = "Merrill and Grimshaw 2009",
    .year = 2009,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 128, 64, 32},
    .items = ITEMS,
    .additions = "G (2 B + 130 B / 480 + 161) + [G > 1] ((C - 1) (609 c B / 480 + 129) + 8881)",
    .launches = "1 + 2 [G > 1]",
    .traffic = "2 n + [G > 1] (C - 1) (c B + 4)",
    .workspace = workspace,
    .run = run,
    .model = model,
};
