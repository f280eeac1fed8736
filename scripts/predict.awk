# SPDX-License-Identifier: MIT
# awk -f scripts/predict.awk: how long each algorithm will take on an H200, i32, exclusive, sum, launched on a stream, warm
# caches, device time: a PREDICTION by a model with few constants, made before any of this ran on a GPU. Prints a table in
# Markdown. docs/performance.md says where each constant comes from and how well it is known; they stand here alone.
#     time = first + gap (launches - 1) + latency of the bodies + the sum over passes of the longest of
#            bytes / bandwidth, instructions / issue rate, a chain of tiles that wait for each other
BEGIN {
    # us
    first = 2.0  # an empty kernel between two events
    gap = 2.0    # from the end of a kernel to the work of the next that depends on it
    body = 1.0   # loads, and stores until the kernel has ended, of a kernel with little to do
    clear = 0.3  # what a memset or a kernel that sets status words needs besides
    step = 0.03  # a level of a tree in shared memory: a load, an addition, a store, a barrier
    hop = 0.7    # a look at another block's status word and what follows: the word is written, seen, added to, written
    sleep = 1.245 # CUB's before the first look, from 500 tiles on
    ticket = 0.7 # an atomic addition that a block waits for
    grid = 1.5   # a barrier of the whole grid
    own_block = 0.5 # the scan of a tile in registers, by shuffles
    cub_block = 0.8 # ... and with two transpositions through shared memory
    # bytes a us
    peak = 4.8e6
    copied = 0.91 * peak # what a copy reaches beyond the L2
    cached = 6e6         # ... and within
    cub = 2.58e6         # what CUB's look-back reaches: it waits for latency, and an H200 has that of an H100
    l2 = 60 * 2^20       # bytes
    # warp instructions a us: 132 SMs, 4 a cycle, 1755 MHz
    issue = 132 * 4 * 1755
    w = 4

    print "| algorithm | 2^10 | 2^16 | 2^20 | 2^24 | 2^28 | G elements/s at 2^28 | of the copy | bound at 2^28 by |"
    print "|---|---|---|---|---|---|---|---|---|"
    count = split("copy hillis_steele blelloch kogge_stone brent_kung sklansky block_scan warp_shuffle reduce_then_scan " \
        "chained_scan cooperative decoupled_lookback cub_scan single_pass", names, " ")
    split("10 16 20 24 28", sizes, " ")
    for (i = 1; i <= count; i++) {
        line = "| `" names[i] "` |"
        for (j = 1; j <= 5; j++) {
            t[names[i], sizes[j]] = time(names[i], 2 ^ sizes[j])
            line = line " " us(t[names[i], sizes[j]]) " |"
        }
        print line " " sprintf("%.0f", 2^28 / t[names[i], 28] / 1e3) " | " sprintf("%.0f %%", 100 * t["copy", 28] / t[names[i], 28]) \
            " | " bound " |"
    }
    line = "| single_pass / cub_scan |"
    for (j = 1; j <= 5; j++) line = line " " sprintf("%.2f", t["single_pass", sizes[j]] / t["cub_scan", sizes[j]]) " |"
    print line " | | |"
    printf "\nCeilings at 2^28, for a scan that moves so many words an element at the speed of the copy: 2n %s us, 3n %s us, 4n %s us.\n",
        us(bytes_time(2^28, 2)), us(bytes_time(2^28, 3)), us(bytes_time(2^28, 4))
    printf "Against them: `reduce_then_scan` %+.0f %% of 3n, `block_scan` %+.0f %% of 4n.\n",
        100 * (t["reduce_then_scan", 28] / bytes_time(2^28, 3) - 1), 100 * (t["block_scan", 28] / bytes_time(2^28, 4) - 1)

    print "\n| what `single_pass` does | predicted gain | from |\n|---|---|---|"
    printf "| no clear before the run | %.1f us at every n | gap + clear |\n", gap + clear
    printf "| a tile by its block's number | %.1f us while all tiles are resident | ticket |\n", ticket
    printf "| rows of vectors, straight to registers | %.1f us at every n | %.1f us for a block's scan instead of CUB's %.1f: assumed |\n", \
        cub_block - own_block, own_block, cub_block
    printf "| 128 tiles a look | %.1f us at 2^20 | hop, %d looks instead of %d |\n", \
        hop * (looks(256, 32) - looks(256, 128)), looks(256, 128), looks(256, 32)
    printf "| no sleep before the first look | %.2f us from 500 tiles on | sleep |\n", sleep
    printf "| a ring of copies, a running prefix | up to %.0f %% at 2^28 | what separates CUB from 95 %% of the copy, if loads that stop are all there is to it |\n", \
        100 * (1 - pass(2^28, 2 / 0.95, 0.5, 0) / lookback(2^28))
}
function us(t) { return t < 100 ? sprintf("%.1f", t) : sprintf("%.0f", t) }
function most(a, b) { return a > b ? a : b }
function up(a, b) { return int((a + b - 1) / b) }
function log2_up(n, k) { k = 0; while (2 ^ k < n) k++; return k }

# Arrays in and out fit in the L2, or they do not.
function bandwidth(n) { return 2 * n * w <= l2 ? cached : copied }
function bytes_time(n, words) { return words * n * w / bandwidth(n) }
# A pass over n elements: words moved, warp instructions an element, the least time of a chain. Notes what held it up.
function pass(n, words, instructions, chain, bytes, issued) {
    bytes = bytes_time(n, words)
    issued = n * instructions / issue
    bound = "memory"
    if (issued > bytes) bound = "instructions"
    if (chain > most(bytes, issued)) bound = "the chain"
    return most(most(bytes, issued), chain)
}

# Scan a tile, scan the sums, add them: tiles of B elements, so many levels of barriers a tile, so many instructions.
function by_tiles(n, B, levels, instructions, t, tiles, what) {
    tiles = up(n, B)
    t = body + levels * step + pass(n, 2, instructions, 0)
    what = bound
    if (tiles > 1) t += gap + by_tiles(tiles, B, levels, instructions) + gap + body + pass(n, 2, 0.3, 0)
    bound = what
    return t
}
# Looks until the last tile knows what lies before it, where all begin at once: a look reaches over `window` tiles, and what
# it meets has by then got as far itself.
function looks(tiles, window) { return tiles <= 1 ? 0 : most(1, tiles / (2 * window)) }

function time(name, n, k, tiles, resident) {
    k = log2_up(n)
    if (name == "copy") return first + body + pass(n, 2, 0.1, 0)
    # Every pass reads and writes the whole array; the second operand comes from a cache.
    if (name == "hillis_steele") return first + (k - 1) * gap + k * (body + pass(n, 2, 0.6, 0))
    # 2k + 1 launches; what the sectors of its strided nodes amount to is 19 words an element in all.
    if (name == "blelloch") return first + 2 * k * gap + (2 * k + 1) * body + pass(n, 19, 1.5, 0)
    # Levels and instructions of a tile of 1024 elements: every warp meets every barrier (6 instructions), working ones
    # have 8 more; 30 a warp for loads and stores.
    if (name == "kogge_stone") return first + by_tiles(n, 1024, 10, (32 * 10 * 14 + 32 * 25) / 1024)
    if (name == "brent_kung") return first + by_tiles(n, 1024, 19, (16 * 19 * 6 + 72 * 8 + 480) / 1024)
    if (name == "sklansky") return first + by_tiles(n, 1024, 10, (16 * 10 * 14 + 480) / 1024)
    if (name == "block_scan") return first + by_tiles(n, 1024, 20, (16 * 20 * 6 + 72 * 8 + 480) / 1024)
    # Shuffles: five steps of three instructions in a warp, the same over the warps' totals, in registers.
    if (name == "warp_shuffle") return first + by_tiles(n, 1024, 4, (32 * (15 + 25) + 60) / 1024)
    if (name == "reduce_then_scan")
        return first + 2 * gap + 3 * body + own_block + pass(n, 1, 0.2, 0) + pass(n, 2, 0.6, 0)
    tiles = up(n, 3840) # 256 threads x 15
    if (name == "chained_scan")
        return first + gap + clear + body + own_block + ticket + pass(n, 2, 0.6, (tiles - 1) * hop)
    if (name == "cooperative") return first + 2 * grid + body + own_block + pass(n, 1, 0.2, 0) + pass(n, 2, 0.6, 0)
    if (name == "decoupled_lookback") {
        t_ = first + gap + clear + body + own_block + ticket
        resident = 132 * 8
        return t_ + hop * looks(tiles < resident ? tiles : 4 * 32, 32) + lookback(n)
    }
    if (name == "cub_scan") { # tiles of 128 threads x 24
        tiles = up(n, 3072)
        resident = 132 * 8
        return first + gap + clear + body + cub_block + hop * looks(tiles < resident ? tiles : 4 * 32, 32) + (tiles >= 500) * sleep + \
            lookback(n)
    }
    # One launch, no ticket where all tiles are resident, 128 tiles a look; its table of shapes.
    tiles = n * w <= 16 * 2^10 ? 1 : n * w <= 512 * 2^10 ? up(n, 1024) : up(n, 4096)
    if (name == "single_pass")
        return first + body + own_block + hop * looks(tiles < 132 * 4 ? tiles : 2 * 128, 128) + pass(n, 2 / 0.95, 0.5, 0)
}
function lookback(n) { bound = "latency"; return 2 * n * w / (n * w * 2 <= l2 ? most(cub, cached / 2) : cub) }
