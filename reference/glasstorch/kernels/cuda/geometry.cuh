// How does a kernel compute the offsets of elements in several tensors?
//
// Mirrors: aten/src/ATen/cuda/detail/OffsetCalculator.cuh
// Differs: a plain structure, filled by kernels/cuda/tensors.py; it divides by `/` instead of by a precomputed
//     multiplication; offsets count elements.
#pragma once

constexpr int MAX_DIMS = 25;     // as in PyTorch, after adjacent dimensions were coalesced
constexpr int MAX_OPERANDS = 4;  // tensors traversed together

// Sizes and strides, the slowest dimension first. tensors.py writes the same fields: keep the two in step.
struct Geometry {
    int ndim;
    long long sizes[MAX_DIMS];
    long long strides[MAX_OPERANDS][MAX_DIMS];  // in elements; 0 where an operand is broadcast
};

template <int N>
struct Offsets {
    long long at[N];
};

// The offsets of element `index` (counted in row-major order) in each of the first N operands, in elements. A division
// is slow, so the slowest dimension needs none: the remaining index is its coordinate. Missing strides are 0.
template <int N>
__device__ inline Offsets<N> offsets(const Geometry& geometry, long long index) {
    Offsets<N> result;
    for (int i = 0; i < N; ++i) result.at[i] = 0;
    for (int dim = geometry.ndim - 1; dim > 0; --dim) {
        const long long size = geometry.sizes[dim];
        const long long coordinate = index % size;
        index /= size;
        for (int i = 0; i < N; ++i) result.at[i] += coordinate * geometry.strides[i][dim];
    }
    for (int i = 0; i < N; ++i) result.at[i] += index * geometry.strides[i][0];
    return result;
}

// As above for one operand, `which` of the geometry.
__device__ inline long long offset_of(const Geometry& geometry, int which, long long index) {
    long long result = 0;
    for (int dim = geometry.ndim - 1; dim > 0; --dim) {
        result += index % geometry.sizes[dim] * geometry.strides[which][dim];
        index /= geometry.sizes[dim];
    }
    return result + index * geometry.strides[which][0];
}
