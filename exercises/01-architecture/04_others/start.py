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
# # 01.4 Who else holds it
#
# In a backward pass, several gradients may arrive at the same place. The
# engine keeps the first in a list and adds the others to it. If it adds in
# place, this needs no new memory. But if somebody else holds the first
# gradient, or another tensor over its memory, they would see it change.
#
# Write the function that the engine calls to find out: how many references are
# there to the gradient, and to its storage, besides the list's? If there are
# 0, the engine adds in place.
#
# `sys.getrefcount(x)` returns Python's count. How many of these references
# belong to the list, to your function's own names and to the call of
# `getrefcount` itself depends on the interpreter: Python 3.14 counts fewer
# than 3.11. So measure that number once, with an object that you know nobody
# else holds, and count only what is above it.

# %%
import sys
from typing import Any


def other_references(buffer: list[Any], index: int) -> int:
    """How many references to the gradient and its memory are not the list's.

    The gradient is `buffer[index]`. A second name for it counts as one, and so
    does another tensor over its storage, or a name for that storage.

    >>> import glasstorch as torch
    >>> buffer = [torch.ones(3)]
    >>> other_references(buffer, 0)
    0
    >>> held = buffer[0]
    >>> other_references(buffer, 0)
    1

    A tensor creates the object for its storage when the object is first asked
    for. Until then `grad._storage` is None, and nobody else has the memory.
    `untyped_storage()` would create the object.

    If the memory was handed out as a NumPy array, count one more, even if that
    array is gone, because the storage does not count who holds the array. Such
    a storage has `resizable()` False.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.4`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.4` gives a hint, and
# `.venv/bin/workbook lab 01.4` opens a sheet for experiments.
