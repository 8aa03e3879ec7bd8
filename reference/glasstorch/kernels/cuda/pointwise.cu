// How does one expression become the kernel of a pointwise operator?
//
// This file is compiled once for each operator and compute type. Three macros are defined on the command line:
//   COMPUTE     the compute type: float (for half and bfloat16 too), double, or long long (for all integers
//               and bool, whose results are truncated when they are stored)
//   INPUTS      the number of operands, 1 to 3
//   EXPRESSION  the operator: of the operands a, b, c and the numbers p, q, r; for example `a + p * b`
//
// Mirrors: aten/src/ATen/native/cuda/CUDALoops.cuh (gpu_kernel_impl, vectorized_elementwise_kernel, elementwise_kernel),
//     aten/src/ATen/native/cuda/MemoryAccess.cuh (LoadWithCast, StoreWithCast), c10/core/DynamicCast.h
// Differs: the types of the elements are known at run time only, on the fast path too; a thread reads and writes four
//     elements at once, so that the switch on the type is taken once for four. Half precision is computed in float and
//     rounded once; some of PyTorch's kernels round after each step.

#include "arithmetic.cuh"
#include "elements.cuh"
#include "geometry.cuh"

// The operands of a launch, filled by pointwise/expressions.py. The result comes first, then the inputs.
struct Operands {
  int types[4];        // of the elements; NUMBER where an input is one number for all
  int common;          // the common type: inputs are rounded to it first, and the result last
  COMPUTE inputs[3];   // the value of each input that is a NUMBER
  COMPUTE numbers[3];  // p, q and r
};

__device__ __forceinline__ COMPUTE apply(
  COMPUTE a, COMPUTE b, COMPUTE c, COMPUTE p, COMPUTE q, COMPUTE r
) {
  return EXPRESSION;
}

// Reads N adjacent elements of one input, in the common type.
template <int N>
__device__ __forceinline__ void fetch(
  const void *from, int input, long long index, const Operands &operands, COMPUTE *values
) {
  const int type = operands.types[1 + input];
  if (type == NUMBER) {
    for (int i = 0; i < N; i++) values[i] = operands.inputs[input];
    return;
  }
  load<N>(from, type, index, values);
  if (type != operands.common)
    for (int i = 0; i < N; i++) values[i] = rounded(values[i], operands.common);
}

// Computes N adjacent elements at offsets in runs of N elements: the result's offset, then those of the inputs.
template <int N>
__device__ __forceinline__ void compute(
  void *out, const void *const *from, const long long *starts, const Operands &operands
) {
  COMPUTE values[3][N] = {};
#pragma unroll  // so that the arrays become registers
  for (int k = 0; k < INPUTS; k++) fetch<N>(from[k], k, starts[1 + k], operands, values[k]);
  COMPUTE results[N];
#pragma unroll
  for (int i = 0; i < N; i++) {
    results[i] = apply(
      values[0][i], values[1][i], values[2][i], operands.numbers[0], operands.numbers[1], operands.numbers[2]
    );
    if (operands.common != operands.types[0]) results[i] = rounded(results[i], operands.common);
  }
  store<N>(out, operands.types[0], starts[0], results);
}

// Writes `count` elements. The first 4 * `fours` of them are contiguous in every operand and are computed four at a
// time.
extern "C" __global__ void __launch_bounds__(256) pointwise(
  void *out, const void *x, const void *y, const void *z, Operands operands, Geometry geometry, long long count,
  long long fours
) {
  const void *const from[3] = {x, y, z};
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long threads = (long long)gridDim.x * blockDim.x;
  for (long long i = thread; i < fours; i += threads) {
    const long long starts[4] = {i, i, i, i};
    compute<4>(out, from, starts, operands);
  }
  for (long long i = 4 * fours + thread; i < count; i += threads)
    compute<1>(out, from, offsets<1 + INPUTS>(geometry, i).at, operands);
}
