// SPDX-License-Identifier: MIT
/*
 * No scan: the array is copied by the runtime's own device-to-device copy.
 *
 * One launch, no addition, reads n words and writes n. Which of this and the copy kernel is faster depends on the
 * size and on the machine; the faster of the two is the ceiling.
 */
#include "device/gpu.cuh"

static void run(const struct problem *p)
{
    launch_memcpy(p->out, p->in, p->n * type_size(p->type));
}

static struct cost model(const struct problem *p)
{
    return {.launches = 1, .additions = 0, .steps = 0, .words_read = p->n, .words_written = p->n};
}

ALGORITHM(memcpy) = {
    .title = "Memcpy",
    .runs_on = DEVICE,
    .kinds = COPY,
    .types = ALL_TYPES,
    .ops = NONE,
    .additions = "0",
    .launches = "1",
    .traffic = "2 n",
    .run = run,
    .model = model,
};
