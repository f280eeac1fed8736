// SPDX-License-Identifier: MIT
/* One run of an algorithm as a graph: captured, its launches counted, replayed. */
#include "cuda.h"

#include <cstdio>
#include <cstdlib>

struct device_graph {
    cudaGraphExec_t replayable;
    uint64_t launches;
};

/* Nodes that are kernels, memsets or copies; UNKNOWN where CUDA does not tell. */
static uint64_t count_launch_nodes(cudaGraph_t graph)
{
    size_t count = 0;
    if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess)
        return UNKNOWN;
    cudaGraphNode_t *nodes = static_cast<cudaGraphNode_t *>(calloc(count + 1, sizeof *nodes));
    uint64_t found = 0;
    if (!nodes || (count > 0 && cudaGraphGetNodes(graph, nodes, &count) != cudaSuccess))
        found = UNKNOWN;
    for (size_t i = 0; found != UNKNOWN && i < count; i++) {
        enum cudaGraphNodeType type;
        if (cudaGraphNodeGetType(nodes[i], &type) != cudaSuccess)
            found = UNKNOWN;
        else if (type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeMemcpy)
            found++;
    }
    free(nodes);
    return found;
}

/* Captures one run. NULL and one line in `why` where that fails: nothing has been carried out then, so that nothing
 * sticks. An error of work that was queued before would show here, too: therefore the device is waited for first. */
static cudaGraph_t capture(const struct algorithm *algorithm, const struct problem *problem, char *why, size_t size)
{
    cudaGraph_t graph = nullptr;
    if (!algorithm->run || algorithm->runs_on == HOST) {
        snprintf(why, size, "%s does not run on this device", algorithm->name);
        return nullptr;
    }
    if (algorithm->synchronises) {
        snprintf(why, size, "%s waits for the device while it runs: no graph can hold it", algorithm->name);
        return nullptr;
    }
    if (device_synchronize()) {
        snprintf(why, size, "%s", gpu.error_text);
        return nullptr;
    }
    uint64_t before = gpu.launches;
    cudaError_t error = cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        algorithm->run(problem);
        error = cudaStreamEndCapture(gpu.stream, &graph);
    }
    if (error != cudaSuccess || gpu.error || !graph) {
        snprintf(why, size, "%s cannot be captured into a graph: %s", algorithm->name,
                 gpu.error ? gpu.error_text : cudaGetErrorString(error));
        if (graph)
            cudaGraphDestroy(graph);
        graph = nullptr;
    }
    cudaGetLastError();
    gpu.error = 0;
    gpu.error_text[0] = 0;
    gpu.launches = before;
    return graph;
}

struct device_graph *device_graph_capture(const struct algorithm *algorithm, const struct problem *problem, char *why,
                                          size_t size)
{
    cudaGraph_t captured = capture(algorithm, problem, why, size);
    if (!captured)
        return nullptr;
    struct device_graph *graph = static_cast<struct device_graph *>(calloc(1, sizeof *graph));
    cudaError_t error = cudaErrorMemoryAllocation;
    if (graph) {
        graph->launches = count_launch_nodes(captured);
        error = cudaGraphInstantiate(&graph->replayable, captured, 0);
    }
    cudaGraphDestroy(captured);
    if (error == cudaSuccess)
        error = cudaGraphUpload(graph->replayable, gpu.stream);
    if (error == cudaSuccess && device_synchronize()) /* that is no fault of the graph, and it sticks */
        error = cudaError_t(gpu.error);
    if (error == cudaSuccess && graph->launches != UNKNOWN)
        return graph;
    cudaGetLastError();
    snprintf(why, size, "the graph of %s cannot be used: %s", algorithm->name,
             error == cudaSuccess ? "its nodes cannot be counted" : cudaGetErrorString(error));
    device_graph_destroy(graph);
    return nullptr;
}

uint64_t device_graph_launches(const struct device_graph *graph)
{
    return graph->launches;
}

void device_graph_replay(struct device_graph *graph)
{
    if (gpu.error)
        return;
    CHECK(cudaGraphLaunch(graph->replayable, gpu.stream));
    gpu.launches += graph->launches;
}

void device_graph_destroy(struct device_graph *graph)
{
    if (graph && graph->replayable && !gpu.error)
        CHECK(cudaGraphExecDestroy(graph->replayable));
    free(graph);
}

uint64_t device_launches_captured(const struct algorithm *algorithm, const struct problem *problem)
{
    char why[600];
    uint64_t launches = UNKNOWN;
    cudaGraph_t graph = gpu.error ? nullptr : capture(algorithm, problem, why, sizeof why);
    if (graph) {
        launches = count_launch_nodes(graph);
        cudaGraphDestroy(graph);
        cudaGetLastError();
    }
    return launches;
}
