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
# # 03.6 Put it back
#
# Under `functionalize`, no operator writes to a tensor. For `x[0][1:].mul_(2)`
# the new elements of the innermost view are computed, and an *update* is
# recorded: the new value of that view, and the path of views that leads from
# the base to it.
#
# When the base is needed, its updates are applied to it. Each view of a path
# has two methods:
#
# - `view.make(before)` makes the view of a tensor;
# - `view.put_back(before, changed)` returns a new tensor, which is `before`
#   with the elements that the view sees replaced by those of `changed`.
#
# Write the function. Every functional tensor of the library will call yours.

# %%
from collections.abc import Sequence

from glasstorch import Tensor
from glasstorch.func.functional_tensor import View

Update = tuple[Tensor, tuple[View, ...]]  # new values, and the views to them


def worked_in(value: Tensor, updates: Sequence[Update]) -> Tensor:
    """The value of a base after updates, in the order in which they came.

    An update is a pair: the new value of a view, and the views that lead from
    the base to it, beginning at the base. If there are no views, the base
    itself was changed.

    >>> import glasstorch as torch
    >>> from glasstorch.dispatch.operator import registry
    >>> from glasstorch.func.view_inverses import Views, inverse_of
    >>> select = registry.find("aten::select.int")
    >>> first = View(select, (0, 0), None, inverse_of(select), Views(True))
    >>> worked_in(torch.zeros(2, 2), [(torch.ones(2), (first,))]).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 03.6`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 03.6` gives a hint, and
# `.venv/bin/workbook lab 03.6` opens a sheet for experiments.
