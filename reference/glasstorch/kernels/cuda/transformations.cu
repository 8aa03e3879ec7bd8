// How are flip and roll computed on a CUDA device?
//
// Mirrors: aten/src/ATen/native/cuda/TensorTransformations.cu (roll_cuda_kernel), ../TensorTransformations.cpp (flip),
//     cuda/IndexKernel.cu (flip_kernel)
// Elements are only moved, so a kernel knows their size but not their dtype.
#include "geometry.cuh"

// Reads from `start`, the last element along the flipped dimensions, with negative strides there.
template <typename Unit>
__global__ void flip(const Unit* source, Unit* out, Geometry geometry, long long n, long long start) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const Offsets<2> offset = offsets<2>(geometry, i);
    out[offset.at[0]] = source[start + offset.at[1]];
  }
}

// Along the middle of three dimensions, (n / size / inner, size, inner), all contiguous: result[c] is
// source[c + start], begun again from 0 at the end. Units as in joining.cu.
template <typename Unit>
__global__ void roll(const Unit* source, Unit* out, long long n, long long size, long long inner, long long start) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const long long coordinate = i / inner % size;
    const long long shift = coordinate + start < size ? start : start - size;
    out[i] = source[i + shift * inner];
  }
}
