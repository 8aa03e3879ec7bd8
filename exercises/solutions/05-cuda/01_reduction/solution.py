"""Halves the distance inside each warp, then lets every member combine what the warps have stored."""

FRAME = r"""
struct Rows {
  static __device__ int member() { return threadIdx.x; }
  static __device__ int members() { return blockDim.x; }
  static __device__ long long line() {
    return (long long)blockIdx.x * blockDim.y + threadIdx.y;
  }

  template <class State, class Combine>
  static __device__ State together(
      State state, const Combine& combine, State* shared) {
    BODY
  }
};
"""


def rows() -> str:
    """The header `rows.cuh`."""
    body = r"""
    const int width = members() < WARP ? members() : WARP;
    for (int distance = width / 2; distance > 0; distance /= 2) {
      state = combine(state, shuffled_down(state, distance, width));
    }
    state = shuffled_first(state, width);  // only the first lane's is whole
    if (members() <= WARP) return state;

    const int warps = members() / WARP;
    State* of_row = shared + threadIdx.y * warps;
    __syncthreads();  // others may still read what the last call left there
    if (member() % WARP == 0) of_row[member() / WARP] = state;
    __syncthreads();
    state = of_row[0];
    for (int warp = 1; warp < warps; warp++) state = combine(state, of_row[warp]);
    return state;
    """
    return FRAME.replace("BODY", body)
