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
# # 06.9 x log y
#
# `torch.xlogy(x, y)` is `x * log(y)`, but 0 where `x` is 0, so that an entropy
# of probabilities can be computed although one of them is 0. Where `y` is NaN,
# the result is NaN in any case.
#
# Write it as a function of simpler operators. It will stand in the library's
# table of decompositions, for tensors and for numbers on either side, and
# every graph in which core operators are asked for will contain your operators
# in its place.

# %%
import glasstorch as torch
from glasstorch import Tensor


def xlogy(self: Tensor | float, other: Tensor | float) -> Tensor:
    """`self * log(other)`, with 0 where `self` is 0 and NaN where `other` is.

    At least one of the two is a tensor; the other one may be a Python number.

    The result has the dtype that the kernel's result has: the common dtype of
    both where that is a floating-point dtype, and the default dtype for
    integers and booleans. A number is not a tensor of a dtype of its own: with
    a tensor of float16, the result is float16.

    In half precision (float16 and bfloat16) the kernel computes in float32,
    and rounds only the result. So should you.

    Your function is recorded with tensors that have no elements. It cannot
    branch on an element, may not write to its arguments, and may not call
    `xlogy` itself.

    >>> x = torch.tensor([0.0, 2.0, 0.0])
    >>> xlogy(x, torch.tensor([0.0, 1.0, torch.nan]))
    tensor([0., 0., nan])
    >>> xlogy(torch.tensor([0, 3]), 1).dtype
    torch.float32
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 06.9`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 06.9` gives a hint, and
# `.venv/bin/workbook lab 06.9` opens a sheet for experiments.
