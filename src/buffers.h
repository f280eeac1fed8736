/* SPDX-License-Identifier: MIT */
/*
 * Input, output and workspace of a point, on the device or on the host, each between guard words: what an algorithm
 * writes before or behind its buffer is found.
 */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "scan.h"

struct memory; /* the host's or the device's */

struct buffer {
    char *block; /* as allocated: guard, data, guard */
    char *data;
    size_t bytes, before; /* of data; of the guard in front, misalignment included */
};

struct buffers {
    const struct memory *memory;
    struct buffer in, out, workspace;
    bool in_place;       /* out is in */
    bool keep_workspace; /* what a run leaves in the workspace is there for the next one */
};

/* What buffers_make takes beside the data itself. */
uint64_t buffers_overhead_bytes(void);

/* Memory of `place` that is free now, in bytes. */
uint64_t memory_available(enum place place);
uint64_t host_memory_available(void);

/* `data_bytes` each for input and output, which start `misalign` bytes off an address that is a multiple of 256; the
 * workspace is aligned to 256. Everything is filled with 0xA5; in the count build, reading that, or touching a guard,
 * is an error of the kernel. False where there is not enough memory. */
bool buffers_make(struct buffers *buffers, enum place place, size_t data_bytes, size_t workspace_bytes, size_t misalign,
                  bool in_place);
void buffers_free(struct buffers *buffers);

/* The input is copied in and, unless in place, the output filled with 0x7F. In the count build, reading the output, or
 * a workspace that is not kept, before writing to it is an error from then on. */
void buffers_load(struct buffers *buffers, const void *input);
/* The same with the input that is there already; not in place. */
void buffers_keep_input(struct buffers *buffers);
/* The same with an input of zero bytes. */
void buffers_load_zeros(struct buffers *buffers);

/* NULL, or a slug that names the first guard that was written to: "guard-behind-output". */
const char *buffers_damage(const struct buffers *buffers);

/* Calls `each` with the buffer's content in chunks of whole elements on the host, in ascending order. */
void buffer_read(const struct buffers *buffers, const struct buffer *buffer, size_t element,
                 void (*each)(void *arg, const void *chunk, uint64_t from, uint64_t count), void *arg);

#endif
