/* SPDX-License-Identifier: MIT */
/*
 * Decoupled look-back over status words that never have to be cleared.
 *
 * A tile tells the tiles to its right first its aggregate, what its own elements come to, and later its prefix, what
 * everything up to its end comes to. Both times it overwrites one word:
 *
 *      63                    32 31                        2 1   0
 *     | value                  | epoch of the run          | flag |     flag: 0 nothing, 1 aggregate, 2 prefix
 *
 * - Value and flag are one word of 64 bits, and such a word is read and written whole. Who sees the flag sees the
 * value, so that no access has to order any other: all are relaxed, which saves the fences of a flag that guards a
 * value.
 * - A value of 8 bytes takes two such words, half a value each. A reader that finds two tags that differ has come
 * between the two writes, and looks again.
 * - The epoch is the number of the run. What an earlier run has left is of another epoch, and reads as nothing: no
 * clear before a run, and no second launch for it.
 *
 * Epochs come from the device (draw), not from the host, so that a captured graph can be replayed: its arguments are
 * always the same.
 */
#ifndef LOOKBACK_CUH
#define LOOKBACK_CUH

#include "device/atomic.cuh"
#include "warp_scan.cuh"

using word = unsigned long long;
using device_word = cuda::atomic_ref<word, cuda::thread_scope_device>;

enum flag : unsigned { NOTHING, AGGREGATE, PREFIX };
constexpr int FLAG_BITS = 2;
constexpr word EPOCHS = word(1) << (32 - FLAG_BITS);

/* The head of the workspace; the status words follow. Each on a line of its own: everybody writes `next`. */
struct alignas(128) run_state {
    word next;                  /* epoch << 32 | tickets drawn in this run */
    alignas(128) word capacity; /* status words behind this head */
};

struct status_words {
    word *first;
    unsigned epoch; /* of this run */
};

template <class T> constexpr int STATUS_WORDS = sizeof(T) / 4; /* a tile */

/* ------------------------------------------------------------------------------------------------ tickets */

struct ticket {
    unsigned epoch, number; /* number: 0, 1, 2 ... in the order of drawing */
};

/* Draws the next of the `draws` tickets of this run. One atomic brings both numbers. Who draws the last one knows that
 * nobody is going to draw again, and opens the next run's epoch.
 *
 * Epochs come round after 2^30 runs, and a word that a long run has left and only short runs have passed since would
 * then be believed. So every run also clears one word that it does not use, the next one each time: no word is ever
 * older, in runs, than twice the number of words (twice, as the sweep jumps where epochs come round). */
static __device__ struct ticket draw(struct run_state *state, unsigned draws, word words_used)
{
    word drawn = device_word(state->next).fetch_add(1, cuda::memory_order_relaxed);
    struct ticket ticket = {unsigned(drawn >> 32), unsigned(drawn)};
    if (ticket.number == draws - 1) {
        word next_epoch = (word(ticket.epoch) + 1) % EPOCHS;
        device_word(state->next).store(next_epoch << 32, cuda::memory_order_relaxed);
        word *words = reinterpret_cast<word *>(state + 1);
        word capacity = device_word(state->capacity).load(cuda::memory_order_relaxed);
        word unused = ticket.epoch % capacity;
        if (unused >= words_used)
            device_word(words[unused]).store(0, cuda::memory_order_relaxed);
    }
    return ticket;
}

/* ------------------------------------------------------------------------------------------------ status words */

template <class T> static __device__ void publish(struct status_words status, uint64_t tile, enum flag flag, T value)
{
    unsigned half[STATUS_WORDS<T>];
    memcpy(half, &value, sizeof value);
#pragma unroll
    for (int i = 0; i < STATUS_WORDS<T>; i++)
        device_word(status.first[tile * STATUS_WORDS<T> + i])
            .store(word(half[i]) << 32 | status.epoch << FLAG_BITS | flag, cuda::memory_order_relaxed);
}

/* What tile `tile` has told in this run; `value` is valid unless that is NOTHING. */
template <class T> static __device__ enum flag look(struct status_words status, uint64_t tile, T *value)
{
    unsigned half[STATUS_WORDS<T>], tag[STATUS_WORDS<T>];
#pragma unroll
    for (int i = 0; i < STATUS_WORDS<T>; i++) {
        word w = device_word(status.first[tile * STATUS_WORDS<T> + i]).load(cuda::memory_order_relaxed);
        half[i] = unsigned(w >> 32);
        tag[i] = unsigned(w);
    }
    memcpy(value, half, sizeof *value);
    bool torn = tag[0] != tag[STATUS_WORDS<T> - 1];
    bool stale = tag[0] >> FLAG_BITS != status.epoch;
    return torn || stale ? NOTHING : static_cast<enum flag>(tag[0] % (1 << FLAG_BITS));
}

/* ------------------------------------------------------------------------------------------------ look-back */

constexpr int LOOKS = 4; /* tiles a lane */
constexpr int WINDOW = LANES * LOOKS;
/* About a second of waiting on a GPU. Nobody waits that long but for what never comes. */
constexpr int MOST_POLLS = 1 << 20;

/* What lies before tile `tile`, in every lane of the warp that calls it: `known`, which is everything before tile
 * `first`, and the tiles from there on.
 *
 * A window of 128 tiles at a time, four neighbours a lane: with hundreds of tiles under way at once a window of 32
 * would go round four times as often, each time for as long as memory takes to answer.
 *
 *     tile      0   1   2   3 | 4   5   6   7 | 8   9  10  11 |12         a lane's four; 12 looks back
 *     flag      P   P   A   P | A   P   A   A | A   A   A   A |
 *     lane         not needed |     5 + 6 + 7 | 8 + 9 +10 +11 |           from the nearest prefix on, 5
 */
template <class Op>
static __device__ typename Op::value look_back(struct status_words status, uint64_t tile, uint64_t first,
                                               typename Op::value known)
{
    using T = typename Op::value;
    T before = Op::identity(); /* tiles to the right of the window, up to `tile` */
    for (uint64_t end = tile;; end -= WINDOW) {
        T sum = Op::identity();
        bool complete = false, prefix = false; /* all the tiles of this lane, from its nearest prefix on */
        unsigned prefixes, waiting;
        int nearest;
        for (int polls = 0;; polls++) {
            if (!complete) { /* once it is, its sum stays, even where aggregates have become prefixes since */
                sum = Op::identity();
                complete = true;
                prefix = false;
#pragma unroll
                for (int i = LOOKS - 1; i >= 0; i--) {
                    /* Plus a window, so as not to fall below 0. Left of `first` all is one prefix, `known`. */
                    uint64_t tile_plus_window = end + uint64_t(lane_number() * LOOKS + i);
                    T value = known;
                    enum flag flag = PREFIX;
                    if (tile_plus_window >= first + WINDOW)
                        flag = look(status, tile_plus_window - WINDOW, &value);
                    if (!prefix && flag != NOTHING)
                        sum = Op{}(value, sum);
                    complete = complete && (prefix || flag != NOTHING);
                    prefix = prefix || flag == PREFIX;
                }
            }
            prefixes = __ballot_sync(ALL_LANES, prefix);
            waiting = __ballot_sync(ALL_LANES, !complete);
            nearest = prefixes ? LANES - 1 - __clz(int(prefixes)) : 0;
            if (waiting >> nearest == 0)
                break;
            if (polls == MOST_POLLS)
                __trap();
            __nanosleep(20);
        }
        before = Op{}(warp_total<Op>(lane_number() < nearest ? Op::identity() : sum), before);
        if (prefixes) {
            if (lane_number() == 0)
                count_lookback(tile - first < WINDOW + (tile - end) ? tile - first : WINDOW + (tile - end));
            return before;
        }
    }
}

#endif
