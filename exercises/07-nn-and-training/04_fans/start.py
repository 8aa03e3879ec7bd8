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
# How large a weight may be depends on how many products an output adds up,
# its fan-in; for the backward pass, on how many outputs an input has a part
# in, its fan-out. `xavier_uniform_`, `kaiming_normal_` and their like ask for
# the two before they draw.
#
# The library can be made to count them. Give a linear layer or a convolution
# weights that are all 1, and an input of ones: each output is the number of
# its inputs. The gradient of the sum of all outputs is, for each input, the
# number of outputs that it reached. Of a convolution the largest of each is
# meant, far from the borders, with the kernel going in steps of 1.
#
# Write the function that works the two out, from the weight, without running
# anything.

# %%
from glasstorch import Tensor


def fans(weight: Tensor) -> tuple[int, int]:
    """How many inputs an output sums, and how many outputs an input reaches.

    A weight has the shape (outputs, inputs) in a linear layer. In a
    convolution these are numbers of channels, and the sizes of the kernel come
    after them, one for each dimension that it moves in.

    >>> import glasstorch as torch
    >>> fans(torch.empty(5, 3))
    (3, 5)

    A tensor of fewer than two dimensions, such as a bias, has no fans: then
    ValueError is raised, in PyTorch's words: "Fan in and fan out can not be
    computed for tensor with fewer than 2 dimensions". The values of a weight
    do not matter, and on the device `meta` it has none.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 07.4`. It
# may be half done: the answer tells what to look at next.
# `workbook hint 07.4` gives a nudge, `workbook lab 07.4` a sheet to
# play on.
