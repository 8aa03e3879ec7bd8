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
# Two sides of one agreement. On the one side stands the user's hook. Yours
# clips: it scales a gradient that is too long down to a given norm, and leaves
# the others alone. On the other side stands the engine. When the gradients of
# a node's results are complete, it calls the hooks of these results, puts what
# they return in place, and then fills the `.grad` of the results that retain
# it.
#
# Write both. In the library, every hook of every tensor is then called by your
# `on_arrival`.

# %%
from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch.autograd.hooks import NodeHooks, _check_replaced
from glasstorch.core.layout import contiguous_format

# What there is to use:
#
# hooks.of_tensors    a dict, in the order of registration: for the id of a
#                     handle a pair, the number of the result that the hook is
#                     on, and the hook
# hooks.kept          a dict, for the results that retain their gradient: the
#                     number of the result, and a weak reference to autograd's
#                     record of it, whose `grad` is to be set; calling the
#                     reference gives the record, or None if it is gone
# _check_replaced(old, new, hook)    raises the error that is due if a hook may
#                     not put `new` in the place of `old`
# grad.clone(memory_format=contiguous_format)    a copy, row-major


def clipping(limit: float) -> Callable[[Any], Any]:
    """A hook for `register_hook` that scales a gradient to a norm of `limit`.

    It keeps the direction. A gradient whose norm is `limit` or less stays as
    it is, to the last bit. So does None, of a result that no gradient reached.
    The tensor that the hook is given may be in use elsewhere.

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
    the one before has left it, or with None. What a hook returns, if it is not
    None, is checked and takes the gradient's place. A hook may remove itself,
    or another one, while it runs: then those that stood behind it still run,
    in this pass also one that was removed by another.

    Then the retained gradients: where there is no `grad` yet, it becomes a
    row-major copy, which the user may write into; otherwise a new tensor, the
    sum. Nothing is retained of a result that no gradient has reached.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.10`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.10` gives a hint, and
# `.venv/bin/workbook lab 04.10` opens a sheet for experiments.
