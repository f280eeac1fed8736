/* SPDX-License-Identifier: MIT */
/*
 * Scan, then propagate, over any number of levels: every tile is scanned by a block, the tiles' totals are scanned in
 * the same way, and every tile but the first adds what came before it, as block_scan.cu draws it. How a block scans its
 * tile is left to the algorithm: algorithms that differ in nothing else can be compared.
 */
#ifndef TILE_RECURSION_CUH
#define TILE_RECURSION_CUH

#include "grid.cuh"

constexpr int ITEMS = 2; /* a thread */
constexpr int MOST_THREADS = 512;

/* Block b adds what lies before tile b + 1 to each of its elements, from the left. */
template <class Op> static __global__ void add_sums(const typename Op::value *sums, typename Op::value *out, uint64_t n)
{
    uint64_t tile = uint64_t(blockIdx.x) + 1, size = blockDim.x * ITEMS;
    auto before = sums[tile];
    for (uint64_t i = tile * size + threadIdx.x; i < (tile + 1) * size && i < n; i += blockDim.x)
        out[i] = Op{}(before, out[i]);
}

static uint64_t tile_size(const struct problem *p)
{
    return uint64_t(p->threads) * ITEMS;
}

/* The sums of each level, one behind the other. */
static size_t workspace(const struct problem *p)
{
    uint64_t sums = 0;
    for (uint64_t n = p->n; n > tile_size(p);) {
        n = divide_up(n, tile_size(p));
        sums += n;
    }
    return sums * type_size(p->type);
}

static const char *refuse(const struct problem *p)
{
    return refuse_grid(p->n, tile_size(p));
}

/* scan_tiles(Op{}, in, out, sums, n, tiles, inclusive) launches a scan of each tile on its own; a tile's total goes to
 * sums, unless that is NULL. Each tile is read before it is written: `out` may be `in`. */
template <class Op, class T, class F>
static void scan_levels(const T *in, T *out, T *sums, uint64_t n, int threads, bool inclusive, F scan_tiles)
{
    unsigned tiles = blocks_for(n, uint64_t(threads) * ITEMS);
    scan_tiles(Op{}, in, out, tiles > 1 ? sums : nullptr, n, tiles, inclusive);
    if (tiles == 1)
        return;
    scan_levels<Op>(static_cast<const T *>(sums), sums, sums + tiles, tiles, threads, false, scan_tiles);
    launch(add_sums<Op>, tiles - 1, threads, sums, out, n);
}

template <class F> static void scan_by_tiles(const struct problem *p, F scan_tiles)
{
    with_operator(p, [&](auto op) {
        using Op = decltype(op);
        using T = typename Op::value;
        scan_levels<Op>(static_cast<const T *>(p->in), static_cast<T *>(p->out), static_cast<T *>(p->workspace), p->n,
                        p->threads, p->kind == INCLUSIVE, scan_tiles);
    });
}

/* What all levels cost but for the steps, where the scan of a tile takes so many additions. */
static struct cost cost_of_levels(const struct problem *p, uint64_t additions_a_tile)
{
    uint64_t size = tile_size(p), n = p->n;
    struct cost cost = {};
    for (uint64_t tiles; (tiles = divide_up(n, size)) > 1; n = tiles) {
        cost.launches += 2;
        cost.additions += tiles * additions_a_tile + n - size;
        cost.words_read += 2 * n - size + (tiles - 1) * uint64_t(p->threads);
        cost.words_written += 2 * n - size + tiles;
    }
    /* The one tile that is left. */
    cost.launches += 1;
    cost.additions += additions_a_tile;
    cost.words_read += n;
    cost.words_written += n;
    return cost;
}

/* The chains of additions behind what a tile holds and what comes of it. */
struct chains {
    uint64_t element[MOST_THREADS * ITEMS]; /* before the scan; after it, of the inclusive scan */
    uint64_t before[MOST_THREADS * ITEMS];  /* of the exclusive scan */
    uint64_t total, longest;                /* longest: also of additions that nobody uses */
};

/*
 * The longest chain of additions, where add_up(chains) does with the chains of one tile what the scan does with its
 * elements.
 *
 * On each level all sums have the same chain behind them, but for the last one, whose tile may be filled up with
 * identities: so one whole tile and the last are all that has to be added up.
 */
template <class F> static uint64_t steps_of_levels(const struct problem *p, F add_up)
{
    constexpr int MOST_LEVELS = 16;
    static struct chains tile;
    uint64_t size = tile_size(p), n = p->n, longest = 0;
    uint64_t chain = 0, last = 0; /* behind a level's elements, and behind its last one */
    uint64_t of_part[MOST_LEVELS], of_whole[MOST_LEVELS], tiles[MOST_LEVELS];
    int level = 0;
    auto raise = [&longest](uint64_t to) { longest = to > longest ? to : longest; };
    /* Of a tile with `count` elements, the longest of its results: only the user's own may be inclusive. */
    auto scanned = [&](uint64_t count) {
        add_up(&tile);
        raise(tile.longest);
        const uint64_t *result = level == 0 && p->kind == INCLUSIVE ? tile.element : tile.before;
        uint64_t most = 0;
        for (uint64_t i = 0; i < count; i++)
            most = result[i] > most ? result[i] : most;
        return most;
    };

    for (;; level++) {
        uint64_t whole = chain, rest = (n - 1) % size + 1;
        tiles[level] = divide_up(n, size);
        of_whole[level] = 0;
        if (tiles[level] > 1) {
            for (uint64_t i = 0; i < size; i++)
                tile.element[i] = chain;
            of_whole[level] = scanned(size);
            whole = tile.total;
        }
        for (uint64_t i = 0; i < size; i++)
            tile.element[i] = i + 1 < rest ? chain : i + 1 == rest ? last : 0;
        of_part[level] = scanned(rest);
        last = tile.total;
        chain = whole;
        if (tiles[level] == 1)
            break;
        n = tiles[level];
    }

    /* Down again: a carry is added to each tile but the first, on top of the longer of the two chains. */
    uint64_t carry = of_part[level];
    while (level-- > 0) {
        uint64_t results = tiles[level] > 2 && of_whole[level] > of_part[level] ? of_whole[level] : of_part[level];
        uint64_t added = 1 + (carry > results ? carry : results);
        raise(added);
        carry = added > of_whole[level] ? added : of_whole[level];
    }
    return longest;
}

#endif
