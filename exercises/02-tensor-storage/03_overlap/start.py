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
# # 02.3 Do two views overlap?
#
# `x[1:].add_(x[:-1])` reads cells that it has just written, so the result
# depends on the order of the loop. Before the library writes to a tensor, it
# therefore checks which cells that tensor shares with the tensors it reads:
#
# | `Overlap.` | what it means | what is done |
# |---|---|---|
# | `FULL` | the same cells in the same order | the library writes |
# | `PARTIAL` | cells in common, in other places | it refuses |
# | `NO` | no cell in common | it writes |
# | `TOO_HARD` | a few comparisons cannot tell | it writes |
#
# The check runs in every in-place operation that reads a second tensor of the
# same storage. So it must need only a few comparisons, whatever the sizes, and
# must never look at single cells. PyTorch therefore compares only tensors that
# fill a block of storage without gaps, each cell once, in any order of the
# dimensions. For those it is enough to know where both blocks begin and end.
#
# Write both functions below. An `Extent` is `(shape, strides, offset)`, all
# counted in elements; both extents lie on the same storage.

# %%
from glasstorch.core.geometry import Extent, Overlap

Shape = tuple[int, ...]


def is_non_overlapping_and_dense(shape: Shape, strides: Shape) -> bool:
    """Whether the elements fill a block of storage without gaps.

    Each cell is used once. The order of dimensions in memory does not matter.

    >>> is_non_overlapping_and_dense((2, 3), (3, 1))
    True
    >>> is_non_overlapping_and_dense((2, 3), (1, 2))
    True
    >>> is_non_overlapping_and_dense((2, 3), (6, 2))
    False
    >>> is_non_overlapping_and_dense((2, 3), (0, 1))
    False

    A dimension of size 1 may have any stride. A tensor without elements has no
    gaps.

    >>> is_non_overlapping_and_dense((2, 1, 3), (3, 77, 1))
    True
    >>> is_non_overlapping_and_dense((2, 0), (9, 9))
    True
    """
    raise NotImplementedError


def overlap_status(a: Extent, b: Extent) -> Overlap:
    """Which cells two tensors on one storage have in common.

    >>> rows = Extent((2, 3), (3, 1), 0)
    >>> overlap_status(rows, Extent((2, 3), (3, 1), 0)).name
    'FULL'
    >>> overlap_status(rows, Extent((2, 3), (3, 1), 3)).name
    'PARTIAL'
    >>> overlap_status(rows, Extent((2, 3), (3, 1), 6)).name
    'NO'

    The same block counts as FULL if the strides are the same too, and as
    PARTIAL otherwise. The sizes are not compared.

    >>> overlap_status(rows, Extent((3, 2), (1, 3), 0)).name
    'PARTIAL'

    If one of the two has no elements, they have no cell in common. Otherwise
    both have to fill a block; if one does not, the answer is TOO_HARD, even if
    the two extents are equal or lie far apart.

    >>> overlap_status(Extent((3,), (2,), 0), Extent((3,), (2,), 0)).name
    'TOO_HARD'
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 02.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 02.3` gives a hint, and
# `.venv/bin/workbook lab 02.3` opens a sheet for experiments.
