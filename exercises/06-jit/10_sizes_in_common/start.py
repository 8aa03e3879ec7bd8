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
# # 06.10 Sizes in common
#
# Two loops can run as one nest only if they visit their elements in the same
# dimensions. A loop over 24 elements can be written as two loops, over 6 and
# over 4, and then it fits a loop over 6 x 4. A loop over 6 x 4 and one over
# 3 x 8 fit as well: both can be written as 3 x 2 x 4. But 6 x 4 and 4 x 6
# have nothing in common, since no loop inside one of them begins where a loop
# of the other one does.
#
# Write the function that finds these dimensions. The library's scheduler asks
# it before it lets a loop join a nest, so every fusion in a compiled function
# is then decided by your answer.

# %%
Shape = tuple[int, ...]


def common(one: Shape, other: Shape) -> Shape | None:
    """The coarsest sizes into which both loops can be split, or None.

    Both loops visit their elements in row-major order: the last dimension is
    the innermost. A dimension of size n can be split into an outer and an
    inner one whose product is n, and dimensions keep their order.

    Coarsest means as few dimensions as possible. Dimensions of size 1 are left
    out, so that a loop over a single element has no dimensions. Loops over
    different numbers of elements have nothing in common. No size is 0.

    >>> common((24,), (6, 4))
    (6, 4)
    >>> common((6, 4), (3, 8))
    (3, 2, 4)
    >>> common((6, 4), (4, 6)) is None
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.10`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.10` gives a hint, and
# `.venv/bin/workbook lab 06.10` opens a sheet for experiments.
