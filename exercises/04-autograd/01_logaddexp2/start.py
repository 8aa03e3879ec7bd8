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
# In `derivatives.yaml` each operator has a row with a formula for each
# argument that has a gradient. Two things are generated from the row: the node
# that runs the formulas, and the autograd kernel that saves what they need.
# Here you write the row of an operator with two arguments, as two functions,
# and the library generates its node and its kernel from yours.
#
# `logaddexp2(self, other)` is `log2(2**self + 2**other)`, which looks like a
# maximum with a rounded corner. It is used to add two probabilities that are
# given by their logarithms, and these may be as low as -1,000 or lower.
#
# The *names* of the parameters decide what the node saves. `grad` is the
# gradient that arrives, `self` and `other` are the arguments, and `result` is
# the result of the forward pass. Apart from `grad`, each one that a formula
# names is saved in every forward pass. The functions below name the two
# arguments. Do not add `result`, because it can be far larger than both: from
# a column and a row of a thousand numbers comes a result of a million.
#
# The arguments are broadcast, so their shapes may differ. `grad` has the shape
# of the result, and what you return may have that shape, too, because the
# engine sums it over the dimensions along which the argument was repeated.
#
# The formulas run in a backward pass. Under `create_graph=True` their own
# operators are recorded, which makes a second and a third derivative possible.
# Nothing but calls of operators is recorded.

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
