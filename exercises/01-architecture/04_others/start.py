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
# In a backward pass, several gradients may arrive at one place. The engine
# keeps the first in a list and adds the others to it. In place, that costs no
# memory; but if somebody else holds the first gradient, or another tensor over
# its memory, that somebody would see it change.
#
# Write the function that the engine asks: how many references are there to
# the gradient, and to its storage, that are not the list's? With 0 the engine
# writes.
#
# `sys.getrefcount(x)` is what Python counts. How many of these references are
# those of the list, of your function's own names and of the call of
# `getrefcount` itself depends on the interpreter: Python 3.14 counts fewer
# than 3.11. So measure that number once, with an object of which you know that
# nobody else holds it, and count what is above it.

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

    A tensor makes the object for its storage when somebody asks for it. Until
    then `grad._storage` is None, and nobody else has the memory; asking with
    `untyped_storage()` would make it.

    Memory that was handed out as a NumPy array is counted once more, also when
    the array is gone: its holders are not counted by the storage. Such a
    storage has `resizable()` False.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 01.4`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 01.4` gives a hint, and
# `.venv/bin/workbook lab 01.4` opens a sheet for experiments.
