# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05.2 A barrier is missing
#
# When the library sums columns, each thread of a warp has a column of its own,
# and the other members of that column are in other warps. They cannot read
# each other's registers, so they go through shared memory. Each member stores
# its state, then one half of them adds the states of the other half, then one
# half of those does the same, until the sum is in the first place.
#
# The header below is meant to do that, but it was written in haste and has
# only one barrier. For small blocks the result may happen to be right. Find
# out where the threads have to meet, and put `__syncthreads();` there. Nothing
# else needs to change.
#
# - *All* threads of the block must reach a barrier. One that some of them
#   never reach is an error, too.
# - A barrier costs time. For m members, log2(m) + 2 of them are enough for a
#   call.
# - The kernel may call `together` again at once, with the same `shared`.

# %%
HASTY = r"""
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
    """The header `columns.cuh`, which is HASTY with the right barriers.

    >>> "struct Columns" in columns()
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 05.2`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 05.2` gives a hint, and
# `.venv/bin/workbook lab 05.2` opens a sheet for experiments.
