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
# # 04.11 A Function at zero
#
# `xlogy(x, y)` is `x * log(y)`, and 0 wherever `x` is 0, even where the
# logarithm is infinite. Entropies and likelihoods are sums of such terms, in
# which an event that never happens must add nothing.
#
# Write it as a Function. `forward` computes the value. It has no `ctx`,
# because `setup_context` decides what is saved. `backward` returns a gradient
# for each argument, or None if that gradient is not wanted.
#
# The slope along `y` is `x / y`. The slope along `x` is `log(y)`, with one
# exception: where `x` is 0 and `y` is 0 or below, it is 0, because the value
# is defined to be 0 there. Where `x` is 0 and `y` is above 0, it is `log(y)`.
#
# The arguments are broadcast. `backward` may return gradients of the shape of
# the result, because the engine sums them to the shapes of the arguments.
# Under `create_graph=True` it is recorded, and then the second derivative has
# to be right as well. Forward mode is not needed.
#
# The library calls the function at the end of this file, which becomes the
# autograd kernel of the operator. So when `forward` calls the operator, the
# call must not come back here. In a block
# `with torch._C._AutoDispatchBelowAutograd():` a call skips the autograd
# kernels and goes to the kernel that computes.

# %%
from typing import Any

import glasstorch as torch


class Xlogy(torch.autograd.Function):
    """`x * log(y)`, 0 where `x` is 0."""

    @staticmethod
    def forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The value."""
        raise NotImplementedError

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs. `inputs` are the arguments of forward."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        """The gradients of both arguments, None where none is wanted."""
        raise NotImplementedError


def xlogy(keys: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The autograd kernel, which is complete.

    >>> x = torch.tensor([0.0, 0.0, 2.0], requires_grad=True)
    >>> result = xlogy(x.key_set, x, torch.tensor([0.0, 1.0, 1.0]))
    >>> result.tolist(), torch.autograd.grad(result.sum(), x)[0].tolist()
    ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    """
    return Xlogy.apply(x, y)


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.11`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.11` gives a hint, and
# `.venv/bin/workbook lab 04.11` opens a sheet for experiments.
