"""Stores while somebody may still read what the last call left."""

REFUSED_BY = "check"

HEADER = r"""
struct Columns {
  static __device__ int member() { return threadIdx.y; }
  static __device__ int members() { return blockDim.y; }
  static __device__ long long line() {
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
  }

  template <class State, class Combine>
  static __device__ State together(
      State state, const Combine& combine, State* shared) {
    if (members() == 1) return state;
    State* place = shared + threadIdx.x + member() * blockDim.x;
    *place = state;
    for (int half = members() / 2; half > 0; half /= 2) {
      __syncthreads();  // what the last step left is read now
      if (member() < half) {
        *place = combine(*place, place[half * blockDim.x]);
      }
    }
    __syncthreads();  // the first member has the sum, the others read it
    return shared[threadIdx.x];
  }
};
"""


def columns() -> str:
    """The header `columns.cuh`."""
    return HEADER
