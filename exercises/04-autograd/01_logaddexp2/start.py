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
# # 04.1 The derivative of logaddexp2
#
# In `derivatives.yaml` each operator has a row: a formula for each argument
# with a gradient. From the row two things are generated, the node that runs
# the formulas and the autograd kernel that saves what they need. Here you
# write the row of an operator with two arguments, as two functions, and both
# are generated from yours.
#
# `logaddexp2(self, other)` is `log2(2**self + 2**other)`: a maximum with a
# round corner. It is also how two probabilities are added of which only the
# logarithms are known, and these may be as low as -1,000 or lower.
#
# What the node saves follows from the *names* of the parameters. `grad` is the
# gradient that arrives, `self` and `other` are the arguments, `result` is what
# came of them; whichever you name is saved in each forward pass. The functions
# below have the arguments. A column and a row of a thousand numbers have a
# result of a million, so do not ask for that as well.
#
# The arguments are broadcast: they may have different shapes. `grad` has the
# shape of the result, and so may what you return. The engine sums it over the
# dimensions along which an argument was repeated.
#
# The formulas run as part of a backward pass. Under `create_graph=True` what
# they do is recorded, so that there is a second derivative, and a third. Only
# operators are recorded.

# %%
import glasstorch as torch


def logaddexp2_self(
    grad: torch.Tensor,
    self: torch.Tensor,
    other: torch.Tensor,
) -> torch.Tensor:
    """The gradient of the first argument, from the gradient of the result.

    >>> x = torch.tensor([0.0, 1.0, 1000.0])
    >>> logaddexp2_self(torch.tensor([1.0, 3.0, 5.0]), x, torch.tensor(0.0))
    tensor([0.5000, 2.0000, 5.0000])
    """
    raise NotImplementedError


def logaddexp2_other(
    grad: torch.Tensor,
    self: torch.Tensor,
    other: torch.Tensor,
) -> torch.Tensor:
    """The gradient of the second argument, from the gradient of the result.

    >>> x = torch.tensor([0.0, 1.0, 1000.0])
    >>> logaddexp2_other(torch.tensor([1.0, 3.0, 5.0]), x, torch.tensor(0.0))
    tensor([0.5000, 1.0000, 0.0000])
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.1` gives a hint, and
# `.venv/bin/workbook lab 04.1` opens a sheet for experiments.
