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
# # 01.6 One value each
#
# A sparse tensor is two lists: places, and the value at each. The sum of two
# of them puts one list behind the other, so a place may stand in it twice,
# and then its value is the sum of both. The order says nothing either. That
# is quick to write and fine to add again; but `values()`, a product with
# another sparse tensor and printing want every place once, in row-major
# order. PyTorch calls the way there `coalesce()`.
#
# Write it, on the arrays. All sparse tensors of the library will use yours.

# %%
import numpy as np

Array = np.ndarray
Shape = tuple[int, ...]


def added_up(indices: Array, values: Array, shape: Shape) -> tuple:
    """Each place once, in row-major order, with the sum of its values.

    `indices` has a column for each value: the place, an index for each
    dimension of `shape`. `values` has the values one after another; each may
    be an array of its own, such as a row of an embedding. Values of a place
    are added in the order in which they stand, and the sums have the dtype of
    the values. The arrays that are given stay as they are.

    >>> places = np.array([[1, 0, 1], [2, 0, 2]])
    >>> added_up(places, np.array([1.0, 5.0, 10.0]), (2, 3))
    (array([[0, 1],
           [0, 2]]), array([ 5., 11.]))
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.6`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.6` gives a hint, and
# `.venv/bin/workbook lab 01.6` opens a sheet for experiments.
