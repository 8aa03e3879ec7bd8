// What does CUDA C++ provide to a kernel that runs on a CPU?
//
// Included before every kernel. It includes no header of C or C++: they cost a second of compile time, and CUDA device
// code has none.
#pragma once
#include "runtime.h"

#define __CUDA_ARCH__ 900
#define __GLASSTORCH_SIMULATOR__ 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__ __restrict

typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;

// The indices of a thread -------------------------------------------------------------------------------------------

#ifdef SIM_CHECK
#define threadIdx (sim::get_thread_index())
#define blockIdx (sim::get_block_index())
#define blockDim (sim::get_block_size())
#define gridDim (sim::get_grid_size())
#else
#define threadIdx (sim::thread->index)
#define blockIdx (sim::block_index)
#define blockDim (sim::block_size)
#define gridDim (sim::grid_size)
#endif
#define warpSize 32

// Shared memory: source.py turns a declaration into a reference to one of these -------------------------------------

namespace sim {

// One variable in the block's shared memory for each declaration and type. `number` distinguishes declarations.
template <class Type, int number, unsigned alignment = alignof(Type)>
SIM_INLINE Type& shared(Place place) {
    static unsigned long long launch;
    static unsigned offset;
    if (launch != launch_number) {
        launch = launch_number;
        offset = reserve_shared(sizeof(Type), alignment > alignof(Type) ? alignment : alignof(Type), place);
    }
    return *(Type*)(static_shared + offset);
}

template <class Type>
SIM_INLINE Type* dynamic() {
    return (Type*)dynamic_shared;
}

}  // namespace sim

// Barriers, votes and shuffles --------------------------------------------------------------------------------------

#define __syncthreads() ((void)sim::barrier(SIM_HERE, sim::NONE, 0))
#define __syncthreads_count(predicate) sim::barrier(SIM_HERE, sim::COUNT, (predicate) != 0)
#define __syncthreads_and(predicate) sim::barrier(SIM_HERE, sim::AND, (predicate) != 0)
#define __syncthreads_or(predicate) sim::barrier(SIM_HERE, sim::OR, (predicate) != 0)
#define __syncwarp(...) ((void)sim::meet(SIM_HERE, sim::SYNCHRONISE, sim::mask_of(__VA_ARGS__), 0, 0))
#define __shfl_sync(...) sim::shuffle(SIM_HERE, __VA_ARGS__)
#define __shfl_up_sync(...) sim::shuffle_up(SIM_HERE, __VA_ARGS__)
#define __shfl_down_sync(...) sim::shuffle_down(SIM_HERE, __VA_ARGS__)
#define __shfl_xor_sync(...) sim::shuffle_xor(SIM_HERE, __VA_ARGS__)
#define __ballot_sync(mask, predicate) sim::ballot(SIM_HERE, mask, (predicate) != 0)
#define __any_sync(mask, predicate) (sim::ballot(SIM_HERE, mask, (predicate) != 0) != 0)
#define __all_sync(mask, predicate) (sim::ballot(SIM_HERE, mask, (predicate) == 0) == 0)
#define __threadfence() sim::fence()
#define __threadfence_block() ((void)0)
#define __threadfence_system() sim::fence()

namespace sim {

static inline constexpr unsigned mask_of(unsigned mask = 0xffffffffu) { return mask; }

template <class Type>
SIM_INLINE Type exchanged(Place place, unsigned mask, Type value, unsigned source) {
    static_assert(sizeof(Type) <= 8, "a shuffle moves at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    bits = meet(place, SHUFFLE, mask, bits, source);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <class Type>
SIM_INLINE Type shuffle(Place place, unsigned mask, Type value, int source, int width = 32) {
    int first = thread->lane & ~(width - 1);
    return exchanged(place, mask, value, first + (source & (width - 1)));
}

template <class Type>
SIM_INLINE Type shuffle_up(Place place, unsigned mask, Type value, unsigned delta, int width = 32) {
    int lane = thread->lane, source = lane - (int)delta;
    return exchanged(place, mask, value, source < (lane & ~(width - 1)) ? lane : source);
}

template <class Type>
SIM_INLINE Type shuffle_down(Place place, unsigned mask, Type value, unsigned delta, int width = 32) {
    int lane = thread->lane, source = lane + (int)delta;
    return exchanged(place, mask, value, source >= (lane & ~(width - 1)) + width ? lane : source);
}

template <class Type>
SIM_INLINE Type shuffle_xor(Place place, unsigned mask, Type value, int bits, int width = 32) {
    int lane = thread->lane, source = lane ^ bits;
    return exchanged(place, mask, value, source >= (lane & ~(width - 1)) + width ? lane : source);
}

static inline unsigned ballot(Place place, unsigned mask, bool predicate) {
    return (unsigned)meet(place, BALLOT, mask, predicate, 0);
}

}  // namespace sim

// Atomics: one OS thread runs the whole grid, so a plain read and write is atomic -----------------------------------

#ifdef SIM_CHECK
#define SIM_ATOMIC_SEEN(place) sim::atomic(place, sizeof(*(place)), __builtin_return_address(0))
#else
#define SIM_ATOMIC_SEEN(place) ((void)0)
#endif

namespace sim {

template <class Type>
struct Same {
    typedef Type type;
};
template <class Type>
using Value = typename Same<Type>::type;  // keeps an argument out of the deduction of Type

}  // namespace sim

#define SIM_ATOMIC(name, result)                                \
    template <class Type>                                       \
    SIM_INLINE Type name(Type* place, sim::Value<Type> value) { \
        SIM_ATOMIC_SEEN(place);                                 \
        Type old = *place;                                      \
        *place = (result);                                      \
        return old;                                             \
    }
SIM_ATOMIC(atomicAdd, old + value)
SIM_ATOMIC(atomicSub, old - value)
SIM_ATOMIC(atomicMax, old < value ? value : old)
SIM_ATOMIC(atomicMin, value < old ? value : old)
SIM_ATOMIC(atomicExch, value)
SIM_ATOMIC(atomicAnd, (old & value))
SIM_ATOMIC(atomicOr, old | value)
SIM_ATOMIC(atomicXor, old ^ value)
SIM_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
SIM_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)

template <class Type>
SIM_INLINE Type atomicCAS(Type* place, sim::Value<Type> expected, sim::Value<Type> value) {
    SIM_ATOMIC_SEEN(place);
    Type old = *place;
    if (__builtin_memcmp(&old, &expected, sizeof(Type)) == 0) *place = value;
    return old;
}

// Vectors -----------------------------------------------------------------------------------------------------------

#define SIM_VECTORS(Type, name, align2, align4)                                        \
    struct name##1 { Type x; };                                                        \
    struct __align__(align2) name##2 { Type x, y; };                                   \
    struct name##3 { Type x, y, z; };                                                  \
    struct __align__(align4) name##4 { Type x, y, z, w; };                             \
    static inline name##2 make_##name##2(Type x, Type y) { return {x, y}; }            \
    static inline name##3 make_##name##3(Type x, Type y, Type z) { return {x, y, z}; } \
    static inline name##4 make_##name##4(Type x, Type y, Type z, Type w) { return {x, y, z, w}; }
#define uint3 sim_uint3  // `uint3` is already defined: the type of threadIdx
SIM_VECTORS(char, char, 2, 4)
SIM_VECTORS(unsigned char, uchar, 2, 4)
SIM_VECTORS(short, short, 4, 8)
SIM_VECTORS(unsigned short, ushort, 4, 8)
SIM_VECTORS(int, int, 8, 16)
SIM_VECTORS(unsigned, uint, 8, 16)
SIM_VECTORS(float, float, 8, 16)
SIM_VECTORS(long long, longlong, 16, 16)
SIM_VECTORS(unsigned long long, ulonglong, 16, 16)
SIM_VECTORS(double, double, 16, 16)
#undef uint3

template <class Type>
static inline Type __ldg(const Type* place) {
    return *place;
}

// Bits --------------------------------------------------------------------------------------------------------------

#define SIM_BITS(name, From, To)                 \
    static inline To name(From from) {           \
        To to;                                   \
        __builtin_memcpy(&to, &from, sizeof to); \
        return to;                               \
    }
SIM_BITS(__int_as_float, int, float)
SIM_BITS(__float_as_int, float, int)
SIM_BITS(__uint_as_float, unsigned, float)
SIM_BITS(__float_as_uint, float, unsigned)
SIM_BITS(__longlong_as_double, long long, double)
SIM_BITS(__double_as_longlong, double, long long)
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; bit++) reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
}

// Mathematics: for each function of <math.h> that CUDA C++ has, the float variant and the overloads -----------------

#define SIM_MATH1(name)                                          \
    extern "C" double name(double) noexcept;                     \
    extern "C" float name##f(float) noexcept;                    \
    static inline float name(float x) { return name##f(x); }     \
    static inline double name(int x) { return name((double)x); } \
    static inline double name(long long x) { return name((double)x); }
#define SIM_MATH2(name)                                                         \
    extern "C" double name(double, double) noexcept;                            \
    extern "C" float name##f(float, float) noexcept;                            \
    static inline float name(float x, float y) { return name##f(x, y); }        \
    static inline double name(double x, float y) { return name(x, (double)y); } \
    static inline double name(float x, double y) { return name((double)x, y); } \
    static inline double name(double x, int y) { return name(x, (double)y); }   \
    static inline float name(float x, int y) { return name##f(x, (float)y); }
SIM_MATH1(exp)
SIM_MATH1(exp2)
SIM_MATH1(expm1)
SIM_MATH1(log)
SIM_MATH1(log2)
SIM_MATH1(log10)
SIM_MATH1(log1p)
SIM_MATH1(sin)
SIM_MATH1(cos)
SIM_MATH1(tan)
SIM_MATH1(asin)
SIM_MATH1(acos)
SIM_MATH1(atan)
SIM_MATH1(sinh)
SIM_MATH1(cosh)
SIM_MATH1(tanh)
SIM_MATH1(asinh)
SIM_MATH1(acosh)
SIM_MATH1(atanh)
SIM_MATH1(sqrt)
SIM_MATH1(cbrt)
SIM_MATH1(erf)
SIM_MATH1(erfc)
SIM_MATH1(lgamma)
SIM_MATH1(tgamma)
SIM_MATH1(floor)
SIM_MATH1(ceil)
SIM_MATH1(trunc)
SIM_MATH1(round)
SIM_MATH1(rint)
SIM_MATH1(nearbyint)
SIM_MATH1(fabs)
SIM_MATH2(pow)
SIM_MATH2(fmod)
SIM_MATH2(atan2)
SIM_MATH2(hypot)
SIM_MATH2(remainder)
SIM_MATH2(copysign)
SIM_MATH2(fmax)
SIM_MATH2(fmin)
SIM_MATH2(fdim)
SIM_MATH2(nextafter)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
static inline float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
extern "C" long long llrint(double) noexcept;
extern "C" long long llround(double) noexcept;
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline void sincosf(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }
static inline void sincos(double x, double* sine, double* cosine) { *sine = sin(x), *cosine = cos(x); }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

#define isnan(x) __builtin_isnan(x)
#define isinf(x) (__builtin_isinf_sign(x) != 0)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) (__builtin_signbit(x) != 0)

#define SIM_ABS(Type) \
    static inline Type abs(Type x) { return x < 0 ? -x : x; }
SIM_ABS(long)
SIM_ABS(long long)
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }

// As in CUDA, `min` and `max` of floating-point numbers return the other operand if one is NaN.
#define SIM_EXTREMES(Type)                                           \
    static inline Type min(Type a, Type b) { return b < a ? b : a; } \
    static inline Type max(Type a, Type b) { return a < b ? b : a; }
SIM_EXTREMES(int)
SIM_EXTREMES(unsigned)
SIM_EXTREMES(long)
SIM_EXTREMES(unsigned long)
SIM_EXTREMES(long long)
SIM_EXTREMES(unsigned long long)
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
static inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }

// The fast intrinsics are as exact here as the plain functions.
#define SIM_FAST(name, plain) \
    static inline float name(float x) { return plain; }
SIM_FAST(__expf, expf(x))
SIM_FAST(__exp10f, powf(10.0f, x))
SIM_FAST(__logf, logf(x))
SIM_FAST(__log2f, log2f(x))
SIM_FAST(__log10f, log10f(x))
SIM_FAST(__sinf, sinf(x))
SIM_FAST(__cosf, cosf(x))
SIM_FAST(__tanf, tanf(x))
SIM_FAST(__frcp_rn, 1.0f / x)
SIM_FAST(__fsqrt_rn, sqrtf(x))
SIM_FAST(__frsqrt_rn, 1.0f / sqrtf(x))
SIM_FAST(__saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

#define SIM_CONVERSIONS(From, from)                                                 \
    static inline int __##from##2int_rn(From x) { return (int)rint(x); }            \
    static inline int __##from##2int_rz(From x) { return (int)x; }                  \
    static inline int __##from##2int_rd(From x) { return (int)floor(x); }           \
    static inline int __##from##2int_ru(From x) { return (int)ceil(x); }            \
    static inline long long __##from##2ll_rn(From x) { return (long long)rint(x); } \
    static inline long long __##from##2ll_rz(From x) { return (long long)x; }
SIM_CONVERSIONS(float, float)
SIM_CONVERSIONS(double, double)
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __double2float_rn(double x) { return (float)x; }

// Functions of the C library ----------------------------------------------------------------------------------------

#define printf sim::print
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(...) ((__VA_ARGS__) ? (void)0 : sim::assertion_failed(#__VA_ARGS__, SIM_HERE))
#endif
#define __trap() sim::trap(SIM_HERE)
#define clock64() sim::clock()
#define __nanosleep(nanoseconds) ((void)(nanoseconds))
extern "C" void* memcpy(void*, const void*, size_t) noexcept;
extern "C" void* memset(void*, int, size_t) noexcept;

// Kernel signatures for the table of kernels ------------------------------------------------------------------------

namespace sim {

template <class Type>
struct Kind {
    static constexpr char letter = __is_enum(Type) ? 'i' : 'V';
};
#define SIM_KIND(Type, code)                 \
    template <>                              \
    struct Kind<Type> {                      \
        static constexpr char letter = code; \
    };
SIM_KIND(bool, 'b')
SIM_KIND(char, 'i')
SIM_KIND(signed char, 'i')
SIM_KIND(short, 'i')
SIM_KIND(int, 'i')
SIM_KIND(long, 'i')
SIM_KIND(long long, 'i')
SIM_KIND(unsigned char, 'u')
SIM_KIND(unsigned short, 'u')
SIM_KIND(unsigned, 'u')
SIM_KIND(unsigned long, 'u')
SIM_KIND(unsigned long long, 'u')
SIM_KIND(float, 'f')
SIM_KIND(double, 'f')

template <class Type>
struct Size {
    static constexpr unsigned value = sizeof(Type);
};
template <>
struct Size<void> {
    static constexpr unsigned value = 0;
};

template <class Type>
struct Plain {
    typedef Type type;
    static constexpr bool constant = false;
};
template <class Type>
struct Plain<const Type> : Plain<Type> {
    static constexpr bool constant = true;
};
template <class Type>
struct Plain<volatile Type> : Plain<Type> {};

// A parameter as text: '*' for a pointer, 'c' if the pointed-to type is const, the letter of the kind, the size.
template <class Type>
struct Parameter {
    static char* write(char* text) { return number(text, "", Kind<Type>::letter, sizeof(Type)); }
    static char* number(char* text, const char* before, char letter, unsigned size) {
        while (*before) *text++ = *before++;
        *text++ = letter;
        char digits[12];
        int count = 0;
        do digits[count++] = '0' + size % 10;
        while (size /= 10);
        while (count) *text++ = digits[--count];
        *text++ = ' ';
        *text = 0;
        return text;
    }
};
template <class Element>
struct Parameter<Element*> {
    static char* write(char* text) {
        typedef typename Plain<Element>::type Type;
        return Parameter<char>::number(text, Plain<Element>::constant ? "*c" : "*", Kind<Type>::letter,
                                       Size<Type>::value);
    }
};

template <class Type>
struct Argument {
    typedef Type type;
};
template <class Type>
struct Argument<const Type> {
    typedef Type type;
};

template <size_t... numbers>
struct Numbers {};
template <size_t count, size_t... numbers>
struct FirstNumbers : FirstNumbers<count - 1, count - 1, numbers...> {};
template <size_t... numbers>
struct FirstNumbers<0, numbers...> {
    typedef Numbers<numbers...> type;
};

template <auto kernel>
struct Kernel;
template <class... Types, void (*kernel)(Types...)>
struct Kernel<kernel> {
    template <size_t... number>
    __attribute__((no_sanitize("thread", "alignment"))) static void unpack(void* const* arguments, Numbers<number...>) {
        kernel(*(typename Argument<Types>::type*)arguments[number]...);
    }
    __attribute__((no_sanitize("thread", "alignment"))) static void call(void* const* arguments) {
        unpack(arguments, typename FirstNumbers<sizeof...(Types)>::type{});
    }
    static const char* signature() {
        static char text[sizeof...(Types) * 24 + 1];
        char* end = text;
        ((end = Parameter<typename Argument<Types>::type>::write(end)), ...);
        return text;
    }
};

}  // namespace sim
