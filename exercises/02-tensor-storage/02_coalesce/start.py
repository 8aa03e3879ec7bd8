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
# # 02.2 Several operands, one walk
#
# `z = x + y` has three operands: two are read, and one is written. One loop
# walks through all of them. It has a counter for each dimension, and each
# operand has its own stride there. With one dimension less, the loop needs one
# counter less, and its innermost part, which runs at full speed, is longer. So
# TensorIterator merges as many dimensions as it can before the loop begins.
#
# The section did this for one tensor and called the remaining dimensions its
# runs. Several operands move together: when the walk takes a step, each of
# them takes one, by its own stride.
#
# Write the function below. Each fused loop in C++ and each CUDA kernel that
# walks through tensors uses it. (In a plain loop on the CPU, NumPy does this.)

# %%
from collections.abc import Sequence

Shape = tuple[int, ...]
Walk = tuple[Shape, tuple[Shape, ...]]


def coalesce_dimensions(shape: Shape, strides: Sequence[Shape]) -> Walk:
    """The walk in the fewest dimensions: its sizes, each operand's strides.

    All operands have these sizes, and each has strides of its own. The walk is
    row-major, so the last dimension moves fastest. In the new dimensions it
    visits the same elements of all operands together, in the same order.

    >>> coalesce_dimensions((2, 3, 4), ((12, 4, 1), (12, 4, 1)))
    ((24,), ((1,), (1,)))
    >>> coalesce_dimensions((2, 3, 4), ((12, 4, 1), (24, 8, 1)))
    ((6, 4), ((4, 1), (8, 1)))

    An operand that is broadcast has strides of 0.

    >>> coalesce_dimensions((2, 3, 4), ((12, 4, 1), (0, 4, 1)))
    ((2, 12), ((12, 1), (0, 1)))

    Dimensions of size 1 are left out, whatever their strides. The order of the
    others stays as it is, because the caller has chosen it.

    >>> coalesce_dimensions((3, 1, 4), ((1, 77, 3),))
    ((3, 4), ((1, 3),))
    >>> coalesce_dimensions((1, 1), ((1, 1), (7, 7)))
    ((), ((), ()))

    A size of 0 is treated like any other, so that a pass over that dimension
    has the length 0.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 02.2`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 02.2` gives a hint, and
# `.venv/bin/workbook lab 02.2` opens a sheet for experiments.
