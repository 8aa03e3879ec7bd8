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
# engine keeps the first in a list and adds the others to it. Adding in place
# needs no new memory, but if another part of the program still holds the first
# gradient, or another tensor over its memory, its numbers would change there.
#
# Write the function that the engine calls to find out. It counts the
# references to the gradient, and to its storage, besides those of the list. If
# there are none, the engine adds in place.
#
# `sys.getrefcount(x)` returns Python's count. How many of these references
# belong to the list, to your function's own names and to the call of
# `getrefcount` itself depends on the interpreter: Python 3.14 counts fewer
# than 3.11. So measure that number once, with an object that only a list
# holds, and count only the references above it.

# %%
import sys
from typing import Any


def other_references(buffer: list[Any], index: int) -> int:
    """Count the references to the gradient and its memory besides the list's.

    The gradient is `buffer[index]`. A second name for it counts as one, and so
    does another tensor over its storage, or a name for that storage.

    >>> import glasstorch as torch
    >>> buffer = [torch.ones(3)]
    >>> other_references(buffer, 0)
    0
    >>> held = buffer[0]
    >>> other_references(buffer, 0)
    1

    A tensor creates the object for its storage when it is first needed. Until
    then `grad._storage` is None, and no other object uses the memory. Calling
    `untyped_storage()` would create the object.

    If the memory was made visible as a NumPy array, count one more, even if
    that array is gone, because the storage does not count the array's holders.
    Such a storage has `resizable()` False.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.4`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.4` gives a hint, and
# `.venv/bin/workbook lab 01.4` opens a sheet for experiments.
