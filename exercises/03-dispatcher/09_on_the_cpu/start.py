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
# # 03.9 Let the CPU do it
#
# A device of one's own begins with hardly any kernel. Its fallback lets the
# CPU compute: for every operator, whatever its arguments are, by the schema
# alone.
#
# 1. Take the arguments to the CPU and run the CPU's kernel there.
# 2. What the operator writes to has been written in the copies. Write it back.
# 3. Return what the schema says. A result that is marked with `!` is one of
#    the arguments, the one with the same mark. Every other is taken to the
#    device. One with a mark and no `!` would be a view of an argument, and
#    cannot share its memory: announce it first.
#
# What you have:
#
# - `device_of(arguments)` is where the results belong, or None if nothing
#   says so;
# - `moved(device, value)` takes a value to a device: a tensor, the tensors of
#   a list, or anything else, which stays as it is;
# - `write_back(computed, given)` writes to an argument what its copy holds;
# - `announce_view(operator, device, error_on_views)` warns or raises;
# - `operator.redispatch(CPU_KEYS, *arguments)` runs the CPU's kernel;
# - `operator.schema.arguments` and `.returns`: of each, `type.alias` is the
#   mark, such as `"a!"`, or None, and `type.is_write` says whether it has a
#   `!`.
#
# An operator with several results returns a tuple, which may be one with
# names. Yours should be of the same type. One without results returns None.
#
# Every fallback in the library will run yours.

# %%
from collections.abc import Sequence
from typing import Any

from glasstorch.core.device import CPU
from glasstorch.dispatch.operator import Operator
from glasstorch.kernels.cpu_fallback import (
    CPU_KEYS,
    announce_view,
    device_of,
    moved,
    write_back,
)


def computed_on_cpu(
    operator: Operator,
    arguments: Sequence[Any],
    error_on_views: bool,
) -> Any:
    """What an operator returns, if the CPU computes it.

    `arguments` are all of them, in the order of the schema. The results are
    on the device; what the operator writes to is written, and is returned
    itself where it is a result.

    >>> import glasstorch as torch
    >>> from glasstorch.dispatch.operator import registry
    >>> x = torch.tensor([1.0, -2.0])
    >>> computed_on_cpu(registry.find("aten::neg_"), [x], False) is x
    True
    >>> x.tolist()
    [-1.0, 2.0]
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 03.9`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 03.9` gives a hint, and
# `.venv/bin/workbook lab 03.9` opens a sheet for experiments.
