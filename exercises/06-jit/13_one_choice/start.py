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
# # 06.13 One choice, one graph
#
# A network that chooses the most probable of several things cannot be trained
# through that choice, since its gradient is zero. A trick helps: the choice is
# one-hot, and its gradient is taken from the probabilities. With `hard=True`,
# `torch.nn.functional.gumbel_softmax` does this.
#
# `_with_breaks` below computes it correctly, but it leaves the graph: it asks
# for elements in a branch, and computes the choice with NumPy. Rewrite it so
# that it becomes one graph.
#
# What the function does must stay the same, also outside of the compiler: its
# results, their dtype and gradients, and the global `choices`.

# %%
import numpy as np

import glasstorch as torch
from glasstorch import Tensor

choices = 0  # how many choices were made


def _with_breaks(soft, dim):
    """A choice by probabilities, which leaves the graph."""
    global choices
    choices += soft.numel() // soft.shape[dim]
    if (soft.amax(dim) == 1).all():
        return soft  # it is one-hot already
    rows = []
    values = np.moveaxis(soft.detach().numpy(), dim, -1)
    for row in values.reshape(-1, values.shape[-1]):
        one_hot = np.zeros_like(row)
        one_hot[row.argmax()] = 1
        rows.append(one_hot)
    chosen = np.moveaxis(np.stack(rows).reshape(values.shape), -1, dim)
    return torch.from_numpy(chosen) - soft.detach() + soft


def harden(soft: Tensor, dim: int) -> Tensor:
    """A choice by probabilities: `_with_breaks` as one graph.

    `soft` holds probabilities, which add up to 1 along `dim`. The result is 1
    at the first place along `dim` where they are largest, and 0 elsewhere. Its
    gradient with respect to `soft` is that of `soft` itself. It has the dtype
    of `soft`, and `soft` is not changed.

    `choices` grows by the number of choices.

    >>> soft = torch.tensor([[0.2, 0.5, 0.3], [0.4, 0.3, 0.3]])
    >>> harden(soft.requires_grad_(), 1)
    tensor([[0., 1., 0.],
            [1., 0., 0.]], grad_fn=<AddBackward0>)

    With `torch.compile(harden, fullgraph=True)` it is one graph.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.13`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.13` gives a hint, and
# `.venv/bin/workbook lab 06.13` opens a sheet for experiments.
