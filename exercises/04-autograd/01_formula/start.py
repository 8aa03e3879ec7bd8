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
# # 04.1 The derivative of tanh
#
# In `derivatives.yaml` each operator has a row: a formula for each argument
# with a gradient. From the row two things are generated, the node that runs
# the formula and the autograd kernel that saves what it needs. Here you write
# the formula of `tanh`, as a function, and both are generated from yours.
#
# What the node saves follows from the *names* of the parameters. `grad` is the
# gradient that arrives. `result` is what `tanh` gave, `self` what it was
# given; whichever you name is saved in each forward pass, and stays in memory
# until the backward pass comes by. The function below has the result and not
# the argument, and that is enough.
#
# The formula runs as part of a backward pass. Under `create_graph=True` what
# it does is recorded, so that there is a second derivative, and a third. Only
# operators are recorded.

# %%
import glasstorch as torch


def tanh_self(grad: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """The gradient of the argument of tanh, from the gradient of its result.

    All tensors have the same shape and dtype.

    >>> x = torch.tensor([0.0, 0.5])
    >>> tanh_self(torch.tensor([1.0, 10.0]), torch.tanh(x))
    tensor([1.0000, 7.8645])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 04.1`. It
# may be half done: the answer tells what to look at next.
# `workbook hint 04.1` gives a nudge, `workbook lab 04.1` a sheet to play on.
