// How is a tensor filled with one element, or with evenly spaced numbers?
//
// Mirrors: aten/src/ATen/native/cuda/FillKernel.cu, RangeFactories.cu (arange_cuda_out)
// Differs: the element is passed as bits, so that one kernel serves all types of one size.

#include "cast.cuh"
#include "geometry.cuh"

// `pattern` holds as many copies of the element as fit; the memory is contiguous and aligned to 16 bytes.
extern "C" __global__ void fill_words(uint4* out, uint4 pattern, long long count) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) out[i] = pattern;
}

template <typename Word>
__device__ void spread(void* out, unsigned long long bits, const Geometry& geometry, long long count) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        ((Word*)out)[offset_of(geometry, 0, i)] = (Word)bits;
    }
}

// The lower bits of `bits` as every element of a tensor of any strides.
extern "C" __global__ void fill_elements(
    void* out, int itemsize, unsigned long long bits, Geometry geometry, long long count
) {
    switch (itemsize) {
        case 1: spread<unsigned char>(out, bits, geometry, count); break;
        case 2: spread<unsigned short>(out, bits, geometry, count); break;
        case 4: spread<unsigned int>(out, bits, geometry, count); break;
        default: spread<unsigned long long>(out, bits, geometry, count); break;
    }
}

// start + step * i for i = 0, 1, 2 ..., computed as `Number` and cast.
template <typename Number>
__device__ void count_up(
    void* out, int code, Number start, Number increment, const Geometry& geometry, long long count
) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        store_as(out, offset_of(geometry, 0, i), code, start + increment * (Number)i);
    }
}

extern "C" __global__ void arange_whole(
    void* out, int code, long long start, long long increment, Geometry geometry, long long count
) {
    count_up(out, code, start, increment, geometry, count);
}

extern "C" __global__ void arange_float(
    void* out, int code, float start, float increment, Geometry geometry, long long count
) {
    count_up(out, code, start, increment, geometry, count);
}

extern "C" __global__ void arange_double(
    void* out, int code, double start, double increment, Geometry geometry, long long count
) {
    count_up(out, code, start, increment, geometry, count);
}
