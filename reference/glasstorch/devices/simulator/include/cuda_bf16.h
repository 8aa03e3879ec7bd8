// What is bfloat16 in a kernel that runs on a CPU?
#pragma once
#include "../halves.h"

namespace sim {

// The upper half of a float, rounded to nearest, ties to even.
struct Bfloat {
    unsigned short bits;

    Bfloat() = default;
    Bfloat(float x) {
        unsigned wide = __float_as_uint(x);
        bool nan = (wide & 0x7fffffff) > 0x7f800000;
        bits = nan ? (wide >> 16 | 0x40) : ((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    }
    operator float() const { return __uint_as_float((unsigned)bits << 16); }
};

}  // namespace sim

SIM_HALF(__nv_bfloat16, __nv_bfloat162, sim::Bfloat, 'V')
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

static inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
static inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
static inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
static inline float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
static inline __nv_bfloat162 __float22bfloat162_rn(float2 pair) {
    return {__nv_bfloat16(pair.x), __nv_bfloat16(pair.y)};
}
static inline float2 __bfloat1622float2(__nv_bfloat162 pair) { return {(float)pair.x, (float)pair.y}; }
