"""The header as it was: the steps do not wait for each other."""

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
    __syncthreads();
    for (int half = members() / 2; half > 0; half /= 2) {
      if (member() < half) {
        *place = combine(*place, place[half * blockDim.x]);
      }
    }
    return shared[threadIdx.x];
  }
};
"""


def columns() -> str:
    """The header `columns.cuh`."""
    return HEADER
