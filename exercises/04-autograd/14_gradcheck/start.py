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
# `gradcheck` finds one Jacobian twice and compares. Here you write both ways.
#
# **By differences.** `central` is called with `moved`, a piece of the memory
# of the inputs: one element, or in fast mode a whole tensor. Autograd does not
# follow it, so you may write into it. Move it one step behind where it is,
# call `func(*inputs)`, which returns a tuple of tensors; move it one step
# ahead, call again. Return for each output how much it has changed, divided by
# `2 * eps`, as a vector without a history. `step` is a number or a tensor of
# the shape of `moved`, and is `eps` times the direction that is asked for.
#
# Three things can go wrong besides the formula. `func` may return a view of
# its input. A number plus a step, minus the step, need not be the number. And
# `func` may raise an error; the inputs are the caller's all the same.
#
# **By autograd.** `rows` returns, for each of the tensors in `wanted`, a list:
# the gradient of each element of `output`, in row-major order. Each comes
# from a backward pass that starts with a gradient of the shape of `output`
# that is 1 at this element and 0 elsewhere. Where a pass does not reach a
# tensor, its gradient is None. The graph is needed again afterwards.
#
# What is returned must not change later: a backward pass may hand on the very
# tensor that it was started with.

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
    """For each output its change from one step behind to one step ahead.

    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    >>> central(lambda x: (x * x,), (x,), x, 0.5, 0.5)
    [tensor([2., 4.], dtype=torch.float64)]
    """
    raise NotImplementedError


def rows(
    wanted: Sequence[torch.Tensor],
    output: torch.Tensor,
) -> list[list[torch.Tensor | None]]:
    """For each wanted tensor the gradients of the elements of the output.

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
