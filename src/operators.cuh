/* SPDX-License-Identifier: MIT */
/*
 * The operators of a scan as functors: Op::value is the element type, Op::identity() pads, op(a, b) combines with
 * `a` on the left. Integers wrap. with_operator() goes from a problem to the functor.
 */
#ifndef OPERATORS_CUH
#define OPERATORS_CUH

#include <limits>
#include <type_traits>

#define OPERATOR static __host__ __device__ __forceinline__ constexpr

template <class T> struct unsigned_twin {
    using type = T;
}; /* floats: themselves */
template <> struct unsigned_twin<int32_t> {
    using type = uint32_t;
};
template <> struct unsigned_twin<int64_t> {
    using type = uint64_t;
};

/* Signed overflow is undefined: add as unsigned. */
template <class T> struct Sum {
    using value = T;
    using bits = typename unsigned_twin<T>::type;
    OPERATOR T identity() { return T(0); }
    OPERATOR T apply(T a, T b) { return T(bits(a) + bits(b)); }
};

template <class T> struct Max {
    using value = T;
    static constexpr T least =
        std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::min();
    OPERATOR T identity() { return least; }
    OPERATOR T apply(T a, T b) { return a < b ? b : a; }
};

/* x -> slope x + offset, slope in the upper and offset in the lower half of the word; (a, b) is first a, then b. */
template <class T> struct Affine {
    using value = T;
    using bits = typename unsigned_twin<T>::type;
    OPERATOR int half() { return int(sizeof(T)) * 4; }
    OPERATOR T pack(bits slope, bits offset) { return T(slope << half() | (offset & ((bits(1) << half()) - 1))); }
    OPERATOR bits slope(T a) { return bits(a) >> half(); }
    OPERATOR bits offset(T a) { return bits(a) & ((bits(1) << half()) - 1); }
    OPERATOR T identity() { return pack(1, 0); }
    OPERATOR T apply(T a, T b) { return pack(slope(a) * slope(b), offset(a) * slope(b) + offset(b)); }
};

#ifdef SCANBENCH_COUNT
/* Whatever a kernel does with elements, it does with the chains behind them. */
template <class T> struct Steps {
    using value = T;
    OPERATOR T identity() { return T(0); }
    OPERATOR T apply(T a, T b) { return T(count_step(1 + uint64_t(a < b ? b : a))); }
};

struct Trace {
    using value = int32_t;
    OPERATOR int32_t identity() { return 0; }
    static __forceinline__ int32_t apply(int32_t a, int32_t b)
    {
        return int32_t(count_expression(uint32_t(a), uint32_t(b)));
    }
};
#endif

/* What a kernel is given: an operator that is called, and counted where counting is on. */
template <class Base, bool counted> struct Operator {
    using value = typename Base::value;
    OPERATOR value identity() { return Base::identity(); }
    __host__ __device__ __forceinline__ value operator()(value a, value b) const
    {
#if !defined(__CUDACC__) || defined(__CUDA_ARCH__)
        if constexpr (counted)
            count_addition();
#endif
        return Base::apply(a, b);
    }
};

/* Calls f(Op{}) with the problem's operator on the problem's element type. Mutants (tests/mutants.list) are compiled
 * for affine maps alone, to which every order matters: there are many of them. */
template <bool counted, class F> static inline void with_operator_of(const struct problem *problem, F f)
{
    switch (problem->op | problem->type << 8) {
#ifndef SCANBENCH_MUTANT
    case SUM | I32 << 8: return f(Operator<Sum<int32_t>, counted>{});
    case SUM | I64 << 8: return f(Operator<Sum<int64_t>, counted>{});
    case SUM | F32 << 8: return f(Operator<Sum<float>, counted>{});
    case SUM | F64 << 8: return f(Operator<Sum<double>, counted>{});
    case MAX | I32 << 8: return f(Operator<Max<int32_t>, counted>{});
    case MAX | I64 << 8: return f(Operator<Max<int64_t>, counted>{});
    case MAX | F32 << 8: return f(Operator<Max<float>, counted>{});
    case MAX | F64 << 8: return f(Operator<Max<double>, counted>{});
#endif
    case AFFINE | I32 << 8: return f(Operator<Affine<int32_t>, counted>{});
    case AFFINE | I64 << 8: return f(Operator<Affine<int64_t>, counted>{});
#if defined(SCANBENCH_COUNT) && !defined(SCANBENCH_MUTANT)
    case STEPS | I32 << 8: return f(Operator<Steps<int32_t>, counted>{});
    case STEPS | I64 << 8: return f(Operator<Steps<int64_t>, counted>{});
    case STEPS | F32 << 8: return f(Operator<Steps<float>, counted>{});
    case STEPS | F64 << 8: return f(Operator<Steps<double>, counted>{});
    case TRACE | I32 << 8: return f(Operator<Trace, counted>{});
#endif
    default: return;
    }
}

template <class F> static inline void with_operator(const struct problem *problem, F f)
{
#ifdef SCANBENCH_COUNT
    with_operator_of<true>(problem, f);
#else
    if (problem->op == SUM && problem->type == I32 && device_counting())
        return f(Operator<Sum<int32_t>, true>{});
    with_operator_of<false>(problem, f);
#endif
}

#endif
