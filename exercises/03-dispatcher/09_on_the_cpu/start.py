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
# A new device begins with hardly any kernels. Its fallback lets the CPU
# compute any operator with any arguments, guided by the schema alone.
#
# 1. Copy the arguments to the CPU and run the CPU's kernel on the copies.
# 2. The operator may have written to copies. Write those back to the
#    arguments.
# 3. Return what the schema says. A result that is marked with `!` is one of
#    the arguments, the one with the same mark. Every other result is moved to
#    the device. A result with a mark but no `!` should be a view of an
#    argument, but it cannot share memory across devices, so announce it first.
#
# You can use:
#
# - `device_of(arguments)` is the device to which the results belong, or None
#   if the arguments do not determine it;
# - `moved(device, value)` moves a value to a device: a tensor, or the tensors
#   of a list; any other value is returned unchanged;
# - `write_back(computed, given)` writes a copy's contents to its argument;
# - `announce_view(operator, device, error_on_views)` warns or raises;
# - `operator.redispatch(CPU_KEYS, *arguments)` runs the CPU's kernel;
# - `operator.schema.arguments` and `.returns`: of each, `type.alias` is the
#   mark, such as `"a!"`, or None, and `type.is_write` says whether it has a
#   `!`.
#
# An operator with several results returns a tuple, possibly a named tuple;
# return one of the same type. An operator without results returns None.
#
# Every fallback in the library will run your function.

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
    """The results of an operator, computed by the CPU.

    `arguments` are all its arguments, in the order of the schema. The results
    are on the device. The arguments that the operator writes to hold the new
    values, and an argument that is also a result is returned itself.

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
