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
# # 06.12 The first is copied
#
# During training, the weights of a model can be averaged: after some steps, an
# average takes in the weights as they are then. The first time there is no
# average yet, so they are copied. `torch.optim.swa_utils.AveragedModel` does
# this.
#
# `_with_breaks` below computes it correctly, but `torch.compile` makes no
# graph of it: it breaks off in a loop, so that the whole function runs as it
# is. Two places in it need the elements of a tensor. Rewrite them.
#
# What the function does must stay the same, also outside of the compiler: its
# results, what it writes to, and the global `taken`.

# %%
from collections.abc import Sequence

import glasstorch as torch
from glasstorch import Tensor

taken = 0  # how many numbers were taken into averages


def _with_breaks(averages, current, n_averaged):
    """Take weights into averages; two places break the graph."""
    global taken
    for average, new in zip(averages, current, strict=True):
        if n_averaged == 0:
            average.copy_(new)
        else:
            share = 1 / (n_averaged.item() + 1)
            average.add_((new - average) * share)
        taken += average.numel()


def take_in(
    averages: Sequence[Tensor],
    current: Sequence[Tensor],
    n_averaged: Tensor,
) -> None:
    """Take weights into averages, in place: `_with_breaks` as one graph.

    `averages` are the averages of `n_averaged` models, which is a tensor
    without dimensions, and `current` the weights of one more. Each average
    becomes the mean of one model more. If `n_averaged` is 0, it becomes a copy
    of the weights instead, whatever it was before, an infinity or a NaN
    included. An average keeps its dtype, and `n_averaged` is not changed.

    `taken` grows by the number of elements of all averages.

    >>> average, count = torch.zeros(2), torch.tensor(0)
    >>> take_in([average], [torch.tensor([3.0, 5.0])], count)
    >>> average
    tensor([3., 5.])
    >>> take_in([average], [torch.tensor([5.0, 5.0])], count + 1)
    >>> average
    tensor([4., 5.])

    With `torch.compile(take_in, fullgraph=True)` it is one graph, and that
    graph is right for every `n_averaged`.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.12`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.12` gives a hint, and
# `.venv/bin/workbook lab 06.12` opens a sheet for experiments.
