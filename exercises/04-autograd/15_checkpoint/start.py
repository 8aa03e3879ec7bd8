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
# call has a `Frame`, which can run the function again. You write the three
# hooks. They become methods of `Frame`, whose `self` is called `frame` here.
#
# **`keep`** is called in the first run, whenever a node saves a tensor. It
# makes a `Place()` and returns it, and the node keeps this place instead of
# the tensor. Note the place in the list `frame.places`, and
# `frame.facts(tensor)` in the list `frame.expected`, which is compared later.
# Each place keeps the frame alive, so the frame must not keep its places
# alive: put a `weakref.ref` of the place into the list. Then a place goes
# together with its node.
#
# **`give_out`** is called in the backward pass, when a node needs its tensor.
# `number` identifies the backward pass. `frame.recompute(number)` runs the
# function again, unless that was done for this pass before, and during this
# run `fill` stores the tensors. A tensor is given out once, and the frame then
# drops it. If it is needed again in the same pass, `raise given_already()`.
#
# **`fill`** is called in the second run, whenever a node saves a tensor, and
# returns what this node keeps: the tensor, without its history. The n-th
# tensor that is saved belongs to the n-th place. The run of this pass,
# `frame.runs[number]`, has two members that you need. `run.saved` counts the
# tensors that were saved. `run.tensors` is a dictionary with weak keys: it
# drops a tensor as soon as its key is gone. So store the tensor under a new
# `Key()`, and let the place hold the key: `place.keys[number] = key`. If the
# place is gone, store nothing.
#
# `fill` has to end some runs. When all places are filled and
# `frame.early_stop` is true, `raise StopRecomputation`. When there is no place
# left, `raise too_many()`, but only if `frame.is_forward_done`. If that is
# false, a backward pass runs *inside* the function, which has not saved all
# its tensors yet. Then set `frame.may_differ = True`, and return the tensor.

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
    """In the first run: the place that a node keeps instead of a tensor.

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
    """In a backward pass: the tensor of a place, once only."""
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.15`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.15` gives a hint, and
# `.venv/bin/workbook lab 04.15` opens a sheet for experiments.
