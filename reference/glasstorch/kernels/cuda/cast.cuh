// How does a kernel read or write an element whose type is known only at run time?
//
// Mirrors: fetch_and_cast, cast_and_store and convert in c10/core/DynamicCast.h and c10/util/TypeCast.h
// Differs: two intermediate types, long long for integers and double for the others, instead of a conversion for each
//     pair; every dtype fits into one of them exactly.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// The numbers of c10::ScalarType; CODE in tensors.py.
constexpr int UINT8 = 0, INT32 = 3, INT64 = 4, FLOAT16 = 5, FLOAT32 = 6, FLOAT64 = 7, BOOL = 11, BFLOAT16 = 15;

__device__ inline bool is_whole(int code) { return code == UINT8 || code == INT32 || code == INT64 || code == BOOL; }

// Element `index` of an array of integers or bools.
__device__ inline long long fetch_whole(const void* array, long long index, int code) {
    switch (code) {
        case UINT8: return ((const unsigned char*)array)[index];
        case INT32: return ((const int*)array)[index];
        case INT64: return ((const long long*)array)[index];
        default: return ((const bool*)array)[index];
    }
}

// Element `index` of an array of floating point numbers.
__device__ inline double fetch_real(const void* array, long long index, int code) {
    switch (code) {
        case FLOAT16: return __half2float(((const __half*)array)[index]);
        case BFLOAT16: return __bfloat162float(((const __nv_bfloat16*)array)[index]);
        case FLOAT32: return ((const float*)array)[index];
        default: return ((const double*)array)[index];
    }
}

// Write a long long or a double as an element of type `code`. Half precision is converted through float, as in PyTorch;
// a double becomes uint8 through long long, so that -1.0 becomes 255.
template <typename T>
__device__ inline void store_as(void* array, long long index, int code, T value) {
    switch (code) {
        case UINT8: ((unsigned char*)array)[index] = (unsigned char)(long long)value; break;
        case INT32: ((int*)array)[index] = (int)value; break;
        case INT64: ((long long*)array)[index] = (long long)value; break;
        case FLOAT16: ((__half*)array)[index] = __float2half((float)value); break;
        case BFLOAT16: ((__nv_bfloat16*)array)[index] = __float2bfloat16((float)value); break;
        case FLOAT32: ((float*)array)[index] = (float)value; break;
        case FLOAT64: ((double*)array)[index] = (double)value; break;
        default: ((bool*)array)[index] = value != 0; break;
    }
}

// Element `index`, whatever its type, as a T.
template <typename T>
__device__ inline T fetch_as(const void* array, long long index, int code) {
    return is_whole(code) ? (T)fetch_whole(array, index, code) : (T)fetch_real(array, index, code);
}
