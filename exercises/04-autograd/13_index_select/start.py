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
# `native_functions.yaml` has the line `vmap: indexing.index_select`, and that
# is the function which you write: what the operator does to a batch.
#
# Three cases come to it. The tensor is batched and all examples share their
# positions; the positions are batched and all examples share the tensor; or
# both are batched, and each example has positions of its own.
#
# The rule runs below the level of vmap, where a tensor has the dimension of
# its examples. `batch` helps with that:
#
# - `batch.in_front(t)` gives two things: the tensor with its examples along
#   dimension 0, and True; or the tensor as it is, and False if it is shared;
# - `batch.expanded(t)` gives the tensor with the examples in front in any
#   case, the same for all where it is shared;
# - `batch.around(result)` makes what is returned: a tensor that hides its
#   dimension 0 again. `batch.size` is the number of examples.
#
# The arguments themselves still hide it: `arguments[0].ndim` is the number of
# dimensions of one example, and `dim`, which may be negative, counts those.
# You may assume that each example has a dimension and each index exactly one.
#
# A loop over the examples gives the right result, and vmap has that already
# where there is no rule. The number of operators that you call must not depend
# on the number of examples.

# %%
from typing import Any

import glasstorch as torch


def index_select(batch: Any, operator: Any, arguments: list[Any]) -> Any:
    """The batch of what each example selects.

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
