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
# # 04.14 gradcheck itself
#
# `gradcheck` computes one Jacobian in two ways and compares the results. Here
# you write both ways.
#
# **By differences.** `central` is called with `moved`, a piece of the memory
# of the inputs: one element, or in fast mode a whole tensor. Autograd does not
# track it, so you may write into it. Set it to one step below its values, call
# `func(*inputs)`, which returns a tuple of tensors, then set it to one step
# above, and call again. Return for each output its change from the first call
# to the second, divided by `2 * eps`, as a vector without a history. `step` is
# a number or a tensor of the shape of `moved`; it is `eps` times a direction.
#
# Three things can go wrong besides the formula. `func` may return a view of
# its input. A number plus a step, minus the step, need not be the number. And
# `func` may raise an error, after which the caller's inputs must still be
# unchanged.
#
# **By autograd.** `rows` returns a list for each tensor in `wanted`, with the
# gradient of each element of `output`, in row-major order. Each gradient comes
# from a backward pass that starts with a gradient of the shape of `output`,
# which is 1 at this element and 0 elsewhere. Where a pass does not reach a
# tensor, its gradient is None. The graph is needed again afterwards.
#
# The gradients that you return must not change later, although a backward pass
# may return the tensor with which it was started.

# %%
from collections.abc import Callable, Sequence
from typing import Any

import glasstorch as torch


def central(
    func: Callable[..., tuple[torch.Tensor, ...]],
    inputs: Sequence[Any],
    moved: torch.Tensor,
    step: Any,
    eps: float,
) -> list[torch.Tensor]:
    """For each output its change from one step below to one step above.

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> central(lambda x: (x * x,), (x,), x, 0.5, 0.5)
    [tensor([2., 4.], dtype=torch.float64)]
    """
    raise NotImplementedError


def rows(
    wanted: Sequence[torch.Tensor],
    output: torch.Tensor,
) -> list[list[torch.Tensor | None]]:
    """For each wanted tensor the gradients of all elements of the output.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> rows([x], x * x)
    [[tensor([2., 0.]), tensor([0., 4.])]]
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.14`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.14` gives a hint, and
# `.venv/bin/workbook lab 04.14` opens a sheet for experiments.
