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
# # 04.10 A hook that clips
#
# A hook and the engine have to agree on what each may do. The hook that you
# write clips: it scales a gradient that is too long down to a given norm, and
# leaves the others alone. The engine's part comes when the gradients of a
# node's results are complete. It calls the hooks of these results, replaces
# the gradients by what the hooks return, and then fills the `.grad` of the
# results that retain it.
#
# Write both. In the library, your `on_arrival` then calls every hook of every
# tensor.

# %%
from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch.autograd.hooks import NodeHooks, _check_replaced
from glasstorch.core.layout import contiguous_format

# What you can use:
#
# hooks.of_tensors    a dict in the order of registration; its keys are the ids
#                     of handles, its values pairs of the number of the result
#                     that the hook is on, and the hook
# hooks.kept          a dict for the results that retain their gradient; its
#                     keys are the numbers of the results, its values weak
#                     references to autograd's records of them, whose `grad`
#                     you set; calling a reference returns the record, or None
#                     if it is gone
# _check_replaced(old, new, hook)    raises the right error if a hook may not
#                     replace `old` by `new`
# grad.clone(memory_format=contiguous_format)    a copy, row-major


def clipping(limit: float) -> Callable[[Any], Any]:
    """A hook for `register_hook` that scales a gradient to a norm of `limit`.

    It keeps the direction. A gradient whose norm is `limit` or less stays as
    it is, to the last bit. So does None, which stands for a gradient that has
    not arrived. The tensor that the hook gets may be in use elsewhere.

    >>> w = torch.tensor([3.0, 4.0], requires_grad=True)
    >>> handle = w.register_hook(clipping(1.0))
    >>> (w * w).sum().backward()
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    raise NotImplementedError


def on_arrival(
    hooks: NodeHooks,
    grads: list[torch.Tensor | None],
) -> list[torch.Tensor | None]:
    """The gradients of a node's results, after the hooks of the results.

    `grads` has one entry for each result, None where no gradient has arrived.
    Hooks are called in the order of registration, each with the gradient as
    the hook before has left it, or with None. What a hook returns, if it is
    not None, is checked and replaces the gradient. A hook may remove itself or
    another one while it runs. In this pass the hooks after it still run, even
    one that it has removed.

    The retained gradients come afterwards. Where `grad` is None, it becomes a
    row-major copy, into which the user may write; otherwise it becomes the
    sum, a new tensor. Where no gradient has arrived, nothing is retained.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.10`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.10` gives a hint, and
# `.venv/bin/workbook lab 04.10` opens a sheet for experiments.
