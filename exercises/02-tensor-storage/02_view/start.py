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
# # 02.2 Strides of a view, or none
#
# A view shows the elements of a tensor in the same order and in other sizes,
# and moves none of them. Whether that is possible depends on the strides.
#
# Neighbouring dimensions can be walked as one if a step of the outer is as
# long as a whole pass over the inner:
# `stride[d] == size[d + 1] * stride[d + 1]`. Dimensions that hang together
# like this are a *run*. A run may be cut into new dimensions at will. Two runs
# can never be glued.
#
# Write the function below. Every `view` and `reshape` of the library that is
# not about a row-major tensor will ask it.

# %%
Shape = tuple[int, ...]


def view_strides(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """The strides under which the storage reads as `target`, None if none do.

    Both shapes have the same number of elements; the library has seen to that.

    >>> view_strides((4, 6), (6, 1), (4, 2, 3))
    (6, 3, 1)
    >>> view_strides((6, 4), (1, 6), (2, 3, 4))
    (3, 1, 6)
    >>> view_strides((6, 4), (1, 6), (24,)) is None
    True

    An old dimension of size 1 does not count, whatever its stride: no step is
    taken along it.

    >>> view_strides((2, 1, 3), (3, 77, 1), (6,))
    (1,)

    A new dimension of size 1 gets the stride that one more step would have:
    size times stride of the dimension to its right. If it is the last, it gets
    the last of the old strides.

    >>> view_strides((4, 3), (10, 2), (4, 1, 3, 1))
    (10, 6, 2, 2)

    Two special cases. A tensor without elements keeps its strides if it keeps
    its sizes, and else gets those of a new tensor, as in 02.1. A tensor
    without dimensions has one element; all new strides are 1.

    >>> view_strides((0, 3), (7, 7), (0, 3))
    (7, 7)
    >>> view_strides((0, 3), (7, 7), (2, 0))
    (1, 1)
    >>> view_strides((), (), (1, 1))
    (1, 1)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 02.2`. It may
# be half done: the answer tells what to look at next. `workbook hint 02.2`
# gives a nudge, `workbook lab 02.2` a sheet to play on.
