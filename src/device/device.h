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
};

/* "cuda" or "cpu": the machine this program was built for. Touches no device. */
const char *device_kind(void);

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

/* Waits for all work of the stream. 0 or the sticky error. */
int device_synchronize(void);

/* Device time: an event before, an event after, the distance in seconds. Two pairs of your own are enough. */
struct device_event;
struct device_event *device_event_create(void);
void device_event_destroy(struct device_event *event);
void device_event_record(struct device_event *event);
/* Waits for `end`. */
double device_event_elapsed_s(const struct device_event *start, const struct device_event *end);
/* The finest step the event clock can show, in seconds. */
double device_event_resolution_s(void);

/* Launches since the start, kernels, memsets and copies that went through launch(). */
uint64_t device_launches(void);

/* Launches of one call as the device itself sees them: captured into a graph and its nodes counted; UNKNOWN
 * where that cannot be done (the CPU device, or a call that cannot be captured). The work is not carried out. */
uint64_t device_launches_captured(const struct algorithm *algorithm, const struct problem *problem);

/* Additions are counted only while this is on: a counter in the loop costs time. After device_synchronize. */
void device_count_additions(bool on);
uint64_t device_additions(void);
/* Can this device count the additions of this operator on this type? A GPU counts sums of i32. */
bool device_counts_additions(enum type type, enum op op);

#ifdef __cplusplus
}
#endif
#endif
