"""How does a shape function become a kernel for meta tensors?

Mirrors: torchgen/dest/register_dispatch_key.py (the Meta kernels of structured operators), torch/_meta_registrations.py
Differs: one kernel made from each shape function serves the functional, the in-place and the out= form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor, empty, empty_strided
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.device import device
from glasstorch.core.errors import DeviceError
from glasstorch.core.return_types import named_result
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.operator import tensors_of
from glasstorch.dispatch.tags import Tag
from glasstorch.kernels.structured import TAGS, add_structured, shape_function
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.shapes.result import Result

META = KernelTable("Meta")


def meta_kernel(name: str) -> Callable[..., Any]:
    """A kernel that returns a meta tensor as its shape function describes it."""
    shapes: list[Callable[..., Any]] = []  # filled at the first call: importing all shape functions takes a while
    indices_with_data = Tag.indices_with_data.name in TAGS[name]
    # Where the result is, if the operator does not refuse tensors with data among those without.
    beside = next((i for i, tag in enumerate((Tag.beside_first, Tag.beside_second)) if tag.name in TAGS[name]), None)

    def meta(keys: int, *arguments: Any, out: Any = None) -> Any:
        if not shapes:
            shapes.append(shape_function(name))
        if beside is None:
            check_devices(arguments, indices_with_data)
        result = shapes[0](*arguments)
        if out is not None:
            return out
        if beside is not None:
            return uninitialised(result, arguments[beside].device)
        return without_data(result) if isinstance(result, Result) else named_result(name, map(without_data, result))

    return meta


def without_data(result: Result | None) -> Tensor | None:
    """A meta tensor as a shape function describes it; None for a result that was not asked for."""
    return None if result is None else uninitialised(result, NOWHERE)


def uninitialised(result: Result, on: device) -> Tensor:
    """A tensor on a device as a shape function describes it."""
    if result.strides is None:
        return empty(result.shape, result.dtype, on)
    return empty_strided(result.shape, result.strides, result.dtype, on)


def check_devices(arguments: Any, indices_with_data: bool) -> None:
    """Refuse tensors with data among those without; a 0-dim tensor may come from anywhere, and so may some indices."""
    tensors = [t for t in tensors_of(arguments) if t._shape]
    devices = [t.device for t in tensors if not indices_with_data or t.dtype.is_floating_point]
    with_data = next((on for on in devices if on is not NOWHERE), None)
    if with_data is not None:
        first = devices[0]
        other = with_data if first is NOWHERE else NOWHERE
        raise DeviceError(f"Tensor on device {other} is not on the expected device {first}!")


for _row in OPERATORS:
    if _row.shape is not None and _row.functional is None:
        add_structured(META, _row.name, meta_kernel(_row.name))
