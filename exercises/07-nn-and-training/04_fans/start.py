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
# # 07.4 Fan in, fan out
#
# How large a weight should be depends on how many products an output sums, its
# fan-in, and for the backward pass on how many outputs an input contributes
# to, its fan-out. `xavier_uniform_`, `kaiming_normal_` and similar functions
# calculate the two before they draw.
#
# The library itself can count them. If all weights of a linear layer or a
# convolution are 1, and so are all inputs, each output is the number of its
# inputs. The gradient of the sum of all outputs is, for each input, the number
# of outputs that it reaches. For a convolution, the fans are the largest of
# these numbers, far from the borders and with a stride of 1.
#
# Write the function that calculates both from the weight, without running a
# layer.

# %%
from glasstorch import Tensor


def fans(weight: Tensor) -> tuple[int, int]:
    """How many inputs an output sums, and how many outputs an input reaches.

    In a linear layer, a weight has the shape (outputs, inputs). In a
    convolution, these two are numbers of channels, and the sizes of the kernel
    follow, one for each dimension in which it moves.

    >>> import glasstorch as torch
    >>> fans(torch.empty(5, 3))
    (3, 5)

    A tensor of fewer than two dimensions, such as a bias, has no fans. It
    raises ValueError with PyTorch's message: "Fan in and fan out can not be
    computed for tensor with fewer than 2 dimensions". The values of the weight
    do not matter; on the device `meta` it has none.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 07.4`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.4` gives a hint, and
# `.venv/bin/workbook lab 07.4` opens a sheet for experiments.
