"""What does `tensor.to(...)` accept?

Mirrors: torch/csrc/utils/python_arg_parser.cpp and python_arg_parsing.h (parse_to_conversion),
    tools/autograd/templates/python_variable_methods.cpp (THPVariable_to)

It is written by hand, as in PyTorch: Python's signatures are not those of the operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.calls.overloaded import UNASKED, ask
from glasstorch.core.device import device, device_from
from glasstorch.core.dtype import bool_, complex128, dtype, float64, int64
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.layout import memory_format
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

to_options = on_tensor("to.dtype_layout")

PYTHON_TYPES = {float: float64, int: int64, bool: bool_, complex: complex128}

FLAGS = "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None"
ACCEPTED = f"""
 * (torch.device device = None, torch.dtype dtype = None, {FLAGS})
 * (torch.dtype dtype, {FLAGS})
 * (Tensor tensor, {FLAGS})"""


def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor in another dtype or on another device; the tensor itself where nothing changes.

        to(dtype, non_blocking=False, copy=False, *, memory_format=None) -> Tensor
        to(device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None) -> Tensor
        to(other, non_blocking=False, copy=False, *, memory_format=None) -> Tensor

    `copy=True` makes a copy even so.
    """
    if len(args) == 1 and not kwargs and type(args[0]) is dtype:  # x.to(torch.float32), by far the most frequent
        return to_dtype(self, args[0], None)
    first = args[0] if args else kwargs.get("dtype", kwargs.get("tensor"))
    if isinstance(first, TensorImpl):
        names: tuple[str, ...] = ("tensor", "non_blocking", "copy")
    elif args and _dtype(first) is not None:
        names = ("dtype", "non_blocking", "copy")
    else:
        names = ("device", "dtype", "non_blocking", "copy")
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or given.keys() & kwargs.keys() or kwargs.keys() - {*names, "memory_format"}:
        raise _refused(args, kwargs)
    given |= kwargs
    other = given.get("tensor")
    wanted = other.dtype if other is not None else _dtype(given.get("dtype"))
    on = other.device if other is not None else given.get("device")
    format = given.get("memory_format")
    flags = given.get("non_blocking", False), given.get("copy", False)
    if (
        (given.get("dtype") is not None and wanted is None)
        or not (on is None or isinstance(on, device | str) or type(on) is int)
        or not (format is None or isinstance(format, memory_format))
        or not all(isinstance(flag, bool) for flag in flags)
    ):
        answer: Any = ask(type(self).to, "torch.Tensor.to", (self, *args), kwargs or None)
        if answer is UNASKED:
            raise _refused(args, kwargs)
        made: Tensor = answer
        return made
    where = None if on is None else device_from("cuda", on) if isinstance(on, int) else device_from(on)
    return to_options(self, wanted, None, where, None, *flags, format)


def to_dtype(self: Tensor, wanted: dtype, format: memory_format | None) -> Tensor:
    """`x.float()` and the like: the tensor in a dtype; itself if it already has it."""
    return to_options(self, wanted, None, None, None, False, False, format)


def _dtype(value: Any) -> dtype | None:
    """A dtype, also given as a Python type; None for anything else."""
    return value if isinstance(value, dtype) else PYTHON_TYPES.get(value) if isinstance(value, type) else None


def _refused(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ArgumentTypeError:
    got = ", ".join([*(type(a).__name__ for a in args), *(f"{k}={type(v).__name__}" for k, v in kwargs.items())])
    return ArgumentTypeError(
        f"to() received an invalid combination of arguments - got ({got}), but expected one of:{ACCEPTED}"
    )
