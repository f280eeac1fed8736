// SPDX-License-Identifier: MIT
/*
 * The vendor's scan with its back end for OpenMP. Up to CCCL 3.0, the toolkit 13.0's, that back end has reductions and
 * loops on every core, and no scan: it takes the serial one of the C++ back end.
 *
 *     thread 0    s = in[0];  out[0] = s;  out[1] = s += in[1];  ...
 *     thread 1    idle
 *
 * Reads n words and writes n. Whoever moves a program from a GPU to cores by its policy alone gets this; openmp.c shows
 * what the cores can do. A library: another release may do better.
 */
#define THRUST_WANTS_OPENMP
#include "parts/thrust_host.h"

#ifdef HAS_THRUST
#include <thrust/system/omp/execution_policy.h>

static void run(const struct problem *p)
{
    thrust_run(p, thrust::omp::par);
}
#endif

ALGORITHM(thrust_omp) = {
    .title = "Thrust, OpenMP back end",
    .runs_on = HOST,
    .kinds = BOTH_KINDS,
    .types = ALL_TYPES,
    .ops = ALL_OPS,
    .in_place = true,
    .additions = "no formula",
    .launches = "0",
    .traffic = "2 n",
    THRUST_RUN,
};
