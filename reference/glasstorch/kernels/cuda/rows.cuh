// How do adjacent threads combine their partial results for a line? See Note [Rows and columns] in lines.cuh.
//
// Mirrors: aten/src/ATen/native/cuda/block_reduce.cuh (BlockReduce), Reduce.cuh (block_x_reduce)

#pragma once

// A block of (members, lines) threads: the members of a line are adjacent. The number of members is a power of 2,
// that of all threads a multiple of 32: no warp is cut, and none holds parts of two lines unless it holds them whole.
struct Rows {
  static __device__ int member() { return threadIdx.x; }
  static __device__ int members() { return blockDim.x; }
  static __device__ long long line() { return (long long)blockIdx.x * blockDim.y + threadIdx.y; }

  // The combined state of all members of the line, known to all of them. `combine(a, b)` may take them in any order.
  // Every thread of the block calls this, even one whose line does not exist. `shared` has MOST_THREADS elements.
  template <class State, class Combine>
  static __device__ State together(State state, const Combine& combine, State* shared) {
    const int width = members() < WARP ? members() : WARP;
    for (int distance = width / 2; distance > 0; distance /= 2) {
      state = combine(state, shuffled_down(state, distance, width));  // the first lane ends with the right state
    }
    state = shuffled_first(state, width);
    if (members() <= WARP) return state;

    const int warps = members() / WARP;
    State* of_line = shared + threadIdx.y * warps;
    __syncthreads();  // other threads may still read the previous call's values
    if (member() % WARP == 0) of_line[member() / WARP] = state;
    __syncthreads();
    state = of_line[0];
    for (int warp = 1; warp < warps; warp++) state = combine(state, of_line[warp]);
    return state;
  }
};
