/* SPDX-License-Identifier: MIT */
/*
 * The device as the C host sees it. Two machines stand behind it, chosen at build time: an NVIDIA GPU (cuda.cu)
 * and the CPU device (cpu/), which runs the same kernels on the host.
 *
 * Errors are CUDA's numbers. The first one sticks until device_close: later calls do nothing and return it.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "scan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DEVICE_ERROR_MEMORY = 2 }; /* cudaErrorMemoryAllocation: the one error that does not stick */

enum schedule { SCHEDULE_ASCENDING, SCHEDULE_DESCENDING, SCHEDULE_SHUFFLED };

/* What the CPU device can be told; a GPU ignores it. */
struct device_options {
    uint64_t memory_bytes;  /* size of the device's memory; 0: half of the host's */
    int workers;            /* OS threads; 0: one per core */
    int resident;           /* most blocks at once per worker; 0: 16 */
    enum schedule schedule; /* order of threads and of blocks */
    uint64_t seed;          /* of SCHEDULE_SHUFFLED; the same seed gives the same run with one worker */
    double launch_limit_s;  /* wall time of one launch before it is ended as hung; 0: 60 */
    const char *simulate;   /* NULL: real time; else the clock and the faults of a simulated GPU (cpu/simulate.h) */
};

/* Unknown numbers are 0, unknown text is "". */
struct device_properties {
    char kind[8];   /* "cuda" or "cpu" */
    char name[128]; /* the GPU's, or the CPU's model */
    int compute_major, compute_minor;
    int sm_count;
    int sm_clock_max_mhz, mem_clock_max_mhz, mem_bus_bits;
    uint64_t l2_bytes, memory_bytes;
    int ecc; /* 1, 0, or -1 for unknown */
    char driver[32], runtime[32], nvcc[32], cub[32], architectures[128];
    char uuid[48]; /* "GPU-..." or "MIG-...": names the device for NVML and for the lock that two runs meet at */
    bool mig;      /* a slice of a GPU */
    bool simulated;
    /* Of a simulated device alone: what the system and NVML would say of a real one, unknown as in nvml.h. */
    bool wsl;
    int temperature_c, other_processes, clocks_locked;
    double power_limit_w;
};

/* "cuda" or "cpu": the machine this program was built for. Touches no device. */
const char *device_kind(void);

/* Does this device know what device_options.simulate asks for? False and one line in `why` that names what is wrong. */
bool device_can_simulate(const char *simulate, char *why, size_t size);

/* Counts devices without opening one. Returns 0 and sets *count, or CUDA's error and a sentence in `why`
 * (no driver, no device, driver too old, wrong architecture: each its own). */
int device_count(int *count, char *why, size_t size);

/* Opens device `index`. 0, or an error with its sentence in `why`. */
int device_open(int index, const struct device_options *options, char *why, size_t size);
void device_close(void);
void device_get_properties(struct device_properties *properties);

/* 0, or the sticky error; device_error_text says it in one line ("kernel scan: 2 of 256 threads ..."). */
int device_error(void);
const char *device_error_text(void);

/* Memory, aligned to 256 bytes, content arbitrary (0xA5 on the CPU device). NULL when there is not enough. */
void *device_malloc(size_t bytes);
void device_free(void *pointer);
uint64_t device_memory_free(void);
void device_upload(void *to, const void *from, size_t bytes);
void device_download(void *to, const void *from, size_t bytes);
void device_fill(void *to, int byte, size_t bytes);

/* Host memory from which transfers run at full speed; NULL when there is none. */
void *device_pinned_malloc(size_t bytes);
void device_pinned_free(void *pointer);

/* Waits for all work of the stream. 0 or the sticky error. */
int device_synchronize(void);

/* The clock of the host that calls the device, in seconds, never set: CLOCK_MONOTONIC; of a simulated device its own,
 * on which waiting, too, has to be done. */
double device_clock_s(void);
void device_pause(double seconds);

/* Device time: an event before, an event after, the distance in seconds. Two pairs of your own are enough. */
struct device_event;
struct device_event *device_event_create(void);
void device_event_destroy(struct device_event *event);
void device_event_record(struct device_event *event);
/* Waits for `end`. */
double device_event_elapsed_s(const struct device_event *start, const struct device_event *end);
/* The finest step the event clock can show, in seconds. */
double device_event_resolution_s(void);

/* The gate: work queued behind it starts only when it is opened, so that the device never waits for the host between
 * two launches. It opens by itself DEVICE_GATE_DEADLINE_S after it was reached, whatever happens: queueing more than
 * the driver takes, or work that waits for the device, would never end otherwise.
 *
 * device_gate_close: false where there is no gate (the CPU device carries out a launch within its call; a profiler
 * runs kernels one by one). device_gate_open waits for nothing; false: the deadline had passed before, and what was
 * measured behind the gate is worth nothing. */
enum { DEVICE_GATE_LAUNCHES = 512 }; /* most launches behind a closed gate; drivers take about 1000 */
#define DEVICE_GATE_DEADLINE_S 0.5
bool device_has_gate(void);
bool device_gate_close(void);
bool device_gate_open(void);

/* The clock of the multiprocessors between two marks on the stream, 0 and 1, in MHz: cycles over nanoseconds, both
 * read by a kernel; no NVML. After device_synchronize. NAN where there is no such clock, or the marks lie less than
 * 50 us apart. */
void device_sm_clock_mark(int mark);
double device_sm_clock_mhz(void);

/* Empties the caches of what was read and written, and leaves no dirty line whose writing back would be billed to what
 * follows: a buffer as large as the cache is overwritten, then a clean one three times as large is read. Enqueued.
 * device_cold_prepare takes the buffers, once, until device_close; false and one line in `why` where the size of the
 * cache is unknown or memory is missing. */
bool device_cold_prepare(char *why, size_t size);
void device_make_cold(void);

/* One run of an algorithm, captured once and replayed as a whole. NULL and one line in `why` where it cannot be
 * captured; the device goes on as before. Pointers of `problem` are part of it. */
struct device_graph;
struct device_graph *device_graph_capture(const struct algorithm *algorithm, const struct problem *problem, char *why,
                                          size_t size);
uint64_t device_graph_launches(const struct device_graph *graph); /* nodes that are kernels, memsets or copies */
void device_graph_replay(struct device_graph *graph);             /* enqueued; counted as so many launches */
void device_graph_destroy(struct device_graph *graph);

/* A kernel of one thread that does nothing: what a launch costs at least. Not counted. */
void device_launch_empty(void);

/* Tells a profiler that what matters begins or ends here. */
void device_profile(bool on);

/* Launches since the start, kernels, memsets and copies that went through launch(). */
uint64_t device_launches(void);

/* Launches of one call as the device itself sees them: captured into a graph and its nodes counted; UNKNOWN
 * where that cannot be done. The work is not carried out. */
uint64_t device_launches_captured(const struct algorithm *algorithm, const struct problem *problem);

/* Additions are counted only while this is on: a counter in the loop costs time. After device_synchronize. */
void device_count_additions(bool on);
uint64_t device_additions(void);
/* Can this device count the additions of this operator on this type? Sums of i32, but in the count build all. */
bool device_counts_additions(enum type type, enum op op);

#ifdef __cplusplus
}
#endif
#endif
