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
# # 04.6 The derivative of a derivative
#
# The backward step of softmax is an operator like any other. The row of
# `_softmax` in `derivatives.yaml` calls it with the gradient that arrives and
# the result of the forward pass:
#
#     _softmax_backward_data(grad_output, output, dim, input_dtype)
#
# Call its first two arguments g and s. Along the dimension `dim` it computes
#
#     s * (g - (s * g).sum())
#
# It has a row of its own, because a second derivative is computed through it.
# Two of its arguments have a gradient: g, and s, which depends on the argument
# of softmax. Here you write both formulas of that row.
#
# In the row, s is an argument like g and may hold any numbers. Do not rely on
# their adding up to 1.
#
# Each formula is a product of a vector with a Jacobian. The Jacobian of a line
# of a thousand numbers has a million entries, so it must not be built. Under
# `create_graph=True` your formulas are recorded in turn, for a third
# derivative.
#
# The parameter names of `of_grad_output` decide what the node saves, as in
# 04.1. Those of `of_output` are fixed: the library calls it as written.

# %%
import glasstorch as torch


def of_grad_output(
    grad: torch.Tensor,
    output: torch.Tensor,
    dim: int,
) -> torch.Tensor:
    """The gradient of g, from the gradient of the operator's result.

    >>> s = torch.tensor([0.5, 0.5, 0.0])
    >>> of_grad_output(torch.tensor([8.0, 0.0, 4.0]), s, 0)
    tensor([ 2., -2.,  0.])
    """
    raise NotImplementedError


def of_output(
    grad: torch.Tensor,
    grad_output: torch.Tensor,
    output: torch.Tensor,
    dim: int,
) -> torch.Tensor:
    """The gradient of s, from the gradient of the operator's result.

    >>> g, s = torch.tensor([1.0, 3.0]), torch.tensor([0.5, 0.5])
    >>> of_output(torch.tensor([2.0, 0.0]), g, s, 0)
    tensor([-3., -3.])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.6`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.6` gives a hint, and
# `.venv/bin/workbook lab 04.6` opens a sheet for experiments.
