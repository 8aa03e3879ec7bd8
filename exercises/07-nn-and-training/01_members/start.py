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
# # 07.1 The names of the members
#
# `named_parameters()` and `named_buffers()` use the same walk, which gets the
# members of each module and composes their names. Optimizers, `zero_grad` and
# `requires_grad_` all find their parameters through it.
#
# `module.named_modules(prefix=..., remove_duplicate=...)` yields the modules,
# parents first, as pairs of a path, such as `encoder.0`, and a module. The
# path of the first one is the prefix, which is empty by default.
#
# Write this walk. Every module of the library will use your version; PyTorch's
# is `Module._named_members`, in `torch/nn/modules/module.py`.

# %%
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from glasstorch.nn import Module


def named_members(
    module: Module,
    get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
    prefix: str = "",
    recurse: bool = True,
    remove_duplicate: bool = True,
) -> Iterator[tuple[str, Any]]:
    """The members of a module and of those below it, each with its name.

    `get_members_fn` returns the members of one module: pairs of a name and a
    tensor, or of a name and None if the name is reserved for a tensor that
    does not exist. Such names are left out.

    A member's name consists of the path of its module, a dot and its own name;
    if the path is empty, there is no dot.

    >>> from glasstorch import nn
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> parameters = lambda module: module._parameters.items()
    >>> [name for name, _ in named_members(net, parameters)]
    ['0.weight', '0.bias', '2.weight', '2.bias']
    >>> [name for name, _ in named_members(net[0], parameters, prefix="first")]
    ['first.weight', 'first.bias']

    A tensor that has several names is yielded once, with the first of them,
    unless `remove_duplicate` is false; then it is yielded with each of its
    names. Two tensors are different even if they have the same values or share
    memory.

    >>> net[2] = net[0]
    >>> [name for name, _ in named_members(net, parameters)]
    ['0.weight', '0.bias']
    >>> every = named_members(net, parameters, remove_duplicate=False)
    >>> [name for name, _ in every]
    ['0.weight', '0.bias', '2.weight', '2.bias']

    With `recurse=False`, only the members of the module itself are yielded.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 07.1`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.1` gives a hint, and
# `.venv/bin/workbook lab 07.1` opens a sheet for experiments.
