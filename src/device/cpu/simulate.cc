/* SPDX-License-Identifier: MIT */
/*
 * The clock of a simulated GPU: simulate.h has its rules.
 *
 * Times in the stream are known as soon as work is given to it, but behind a closed gate: there it is kept until the
 * gate's end is known, because the host has opened it or has waited until it opened by itself.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cpu/cpu.h"
#include "device/cpu/simulate.h"
#include "device/cpu/specification.h"

bool simulated;

static struct specification spec;
static double host, stream; /* H and D; D is infinite behind a kernel that hangs */

/* What there is room for from the start. */
constexpr size_t MOST_EVENTS = 1024, MOST_KERNELS = 1024;
constexpr double CLOCK_READING = 27e-9;
constexpr double SHORTEST_BETWEEN_MARKS = 50e-6;

/* ---------------------------------------------------------------------------------------------- chance */

static uint64_t random_state;
static double spare_normal;

static double uniform()
{
    /* splitmix64 */
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double((x ^ x >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller: two at a time. */
static double normal()
{
    if (!isnan(spare_normal)) {
        const double spare = spare_normal;
        spare_normal = NAN;
        return spare;
    }
    const double length = sqrt(-2 * log(uniform())), angle = 2 * M_PI * uniform();
    spare_normal = length * sin(angle);
    return length * cos(angle);
}

/* ---------------------------------------------------------------------------------------------- throttling */

/* How long it has been throttled up to the time `t`. */
static double throttled_until(double t)
{
    const double start = spec.throttle[0], length = spec.throttle[1], period = spec.throttle[3];
    double since = t - start, whole = 0;
    if (since <= 0)
        return 0;
    if (period > 0) {
        whole = floor(since / period);
        since -= whole * period;
    }
    return whole * length + (since < length ? since : length);
}

static bool throttled_at(double t)
{
    const double start = spec.throttle[0], period = spec.throttle[3];
    const double since = t - start;
    return since >= 0 && (period > 0 ? fmod(since, period) : since) < spec.throttle[1];
}

/* ---------------------------------------------------------------------------------------------- the stream */

/* Something given to the stream. */
struct item {
    enum { WORK, EVENT, MARK } what;
    bool launched; /* it takes a place in the queue */
    double arrival, gap;
    double lasts;    /* of work, before the time at which it begins has its say */
    double held_up;  /* ... and what a neighbour adds */
    double *event_s; /* NULL: forgotten */
    int mark;
};

static struct item *behind; /* behind the closed gate, in order */
static size_t behind_count, behind_room;
static bool gate_closed, gate_late;
static double gate_deadline;

static double *begins; /* of the last `queue` launches that the stream has come to, by number */
static uint64_t launched, come_to;
static double mark_s[2];

static void stream_takes(const struct item *item)
{
    if (item->what == item::EVENT) {
        if (item->event_s)
            *item->event_s = fmax(item->arrival, stream);
        return;
    }
    const double begin = fmax(item->arrival, stream + item->gap);
    if (item->launched)
        begins[come_to++ % spec.queue] = begin;
    if (item->what == item::MARK) {
        mark_s[item->mark] = begin;
        stream = begin + item->lasts;
        return;
    }
    double factor = isinf(begin) ? 1 : 1 + spec.drift * begin; /* behind what hangs: no drift of 0 times infinity */
    if (throttled_at(begin))
        factor *= spec.throttle[2];
    stream = begin + item->lasts * factor + item->held_up;
}

/* The gate opens at the time `t`. */
static void gate_opens(double t)
{
    gate_closed = false;
    stream = t;
    for (size_t i = 0; i < behind_count; i++)
        stream_takes(&behind[i]);
    behind_count = 0;
}

/* The host has come to its time: has the gate opened by itself meanwhile? */
static void look_at_gate()
{
    if (gate_closed && host >= gate_deadline) {
        gate_late = true;
        gate_opens(gate_deadline);
    }
}

/* What hangs is ended from outside. */
static void host_waits_until(double t)
{
    while (isinf(t))
        pause();
    host = fmax(host, t);
}

/* Whoever waits for what is behind a closed gate waits until it opens by itself. */
static void host_waits_for_gate()
{
    if (gate_closed) {
        host_waits_until(gate_deadline);
        look_at_gate();
    }
}

static void host_waits_for_stream()
{
    host_waits_for_gate();
    host_waits_until(stream);
}

static void give(const struct item *item)
{
    look_at_gate();
    if (!gate_closed) {
        stream_takes(item);
        return;
    }
    if (behind_count == behind_room) {
        behind_room *= 2;
        behind = static_cast<struct item *>(realloc(behind, behind_room * sizeof *behind));
        if (!behind)
            abort();
    }
    behind[behind_count++] = *item;
}

/* The host's part of a launch that costs it so much; when its work arrives. */
static double host_launches(double cost)
{
    if (launched >= spec.queue) { /* a place is free when this one has begun */
        const uint64_t earlier = launched - spec.queue;
        if (earlier >= come_to)
            host_waits_for_gate();
        host_waits_until(begins[earlier % spec.queue]);
    }
    launched++;
    host += cost;
    return host + spec.latency;
}

/* ---------------------------------------------------------------------------------------------- work */

static bool cold_next;
static bool replaying, replay_begun;
static double replay_arrival;

static void work(double lasts, double held_up)
{
    if (!replaying) {
        const struct item item = {item::WORK, true, host_launches(spec.launch), spec.gap, lasts, held_up, nullptr, 0};
        give(&item);
        return;
    }
    const bool first = !replay_begun;
    if (first)
        replay_arrival = host_launches(spec.graph);
    replay_begun = true;
    const double gap = first ? spec.gap : spec.graph_gap;
    const struct item item = {item::WORK, first, replay_arrival, gap, lasts, held_up, nullptr, 0};
    give(&item);
}

static void disturbed_work(double lasts)
{
    double held_up = 0;
    if (spec.noise > 0)
        lasts *= exp(spec.noise * normal());
    if (spec.busy[0] > 0 && uniform() < spec.busy[0])
        held_up = spec.busy[1];
    if (cold_next)
        lasts *= spec.cold;
    cold_next = false;
    work(lasts, held_up);
}

/* ---------------------------------------------------------------------------------------------- loading */

/* Kernels that have been launched before: a table of addresses, half empty at least. */
static const void **loaded;
static size_t loaded_count, loaded_room;

static const void **loaded_place(const void *kernel)
{
    size_t at = (reinterpret_cast<uintptr_t>(kernel) >> 4) * 0x9e3779b1u % loaded_room;
    while (loaded[at] && loaded[at] != kernel)
        at = (at + 1) % loaded_room;
    return &loaded[at];
}

static void load(const void *kernel)
{
    if (!kernel || spec.first <= 0)
        return;
    if (2 * (loaded_count + 1) > loaded_room) {
        const void **before = loaded;
        const size_t room = loaded_room;
        loaded_room = 2 * room;
        loaded = static_cast<const void **>(calloc(loaded_room, sizeof *loaded));
        if (!loaded)
            abort();
        for (size_t i = 0; i < room; i++)
            if (before[i])
                *loaded_place(before[i]) = before[i];
        free(before);
    }
    const void **place = loaded_place(kernel);
    if (*place)
        return;
    *place = kernel;
    loaded_count++;
    host_waits_for_stream();
    host += spec.first;
}

/* ---------------------------------------------------------------------------------------------- faults */

static uint64_t fault_met[MOST_FAULTS];
static uint64_t mallocs;
static const struct fault *failed; /* a kernel has ended in it, nobody has heard of it yet */

static const char *error_name(int error)
{
    switch (error) {
    case 1: return "invalid argument (cudaErrorInvalidValue, 1)";
    case 2: return "out of memory (cudaErrorMemoryAllocation, 2)";
    case 700: return "an illegal memory access was encountered (cudaErrorIllegalAddress, 700)";
    case 701: return "too many resources requested for launch (cudaErrorLaunchOutOfResources, 701)";
    case 702: return "the launch timed out and was terminated (cudaErrorLaunchTimeout, 702)";
    case 715: return "an illegal instruction was encountered (cudaErrorIllegalInstruction, 715)";
    case 716: return "misaligned address (cudaErrorMisalignedAddress, 716)";
    case 719: return "unspecified launch failure (cudaErrorLaunchFailure, 719)";
    default: return nullptr;
    }
}

static void hear_of_error()
{
    if (!failed)
        return;
    const int error = int(failed->value);
    const char *name = error_name(error);
    if (name)
        cpu_set_error(error, "kernel %s: %s", failed->kernel, name);
    else
        cpu_set_error(error, "kernel %s: CUDA's error %d", failed->kernel, error);
    failed = nullptr;
}

/* "(pass<Op, true>)" is `pass`. */
static bool is_named(const char *name, const char *kernel)
{
    name += strspn(name, "( ");
    const size_t length = strcspn(name, "<) ");
    return strlen(kernel) == length && !memcmp(name, kernel, length);
}

/* What the specification has for this launch; `lasts` changes with it. False: it is not to be carried out. */
static bool meets_faults(const char *name, uint64_t blocks, double *lasts)
{
    bool carried_out = true;
    for (int i = 0; i < spec.fault_count; i++) {
        const struct fault *fault = &spec.faults[i];
        if (!is_named(name, fault->kernel) || (fault->blocks && fault->blocks != blocks) ||
            ++fault_met[i] < fault->from)
            continue;
        switch (fault->kind) {
        case FAULT_LASTS: *lasts = fault->value; break;
        case FAULT_HANG:
            *lasts = INFINITY;
            carried_out = false;
            break;
        case FAULT_CRASH: abort();
        case FAULT_WRONG: carried_out = false; break;
        case FAULT_FAIL:
            failed = fault;
            carried_out = false;
            break;
        }
    }
    return carried_out;
}

/* ---------------------------------------------------------------------------------------------- what is launched */

bool simulate_kernel(const void *kernel, const char *name, uint64_t blocks, uint64_t threads)
{
    double lasts = fmax(spec.empty, double(threads) * spec.thread);
    const bool lost = failed != nullptr; /* behind a kernel that has failed nothing is carried out */
    if (!replaying)
        load(kernel);
    const bool carried_out = meets_faults(name, blocks, &lasts) && !lost;
    disturbed_work(lasts);
    return carried_out;
}

bool simulate_bytes(const char *name, uint64_t bytes)
{
    double lasts = fmax(spec.empty, double(bytes) * spec.byte);
    const bool lost = failed != nullptr;
    const bool carried_out = meets_faults(name, 0, &lasts) && !lost;
    disturbed_work(lasts);
    return carried_out;
}

void simulate_fill(uint64_t bytes)
{
    work(fmax(spec.empty, double(bytes) * spec.byte), 0);
}

void simulate_recorded(const void *kernel)
{
    load(kernel);
    host += spec.launch;
}

void simulate_replay(bool begun)
{
    replaying = begun;
    replay_begun = false;
}

void simulate_make_cold(void)
{
    const double bytes = double(spec.l2);
    work(fmax(spec.empty, bytes * spec.byte), 0);     /* overwritten */
    work(fmax(spec.empty, 3 * bytes * spec.byte), 0); /* read */
    cold_next = true;
}

uint64_t simulate_l2_bytes(void)
{
    return spec.l2;
}

bool simulate_malloc(void)
{
    const double number = double(++mallocs);
    return number < spec.malloc[0] || number >= spec.malloc[0] + spec.malloc[1] || spec.malloc[0] == 0;
}

/* ---------------------------------------------------------------------------------------------- the host */

double simulate_clock_s(void)
{
    host += CLOCK_READING;
    return host;
}

void simulate_pause(double seconds)
{
    host += seconds;
}

void simulate_synchronize(void)
{
    host_waits_for_stream();
    host += spec.sync;
    hear_of_error();
}

void simulate_transfer(uint64_t bytes)
{
    simulate_synchronize();
    host += double(bytes) * spec.transfer;
}

/* ---------------------------------------------------------------------------------------------- events */

void simulate_record(double *time_s)
{
    host += spec.record;
    *time_s = NAN;
    const struct item item = {item::EVENT, false, host + spec.latency, 0, 0, 0, time_s, 0};
    give(&item);
}

void simulate_forget(const double *time_s)
{
    for (size_t i = 0; i < behind_count; i++)
        if (behind[i].event_s == time_s)
            behind[i].event_s = nullptr;
}

double simulate_elapsed_s(const double *start_s, const double *end_s)
{
    if (isnan(*end_s) || isnan(*start_s))
        host_waits_for_gate();
    host_waits_until(*end_s);
    host += spec.sync;
    hear_of_error();
    if (device_error())
        return 0;
    const double elapsed = *end_s - *start_s;
    return spec.resolution > 0 ? round(elapsed / spec.resolution) * spec.resolution : elapsed;
}

double simulate_resolution_s(void)
{
    return spec.resolution;
}

/* ---------------------------------------------------------------------------------------------- the gate */

bool simulate_has_gate(void)
{
    return spec.gate != 0;
}

bool simulate_gate_close(void)
{
    look_at_gate();
    if (!spec.gate || gate_closed)
        return false;
    const double arrival = host_launches(spec.launch), reached = fmax(arrival, stream + spec.gap);
    begins[come_to++ % spec.queue] = reached;
    gate_closed = true;
    gate_late = false;
    gate_deadline = reached + DEVICE_GATE_DEADLINE_S;
    return true;
}

bool simulate_gate_open(void)
{
    look_at_gate();
    if (gate_closed) {
        const double reached = gate_deadline - DEVICE_GATE_DEADLINE_S;
        gate_opens(fmin(fmax(reached, host + spec.release), gate_deadline));
    }
    return !gate_late;
}

/* ---------------------------------------------------------------------------------------------- the SM clock */

void simulate_clock_mark(int mark)
{
    const struct item item = {item::MARK, true, host_launches(spec.launch), spec.gap, spec.empty, 0, nullptr, mark};
    give(&item);
}

double simulate_clock_mhz(void)
{
    const double between = mark_s[1] - mark_s[0];
    if (!spec.clock || !(between >= SHORTEST_BETWEEN_MARKS) || isinf(between))
        return NAN;
    const double share = (throttled_until(mark_s[1]) - throttled_until(mark_s[0])) / between;
    return double(spec.clock) * (1 - share * (1 - 1 / spec.throttle[2]));
}

/* ---------------------------------------------------------------------------------------------- begin and end */

void simulate_begin(const char *text)
{
    char why[200];
    if (!specification_parse(text, &spec, why, sizeof why))
        abort();
    host = stream = 0;
    random_state = spec.seed;
    spare_normal = NAN;
    gate_closed = gate_late = cold_next = replaying = false;
    behind_count = 0;
    launched = come_to = mallocs = 0;
    mark_s[0] = mark_s[1] = NAN;
    failed = nullptr;
    memset(fault_met, 0, sizeof fault_met);
    /* Here, so that nothing is allocated while somebody measures. */
    begins = static_cast<double *>(calloc(spec.queue, sizeof *begins));
    behind_room = spec.queue + MOST_EVENTS;
    behind = static_cast<struct item *>(malloc(behind_room * sizeof *behind));
    loaded_room = 2 * MOST_KERNELS;
    loaded = static_cast<const void **>(calloc(loaded_room, sizeof *loaded));
    if (!begins || !behind || !loaded)
        abort();
    simulated = true;
}

void simulate_end(void)
{
    free(begins);
    free(behind);
    free(loaded);
    begins = nullptr;
    behind = nullptr;
    loaded = nullptr;
    loaded_count = 0;
    simulated = false;
}

int simulate_open_error(char *why, size_t size)
{
    const int major = int(spec.capability), minor = int(lround((spec.capability - major) * 10));
    switch (spec.open) {
    case 0: return 0;
    case 35: snprintf(why, size, "no NVIDIA driver is loaded on this machine (simulated)"); break;
    case 100:
        snprintf(why, size, "there is no NVIDIA GPU in this machine, though there is a driver for one (simulated)");
        break;
    case 209:
        snprintf(why, size,
                 "this program was built for other GPUs, and GPU 0, %s, is sm_%d%d: make clean, then make SM=%d%d "
                 "(simulated)",
                 spec.name, major, minor, major, minor);
        break;
    default: snprintf(why, size, "GPU 0, %s, cannot be used: CUDA's error %d (simulated)", spec.name, int(spec.open));
    }
    return int(spec.open);
}

bool cpu_cooperative_launches(void)
{
    return !simulated || spec.cooperative;
}

void simulate_properties(struct device_properties *properties)
{
    properties->simulated = true;
    snprintf(properties->name, sizeof properties->name, "%s", spec.name);
    snprintf(properties->uuid, sizeof properties->uuid, "%s", spec.uuid);
    snprintf(properties->driver, sizeof properties->driver, "%s", spec.driver);
    properties->compute_major = int(spec.capability);
    properties->compute_minor = int(lround((spec.capability - int(spec.capability)) * 10));
    properties->sm_count = int(spec.sm);
    properties->sm_clock_max_mhz = int(spec.clock);
    properties->mem_clock_max_mhz = int(spec.memclock);
    properties->mem_bus_bits = int(spec.bus);
    properties->l2_bytes = spec.l2;
    properties->mig = spec.mig != 0;
    properties->wsl = spec.wsl != 0;
    properties->temperature_c = int(spec.temperature);
    properties->other_processes = int(spec.processes);
    properties->clocks_locked = int(spec.locked);
    properties->power_limit_w = spec.power;
}
