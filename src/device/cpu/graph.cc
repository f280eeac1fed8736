/* SPDX-License-Identifier: MIT */
/* Graphs: while one is captured, what is launched is written down with its arguments and not carried out. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/block.h"
#include "device/cpu/cpu.h"
#include "device/cpu/simulate.h"
#include "device/cpu/words.cuh"

/* One launch. */
struct node {
    enum { KERNEL, MEMCPY, MEMSET } what;
    bool cooperative;
    int byte;
    const struct kernel *kernel;
    uint64_t blocks[3], threads[3];
    void *arguments; /* a copy of the kernel's */
    void *to;
    const void *from;
    size_t bytes;
};

struct device_graph {
    struct node *nodes;
    uint64_t count, room;
};

bool cpu_detour;
static struct device_graph *captured; /* into this one; NULL: none */
static char refusal[400];

static void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!refusal[0])
        vsnprintf(refusal, sizeof refusal, format, arguments);
    va_end(arguments);
}

bool cpu_capture_forbids(const char *call)
{
    if (captured)
        refuse("it calls %s, which cannot be part of a graph", call);
    return captured != nullptr;
}

static struct node *next_node(void)
{
    if (captured->count == captured->room) {
        const uint64_t room = captured->room ? 2 * captured->room : 64;
        void *larger = realloc(captured->nodes, room * sizeof *captured->nodes);
        if (!larger) {
            refuse("the host has no memory for a graph of more than %llu launches",
                   static_cast<unsigned long long>(captured->count));
            return nullptr;
        }
        captured->nodes = static_cast<struct node *>(larger);
        captured->room = room;
    }
    struct node *node = &captured->nodes[captured->count];
    *node = {};
    return node;
}

bool cpu_captures_kernel(const struct kernel *kernel, const void *arguments, const uint64_t blocks[3],
                         const uint64_t threads[3], bool cooperative)
{
    if (!captured)
        return false;
    struct node *node = next_node();
    void *copy = malloc(kernel->arguments_bytes);
    if (!node || !copy) {
        refuse("the host has no memory for the arguments of a kernel");
        free(copy);
        return true;
    }
    node->what = node::KERNEL;
    node->kernel = kernel;
    node->arguments = memcpy(copy, arguments, kernel->arguments_bytes);
    node->cooperative = cooperative;
    memcpy(node->blocks, blocks, sizeof node->blocks);
    memcpy(node->threads, threads, sizeof node->threads);
    captured->count++;
    if (simulated)
        simulate_recorded(kernel);
    return true;
}

/* `from` is NULL for a memset. */
bool cpu_captures_bytes(void *to, const void *from, int byte, size_t bytes)
{
    if (!captured)
        return false;
    struct node *node = next_node();
    if (!node)
        return true;
    node->what = from ? node::MEMCPY : node::MEMSET;
    node->to = to;
    node->from = from;
    node->byte = byte;
    node->bytes = bytes;
    captured->count++;
    if (simulated)
        simulate_recorded(nullptr);
    return true;
}

static void capture(const struct algorithm *algorithm, const struct problem *problem)
{
    refusal[0] = 0;
    cpu_detour = true;
    algorithm->run(problem);
    cpu_detour = simulated;
    /* An error in here is the capture's: nothing was carried out. */
    if (device_error()) {
        refuse("%s", device_error_text());
        cpu_clear_error();
    }
}

struct device_graph *device_graph_capture(const struct algorithm *algorithm, const struct problem *problem, char *why,
                                          size_t size)
{
    if (device_error()) {
        snprintf(why, size, "%s", device_error_text());
        return nullptr;
    }
    if (!algorithm->run || algorithm->runs_on == HOST) {
        snprintf(why, size, "%s", algorithm->run ? "it runs on the host" : "it is not in this build");
        return nullptr;
    }
    if (algorithm->synchronises) {
        snprintf(why, size, "it waits for the device");
        return nullptr;
    }
    struct device_graph *graph = static_cast<struct device_graph *>(calloc(1, sizeof *graph));
    if (!graph) {
        snprintf(why, size, "the host has no memory for a graph");
        return nullptr;
    }
    captured = graph;
    capture(algorithm, problem);
    captured = nullptr;
    if (refusal[0]) {
        snprintf(why, size, "%s", refusal);
        device_graph_destroy(graph);
        return nullptr;
    }
    return graph;
}

uint64_t device_graph_launches(const struct device_graph *graph)
{
    return graph->count;
}

void device_graph_replay(struct device_graph *graph)
{
    if (cpu_capture_forbids("device_graph_replay"))
        return;
    if (simulated)
        simulate_replay(true);
    for (uint64_t i = 0; i < graph->count; i++) {
        const struct node *node = &graph->nodes[i];
        switch (node->what) {
        case node::KERNEL:
            cpu_launch(node->kernel, node->arguments, node->blocks, node->threads, node->cooperative);
            break;
        case node::MEMCPY: launch_memcpy(node->to, node->from, node->bytes); break;
        case node::MEMSET: launch_memset(node->to, node->byte, node->bytes); break;
        }
    }
    if (simulated)
        simulate_replay(false);
}

void device_graph_destroy(struct device_graph *graph)
{
    if (!graph)
        return;
    for (uint64_t i = 0; i < graph->count; i++)
        free(graph->nodes[i].arguments);
    free(graph->nodes);
    free(graph);
}

uint64_t device_launches_captured(const struct algorithm *algorithm, const struct problem *problem)
{
    char why[sizeof refusal];
    struct device_graph *graph = device_graph_capture(algorithm, problem, why, sizeof why);
    const uint64_t launches = graph ? graph->count : UNKNOWN;
    device_graph_destroy(graph);
    return launches;
}
