// Which functions do the expressions of pointwise operators call where C++ has none, or leaves the result undefined?
//
// Each function has a form for floats (float and double; NaN goes through) and one for integers, which wrap around.
#pragma once

#include <cuda_fp16.h>  // also declares the math functions' float overloads for a host compiler

typedef long long Integer;
typedef unsigned long long Bits;  // an Integer's bits: their arithmetic wraps around where that of Integer is undefined

// The absolute value; the most negative integer has none and stays.
__device__ __forceinline__ float magnitude(float x) { return fabsf(x); }
__device__ __forceinline__ double magnitude(double x) { return fabs(x); }
__device__ __forceinline__ Integer magnitude(Integer x) { return x < 0 ? (Integer)(0 - (Bits)x) : x; }

// The larger and the smaller of two values, and a value clamped between two bounds. If either is NaN, so is the result.
template <typename T>
__device__ __forceinline__ T larger(T x, T y) {
  return x != x ? x : y != y ? y : x > y ? x : y;
}

template <typename T>
__device__ __forceinline__ T smaller(T x, T y) {
  return x != x ? x : y != y ? y : x < y ? x : y;
}

template <typename T>
__device__ __forceinline__ T between(T x, T low, T high) {
  return smaller(larger(x, low), high);
}

// As `between`, for bounds that are numbers. A single bound that is NaN has no effect; if both are, the result is NaN.
template <typename T>
__device__ __forceinline__ T between_numbers(T x, T low, T high) {
  if (low != low && high != high) return low;
  const T raised = x < low ? low : x;
  return high < raised ? high : raised;
}

// The quotient rounded towards 0. `inverse` is 1 / y where y is one number for all, so that a multiplication suffices;
// else 0.
template <typename T>
__device__ __forceinline__ T trunc_quotient(T x, T y, T inverse) {
  return trunc(inverse != 0 ? x * inverse : x / y);
}

// A quotient by 0 is undefined on CUDA; here it is -1, on a GPU and on the simulator alike.
__device__ __forceinline__ Integer trunc_quotient(Integer x, Integer y, Integer) {
  if (y == 0) return -1;
  return y == -1 ? (Integer)(0 - (Bits)x) : x / y;  // the most negative integer by -1 would trap on a CPU
}

// The quotient rounded down. The remainder is subtracted before the division, so that x == floor_quotient * y +
// remainder as nearly as possible. `inverse` as above.
template <typename T>
__device__ __forceinline__ T floor_quotient(T x, T y, T inverse) {
  if (y == 0) return x / y;
  const T rest = fmod(x, y);
  T quotient = inverse != 0 ? (x - rest) * inverse : (x - rest) / y;
  if (rest != 0 && (y < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return copysign((T)0, inverse != 0 ? x * inverse : x / y);
  const T floored = floor(quotient);
  return quotient - floored > (T)0.5 ? floored + 1 : floored;
}

__device__ __forceinline__ Integer floor_quotient(Integer x, Integer y, Integer) {
  assert(y != 0 && "ZeroDivisionError");
  const Integer quotient = trunc_quotient(x, y, 0);
  return (x < 0) != (y < 0) && (Bits)quotient * y != (Bits)x ? quotient - 1 : quotient;
}

// The remainder of the quotient rounded down: 0, or with the divisor's sign.
template <typename T>
__device__ __forceinline__ T remainder_of_floor(T x, T y) {
  const T rest = fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

__device__ __forceinline__ Integer remainder_of_floor(Integer x, Integer y) {
  if (y == 0 || y == -1) return 0;  // by 0: undefined, as above; by -1: see trunc_quotient
  const Integer rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// x to the power y. An integer to a negative power is 0, unless its inverse is an integer.
template <typename T>
__device__ __forceinline__ T power(T x, T y) {
  return pow(x, y);
}

__device__ __forceinline__ Integer power(Integer x, Integer y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  Bits result = 1;
  for (Bits square = (Bits)x; y != 0; y /= 2, square *= square)
    if (y % 2) result *= square;
  return (Integer)result;
}
