/* SPDX-License-Identifier: MIT */
/* The faults are built for one type: a wrong kernel is as wrong in i32 as in all of them, and compiles four times as
 * fast. */
#ifndef ONE_TYPE_CUH
#define ONE_TYPE_CUH

#include "device/gpu.cuh"

/* with_operator(), of which only i32 is built. */
template <class F> static inline void with_operator_on_i32(const struct problem *problem, F f)
{
    with_operator(problem, [&](auto op) {
        if constexpr (std::is_same_v<typename decltype(op)::value, int32_t>)
            f(op);
    });
}

#endif
