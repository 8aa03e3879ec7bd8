// How are elements put in another order along a dimension of a CUDA tensor?
//
// Mirrors: aten/src/ATen/native/cuda/TensorTransformations.cu (roll_cuda_kernel), ../TensorTransformations.cpp (flip),
//     cuda/IndexKernel.cu (flip_kernel)
// Differs: nothing in substance. The elements are only moved, so a kernel knows their size and not their dtype.
#include "geometry.cuh"

// Read from the last place of the flipped dimensions, `start`, with strides that are negative there.
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
