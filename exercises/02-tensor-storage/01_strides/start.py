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
# # 02.1 Row-major strides
#
# A storage is one row of cells. A new tensor of sizes `(2, 3, 4)` takes 24 of
# them, and each element needs a cell of its own. PyTorch places the elements
# in row-major order, in which the last index moves fastest, as on a page of
# text. It stores this order as one number for each dimension, the *strides*.
# The stride of a dimension is the number of cells to go forward when its index
# grows by one.
#
# Write the function below. The library calls it whenever it needs the strides
# of a row-major tensor.


# %%
def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new tensor of this shape, in row-major order.

    Strides count elements, not bytes. A dimension of size 0 counts as if its
    size were 1, so no stride of a new tensor is 0.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    >>> contiguous_strides((7,))
    (1,)
    >>> contiguous_strides((2, 0, 3))
    (3, 3, 1)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 02.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 02.1` gives a hint, and
# `.venv/bin/workbook lab 02.1` opens a sheet for experiments.
