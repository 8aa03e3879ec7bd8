// How do the threads of a block share lines of elements and combine their partial results?
//
// A line is what is reduced into one result: a row, a column, or all elements. Its members are the threads that process
// it: member m takes the elements m, m + members, m + 2 * members ...
//
// Mirrors: aten/src/ATen/native/cuda/block_reduce.cuh, Reduce.cuh (block_x_reduce, block_y_reduce)
// Differs: two arrangements of a block, Rows and Columns, are two types that a kernel takes as a parameter.
//
// Note [Rows and columns]
// The 32 threads of a warp load together, and should load adjacent elements. Where the elements of a line are adjacent
// in memory, the threads of a warp share a line (Rows). Where the lines are adjacent, each thread of a warp has its own
// line, and the line's other members are in other warps (Columns).

#pragma once

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr int MOST_THREADS = 256;  // of a block, in either arrangement

// The type in which elements are computed: the accumulation types of aten/src/ATen/AccumulateType.h for CUDA.
template <class Element> struct Computed { using type = long long; };  // bool and the integers
template <> struct Computed<__half> { using type = float; };
template <> struct Computed<__nv_bfloat16> { using type = float; };
template <> struct Computed<float> { using type = float; };
template <> struct Computed<double> { using type = double; };

// The value of the lane `distance` further on in a group of `width` lanes. A structure overloads this by its fields.
template <class State> __device__ State shuffled_down(State state, int distance, int width) {
  return __shfl_down_sync(ALL_LANES, state, distance, width);
}

// The value of the first lane in a group of `width` lanes.
template <class State> __device__ State shuffled_first(State state, int width) {
  return __shfl_sync(ALL_LANES, state, 0, width);
}

#include "rows.cuh"
#include "columns.cuh"
