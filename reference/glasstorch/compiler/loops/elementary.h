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

// Functions of one number, without branches, so that the compiler makes vectors of them ---------------------------------
//
// Each reduces its argument to a short interval and computes a polynomial there, whose coefficients make the largest
// relative error as small as possible. Errors are at most 2 units in the last place; NaN stays NaN. Sines and cosines
// are of this form up to FAR, where pi has to be known to more digits: who calls them asks `is_far`, and calls the C
// library's then. Functions of double are the C library's, in its vector variants.

#ifdef __FMA__
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

namespace elementary {
using ::exp; using ::log; using ::sin; using ::cos; using ::tanh; using ::expm1; using ::log1p; using ::erf; using ::pow;
using ::powf;

const float FAR = 0x1p20f;
const float INFINITE = __builtin_inff();
const float WHOLE = 0x1.8p23f;  // adding it rounds to a whole number, which then stands in the low bits

static inline bool is_far(float x) { return __builtin_fabsf(x) > FAR; }

// (exp(r) - 1 - r) / r^2 for r from -log(2)/2 to log(2)/2
static inline float reduced_exp(float r) {
    float p = FMA(0x1.6dbc5ap-10f, r, 0x1.12414ap-7f);
    p = FMA(p, r, 0x1.555454p-5f);
    p = FMA(p, r, 0x1.555486p-3f);
    return FMA(p, r, 0.5f);
}

// What is left of x without a multiple of log(2), which then stands in the low bits of `low`
static inline float without_log2(float x, float& low) {
    low = FMA(x, 0x1.715476p0f, WHOLE);
    float n = low - WHOLE;
    return FMA(n, -0x1.7f7d1cp-20f, FMA(n, -0x1.62e4p-1f, x));
}

static inline float power_of_2(float low, int32_t more) {
    return BITS(float, (int32_t)((uint32_t)(BITS(int32_t, low) + 127 + more) << 23));
}

static inline float expf(float x) {
    float low, z = x < -104.0f ? -104.0f : x;
    float r = without_log2(z, low);
    float p = FMA(FMA(reduced_exp(r), r, 1.0f), r, 1.0f);
    bool tiny = z < -87.0f;  // the result may have fewer bits: it is made 2^64 times as large first
    low = tiny ? low + 64.0f : low;
    float large = BITS(float, BITS(int32_t, p) + (int32_t)((uint32_t)BITS(int32_t, low) << 23));
    float y = tiny ? large * 0x1p-64f : large;
    return x <= 0x1.62e42ep6f ? y : x + INFINITE;
}

static inline float expm1f(float x) {
    float low, z = x < -18.0f ? -18.0f : x;
    float r = without_log2(z, low);
    float e = FMA(reduced_exp(r) * r, r, r), half = power_of_2(low, -1);
    float y = FMA(half, e, half - 0.5f) * 2.0f;
    y = x == 0.0f ? x : y;
    return x <= 0x1.62e42ep6f ? y : x + INFINITE;
}

static inline float tanhf(float x) {
    float z = x > 10.0f ? 10.0f : x;
    z = z < -10.0f ? -10.0f : z;
    float low, r = without_log2(2.0f * z, low);
    float e = FMA(reduced_exp(r) * r, r, r), scale = power_of_2(low, 0);
    float m = FMA(scale, e, scale - 1.0f);
    float y = m / (m + 2.0f);
    return x == 0.0f ? x : y;
}

// log(1 + f) for f from sqrt(1/2) - 1 to sqrt(2) - 1, plus n log(2)
static inline float reduced_log(float f, float n) {
    float p = FMA(-0x1.41eb16p-4f, f, 0x1.07d06p-3f);
    p = FMA(p, f, -0x1.0ce0c6p-3f);
    p = FMA(p, f, 0x1.226e62p-3f);
    p = FMA(p, f, -0x1.547886p-3f);
    p = FMA(p, f, 0x1.99a596p-3f);
    p = FMA(p, f, -0x1.00022p-2f);
    p = FMA(p, f, 0x1.55554ap-2f);
    float square = f * f;
    float tail = FMA(p * f, square, n * -0x1.bd0106p-13f);
    return FMA(n, 0x1.63p-1f, FMA(-0.5f, square, tail) + f);
}

static inline float logf(float x) {
    bool small = x < 0x1p-126f;
    float z = small ? x * 0x1p23f : x;
    int32_t bits = BITS(int32_t, z) - 0x3f3504f3;  // sqrt(1/2)
    int32_t n = bits >> 23;
    float f = BITS(float, (bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
    float y = reduced_log(f, (float)(small ? n - 23 : n));
    y = x == INFINITE ? x : y;
    y = x == 0.0f ? -INFINITE : y;
    return x >= 0.0f ? y : __builtin_nanf("");
}

static inline float log1pf(float x) {
    float u = 1.0f + x;
    float rest = (x - (u - 1.0f)) / u;  // what the sum has lost
    float y = logf(u) + rest;
    y = x == INFINITE || x == -1.0f ? logf(u) : y;
    return x == 0.0f ? x : y;
}

static inline float erff(float x) {
    float t = __builtin_fabsf(x), s = x * x;
    float p = FMA(0x1.5e0614p-14f, s, -0x1.aaa2dp-11f);
    p = FMA(p, s, 0x1.54d42ap-8f);
    p = FMA(p, s, -0x1.b80ff2p-6f);
    p = FMA(p, s, 0x1.ce2e1cp-4f);
    p = FMA(p, s, -0x1.812744p-2f);
    p = FMA(p, s, 0x1.06eba8p-3f);
    float near = FMA(p, x, x);
    float z = t > 4.0f ? 4.0f : t;
    float q = FMA(-0x1.692e44p-17f, z, 0x1.4d84acp-12f);
    q = FMA(q, z, -0x1.dade08p-9f);
    q = FMA(q, z, 0x1.84a1eep-6f);
    q = FMA(q, z, -0x1.b2f1dap-4f);
    q = FMA(q, z, -0x1.453682p-1f);
    q = FMA(q, z, -0x1.0774ecp-3f);
    float away = 1.0f - expf(FMA(q, z, -z));
    float y = t > 0.92f ? __builtin_copysignf(away, x) : near;
    return x == x ? y : x;
}

// The sine of a number from -pi/2 to pi/2, its sign changed if `low`, a whole number plus WHOLE, is odd
static inline float reduced_sin(float r, float low) {
    float s = r * r;
    float p = FMA(0x1.5d9f06p-19f, s, -0x1.9f6decp-13f);
    p = FMA(p, s, 0x1.110ec8p-7f);
    p = FMA(p, s, -0x1.55554cp-3f);
    float y = FMA(p * s, r, r);
    return BITS(float, BITS(int32_t, y) ^ (int32_t)((uint32_t)BITS(int32_t, low) << 31));
}

static inline float sinf(float x) {
    float low = FMA(x, 0x1.45f306p-2f, WHOLE);
    float n = low - WHOLE;
    float r = FMA(n, -0x1.921fb6p1f, x);
    r = FMA(n, 0x1.777a5cp-24f, r);
    r = FMA(n, 0x1.ee59dap-49f, r);
    float y = reduced_sin(r, low);
    return x == 0.0f ? x : y;
}

static inline float cosf(float x) {
    float low = FMA(x, 0x1.45f306p-2f, -0.5f) + WHOLE;
    float n = FMA(low - WHOLE, 2.0f, 1.0f);  // an odd multiple of pi/2
    float r = FMA(n, -0x1.921fb6p0f, x);
    r = FMA(n, 0x1.777a5cp-25f, r);
    r = FMA(n, 0x1.ee59dap-50f, r);
    return reduced_sin(-r, low);
}

// log(exp(a) + exp(b)); equal infinities have no difference
static inline float log_add_exp(float a, float b) {
    float large = larger(a, b), least = smaller(a, b);
    return large == least && __builtin_isinf(large) ? large : large + log1pf(expf(least - large));
}

static inline double log_add_exp(double a, double b) {
    double large = larger(a, b), least = smaller(a, b);
    return large == least && __builtin_isinf(large) ? large : large + log1p(exp(least - large));
}

}  // namespace elementary

// Numbers that are known when a kernel runs
[[maybe_unused]] static inline int64_t size_quotient(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

[[maybe_unused]] static inline int64_t size_remainder(int64_t a, int64_t b) {
    return a - size_quotient(a, b) * b;
}
