// SPDX-License-Identifier: MIT
/*
 * The clock of the SMs: how many cycles an SM counts between two marks on the stream, over how many nanoseconds of the
 * GPU's timer. A mark is a kernel with blocks for all SMs; an SM that has been met at both marks gives a reading.
 */
#include "cuda.h"

#include <cmath>

constexpr unsigned MOST_SMS = 1024; /* numbers of SMs may have gaps */
constexpr double SHORTEST_NS = 50e3;
constexpr double SHORTEST_STEPS = 50; /* of the timer: where they are long, it takes longer to tell */

struct reading {
    unsigned long long ns, cycles;
    unsigned pair; /* number of the two marks; a reading of an earlier pair is none */
};

struct clock_words {
    struct reading readings[2][MOST_SMS];
    unsigned long long step_ns; /* of the timer; 0: it does not move */
};

static struct clock_words *words; /* in memory of the host, mapped into the GPU */
static unsigned pair;

static __device__ unsigned taken[2][MOST_SMS]; /* the pair of which a block on this SM has already taken the reading */

/* The next step of the timer, from its beginning on; it is awaited for so many cycles. */
static __device__ __forceinline__ unsigned long long next_step(unsigned long long patience_cycles,
                                                               unsigned long long *cycles)
{
    unsigned long long before = global_timer_ns(), begun = sm_cycles(), ns;
    do {
        ns = global_timer_ns();
        *cycles = sm_cycles();
    } while (ns == before && *cycles - begun < patience_cycles);
    return ns;
}

static __global__ void take_readings(struct clock_words *words, int mark, unsigned pair)
{
    unsigned sm = sm_number();
    if (sm >= MOST_SMS || atomicExch(&taken[mark][sm], pair) == pair)
        return;
    unsigned long long cycles, ns = next_step(20000, &cycles);
    words->readings[mark][sm] = {ns, cycles, pair};
}

/* The longest of a few steps. */
static __global__ void measure_step(struct clock_words *words)
{
    unsigned long long cycles, last = next_step(4000000, &cycles), longest = 0;
    for (int i = 0; i < 4; i++) {
        unsigned long long ns = next_step(4000000, &cycles);
        longest = ns - last > longest ? ns - last : longest;
        last = ns;
    }
    words->step_ns = longest;
}

static void take_mark(int mark)
{
    take_readings<<<unsigned(2 * gpu.sm_count), 1, 0, gpu.stream>>>(words, mark, pair);
    CHECK(cudaGetLastError());
}

void sm_clock_start(void)
{
    void *memory = nullptr;
    if (gpu.error || gpu.sm_count < 1)
        return;
    if (cudaHostAlloc(&memory, sizeof *words, cudaHostAllocMapped) != cudaSuccess) {
        cudaGetLastError();
        return;
    }
    words = static_cast<struct clock_words *>(memory);
    *words = {};
    measure_step<<<1, 1, 0, gpu.stream>>>(words);
    if (CHECK(cudaGetLastError())) {
        device_sm_clock_mark(0);
        device_synchronize();
    }
}

void sm_clock_stop(void)
{
    words = nullptr;
}

void device_sm_clock_mark(int mark)
{
    if (!words || gpu.error || mark < 0 || mark > 1)
        return;
    if (mark == 0)
        pair++;
    take_mark(mark);
}

double device_sm_clock_mhz(void)
{
    double cycles = 0, ns = 0;
    if (!words || gpu.error || words->step_ns == 0)
        return NAN;
    double shortest_ns = fmax(SHORTEST_NS, SHORTEST_STEPS * double(words->step_ns));
    for (unsigned sm = 0; sm < MOST_SMS; sm++) {
        const struct reading *first = &words->readings[0][sm], *last = &words->readings[1][sm];
        if (first->pair != pair || last->pair != pair)
            continue;
        if (double(static_cast<long long>(last->ns - first->ns)) < shortest_ns)
            return NAN;
        cycles += double(last->cycles - first->cycles);
        ns += double(last->ns - first->ns);
    }
    return ns > 0 ? cycles / ns * 1e3 : NAN;
}
