/* SPDX-License-Identifier: MIT */
/*
 * Thrust's two scans on one of its back ends for the host: thrust_run(problem, policy). Present (HAS_THRUST) where its
 * headers are, the CUDA toolkit's or Debian's; THRUST_RUN is the entry of the descriptor. C++ without the words of
 * kernels, which Thrust has of its own.
 */
#ifndef THRUST_HOST_H
#define THRUST_HOST_H

#include "operators.h"

#if defined(SCANBENCH_COUNT)
#define THRUST_RUN .missing = "is a library, which is not counted"
#elif !__has_include(<thrust/scan.h>)
#define THRUST_RUN .missing = "needs Thrust's headers (the CUDA toolkit, or Debian's libthrust-dev)"
#elif defined(THRUST_WANTS_OPENMP) && !defined(_OPENMP)
#define THRUST_RUN .missing = "needs a compiler with OpenMP"
#else
#define THRUST_RUN .run = run
#define HAS_THRUST

#ifndef __CUDACC__
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP /* its default is CUDA */
#endif
#include <thrust/scan.h>

#define FUNCTOR(op, type, T)                                                                                           \
    struct apply_##op##_##type##_to {                                                                                  \
        T operator()(T a, T b) const { return apply_##op##_##type(a, b); }                                             \
    };
namespace
{
EACH_OPERATOR(FUNCTOR)
}

template <class Policy, class T, class Op>
static void thrust_scan_of(const struct problem *p, const Policy &policy, T identity, Op op)
{
    const T *in = static_cast<const T *>(p->in);
    T *out = static_cast<T *>(p->out);
    if (p->kind == INCLUSIVE)
        thrust::inclusive_scan(policy, in, in + p->n, out, op);
    else
        thrust::exclusive_scan(policy, in, in + p->n, out, identity, op);
}

template <class Policy> static void thrust_run(const struct problem *p, const Policy &policy)
{
#define CASE(op, type, T)                                                                                              \
    case op | type << 8:                                                                                               \
        return thrust_scan_of(p, policy, identity_##op##_##type, apply_##op##_##type##_to{});
    switch (p->op | p->type << 8) {
        EACH_OPERATOR(CASE)
    }
}
#endif

#endif
