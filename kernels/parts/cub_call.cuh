/* SPDX-License-Identifier: MIT */
/*
 * cub::DeviceScan called as its users call it, for the algorithms that differ in nothing but the type of its offsets:
 * cub_run<Offset>, cub_workspace<Offset>. Without nvcc there is nothing here.
 *
 * CUB chooses tiles and delays by what it is given: its tuned choices are for its own functors on plain numbers, and an
 * operator it does not know gets the untuned ones. Sums and maxima therefore go to it as cuda::std::plus and
 * cuda::maximum. Signed sums are handed over as unsigned ones of the same width, which wrap and are tuned alike.
 */
#ifndef CUB_CALL_CUH
#define CUB_CALL_CUH

#include "device/gpu.cuh"

#ifdef __CUDACC__

#include <cub/device/device_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

/* What CUB is given for an operator of ours. */
template <class Op> struct CubCall {
    using value = typename Op::value;
    using function = Op;
};
template <class T> struct CubCall<Operator<Sum<T>, false>> {
    using value = typename unsigned_twin<T>::type;
    using function = cuda::std::plus<>;
};
template <class T> struct CubCall<Operator<Max<T>, false>> {
    using value = T;
    using function = cuda::maximum<>;
};

/* One of CUB's two calls: without workspace it says how many bytes it needs. Offsets have the type of n. */
template <class Op, class Offset> static size_t cub_call(const struct problem *p, void *workspace, size_t bytes)
{
    using T = typename CubCall<Op>::value;
    typename CubCall<Op>::function op;
    const T *in = static_cast<const T *>(p->in);
    T *out = static_cast<T *>(p->out);
    Offset n = Offset(p->n);
    cudaError_t error;
    if (p->kind == INCLUSIVE)
        error = cub::DeviceScan::InclusiveScan(workspace, bytes, in, out, op, n, device_stream());
    else
        error = cub::DeviceScan::ExclusiveScan(workspace, bytes, in, out, op, T(Op::identity()), n, device_stream());
    device_called("cub::DeviceScan", error);
    return bytes;
}

template <class Offset> static size_t cub_call(const struct problem *p, void *workspace, size_t bytes)
{
    size_t needed = 0;
    with_operator(p, [&](auto op) { needed = cub_call<decltype(op), Offset>(p, workspace, bytes); });
    return needed;
}

/* Counting its additions changes CUB's choice of tiles, and so its workspace: room for both. */
template <class Offset> static size_t cub_workspace(const struct problem *p)
{
    size_t needed = cub_call<Offset>(p, nullptr, 0);
    if (p->op == SUM && p->type == I32) {
        size_t counted = cub_call<Operator<Sum<int32_t>, true>, Offset>(p, nullptr, 0);
        needed = counted > needed ? counted : needed;
    }
    return needed;
}

/* The bytes that CUB is told must be as many as it asked for. Its users ask once and scan often. */
template <class Offset> static void cub_run(const struct problem *p)
{
    static struct problem asked;
    static bool asked_counting;
    static size_t bytes;
    if (asked.n != p->n || asked.type != p->type || asked.op != p->op || asked.kind != p->kind ||
        asked_counting != device_counting()) {
        bytes = cub_call<Offset>(p, nullptr, 0);
        asked = *p;
        asked_counting = device_counting();
    }
    cub_call<Offset>(p, p->workspace, bytes);
}

#endif
#endif
