// SPDX-License-Identifier: MIT
/*
 * One launch of blocks that are all there at once, and a barrier for all of them in the middle. The array is cut into
 * as many chunks as there are blocks. With three blocks, and tiles of 2 elements:
 *
 *     in          3   1   4   1   |   5   9   2   6   |   5   3
 *               reduce            | reduce            | reduce         each block its chunk, a tile at a time
 *     sums                    9   |              22   |         8
 *     ======================== barrier of the grid: all sums are there =========================
 *               reduce sums       | reduce sums       | reduce sums    those of the blocks before it
 *     before      0               |   9               |  31
 *               scan              | scan              | scan           the chunk again, a tile at a time
 *     out         0   3   4   8   |   9  14  23  25   |  31  36
 *
 * B elements a tile in W = B / 480 warps, G = ceil(n / B) tiles, R blocks: as many as the device holds at once, but no
 * more than tiles. 1 launch; G (3 B + 227 W + 322) additions, about 3n, and B + 97 W + 161 for what each block finds
 * before it; about 2 G / R + 65 steps; 3n words of elements, and R^2 / 2 of the sums.
 *
 * One launch and no other state than the sums, and blocks keep their places from one half to the other. But the array
 * is read twice, as in three launches, and at the barrier the memory rests until the last block has come: there is less
 * to be gained than it looks.
 *
 * S. Xiao and W. Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010.
 */
#include "device/cooperative.cuh"
#include "parts/tile.cuh"

/* What the elements from `first` on come to, before `last`; in the first warp, the others help. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ T reduce(const T *in, uint64_t first, uint64_t last, struct tile_room<T> room)
{
    T sum = Op::identity();
    for (; first < last; first += blockDim.x * ITEMS) {
        T x[ITEMS], total;
        load_tile<Op>(in, first, last, room, x);
        upsweep<Op>(x, room);
        if (warp_number() == 0) {
            scan_warps<Op>(room, &total);
            sum = Op{}(sum, total);
        }
    }
    return sum;
}

/* `carry`, what lies before `first`, is the first warp's. */
template <class Op, class T = typename Op::value>
static __device__ __forceinline__ void scan(const T *in, T *out, uint64_t first, uint64_t last, T carry, bool inclusive,
                                            struct tile_room<T> room)
{
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

/* Of `tiles` tiles, those before block `block` of `blocks`: the first blocks take one more where some are left over. */
static __host__ __device__ __forceinline__ uint64_t tiles_before(uint64_t block, uint64_t blocks, uint64_t tiles)
{
    uint64_t left_over = tiles % blocks;
    return block * (tiles / blocks) + (block < left_over ? block : left_over);
}

template <class Op>
static __global__ void __launch_bounds__(MOST_THREADS, LEAST_BLOCKS)
    scan_chunks(const typename Op::value *in, typename Op::value *out, typename Op::value *sums, uint64_t n,
                bool inclusive)
{
    using T = typename Op::value;
    SHARED(T, items, MOST_THREADS * ITEMS);
    SHARED(T, warps, LANES);
    tile_room<T> room = {items, warps};
    uint64_t block = blockIdx.x, size = blockDim.x * ITEMS, tiles = (n + size - 1) / size;
    uint64_t first = tiles_before(block, gridDim.x, tiles) * size;
    uint64_t last = tiles_before(block + 1, gridDim.x, tiles) * size;
    if (last > n)
        last = n;

    T sum = reduce<Op>(in, first, last, room);
    if (threadIdx.x == 0)
        sums[block] = sum;
    cooperative_groups::this_grid().sync(); /* all sums are there */
    T before = reduce<Op>(static_cast<const T *>(sums), 0, block, room);
    scan<Op>(in, out, first, last, before, inclusive, room);
}

/* R. A run that counts its additions has a kernel of its own, of which a GPU may hold fewer blocks: one number for
 * both, so that what is counted is what is timed. */
static uint64_t blocks_of(const struct problem *p)
{
    uint64_t blocks = tiles_of(p);
    auto at_most = [&](auto op) {
        uint64_t resident = resident_blocks(scan_chunks<decltype(op)>, p->threads);
        blocks = resident < blocks ? resident : blocks;
    };
    with_operator_of<false>(p, at_most);
    if (p->op == SUM && p->type == I32)
        at_most(Operator<Sum<int32_t>, true>{});
    return blocks;
}

static const char *refuse(const struct problem *)
{
    return cooperative_launches() ? nullptr : "needs-cooperative-launch";
}

/* A sum a block. How many there will be is known only when the device is: there are never more than tiles. */
static size_t workspace(const struct problem *p)
{
    return tiles_of(p) * type_size(p->type);
}

static void run(const struct problem *p)
{
    unsigned blocks = unsigned(blocks_of(p));
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        launch_cooperative(scan_chunks<Op>, blocks, p->threads, static_cast<const T *>(p->in), static_cast<T *>(p->out),
                           static_cast<T *>(p->workspace), p->n, p->kind == INCLUSIVE);
    });
}

/* The longest chain goes through the first block's sum, the sums before the block, and along the block's tiles. */
static uint64_t steps_of_block(uint64_t block, uint64_t blocks, const struct problem *p)
{
    uint64_t tiles = tiles_of(p), longest_chunk = tiles_before(1, blocks, tiles);
    uint64_t chunk = tiles_before(block + 1, blocks, tiles) - tiles_before(block, blocks, tiles);
    uint64_t carry = 0; /* before the chunk's last tile */
    if (block > 0)
        carry = TOTAL_STEPS + longest_chunk + TOTAL_STEPS + divide_up(block, tile_size(p)) + chunk - 1;
    else if (chunk > 1)
        carry = TOTAL_STEPS + chunk - 1;
    return downsweep_steps(p, carry);
}

static struct cost model(const struct problem *p)
{
    uint64_t blocks = blocks_of(p), tiles = tiles_of(p), left_over = tiles % blocks;
    uint64_t reduce = total_additions(p) + LANES;
    struct cost cost = {.launches = 1};
    cost.additions = tiles * (2 * reduce + downsweep_additions(p));
    for (uint64_t block = 1; block < blocks; block++)
        cost.additions += divide_up(block, tile_size(p)) * reduce;
    cost.words_read = 2 * p->n + blocks * (blocks - 1) / 2;
    cost.words_written = p->n + blocks;
    /* The last block has the most before it, the last of the larger chunks has a tile more. */
    uint64_t last = steps_of_block(blocks - 1, blocks, p);
    uint64_t larger = left_over ? steps_of_block(left_over - 1, blocks, p) : 0;
    cost.steps = last > larger ? last : larger;
    return cost;
}

ALGORITHM(cooperative) = {
    .title = "Cooperative scan",
    .source = "Xiao and Feng 2010",
    .year = 2010,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 128, 64, 32},
    .items = ITEMS,
    .additions = "G (3 B + 227 B / 480 + 322) + (R - 1) (B + 97 B / 480 + 161)",
    .launches = "1",
    .traffic = "3 n + R + R (R - 1) / 2",
    .refuse = refuse,
    .workspace = workspace,
    .run = run,
    .model = model,
};
