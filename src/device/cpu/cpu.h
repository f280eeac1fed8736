/* SPDX-License-Identifier: MIT */
/* The parts of the CPU device for each other: launch.cc runs kernels, memory.cc holds the arrays, device.cc opens it.
 */
#ifndef CPU_H
#define CPU_H

#include "device/device.h"

/* Starts and stops the workers; every option is given. */
void cpu_start(const struct device_options *options);
void cpu_stop(void);

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
