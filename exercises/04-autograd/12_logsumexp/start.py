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
# # 04.12 A row for the way forward
#
# `logsumexp(self, dim, keepdim)` is the logarithm of the sum of `exp(self)`
# over some dimensions. It looks like a maximum with a rounded corner, and it
# is the logarithm of softmax's denominator. Its row in `derivatives.yaml` ends
# with the line
#
#     result: logsumexp_tangent(self, self_t, dim, keepdim, result)
#
# Write that function. If each element of the argument changes at the speed
# given in `self_t`, how fast does the result change?
#
# `dim` is a list of one or more dimensions, which may be negative and in any
# order. Without `keepdim` the result lacks these dimensions, and so must the
# tangent, which has the shape of the result. You may assume that `self` has at
# least one dimension.
#
# Arguments may be as large as 3,000, although no float holds `exp(3000)`. They
# may also be minus infinity, since attention masks elements in this way. Such
# an element contributes nothing to the result or to its tangent. Where all
# elements are minus infinity, so is the result, and its tangent is 0.
#
# A tangent can itself be differentiated, so use operators only.

# %%
from collections.abc import Sequence

import glasstorch as torch


def logsumexp_tangent(
    self: torch.Tensor,
    self_t: torch.Tensor,
    dim: Sequence[int],
    keepdim: bool,
    result: torch.Tensor,
) -> torch.Tensor:
    """The tangent of `result`, which is `torch.logsumexp(self, dim, keepdim)`.

    >>> x, x_t = torch.tensor([5.0, 5.0]), torch.tensor([1.0, 3.0])
    >>> logsumexp_tangent(x, x_t, [0], False, torch.logsumexp(x, 0))
    tensor(2.)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.12`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.12` gives a hint, and
# `.venv/bin/workbook lab 04.12` opens a sheet for experiments.
