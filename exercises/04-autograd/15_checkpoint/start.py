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
# # 04.15 A checkpoint
#
# `checkpoint(function, x)` runs `function` under hooks for saved tensors. Each
# call has a `Frame`, which knows how to run the function again. You write the
# three hooks. They are methods of `Frame`, so `frame` is what `self` would be.
#
# **`keep`** runs in the first run, whenever a node saves a tensor. It makes a
# `Place()` and returns it: this is what the node keeps. The frame notes the
# place in the list `frame.places`, and `frame.facts(tensor)` in the list
# `frame.expected`, to be compared later. The frame lives as long as any place
# does, so it may not own its places: it notes a `weakref.ref`. A place whose
# node is gone must not be kept alive.
#
# **`give_out`** runs in the backward pass, when a node wants its tensor.
# `number` tells one backward pass from another. `frame.recompute(number)` runs
# the function again, unless that has been done for this pass; meanwhile `fill`
# puts the tensors where you now find them. A tensor is given out once, and the
# frame then forgets it. If it is asked for again in the same pass,
# `raise given_already()`.
#
# **`fill`** runs in the second run, whenever a node saves a tensor, and
# returns what this node keeps: the tensor, without its history. The n-th
# tensor that is saved belongs to the n-th place. The run of this pass,
# `frame.runs[number]`, has two things for you: `run.saved`, how many tensors
# were saved, and `run.tensors`. That is a dictionary that forgets a tensor as
# soon as nobody holds its key. So put the tensor there under a new `Key()`,
# and let the place hold the key: `place.keys[number] = key`. A place that is
# gone takes none.
#
# `fill` has to end some runs. When all places are filled and
# `frame.early_stop` is true, `raise StopRecomputation`. When there is no place
# left, `raise too_many()`, but only if `frame.is_forward_done`. If it is not,
# a backward pass runs *inside* of the function, which has not saved everything
# yet. Then set `frame.may_differ = True`, and return the tensor.

# %%
import weakref
from typing import Any

import glasstorch as torch
from glasstorch.utils.checkpoint.frame import (
    Frame,
    Key,
    Place,
    StopRecomputation,
    given_already,
    too_many,
)


def keep(frame: Frame, tensor: torch.Tensor) -> Place:
    """In the first run: what a node keeps instead of a tensor.

    >>> frame = Frame(lambda: None, True, lambda tensor: tensor.shape)
    >>> place = keep(frame, torch.ones(2))
    >>> frame.places[0]() is place, frame.expected
    (True, [torch.Size([2])])
    """
    raise NotImplementedError


def fill(frame: Frame, tensor: torch.Tensor, number: Any) -> torch.Tensor:
    """In the second run: put a tensor into its place, and return it."""
    raise NotImplementedError


def give_out(frame: Frame, place: Place, number: Any) -> torch.Tensor:
    """In a backward pass: the tensor that belongs to a place, once."""
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.15`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.15` gives a hint, and
# `.venv/bin/workbook lab 04.15` opens a sheet for experiments.
