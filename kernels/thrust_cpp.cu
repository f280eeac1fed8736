// SPDX-License-Identifier: MIT
/*
 * The vendor's scan on one core: Thrust with its back end for plain C++, a serial loop.
 *
 *     s = in[0];  out[0] = s;  out[1] = s += in[1];  ...
 *
 * Reads n words and writes n. What the headers make of the loop of serial.c: a library to compare its own compiler
 * with, and nothing more.
 */
#include "parts/thrust_host.h"

#ifdef HAS_THRUST
#include <thrust/system/cpp/execution_policy.h>

static void run(const struct problem *p)
{
    thrust_run(p, thrust::cpp::par);
}
#endif

ALGORITHM(thrust_cpp) = {
    .title = "Thrust, C++ back end",
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
