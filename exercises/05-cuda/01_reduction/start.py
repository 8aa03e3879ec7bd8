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
# Every reduction of the library, such as `sum`, `max` or `softmax`, has two
# halves. In the first each thread goes through its share of a row and keeps a
# state in a register, for instance a sum or a maximum. In the second the
# states of all threads of the row have to be combined into one. You write this
# second half: the function `together` of the header `rows.cuh`, in CUDA C++.
#
# A block has `members` threads in x for each row, and its rows in y. The
# number of members is a power of 2 up to 256, and the number of all threads is
# a multiple of 32. So a row has a part of a warp, one warp, or several warps.
#
# - Inside a warp, lanes can read each other's registers. The library has two
#   functions for that. `shuffled_down(state, distance, width)` returns the
#   state of the lane `distance` further on in your group of `width` lanes, and
#   `shuffled_first(state, width)` that of the group's first lane. Every lane
#   has to call them.
# - Between warps, states go through `shared`, which has `MOST_THREADS` (256)
#   places for all threads of the block. Each warp may store only one state
#   there. `__syncthreads()` waits for all threads of the block.
#
# `combine(a, b)` combines two states; the order does not matter. *Every*
# member of the row needs the result. The kernel may call `together` again at
# once, with the same `shared`.

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
    """The header `rows.cuh`, with your text in place of BODY.

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
