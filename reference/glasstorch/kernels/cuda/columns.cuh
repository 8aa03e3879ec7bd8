// How do threads of several warps combine their partial results for a line? See Note [Rows and columns] in lines.cuh.
//
// Mirrors: aten/src/ATen/native/cuda/Reduce.cuh (block_y_reduce)

#pragma once

// A block of (lines, members) threads: the lines are neighbours. The number of members is a power of 2.
struct Columns {
  static __device__ int member() { return threadIdx.y; }
  static __device__ int members() { return blockDim.y; }
  static __device__ long long line() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

  // As for Rows: each step halves the number of members whose state still counts.
  template <class State, class Combine>
  static __device__ State together(State state, const Combine& combine, State* shared) {
    if (members() == 1) return state;
    State* place = shared + member() * blockDim.x + threadIdx.x;
    __syncthreads();  // other threads may still read the previous call's values
    *place = state;
    for (int half = members() / 2; half > 0; half /= 2) {
      __syncthreads();
      if (member() < half) *place = combine(*place, place[half * blockDim.x]);
    }
    __syncthreads();
    return shared[threadIdx.x];
  }
};
