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
# `named_parameters()` and `named_buffers()` are one walk, which asks each
# module for its own part and puts the names together. What an optimizer is
# given, what `zero_grad` clears and what `requires_grad_` freezes all comes
# from it.
#
# `module.named_modules(prefix=..., remove_duplicate=...)` gives the modules,
# parents first: pairs of a path, such as `encoder.0`, and a module. The path
# of the first one is the prefix, which is empty unless somebody gives one.
#
# Write the walk. Every module of the library will use yours; PyTorch's is
# `Module._named_members`, in `torch/nn/modules/module.py`.

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

    `get_members_fn` gives the members of one module: pairs of a name and a
    tensor, or None where the name is reserved for a tensor that is not there.
    Such a name is left out.

    A member's name is the path of its module, a dot and its own name; without
    a dot where the path is empty.

    >>> from glasstorch import nn
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> parameters = lambda module: module._parameters.items()
    >>> [name for name, _ in named_members(net, parameters)]
    ['0.weight', '0.bias', '2.weight', '2.bias']
    >>> [name for name, _ in named_members(net[0], parameters, prefix="first")]
    ['first.weight', 'first.bias']

    A tensor that has several names comes once, with the first of them, unless
    `remove_duplicate` is false. Then it comes with each. Two tensors are two,
    even if they have the same values or the same memory.

    >>> net[2] = net[0]
    >>> [name for name, _ in named_members(net, parameters)]
    ['0.weight', '0.bias']
    >>> every = named_members(net, parameters, remove_duplicate=False)
    >>> [name for name, _ in every]
    ['0.weight', '0.bias', '2.weight', '2.bias']

    With `recurse=False` only the members of the module itself come.
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 07.1`. It may
# be half done: the answer tells what to look at next. `workbook hint 07.1`
# gives a nudge, `workbook lab 07.1` a sheet to play on.
