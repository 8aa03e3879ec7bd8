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
# # 03.7 A broken promise
#
# A schema promises how an operator treats memory. `opcheck` runs a kernel,
# compares its arguments before and after, and calls this function to find out
# whether the promises were kept. There are four ways to break them:
#
# - `Broken(WRITES, i)`: argument `i` was changed, and is not marked with `!`;
# - `Broken(SHARES, i, j)`: argument `i` and result `j` share memory, and their
#   marks have no letter in common;
# - `Broken(RETURNED, i, j)`: result `j` is argument `i`, the same tensor, and
#   the argument is not marked with `!`;
# - `Broken(RESULTS_SHARE, i, j)`: the results `i` and `j`, where `i < j`,
#   share memory, and their marks have no letter in common.
#
# You can use:
#
# - `schema.arguments` and `schema.returns`, each element with its `type`;
# - `type.is_write` is True for a mark with `!`;
# - `type.alias_info` is None where there is no mark. Otherwise `before_set`
#   and `after_set` are its letters: for `Tensor(a!)` both are `{"a"}`, and for
#   `Tensor(a|b -> *)` they are `{"a", "b"}` and `{"*"}`. The star counts as
#   having a letter in common with every mark;
# - `overlap(one, other)` tells whether two values share memory. Each may be a
#   tensor, a list of tensors, or a value without memory such as a number.
#
# The library calls your function for every call that `opcheck` checks.

# %%
from collections.abc import Sequence
from typing import Any

from glasstorch import Tensor
from glasstorch._library.schema_check import (
    RESULTS_SHARE,
    RETURNED,
    SHARES,
    WRITES,
    Broken,
    overlap,
)
from glasstorch.dispatch.schema import FunctionSchema


def broken_promises(
    schema: FunctionSchema,
    given: Sequence[Any],
    changed: Sequence[bool],
    returned: Sequence[Any],
) -> set[Broken]:
    """The promises of its schema that a call has broken.

    `given` are the arguments in the order of the schema, `changed` says for
    each of them whether its elements have changed, and `returned` are the
    results.

    >>> import glasstorch as torch
    >>> schema = FunctionSchema.parse("half(Tensor x) -> Tensor")
    >>> x = torch.ones(2)
    >>> broken_promises(schema, [x], [False], [x[:1]]) == {
    ...     Broken(SHARES, 0, 0)
    ... }
    True
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 03.7`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 03.7` gives a hint, and
# `.venv/bin/workbook lab 03.7` opens a sheet for experiments.
