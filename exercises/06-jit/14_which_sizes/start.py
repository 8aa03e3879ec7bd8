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
# # 06.14 Which sizes become symbols
#
# When a function is captured, each size of its tensors is either a number of
# the graph or a symbol. A number makes better code, but another graph is
# needed when it changes. A symbol serves many sizes, and equal sizes may share
# one. `torch.compile` decides this from what it has seen at earlier captures,
# from its option `dynamic`, and from marks on the tensor.
#
# Write this decision. The library calls it for each tensor at each capture.

# %%
from collections.abc import Sequence

from glasstorch.compiler.shapes import Marks


def kinds_of(
    sizes: Sequence[int],
    seen: list[int | None],
    marks: Marks,
    dynamic: bool | None,
) -> list[str]:
    """How each size of a tensor is treated at a capture.

    "STATIC" is a number of the graph, "DYNAMIC" a symbol of its own, and
    "DUCK" a symbol that equal sizes share.

    `seen` has an entry for each size: what it was at all captures before, or
    None if it has not always been the same. At the first capture it equals
    `sizes`. The function notes there what has changed by this capture.

    `marks.dynamic`, `marks.weak` and `marks.static` hold the dimensions that
    were named by `mark_dynamic`, `maybe_mark_dynamic` and `mark_static`.

    - A size that is marked as dynamic is DYNAMIC, whatever it is.
    - All other sizes of 0 and 1 are STATIC.
    - Then a size with a weak mark is DYNAMIC, and one that is marked as static
      is STATIC.
    - For the rest `dynamic` decides: with True they are DUCK, with False they
      are STATIC. With None, a size is DYNAMIC if it has changed at this
      capture or before, and STATIC otherwise.

    >>> seen = [32, 10]
    >>> kinds_of([32, 10], seen, Marks(), None)
    ['STATIC', 'STATIC']
    >>> kinds_of([20, 10], seen, Marks(), None), seen
    (['DYNAMIC', 'STATIC'], [None, 10])
    >>> kinds_of([32, 1], seen, Marks(), True)
    ['DUCK', 'STATIC']
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.14`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.14` gives a hint, and
# `.venv/bin/workbook lab 06.14` opens a sheet for experiments.
