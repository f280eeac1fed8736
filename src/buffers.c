/* SPDX-License-Identifier: MIT */
#include "buffers.h"

#include "device/counts.h"
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    GUARD = 4096, /* bytes on each side: a multiple of 256, and longer than a tile's last row */
    FRESH = 0xA5,
    POISON = 0x7f,   /* of the output: large in every type, so that adding to it, or its maximum, is wrong, too */
    CHUNK = 1 << 20, /* bytes read back at once: they stay in a cache */
};

struct memory {
    void *(*allocate)(size_t bytes); /* aligned to 256 */
    void (*release)(void *pointer);
    void (*upload)(void *to, const void *from, size_t bytes);
    void (*download)(void *to, const void *from, size_t bytes);
    void (*fill)(void *to, int byte, size_t bytes);
};

static void *host_allocate(size_t bytes)
{
    return aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
}

static void host_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void host_fill(void *to, int byte, size_t bytes)
{
    memset(to, byte, bytes);
}

static const struct memory host_memory = {host_allocate, free, host_copy, host_copy, host_fill};
static const struct memory device_memory = {device_malloc, device_free, device_upload, device_download, device_fill};

/* The count build marks device memory; NULL: nobody does. */
static const struct counter *marker(const struct memory *memory)
{
    return memory == &device_memory ? device_counter() : NULL;
}

/* Its content is none of a run's business. */
static void forget(const struct memory *memory, const struct buffer *buffer)
{
    if (marker(memory) && buffer->bytes)
        marker(memory)->forget(buffer->data, buffer->bytes);
}

/* A pattern that no fill and no copy of a neighbour leaves behind. */
static const unsigned char *guard_pattern(void)
{
    static unsigned char pattern[2 * GUARD];
    if (!pattern[0])
        for (int i = 0; i < 2 * GUARD; i++)
            pattern[i] = (unsigned char)(0x3d + 89 * i + (i >> 8) * 7);
    return pattern;
}

uint64_t host_memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    if (kib)
        return (uint64_t)kib << 10;
    return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t memory_available(enum place place)
{
    return place == HOST ? host_memory_available() : device_memory_free();
}

uint64_t buffers_overhead_bytes(void)
{
    return 3 * (2 * GUARD + 512);
}

static bool make(const struct memory *memory, struct buffer *buffer, size_t bytes, size_t misalign)
{
    buffer->before = GUARD + misalign;
    buffer->bytes = bytes;
    buffer->block = memory->allocate(buffer->before + bytes + GUARD);
    if (!buffer->block)
        return false;
    buffer->data = buffer->block + buffer->before;
    memory->upload(buffer->block, guard_pattern(), buffer->before);
    if (bytes)
        memory->fill(buffer->data, FRESH, bytes);
    memory->upload(buffer->data + bytes, guard_pattern(), GUARD);
    if (marker(memory)) {
        marker(memory)->forbid(buffer->block, buffer->before);
        marker(memory)->forbid(buffer->data + bytes, GUARD);
    }
    forget(memory, buffer);
    return true;
}

bool buffers_make(struct buffers *buffers, enum place place, size_t data_bytes, size_t workspace_bytes, size_t misalign,
                  bool in_place)
{
    memset(buffers, 0, sizeof *buffers);
    buffers->memory = place == HOST ? &host_memory : &device_memory;
    buffers->in_place = in_place;
    bool made = make(buffers->memory, &buffers->in, data_bytes, misalign) &&
                (in_place || make(buffers->memory, &buffers->out, data_bytes, misalign)) &&
                make(buffers->memory, &buffers->workspace, workspace_bytes, 0);
    if (!made) {
        buffers_free(buffers);
        return false;
    }
    if (in_place)
        buffers->out = buffers->in;
    return true;
}

void buffers_free(struct buffers *buffers)
{
    if (!buffers->memory)
        return;
    if (buffers->in.block)
        buffers->memory->release(buffers->in.block);
    if (buffers->out.block && buffers->out.block != buffers->in.block)
        buffers->memory->release(buffers->out.block);
    if (buffers->workspace.block)
        buffers->memory->release(buffers->workspace.block);
    memset(buffers, 0, sizeof *buffers);
}

static void poison(struct buffers *buffers)
{
    if (!buffers->in_place) {
        buffers->memory->fill(buffers->out.data, POISON, buffers->out.bytes);
        forget(buffers->memory, &buffers->out);
    }
    if (!buffers->keep_workspace)
        forget(buffers->memory, &buffers->workspace);
}

void buffers_load(struct buffers *buffers, const void *input)
{
    if (!buffers->in.bytes)
        return;
    poison(buffers);
    buffers->memory->upload(buffers->in.data, input, buffers->in.bytes);
}

void buffers_keep_input(struct buffers *buffers)
{
    poison(buffers);
}

void buffers_load_zeros(struct buffers *buffers)
{
    poison(buffers);
    buffers->memory->fill(buffers->in.data, 0, buffers->in.bytes);
}

static bool intact(const struct memory *memory, const char *guard, size_t bytes)
{
    unsigned char found[2 * GUARD];
    memory->download(found, guard, bytes);
    return !memcmp(found, guard_pattern(), bytes);
}

const char *buffers_damage(const struct buffers *buffers)
{
    const struct memory *memory = buffers->memory;
    const struct {
        const struct buffer *buffer;
        const char *before, *behind;
    } guards[] = {
        {&buffers->out, "guard-before-output", "guard-behind-output"},
        {&buffers->in, "guard-before-input", "guard-behind-input"},
        {&buffers->workspace, "guard-before-workspace", "guard-behind-workspace"},
    };
    for (int i = 0; i < 3; i++) {
        const struct buffer *buffer = guards[i].buffer;
        if (!intact(memory, buffer->block, buffer->before))
            return guards[i].before;
        if (!intact(memory, buffer->data + buffer->bytes, GUARD))
            return guards[i].behind;
    }
    return NULL;
}

void buffer_read(const struct buffers *buffers, const struct buffer *buffer, size_t element,
                 void (*each)(void *arg, const void *chunk, uint64_t from, uint64_t count), void *arg)
{
    static char chunk[CHUNK] __attribute__((aligned(64)));
    for (size_t at = 0; at < buffer->bytes; at += CHUNK) {
        size_t bytes = buffer->bytes - at < CHUNK ? buffer->bytes - at : CHUNK;
        buffers->memory->download(chunk, buffer->data + at, bytes);
        each(arg, chunk, at / element, bytes / element);
    }
}
