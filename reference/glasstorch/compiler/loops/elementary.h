// What the generated loops need besides arithmetic: half precision, maxima that keep NaN, reductions.
//
// Mirrors: torch/csrc/inductor/cpp_prefix.h, aten/src/ATen/cpu/vec/vec_base.h
#include <stdint.h>

#define BITS(T, x) __builtin_bit_cast(T, x)

// Half precision: kept in 16 bits, computed in float, rounded to the nearest, ties to even --------------------------

struct half { uint16_t bits; };
struct brain { uint16_t bits; };

static inline float as_float(brain x) { return BITS(float, (uint32_t)x.bits << 16); }

static inline brain as_brain(float x) {
    uint32_t bits = BITS(uint32_t, x);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return {(uint16_t)(x != x ? 0x7fc0 | (bits >> 16 & 0x8000) : rounded)};
}

static inline float as_float(half x) {
    uint32_t sign = (uint32_t)(x.bits & 0x8000) << 16, rest = x.bits & 0x7fff;
    float normal = BITS(float, rest << 13) * 0x1p112f;
    uint32_t big = (rest << 13) | 0x7f800000;
    return BITS(float, sign | (rest >= 0x7c00 ? big : BITS(uint32_t, normal)));
}

static inline half as_half(float x) {
    uint32_t bits = BITS(uint32_t, x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    uint32_t normal = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
    uint32_t small = BITS(uint32_t, BITS(float, rest) + 0.5f) - 0x3f000000;  // the addition rounds
    uint32_t kept = rest < 0x38800000 ? small : normal;
    kept = rest >= 0x477ff000 ? 0x7c00 : kept;
    return {(uint16_t)(sign | (rest > 0x7f800000 ? 0x7e00 : kept))};
}

// Maxima and minima: NaN wins -----------------------------------------------------------------------------------------

template <class T> static inline T larger(T a, T b) { return (a >= b || a != a) ? a : b; }
template <class T> static inline T smaller(T a, T b) { return (a <= b || a != a) ? a : b; }

#pragma omp declare reduction(amax : float : omp_out = larger(omp_out, omp_in)) initializer(omp_priv = -__builtin_inff())
#pragma omp declare reduction(amin : float : omp_out = smaller(omp_out, omp_in)) initializer(omp_priv = __builtin_inff())
#pragma omp declare reduction(amax : double : omp_out = larger(omp_out, omp_in)) initializer(omp_priv = -__builtin_inf())
#pragma omp declare reduction(amin : double : omp_out = smaller(omp_out, omp_in)) initializer(omp_priv = __builtin_inf())
#pragma omp declare reduction(amax : int32_t, int64_t, uint8_t, bool : omp_out = larger(omp_out, omp_in))               \
    initializer(omp_priv = omp_orig)
#pragma omp declare reduction(amin : int32_t, int64_t, uint8_t, bool : omp_out = smaller(omp_out, omp_in))              \
    initializer(omp_priv = omp_orig)

// Functions of one number, for all elements of a vector at once -----------------------------------------------------

namespace elementary {
using ::exp; using ::log; using ::sin; using ::cos; using ::tanh; using ::expm1; using ::log1p; using ::erf; using ::pow;
using ::expf; using ::logf; using ::sinf; using ::cosf; using ::tanhf; using ::expm1f; using ::log1pf; using ::erff;
using ::powf;
}
