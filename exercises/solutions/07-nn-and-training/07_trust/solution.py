"""Blocks by the first part of the path, follows no dots, has a default that is no value, and removes only a prefix."""

from pickle import UnpicklingError
from typing import Any

from glasstorch.serialization import allowed, rebuild
from glasstorch.serialization.weights_only import Unpickler

ABSENT = object()


def found(machine: Unpickler, module: str, name: str) -> Any:
    """The object that a file names in a module, if it is on a list."""
    path = f"{module}.{name}"
    if module.partition(".")[0] in allowed.BLOCKED:
        raise UnpicklingError(f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked.")
    known = {**machine.by_users, **allowed.by_default()}
    value = known.get(path, ABSENT)
    if value is not ABSENT:
        return value
    if path in allowed.QUANTIZED:
        rebuild.quantized_tensor()
    if path in allowed.MISSING_DTYPES:
        raise UnpicklingError(f"the file has something of the dtype {path}, which is not in glasstorch")
    path = path.removeprefix("builtins.")
    raise UnpicklingError(
        f"Unsupported global: GLOBAL {path} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{path}])` or the `torch.serialization.safe_globals([{path}])` "
        "context manager to allowlist this global if you trust this class/function."
    )
