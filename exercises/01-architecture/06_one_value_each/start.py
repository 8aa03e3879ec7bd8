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
# A sparse tensor consists of two lists: the indices, and the value at each.
# The sum of two sparse tensors concatenates their lists, so the same index may
# occur twice, and its value is then the sum of both. The order of the list has
# no meaning either. Such a list is quick to create, and it can be added to
# others as it is. But `values()`, a product with another sparse tensor, and
# printing need every index once, in row-major order. In PyTorch, `coalesce()`
# brings a tensor into this form.
#
# Write this operation for the two arrays. All sparse tensors of the library
# will use your function.

# %%
import numpy as np

Array = np.ndarray
Shape = tuple[int, ...]


def added_up(indices: Array, values: Array, shape: Shape) -> tuple:
    """Each index once, in row-major order, with the sum of its values.

    `indices` has a column for each value, which is its place: one number for
    each dimension of `shape`. `values` has the values one after another; each
    may itself be an array, such as a row of an embedding. The values at one
    place are added in the order in which they are listed, and the sums have
    the dtype of the values. The arguments are not changed.

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
