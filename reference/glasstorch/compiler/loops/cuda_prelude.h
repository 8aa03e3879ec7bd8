// What the generated CUDA kernels need besides arithmetic: half precision, and maxima that keep NaN.
//
// Mirrors: what torch/_inductor/codegen/triton.py gets from Triton (triton_helpers.py)
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#ifdef __CUDACC_RTC__
typedef long long int64_t;
typedef int int32_t;
typedef unsigned char uint8_t;
#define __builtin_inf() ((double)__int_as_float(0x7f800000))
#define __builtin_nan(text) ((double)__int_as_float(0x7fc00000))
#define __builtin_fabsf fabsf
#define __builtin_fabs fabs
#define __builtin_sqrtf sqrtf
#define __builtin_sqrt sqrt
#define __builtin_floorf floorf
#define __builtin_floor floor
#define __builtin_ceilf ceilf
#define __builtin_ceil ceil
#define __builtin_truncf truncf
#define __builtin_trunc trunc
#define __builtin_rintf rintf
#define __builtin_rint rint
#endif

typedef __nv_bfloat16 brain;

__device__ static inline float as_float(__half x) { return __half2float(x); }
__device__ static inline float as_float(brain x) { return __bfloat162float(x); }
__device__ static inline __half as_half(float x) { return __float2half(x); }
__device__ static inline brain as_brain(float x) { return __float2bfloat16(x); }
