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
# # 04.13 A batching rule
#
# `index_select(self, dim, index)` takes the elements at some positions along a
# dimension: `torch.index_select(x, 1, index)` is `x[:, index]`. Its row in
# `native_functions.yaml` has the line `vmap: indexing.index_select`. That is
# the function which you write; it says what the operator does to a batch.
#
# The rule has three cases. The tensor is batched and all examples share their
# positions; the positions are batched and all examples share the tensor; or
# both are batched, and each example has positions of its own.
#
# The rule runs below the level of vmap, where a tensor has one more dimension,
# along which its examples lie. `batch` helps with that:
#
# - `batch.in_front(t)` returns two things: the tensor with its examples along
#   dimension 0, and True; or, if all share it, the tensor as it is, and False;
# - `batch.expanded(t)` always returns the tensor with the examples along
#   dimension 0; where all share it, it is the same for each of them;
# - `batch.around(result)` makes the tensor that you return, which hides its
#   dimension 0 again. `batch.size` is the number of examples.
#
# The arguments still hide the dimension of the examples: `arguments[0].ndim`
# is the number of dimensions of one example, and `dim`, which may be negative,
# counts only those. You may assume that each example has at least one
# dimension and each index exactly one.
#
# A loop over the examples would give the right result, but that is what vmap
# already does without a rule. The number of operators that you call must not
# depend on the number of examples.

# %%
from typing import Any

import glasstorch as torch


def index_select(batch: Any, operator: Any, arguments: list[Any]) -> Any:
    """The batch of the results of all examples.

    `arguments` are those of the call: the tensor, the dimension, the index.

    >>> from glasstorch.func.batching import Batch
    >>> from glasstorch.func.wrapped import batched, wrapping
    >>> batch = Batch(2)
    >>> tensor = batched(torch.tensor([[1, 2, 3], [4, 5, 6]]), 0, batch)
    >>> result = index_select(batch, None, [tensor, 0, torch.tensor([2, 0])])
    >>> wrapping(result).value.tolist()
    [[3, 1], [6, 4]]
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.13`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.13` gives a hint, and
# `.venv/bin/workbook lab 04.13` opens a sheet for experiments.
