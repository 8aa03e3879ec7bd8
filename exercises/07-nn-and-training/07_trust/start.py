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
# When a checkpoint is loaded as weights, each name in its pickle is passed to
# one function, which either returns the object that the name refers to or
# raises an error. `_hasty` below is such a function. It loads every
# `state_dict` and refuses the most obvious attacks. Its users report:
#
# - a program allowed `posixpath.join` under the path "os.path.join", and a
#   file got it, although a file must not name anything in the modules in
#   `allowed.BLOCKED`, nor in modules inside them;
# - a file that names "Tensor.mro" in the module "torch" gets a method that is
#   not on any list;
# - a program allowed an object that counts as false, such as an empty tuple,
#   under a path of its own, and a file that names it is refused;
# - the refusal of `Net`, a class in the module `models.builtins`, advises the
#   user to allow `models.Net`, which does not exist.
#
# There are four places to change.

# %%
from pickle import UnpicklingError
from typing import Any

from glasstorch.serialization import allowed, rebuild
from glasstorch.serialization.weights_only import Unpickler


def _hasty(machine: Unpickler, module: str, name: str) -> Any:
    """The object for a name in a file, found in a hurry."""
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
    """The object that a file names in a module, if it is on a list.

    `machine.by_users` contains what programs have allowed,
    `allowed.by_default()` what every file may name. Both are dicts with full
    paths as keys, such as "torch.nn.parameter.Parameter"; the path of a class
    inside another class contains the names of both. If both dicts have a path,
    the second one takes precedence. A refusal names Python's built-in
    functions without their module.

    >>> import io
    >>> found(Unpickler(io.BytesIO()), "builtins", "set")
    <class 'set'>
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 07.7`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 07.7` gives a hint, and
# `.venv/bin/workbook lab 07.7` opens a sheet for experiments.
