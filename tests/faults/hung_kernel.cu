// SPDX-License-Identifier: MIT
/* A copy whose kernel waits for nothing where n is 1000. */
#include "device/gpu.cuh"

static __global__ void copy(const char *in, char *out, uint64_t bytes, bool wait)
{
    volatile bool waiting = wait;
    while (waiting) {}
    uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < bytes)
        out[i] = in[i];
}

static void run(const struct problem *p)
{
    uint64_t bytes = p->n * type_size(p->type);
    launch(copy, divide_up(bytes, 256), 256, static_cast<const char *>(p->in), static_cast<char *>(p->out), bytes,
           p->n == 1000);
}

ALGORITHM(hung_kernel) = {
    .title = "Hangs in a kernel",
    .runs_on = DEVICE,
    .kinds = COPY,
    .types = ALL_TYPES,
    .threads = {256},
    .items = 1,
    .run = run,
};
