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
# # 07.7 A list in a hurry
#
# When a checkpoint is loaded as weights, each name in its pickle comes to one
# function, which gives what the name stands for, or ends the loading. `_hasty`
# below is such a function. It loads every `state_dict`, and refuses the
# attacks that everybody tries first. Its users report:
#
# - a program allowed `posixpath.join` under the path "os.path.join", and a
#   file got it, although nothing of the modules in `allowed.BLOCKED` may
#   be named, nor anything of modules inside of them;
# - a file that names "Tensor.mro" in the module "torch" gets a method that is
#   on no list;
# - a program allowed an object that counts as false, such as an empty tuple,
#   under a path of its own, and a file that names it is refused;
# - the refusal of `Net`, a class of the module `models.builtins`, advises to
#   allow `models.Net`, which does not exist.
#
# There are four places to change.

# %%
from pickle import UnpicklingError
from typing import Any

from glasstorch.serialization import allowed, rebuild
from glasstorch.serialization.weights_only import Unpickler


def _hasty(machine: Unpickler, module: str, name: str) -> Any:
    """What a file means by a name, as somebody decided in a hurry."""
    path = f"{module}.{name}"
    if module in allowed.BLOCKED:
        what = f"unsupported GLOBAL {path} whose module {module} is blocked"
        raise UnpicklingError(f"Trying to load {what}.")
    known = {**machine.by_users, **allowed.by_default()}
    value = known.get(path)
    if value is None and "." in name:
        outer, _, inner = name.partition(".")
        value = getattr(known.get(f"{module}.{outer}"), inner, None)
    if value:
        return value
    if path in allowed.MISSING_DTYPES:
        what = f"something of the dtype {path}, which is not in glasstorch"
        raise UnpicklingError(f"the file has {what}")
    if path in allowed.QUANTIZED:
        rebuild.quantized_tensor()
    path = path.replace("builtins.", "")
    raise UnpicklingError(
        f"Unsupported global: GLOBAL {path} was not an allowed global by "
        "default. Please use "
        f"`torch.serialization.add_safe_globals([{path}])` or the "
        f"`torch.serialization.safe_globals([{path}])` context manager to "
        "allowlist this global if you trust this class/function."
    )


def found(machine: Unpickler, module: str, name: str) -> Any:
    """What a file means by a name in a module, if it is on a list.

    `machine.by_users` is what programs have allowed, `allowed.by_default()`
    what every file may name. Both are dicts with full paths as keys, such as
    "torch.nn.parameter.Parameter", and that of a class inside of another one
    has the names of both. Where both lists have a path, the second one counts.
    A refusal names a path of Python's built-in functions without its module.

    >>> import io
    >>> found(Unpickler(io.BytesIO()), "builtins", "set")
    <class 'set'>
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run `workbook check 07.7`. It
# may be half done: the answer tells what to look at next.
# `workbook hint 07.7` gives a nudge, `workbook lab 07.7` a sheet to
# play on.
