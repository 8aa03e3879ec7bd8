// How are adjacent elements of a type known only at run time read or written at once?
//
// Values are computed in a type T: float (for half and bfloat16 too), double, or long long (for all integers and bool).
//
// Mirrors: aten/src/ATen/native/cuda/MemoryAccess.cuh (aligned_vector, LoadWithCast, StoreWithCast)
// Differs: vectors are cast too. As cast.cuh, but for one T: nothing passes through a wider type.
#pragma once

#include "cast.cuh"

constexpr int NUMBER = -1;  // in place of a type: not an element in memory, but one value for all

template <typename T>
constexpr bool WHOLE = (T)0.5 == 0;

// An element as a T, and a T as an element: as C++ casts, but through float for half precision.
template <typename T, typename Element>
struct Cast {
  __device__ static T from(Element x) { return (T)x; }
  __device__ static Element to(T x) { return (Element)x; }
};
template <typename T>
struct Cast<T, bool> {
  __device__ static T from(bool x) { return x; }
  __device__ static bool to(T x) { return x != 0; }
};
template <typename T>
struct Cast<T, __half> {
  __device__ static T from(__half x) { return (T)__half2float(x); }
  __device__ static __half to(T x) { return __float2half((float)x); }
};
template <typename T>
struct Cast<T, __nv_bfloat16> {
  __device__ static T from(__nv_bfloat16 x) { return (T)__bfloat162float(x); }
  __device__ static __nv_bfloat16 to(T x) { return __float2bfloat16((float)x); }
};

// N elements that are read or written together, at most 16 bytes at a time.
template <int N, typename Element>
struct __align__(N * sizeof(Element) < 16 ? N * sizeof(Element) : 16) Run {
  Element elements[N];
};

template <int N, typename Element, typename T>
__device__ __forceinline__ void load_run(const void *from, long long run, T *values) {
  const Run<N, Element> read = static_cast<const Run<N, Element> *>(from)[run];
  for (int i = 0; i < N; i++) values[i] = Cast<T, Element>::from(read.elements[i]);
}

template <int N, typename Element, typename T>
__device__ __forceinline__ void store_run(void *to, long long run, const T *values) {
  Run<N, Element> written;
  for (int i = 0; i < N; i++) written.elements[i] = Cast<T, Element>::to(values[i]);
  static_cast<Run<N, Element> *>(to)[run] = written;
}

// Reads run number `run` of N elements, counted from an address. Where T is long long they are integers.
template <int N, typename T>
__device__ __forceinline__ void load(const void *from, int type, long long run, T *values) {
  switch (type) {
    case UINT8: return load_run<N, unsigned char>(from, run, values);
    case INT32: return load_run<N, int>(from, run, values);
    case INT64: return load_run<N, long long>(from, run, values);
    case BOOL: return load_run<N, bool>(from, run, values);
  }
  if constexpr (!WHOLE<T>) {
    switch (type) {
      case FLOAT16: return load_run<N, __half>(from, run, values);
      case BFLOAT16: return load_run<N, __nv_bfloat16>(from, run, values);
      case FLOAT32: return load_run<N, float>(from, run, values);
      case FLOAT64: return load_run<N, double>(from, run, values);
    }
  }
}

// Writes N values as run number `run` of N elements, counted from an address.
template <int N, typename T>
__device__ __forceinline__ void store(void *to, int type, long long run, const T *values) {
  switch (type) {
    case UINT8: return store_run<N, unsigned char>(to, run, values);
    case INT32: return store_run<N, int>(to, run, values);
    case INT64: return store_run<N, long long>(to, run, values);
    case BOOL: return store_run<N, bool>(to, run, values);
    case FLOAT16: return store_run<N, __half>(to, run, values);
    case BFLOAT16: return store_run<N, __nv_bfloat16>(to, run, values);
    case FLOAT32: return store_run<N, float>(to, run, values);
    case FLOAT64: return store_run<N, double>(to, run, values);
  }
}

// A value rounded to an element type, as a T.
template <typename T>
__device__ __forceinline__ T rounded(T value, int type) {
  if constexpr (WHOLE<T>) {
    switch (type) {
      case UINT8: return (unsigned char)value;
      case INT32: return (int)value;
      case BOOL: return value != 0;
    }
  } else if constexpr (sizeof(T) == sizeof(float)) {
    switch (type) {
      case FLOAT16: return Cast<T, __half>::from(Cast<T, __half>::to(value));
      case BFLOAT16: return Cast<T, __nv_bfloat16>::from(Cast<T, __nv_bfloat16>::to(value));
    }
  }
  return value;
}
