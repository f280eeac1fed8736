// SPDX-License-Identifier: MIT
/* A copy whose kernel writes to an address that is nobody's where n is 1000: the device is of no use afterwards. */
#include "device/gpu.cuh"

static __global__ void copy(const char *in, char *out, uint64_t bytes)
{
    uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < bytes)
        out[i] = in[i];
}

static void run(const struct problem *p)
{
    uint64_t bytes = p->n * type_size(p->type);
    char *out = p->n == 1000 ? reinterpret_cast<char *>(64) : static_cast<char *>(p->out);
    launch(copy, divide_up(bytes, 256), 256, static_cast<const char *>(p->in), out, bytes);
}

ALGORITHM(bad_kernel) = {
    .title = "Bad address in a kernel",
    .runs_on = DEVICE,
    .kinds = COPY,
    .types = ALL_TYPES,
    .threads = {256},
    .items = 1,
    .run = run,
};
