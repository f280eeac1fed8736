/* SPDX-License-Identifier: MIT */
/* The parts of the CPU device for each other: launch.cc runs kernels, memory.cc holds the arrays, graph.cc writes
 * launches down, clocks.cc and cold.cc are for timing, simulate.cc is a GPU's clock, device.cc opens it all. */
#ifndef CPU_H
#define CPU_H

#include "device/device.h"

/* Starts and stops the workers; every option is given. */
void cpu_start(const struct device_options *options);
void cpu_stop(void);

/* Launches since the program began. */
extern uint64_t cpu_launches;

/* Set while launches go into a graph, or are timed by a simulated clock: what they are asked before they go on. */
extern bool cpu_detour;

/* True: a graph is being captured, and the launch is part of it and not carried out. */
struct kernel;
bool cpu_captures_kernel(const struct kernel *kernel, const void *arguments, const uint64_t blocks[3],
                         const uint64_t threads[3], bool cooperative);
bool cpu_captures_bytes(void *to, const void *from, int byte, size_t bytes);
/* True: a graph is being captured, and because of this call it fails. */
bool cpu_capture_forbids(const char *call);

/* Frees the buffers of device_cold_prepare. */
void cpu_cold_close(void);

/* The first error sticks until cpu_clear_error. */
void cpu_set_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cpu_clear_error(void);

/* One range of addresses of `bytes` stands for the device's memory. False: the host refuses it. */
bool cpu_memory_open(uint64_t bytes);
void cpu_memory_close(void);

/* The shared memory of one block. */
char *cpu_shared_memory(void);
void cpu_shared_memory_free(char *shared);

#endif
