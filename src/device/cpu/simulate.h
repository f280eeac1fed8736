/* SPDX-License-Identifier: MIT */
/*
 * The clock of a simulated GPU, and its faults. Kernels are really carried out, so that answers are real; time is made
 * up by a model of one host and one stream. The same specification gives the same times, whatever the machine does.
 *
 * H is the time of the host, D the time at which the stream has done all it was given. Both start at 0 when the device
 * is opened. All times are in seconds.
 *
 *     a launch         H += launch; its work arrives in the stream at H + latency
 *     a kernel         begins at max(arrival, D + gap), lasts max(empty, threads launched * thread)
 *     memcpy, memset   the same with max(empty, bytes * byte)
 *     an event         H += record; its time is max(arrival, D), and the stream loses none
 *     the gate         is a launch: from max(arrival, D + gap) on nothing begins, until `release` after the host has
 *                      opened it (shorter than the latency, and the last work comes too late), or 0.5 s have passed.
 *                      Whoever waits for the stream meanwhile waits for these 0.5 s
 *     the queue        the stream takes `queue` launches that have not begun; one more waits on the host for the first
 *     a graph          captured: H += launch for each node. Replayed: H += graph, one launch for the queue; its nodes
 *                      arrive together, and `graph_gap` stands for `gap` between them
 *     to synchronise   H = max(H, D) + sync; to ask for the time between two events: the second's time stands for D
 *     a transfer       H = max(H, D) + sync + bytes * transfer
 *     device_fill      as a memset, and not counted
 *     a look at H      H += 27e-9
 *
 * A specification is "key=value,key=value"; each key once but for the faults of a kernel. Defaults in brackets:
 *
 *     launch [2e-6]   latency [2e-6]   gap [0]   empty [1.5e-6]   thread [1e-3 / 2^28]   byte [5e-13]
 *     record [5e-7]   sync [2e-6]      graph [5e-6]   graph_gap [0]   transfer [4e-11]   release [3e-6]
 *     queue [1024]    launches
 *     gate [1]        0: there is none, as under a profiler
 *     resolution [5e-7]  the time between two events is a multiple of it, the nearest; 0: not rounded
 *     seed [1]        of noise and busy
 *
 * What disturbs a kernel (or memcpy, memset) is off unless it is asked for:
 *
 *     noise=SIGMA     its time is multiplied by exp(SIGMA * a normal number): the median stays
 *     drift=X         ... by 1 + X * the time at which it begins
 *     throttle=START:LENGTH:FACTOR[:PERIOD]  a kernel that begins from START on, for LENGTH, takes FACTOR >= 1 times as
 *                     long, and the SM clock reads 1 / FACTOR of its own; with PERIOD again and again
 *     busy=P:SECONDS  with the probability P a neighbour holds the kernel up by so much
 *     first=SECONDS   the first launch of each kernel costs the host so much more, before which it waits until the
 *                     stream is done: behind a closed gate that is the gate's deadline
 *     cold=FACTOR     the first kernel after device_make_cold takes so many times as long
 *
 * What the device says of itself:
 *
 *     name [simulated GPU]   uuid   cc [9.0]   sm [132]   clock [1980] MHz; 0: no SM clock   memclock [2619] MHz
 *     bus [5120] bits        l2 [52428800] bytes; 0: unknown, and no cold caches             driver
 *     mig, wsl [0]           temperature [-1]   power, the limit in W [unknown]   processes, of others [-1]
 *     locked [-1]            are the clocks locked?          cooperative [1]   0: no cooperative launches
 *
 * Faults. KERNEL is a name without template arguments, or memcpy, memset, empty; @BLOCKS means launches of so many
 * blocks alone, #K those from the K-th of them on. Several may be given.
 *
 *     open=CODE       device_open fails with CUDA's error 35, 100, 209, or another
 *     malloc=K[:COUNT]  the K-th device_malloc has no memory, nor have those up to COUNT [1] in all
 *     fail=KERNEL[@BLOCKS][#K]:CODE      the launch is not carried out and ends in this error, which sticks; it is
 *                     heard of by whoever waits for the stream next
 *     hang=KERNEL[@BLOCKS][#K]           it never ends: whoever waits for the stream sleeps, in real time, for ever
 *     crash=KERNEL[@BLOCKS][#K]          the program aborts
 *     wrong=KERNEL[@BLOCKS][#K]          it takes its time and does nothing
 *     lasts=KERNEL[@BLOCKS][#K]:SECONDS  what it lasts, in place of empty and thread
 */
#ifndef SIMULATE_H
#define SIMULATE_H

#include "device/device.h"

/* Is there a simulated clock? Nothing below may be called without one. */
extern bool simulated;

/* `text` is one that device_can_simulate knows. Once for each opening of the device. */
void simulate_begin(const char *text);
void simulate_end(void);

/* 0, or the error that opening ends with, and its sentence. */
int simulate_open_error(char *why, size_t size);
void simulate_properties(struct device_properties *properties);

/* H, and time spent on it. */
double simulate_clock_s(void);
void simulate_pause(double seconds);

/* Work for the stream. False: it is not to be carried out. `kernel` is what is loaded once, NULL for memcpy, memset and
 * the device's own; `threads` are all that are launched. */
bool simulate_kernel(const void *kernel, const char *name, uint64_t blocks, uint64_t threads);
bool simulate_bytes(const char *name, uint64_t bytes);
/* A kernel on its way into a graph; and what is launched between the two is replayed from one. */
void simulate_recorded(const void *kernel);
void simulate_replay(bool begins);
/* A fill of the device's own: no launch is counted, but time. */
void simulate_fill(uint64_t bytes);

/* Waits for the stream. An error that a kernel has ended with is set here. */
void simulate_synchronize(void);
void simulate_transfer(uint64_t bytes);
bool simulate_malloc(void); /* false: this one fails */

/* An event's time is written into *time_s when the stream gets there; simulate_forget: it is wanted no longer. */
void simulate_record(double *time_s);
void simulate_forget(const double *time_s);
double simulate_elapsed_s(const double *start_s, const double *end_s);
double simulate_resolution_s(void);

bool simulate_has_gate(void);
bool simulate_gate_close(void);
bool simulate_gate_open(void);

void simulate_clock_mark(int mark);
double simulate_clock_mhz(void);

uint64_t simulate_l2_bytes(void);
void simulate_make_cold(void);

#endif
