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
# # 05.1 A sum in CUDA C
#
# Every reduction of the library, `sum`, `max`, `softmax`, has two halves. In
# the first each thread walks through its share of a row and keeps what it
# found in a register: a sum, a maximum. Then as many states as the row has
# threads have to become one. That is this exercise: the function `together`
# of the header `rows.cuh`, in CUDA C++.
#
# A block has `members` threads in x for each row, and rows in y. The number
# of members is a power of 2 up to 256, that of all threads a multiple of 32.
# So a row has a part of a warp, a whole one, or several whole ones.
#
# - Inside a warp, lanes read each other's registers. The library gives you
#   `shuffled_down(state, distance, width)`: the state of the lane `distance`
#   further on in your group of `width` lanes. And `shuffled_first(state,
#   width)`: that of the group's first lane. Every lane has to call them.
# - Between warps, states go through `shared`: `MOST_THREADS` (256) places
#   that all threads of the block have in common. A warp may store one state
#   there, not more. `__syncthreads()` waits for all threads of the block.
#
# `combine(a, b)` puts two states together; the order does not matter. What
# comes out is wanted by *every* member of the row. And the next call may come
# at once, with the same `shared`.

# %%
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
    """The header `rows.cuh`: your text, in the place of BODY.

    >>> "struct Rows" in rows()
    True
    """
    body = r"""
    return state;  // that of this thread alone
    """
    raise NotImplementedError
    return FRAME.replace("BODY", body)


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 05.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 05.1` gives a hint, and
# `.venv/bin/workbook lab 05.1` opens a sheet for experiments.
