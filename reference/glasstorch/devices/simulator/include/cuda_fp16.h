// What is half precision in a kernel that runs on a CPU?
#pragma once
#include "../halves.h"

SIM_HALF(__half, __half2, _Float16, 'f')
typedef __half half;
typedef __half2 half2;

static inline __half __float2half(float x) { return __half(x); }
static inline __half __float2half_rn(float x) { return __half(x); }
static inline __half __double2half(double x) { return __half(x); }
static inline float __half2float(__half x) { return (float)x; }
static inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
static inline __half2 __float22half2_rn(float2 pair) { return {__half(pair.x), __half(pair.y)}; }
static inline float2 __half22float2(__half2 pair) { return {(float)pair.x, (float)pair.y}; }
