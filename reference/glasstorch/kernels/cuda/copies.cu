// How are elements copied and cast on one device?
//
// Mirrors: aten/src/ATen/native/cuda/Copy.cu (direct_copy_kernel_cuda)
// Differs: the types are known when the kernel runs, not when it is compiled; contiguous copies go to the driver.

#include "cast.cuh"
#include "geometry.cuh"

template <typename Word>
__device__ void move(void* out, const void* in, const Geometry& geometry, long long count) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const Offsets<2> where = offsets<2>(geometry, i);
        ((Word*)out)[where.at[0]] = ((const Word*)in)[where.at[1]];
    }
}

// Copies elements of one type by their bits.
extern "C" __global__ void copy_words(void* out, const void* in, int itemsize, Geometry geometry, long long count) {
    switch (itemsize) {
        case 1: move<unsigned char>(out, in, geometry, count); break;
        case 2: move<unsigned short>(out, in, geometry, count); break;
        case 4: move<unsigned int>(out, in, geometry, count); break;
        default: move<unsigned long long>(out, in, geometry, count); break;
    }
}

// Casts elements of one type to another.
extern "C" __global__ void copy_cast(
    void* out, int out_code, const void* in, int in_code, Geometry geometry, long long count
) {
    const long long step = (long long)gridDim.x * blockDim.x;
    const bool whole = is_whole(in_code);
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const Offsets<2> where = offsets<2>(geometry, i);
        if (whole) {
            store_as(out, where.at[0], out_code, fetch_whole(in, where.at[1], in_code));
        } else {
            store_as(out, where.at[0], out_code, fetch_real(in, where.at[1], in_code));
        }
    }
}
