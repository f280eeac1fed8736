// SPDX-License-Identifier: MIT
/*
 * One launch that reads every element once and writes it once: decoupled look-back, meant to beat CUB
 * (not measured so far).
 *
 *     in        3   1   4   1 | 5   9   2   6 | 5   3   5   8       tiles, each in the registers of a block
 *     scanned   3   4   8   9 | 5  14  16  22 | 5   8  13  21       1  every tile alone
 *     aggregate             9              22              21       2  told to the tiles on the right, at once
 *     before    0             | 9             |31                   3  look-back: what the tiles on the left have told
 *     prefix                9              31              52       4  told as well: whoever looks back stops here
 *     out       0   3   4   8 | 9  14  23  25 |31  36  39  44       5  before, added on the way out;
 *                                                                      exclusive, so one place to the right
 *
 * The tiles never wait for each other's loads, and hardly for each other's sums: that is the algorithm of Merrill and
 * Garland (decoupled_lookback.cu, plain). What is added here, each with the gain that docs/performance.md predicts for
 * an H200; nothing of it is measured:
 *
 *     no clear before a run     status words carry the run's number: one launch, not two           2 us at every n
 *     one block for a small n   nobody looks back                                                  0.7 us up to 2^12
 *     a tile by its block's     where all blocks are resident nobody waits for a ticket: the       0.7 us up to 2^21
 *       number                  run's number comes while the loads are under way
 *     rows of vectors           16-byte accesses straight to registers, no transposition           0.3 us at every n
 *     128 tiles a look          four words a lane: one look instead of four                        2 us at 2^20
 *     no sleep before a look    the first one often finds all there is to find                     1 us from 500 tiles
 *     a ring of copies          resident blocks go from tile to tile; while one is scanned the     up to 38 % at 2^28,
 *                               next are on their way: loads never stop                            with the next line
 *     a running prefix          a block looks back no further than to its own last tile
 *
 * One launch at every n; 2n words moved, and a few status words for each tile, below 1 % of that; additions about 4n,
 * of which those of the look-back are a matter of time.
 *
 * What is left is the time of a plain copy. What it pays for that is a workspace that must have been prepared once.
 *
 * D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA NVR-2016-002, 2016.
 */
#include "parts/grid.cuh"
#include "parts/lookback.cuh"
#include "parts/warp_scan.cuh"

constexpr int MOST_THREADS = 256;
constexpr int MOST_WARPS = MOST_THREADS / LANES;

/* ------------------------------------------------------------------------------------------------ shapes */

/* Vectors of 16 bytes a thread, by the size of the array; the sizes are for blocks of 256 threads, and other blocks
 * make do with them. `rounds`: with that many tiles or more for each block that the device holds at once, blocks stay
 * and go from tile to tile; 0: each block takes one tile. */
struct shape {
    uint64_t most_bytes;
    int vectors, rounds;
};
/* shapes: begin */
static constexpr struct shape shapes[] = {
    {.most_bytes = 4 << 10, .vectors = 1, .rounds = 0},    /* one tile, and few shuffles */
    {.most_bytes = 16 << 10, .vectors = 4, .rounds = 0},   /* still one tile: nobody looks back */
    {.most_bytes = 512 << 10, .vectors = 1, .rounds = 0},  /* up to 128 tiles: every multiprocessor has one, one look */
    {.most_bytes = UINT64_MAX, .vectors = 4, .rounds = 4}, /* 64 bytes a thread under way hide memory's latency */
};
/* shapes: end */

static const struct shape *shape_of(const struct problem *p)
{
    const struct shape *shape = shapes;
    while (p->n * type_size(p->type) > shape->most_bytes)
        shape++;
    return shape;
}

/* ------------------------------------------------------------------------------------------------ one tile */

/* The array, in columns of 16 bytes as memory has them: element 0 of the array stands in column `begin`.
 *
 *     . . a b | c d e f | g h i j | k l . .        begin 2, end 12; the ends have no whole vector
 */
template <class T> struct array {
    const T *in;
    T *out;              /* both at column 0, which may lie before the array */
    uint64_t begin, end; /* columns */
    bool aligned_out;    /* `out` has its vectors where `in` has them */
    bool inclusive;
};

template <class T> constexpr int VECTOR = sizeof(uint4) / sizeof(T);

/* A thread's part of a tile. A warp has rows of 32 vectors, one under the other, and reads and writes them whole:
 *
 *              lane 0      lane 1            lane 31
 *     row 0    0 1 2 3     4 5 6 7    ...    124 .. 127        x[0] of the 32 lanes
 *     row 1  128 ..                                255         x[1]
 *
 * and warp w follows warp w - 1. */
template <class T, int VECTORS> struct part {
    T x[VECTORS][VECTOR<T>];
};

/* Where a thread's vector of a row stands in its tile, counted in vectors. */
template <int VECTORS> static __device__ __forceinline__ int place(int row)
{
    return (int(threadIdx.x) / LANES * VECTORS + row) * LANES + lane_number();
}

template <class T, int VECTORS> static __device__ __forceinline__ uint64_t tile_columns()
{
    return uint64_t(blockDim.x) * (VECTORS * VECTOR<T>);
}

template <class T, int VECTORS> static __device__ __forceinline__ bool is_whole(struct array<T> a, uint64_t tile)
{
    uint64_t first = tile * tile_columns<T, VECTORS>();
    return first >= a.begin && first + tile_columns<T, VECTORS>() <= a.end;
}

/* The one or two tiles with an end of the array in them: an element at a time, identities where there is none. */
template <class Op, int VECTORS>
static __device__ void load_elements(struct array<typename Op::value> a, uint64_t tile,
                                     struct part<typename Op::value, VECTORS> &mine)
{
    using T = typename Op::value;
#pragma unroll
    for (int row = 0; row < VECTORS; row++)
#pragma unroll
        for (int i = 0; i < VECTOR<T>; i++) {
            uint64_t column = tile * tile_columns<T, VECTORS>() + place<VECTORS>(row) * VECTOR<T> + i;
            mine.x[row][i] = column >= a.begin && column < a.end ? a.in[column] : Op::identity();
        }
}

template <class T, int VECTORS>
static __device__ void load_vectors(struct array<T> a, uint64_t tile, struct part<T, VECTORS> &mine)
{
    const uint4 *from = reinterpret_cast<const uint4 *>(a.in + tile * tile_columns<T, VECTORS>());
    uint4 vector[VECTORS];
#pragma unroll
    for (int row = 0; row < VECTORS; row++)
        vector[row] = from[place<VECTORS>(row)];
    memcpy(mine.x, vector, sizeof vector);
}

template <class Op, int VECTORS>
static __device__ void load(struct array<typename Op::value> a, uint64_t tile,
                            struct part<typename Op::value, VECTORS> &mine)
{
    if (is_whole<typename Op::value, VECTORS>(a, tile))
        load_vectors<typename Op::value, VECTORS>(a, tile, mine);
    else
        load_elements<Op, VECTORS>(a, tile, mine);
}

/* 1: every vector, every row, and so every warp's part is scanned. `before_row` is what of the warp's part lies before
 * each vector; returned is what the part comes to. */
template <class Op, int VECTORS>
static __device__ typename Op::value scan_part(struct part<typename Op::value, VECTORS> &mine,
                                               typename Op::value (&before_row)[VECTORS])
{
    using T = typename Op::value;
    T row_total[VECTORS];
#pragma unroll
    for (int row = 0; row < VECTORS; row++) { /* rows do not depend on each other: their shuffles overlap */
#pragma unroll
        for (int i = 1; i < VECTOR<T>; i++)
            mine.x[row][i] = Op{}(mine.x[row][i - 1], mine.x[row][i]);
        T inclusive = warp_inclusive<Op>(mine.x[row][VECTOR<T> - 1]);
        before_row[row] = warp_exclusive<Op>(inclusive);
        row_total[row] = __shfl_sync(ALL_LANES, inclusive, LANES - 1);
    }
    T total = row_total[0];
#pragma unroll
    for (int row = 1; row < VECTORS; row++) {
        before_row[row] = Op{}(total, before_row[row]);
        total = Op{}(total, row_total[row]);
    }
    return total;
}

/* What lies before this warp's part in the tile, and what the whole tile comes to. */
template <class Op>
static __device__ typename Op::value before_warp(const typename Op::value *totals, typename Op::value *aggregate)
{
    auto before = Op::identity(), all = totals[0];
    int warps = int(blockDim.x) / LANES, own = int(threadIdx.x) / LANES;
    for (int warp = 1; warp < warps; warp++) {
        if (warp == own)
            before = all;
        all = Op{}(all, totals[warp]);
    }
    *aggregate = all;
    return before;
}

/* 5: `before_part`, what lies before the warp's part in the array, is added on the way out. STREAMING: what is written
 * is not read again soon, and does not have to stay in the L2. */
template <class Op, int VECTORS, bool STREAMING>
static __device__ void store(struct array<typename Op::value> a, uint64_t tile,
                             const struct part<typename Op::value, VECTORS> &mine,
                             const typename Op::value (&before_row)[VECTORS], typename Op::value before_part)
{
    using T = typename Op::value;
    bool vectors = a.aligned_out && is_whole<T, VECTORS>(a, tile);
#pragma unroll
    for (int row = 0; row < VECTORS; row++) {
        T y[VECTOR<T>], before_vector = Op{}(before_part, before_row[row]), previous = before_vector;
#pragma unroll
        for (int i = 0; i < VECTOR<T>; i++) {
            T next = Op{}(before_vector, mine.x[row][i]);
            y[i] = a.inclusive ? next : previous;
            previous = next;
        }
        uint64_t first = tile * tile_columns<T, VECTORS>() + place<VECTORS>(row) * VECTOR<T>;
        if (vectors) {
            uint4 vector;
            memcpy(&vector, y, sizeof vector);
            uint4 *to = reinterpret_cast<uint4 *>(a.out + first);
            if constexpr (STREAMING)
                __stcs(to, vector);
            else
                *to = vector;
        } else {
#pragma unroll
            for (int i = 0; i < VECTOR<T>; i++)
                if (first + i >= a.begin && first + i < a.end)
                    a.out[first + i] = y[i];
        }
    }
}

/* ------------------------------------------------------------------------------------------------ the grid */

/* How tiles find their blocks, and each other. */
struct grid {
    struct run_state *state;
    uint64_t tiles;
    word status_words;     /* of all tiles */
    unsigned draws;        /* tickets drawn in a run */
    bool tile_from_ticket; /* or from the block's number; of scan_tile, as a ring always draws */
};

/* 2 to 4, by the first warp of a block: tells the tile's aggregate, finds what lies before the tile, and tells its
 * prefix. `known` is everything before tile `first`; where that is this tile, its prefix goes out at once. */
template <class Op>
static __device__ typename Op::value tell_and_look_back(struct status_words status, uint64_t tile,
                                                        typename Op::value aggregate, uint64_t first,
                                                        typename Op::value known)
{
    if (lane_number() == 0 && tile > first)
        publish(status, tile, AGGREGATE, aggregate);
    auto before = look_back<Op>(status, tile, first, known);
    if (lane_number() == 0)
        publish(status, tile, PREFIX, Op{}(before, aggregate));
    return before;
}

/* At least so many blocks of 256 threads fit on a multiprocessor: up to 128 registers a thread, and 80. */
constexpr int TILE_BLOCKS = 2, RING_BLOCKS = 3;

/* A tile a block. */
template <class Op, int VECTORS>
static __global__ void __launch_bounds__(MOST_THREADS, TILE_BLOCKS)
    scan_tile(struct array<typename Op::value> a, struct grid grid)
{
    using T = typename Op::value;
    SHARED(T, totals, MOST_WARPS);
    SHARED(T, before_tile, 1);
    SHARED(unsigned, drawn, 1);
    int warp = int(threadIdx.x) / LANES;
    struct part<T, VECTORS> mine;
    struct ticket ticket = {0, blockIdx.x};

    if (grid.tile_from_ticket) { /* a block waits only for those that have started before it */
        if (threadIdx.x == 0) {
            ticket = draw(grid.state, grid.draws, grid.status_words);
            drawn[0] = ticket.number;
        }
        __syncthreads(); /* the ticket is drawn */
        ticket.number = drawn[0];
    }
    uint64_t tile = ticket.number;
    load<Op>(a, tile, mine);
    if (grid.tiles > 1 && !grid.tile_from_ticket && threadIdx.x == 0) /* while the loads are under way */
        ticket.epoch = draw(grid.state, grid.draws, grid.status_words).epoch;

    T before_row[VECTORS], aggregate;
    T total = scan_part<Op>(mine, before_row);
    if (lane_number() == 0)
        totals[warp] = total;
    __syncthreads(); /* the warps' totals are there */
    T before_part = before_warp<Op>(totals, &aggregate);

    if (grid.tiles > 1) {
        if (warp == 0) {
            struct status_words status = {reinterpret_cast<word *>(grid.state + 1),
                                          __shfl_sync(ALL_LANES, ticket.epoch, 0)};
            T x = tell_and_look_back<Op>(status, tile, aggregate, 0, Op::identity());
            if (lane_number() == 0)
                before_tile[0] = x;
        }
        __syncthreads(); /* what lies before the tile is known */
        before_part = Op{}(before_tile[0], before_part);
    }
    store<Op, VECTORS, false>(a, tile, mine, before_row, before_part);
}

/* ------------------------------------------------------------------------------------------------ the ring */

constexpr int RING_BYTES = 32 << 10; /* a block's copies under way: a multiprocessor holds several such blocks */

template <int VECTORS> constexpr int STAGES = RING_BYTES / (VECTORS * int(sizeof(uint4)) * MOST_THREADS);

/* Begins to copy a thread's part of tile `tile` into a stage of the ring. The thread reads the same places itself, so
 * that waiting for its own copies is enough. A tile with an end of the array in it is left for load_elements. */
template <class T, int VECTORS>
static __device__ void begin_copy(struct array<T> a, struct grid grid, uint64_t tile, uint4 *stage)
{
    if (tile < grid.tiles && is_whole<T, VECTORS>(a, tile)) {
        const uint4 *from = reinterpret_cast<const uint4 *>(a.in + tile * tile_columns<T, VECTORS>());
#pragma unroll
        for (int row = 0; row < VECTORS; row++)
            __pipeline_memcpy_async(&stage[place<VECTORS>(row)], &from[place<VECTORS>(row)], sizeof(uint4));
    }
    __pipeline_commit(); /* also of nothing: a wait counts commits */
}

/* As many blocks as the device holds go from tile to tile. A block draws each ticket well before it needs the tile:
 *
 *     tile         t            t + 3          t + 7         the tickets of one block
 *     scanned      ========     ========       ========
 *     copied         t + 3, t + 7   t + 7, t + 12            two stages
 *     drawn             t + 12         t + 15
 *
 * All tiles before the earliest that is not finished are finished, and its block is at work on it, as it takes its
 * tiles in order: somebody can always go on. */
template <class Op, int VECTORS>
static __global__ void __launch_bounds__(MOST_THREADS, RING_BLOCKS)
    scan_ring(struct array<typename Op::value> a, struct grid grid)
{
    using T = typename Op::value;
    constexpr int AHEAD = STAGES<VECTORS>;
    SHARED(uint4, ring, RING_BYTES / sizeof(uint4));
    SHARED(T, totals, MOST_WARPS);
    SHARED(T, before_tile, 1);
    SHARED(unsigned, drawn, AHEAD + 1);
    int warp = int(threadIdx.x) / LANES, stage_size = int(blockDim.x) * VECTORS;
    struct ticket latest = {}; /* of thread 0 */

    if (threadIdx.x == 0)
        for (int i = 0; i < AHEAD + 1; i++) { /* the last of them for the first round */
            if (i == 0 || latest.number < grid.tiles)
                latest = draw(grid.state, grid.draws, grid.status_words);
            drawn[i] = latest.number;
        }
    __syncthreads();                                          /* the first tickets are drawn */
    unsigned epoch = __shfl_sync(ALL_LANES, latest.epoch, 0); /* of use to the first warp alone */
    uint64_t tile[AHEAD];                                     /* tile[0] is scanned next; all are being copied */
    for (int i = 0; i < AHEAD; i++) {
        tile[i] = drawn[i];
        begin_copy<T, VECTORS>(a, grid, tile[i], &ring[i * stage_size]);
    }

    T known = Op::identity(); /* everything before tile `first`; of use to the first warp alone */
    uint64_t first = 0;
    for (int round = 0; tile[0] < grid.tiles; round++) {
        uint4 *stage = &ring[round % AHEAD * stage_size];
        struct part<T, VECTORS> mine;
        __pipeline_wait_prior(AHEAD - 1); /* this tile is there; the later ones may be under way */
        if (is_whole<T, VECTORS>(a, tile[0])) {
#pragma unroll
            for (int row = 0; row < VECTORS; row++) {
                uint4 vector = stage[place<VECTORS>(row)];
                memcpy(mine.x[row], &vector, sizeof vector);
            }
        } else {
            load_elements<Op, VECTORS>(a, tile[0], mine);
        }
        if (threadIdx.x == 0)
            drawn[AHEAD] = latest.number; /* drawn in the last round, or at first above: it has long come */

        T before_row[VECTORS], aggregate;
        T total = scan_part<Op>(mine, before_row);
        if (lane_number() == 0)
            totals[warp] = total;
        __syncthreads(); /* the warps' totals are there, and the next ticket */
        T before_part = before_warp<Op>(totals, &aggregate);
        uint64_t coming = drawn[AHEAD];
        begin_copy<T, VECTORS>(a, grid, coming, stage); /* over what this thread alone has read */

        if (warp == 0) {
            struct status_words status = {reinterpret_cast<word *>(grid.state + 1), epoch};
            T x = tell_and_look_back<Op>(status, tile[0], aggregate, first, known);
            known = Op{}(x, aggregate);
            first = tile[0] + 1;
            if (lane_number() == 0)
                before_tile[0] = x;
            if (threadIdx.x == 0 && coming < grid.tiles)
                latest = draw(grid.state, grid.draws, grid.status_words);
        }
        __syncthreads(); /* what lies before the tile is known */
        store<Op, VECTORS, true>(a, tile[0], mine, before_row, Op{}(before_tile[0], before_part));

#pragma unroll
        for (int i = 0; i + 1 < AHEAD; i++)
            tile[i] = tile[i + 1];
        tile[AHEAD - 1] = coming;
    }
}

/* ------------------------------------------------------------------------------------------------ run */

/* Is there an entry of the table with so many vectors, whose blocks take a tile each, or go from tile to tile? What the
 * table does not ask for is not compiled. */
static constexpr bool shapes_have(int vectors, bool ring)
{
    for (const struct shape &shape : shapes)
        if (shape.vectors == vectors && (!ring || shape.rounds > 0))
            return true;
    return false;
}

/* Calls f(std::integral_constant<int, vectors>{}). */
template <class F> static void with_vectors(int vectors, F f)
{
    auto if_it_is = [&](auto constant) {
        if constexpr (shapes_have(decltype(constant)::value, false))
            if (vectors == decltype(constant)::value)
                f(constant);
    };
    if_it_is(std::integral_constant<int, 1>{});
    if_it_is(std::integral_constant<int, 2>{});
    if_it_is(std::integral_constant<int, 4>{});
    if_it_is(std::integral_constant<int, 8>{});
}

/* Elements of a tile. */
static uint64_t tile_size(const struct problem *p)
{
    return uint64_t(p->threads) * uint64_t(shape_of(p)->vectors) * sizeof(uint4) / type_size(p->type);
}

/* At most: pointers that are not aligned may make one more. */
static uint64_t most_tiles(const struct problem *p)
{
    return divide_up(p->n + sizeof(uint4) / type_size(p->type) - 1, tile_size(p));
}

static uint64_t most_status_words(const struct problem *p)
{
    return most_tiles(p) * type_size(p->type) / 4;
}

static size_t workspace(const struct problem *p)
{
    return most_tiles(p) > 1 ? sizeof(struct run_state) + most_status_words(p) * sizeof(word) : 0;
}

/* No word is older than twice the number of words (draw), and epochs come round after more runs than that. */
static const char *refuse(const struct problem *p)
{
    return most_status_words(p) > EPOCHS / 2 ? "status-words-over-2^29" : nullptr;
}

static __global__ void clear_workspace(struct run_state *state, word capacity)
{
    word *words = reinterpret_cast<word *>(state + 1);
    uint64_t i = thread_number();
    if (i < capacity)
        words[i] = 0;
    if (i == 0) {
        state->next = 0;
        state->capacity = capacity;
    }
}

static void prepare(const struct problem *p)
{
    if (workspace(p) > 0)
        launch(clear_workspace, blocks_for(most_status_words(p), MOST_THREADS), MOST_THREADS,
               static_cast<struct run_state *>(p->workspace), most_status_words(p));
}

/* Which elements of a 16-byte vector a pointer stands at. */
template <class T> static uint64_t column_of(const T *pointer)
{
    return reinterpret_cast<uintptr_t>(pointer) / sizeof(T) % VECTOR<T>;
}

template <class Op, int VECTORS> static void scan(const struct problem *p, uint64_t rounds)
{
    using T = typename Op::value;
    const T *in = static_cast<const T *>(p->in);
    T *out = static_cast<T *>(p->out);
    uint64_t begin = column_of(in), end = begin + p->n;
    struct array<T> a = {
        in - begin, out - begin, begin, end, column_of(out) == begin, p->kind == INCLUSIVE
    };
    uint64_t tiles = divide_up(end, tile_size(p));
    /* Then no block waits for one that cannot start, provided that no other kernel holds on to the device. */
    bool all_resident = tiles <= 1 || tiles <= resident_blocks((scan_tile<Op, VECTORS>), p->threads);
    struct grid grid = {static_cast<struct run_state *>(p->workspace), tiles, tiles * STATUS_WORDS<T>, unsigned(tiles),
                        !all_resident};
    if constexpr (shapes_have(VECTORS, true)) {
        uint64_t blocks = all_resident ? 0 : resident_blocks((scan_ring<Op, VECTORS>), p->threads);
        /* Before compute capability 8.0 a copy to shared memory makes its thread wait. */
        if (rounds > 0 && blocks > 0 && tiles >= rounds * blocks && compute_capability() >= 80) {
            grid.draws = unsigned(tiles + blocks); /* each block draws one in vain */
            launch((scan_ring<Op, VECTORS>), blocks, p->threads, a, grid);
            return;
        }
    }
    launch((scan_tile<Op, VECTORS>), tiles, p->threads, a, grid);
}

static void run(const struct problem *p)
{
    with_operator(p, [&](auto op) {
        with_vectors(shape_of(p)->vectors, [&](auto vectors) {
            scan<decltype(op), decltype(vectors)::value>(p, uint64_t(shape_of(p)->rounds));
        });
    });
}

static struct cost model(const struct problem *p)
{
    return {.launches = 1, .additions = UNKNOWN, .steps = UNKNOWN, .words_read = p->n, .words_written = p->n};
}

ALGORITHM(single_pass) = {
    .title = "Single pass",
    .source = "scanbench, after Merrill and Garland",
    .year = 2026,
    .runs_on = DEVICE,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .threads = {MOST_THREADS, 128, 64},
    .items = 16,
    .additions = "about 4 n",
    .launches = "1",
    .traffic = "2 n",
    .refuse = refuse,
    .workspace = workspace,
    .prepare = prepare,
    .run = run,
    .model = model,
};
