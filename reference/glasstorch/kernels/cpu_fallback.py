"""How does an operator run on the CPU for a device that has no kernel of it?

Mirrors: aten/src/ATen/native/CPUFallback.cpp (cpu_fallback)
Differs: a pointwise operator refuses tensors of several devices here; in PyTorch the shape function that it shares
    with its out= form does, before the fallback is reached.

A backend registers it for all operators at once, or calls it from a fallback of its own that warns first:

    Library("_", "IMPL").fallback(cpu_fallback, "PrivateUse1")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from glasstorch.core.device import CPU, device, private_use
from glasstorch.core.errors import DeviceError
from glasstorch.core.keys import key_set_of
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.user_line import warn_user
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.dispatch.schema import Argument
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.direct import on_pair

_copy_from_and_resize = on_pair("_copy_from_and_resize")
CPU_KEYS = key_set_of("CPU")


def cpu_fallback(operator: Operator, /, *args: Any, error_on_views: bool = False, **kwargs: Any) -> Any:
    """Copy the arguments to the CPU, run the CPU's kernel there, and copy back what it wrote and returned.

    A view cannot be made so: its storage would be another one. The copy that stands for it is announced by a warning,
    or refused with `error_on_views`.
    """
    arguments = operator.bind(args, kwargs)
    if Tag.pointwise.name in operator.words:
        _check_one_device(tensors_of(arguments))
    return computed_on_cpu(operator, arguments, error_on_views)


def computed_on_cpu(operator: Operator, arguments: Sequence[Any], error_on_views: bool) -> Any:
    """What an operator returns for its arguments, in the order of its schema, if the CPU computes it.

    The results are on the device; what the operator writes to is written, and is returned itself where it is a result.
    """
    declared = operator.schema.arguments
    on = device_of(arguments)
    here = [moved(CPU, argument) for argument in arguments]
    result = operator.redispatch(CPU_KEYS, *here)
    for argument, given, computed in zip(declared, arguments, here, strict=True):
        if argument.type.is_write:
            write_back(computed, given)
    returns = operator.schema.returns
    several = len(returns) > 1
    outputs = []
    for one, value in zip(returns, result if several else (result,) * len(returns), strict=True):
        if one.type.is_write:
            outputs.append(_written(declared, arguments, one.type.alias))
            continue
        if one.type.alias is not None and on is not None:
            announce_view(operator, on, error_on_views)
        outputs.append(value if on is None else moved(on, value))
    if not several:
        return outputs[0] if outputs else None
    return type(result)(outputs)  # a tuple, in most operators one with names


def warn_of_fallback(operator: Operator) -> None:
    """Say, once for each operator, that there is no kernel: what a backend's own fallback does before it falls back.

    Mirrors: aten/src/ATen/mps/MPSFallback.mm (mps_fallback), in whose words it is said
    """
    warn_once(
        f"The operator '{operator.name}' is not currently supported on the {private_use.name.upper()} backend and will "
        f"fall back to run on the CPU. This may have performance implications."
    )


def device_of(arguments: Sequence[Any]) -> device | None:
    """Where the results go: the first device that is not the CPU, of a tensor or given as an argument."""
    named = (argument for argument in arguments if isinstance(argument, device))
    return next((on for on in (*(t.device for t in tensors_of(arguments)), *named) if on.type != "cpu"), None)


def moved(on: device, value: Any) -> Any:
    """A tensor on a device; a list with each of its tensors there; a device becomes the CPU; others stay."""
    if isinstance(value, TensorImpl):
        return value if value.device is on else value.to(on)  # type: ignore[attr-defined]
    if isinstance(value, list | tuple):
        return type(value)([moved(on, one) for one in value]) if next(tensors_of(value), None) is not None else value
    return CPU if isinstance(value, device) else value


def write_back(computed: Any, given: Any) -> None:
    """Give a tensor, or each tensor of a list, what the CPU's kernel wrote to its copy, and its sizes."""
    if isinstance(given, list | tuple):
        for one, theirs in zip(computed, given, strict=True):
            write_back(one, theirs)
    elif given is not None and computed is not given:
        _copy_from_and_resize(computed, given)


def _written(declared: Sequence[Argument], arguments: Sequence[Any], alias: str | None) -> Any:
    """The argument that the schema says is returned: `out`, or what an in-place operator changed."""
    return next(given for one, given in zip(declared, arguments, strict=True) if one.type.alias == alias)


def _check_one_device(tensors: Iterator[TensorImpl]) -> None:
    """Refuse tensors on several devices; one without dimensions on the CPU may join any."""
    devices: Iterable[device] = dict.fromkeys(t.device for t in tensors if t.dim() or t.device is not CPU)
    if len(found := list(devices)) > 1:
        found.sort(key=lambda on: on is CPU)  # PyTorch names the CPU last
        raise DeviceError(
            f"Expected all tensors to be on the same device, but found at least two devices, {found[0]} and {found[1]}!"
        )


def announce_view(operator: Operator, on: device, refuse: bool) -> None:
    view = (
        f"The operator {operator.name} appears to be a view operator, but it has no implementation for the backend "
        f'"{on}". View operators don\'t support '
    )
    shared = "since the tensor's storage cannot be shared across devices."
    if refuse:
        raise DeviceError(view + shared)
    warn_user(f"{view}falling back to run on the CPU, {shared}")
