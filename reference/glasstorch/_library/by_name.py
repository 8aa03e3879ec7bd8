"""What does a name that a user gives stand for: an operator, a namespace, the key of a device?

Mirrors: torch/_library/utils.py (parse_namespace, lookup_op), torch/library.py (_device_type_to_key)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._dispatch_queries import _dispatch_key_for_device
from glasstorch.calls.ops import ops
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.overload import OpOverload

DeviceTypes = str | Sequence[str] | None


def parse_namespace(qualname: str) -> tuple[str, str]:
    """The namespace and the name in `namespace::name`."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            f"torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return parts[0], parts[1]


def lookup_op(qualname: str) -> OpOverload:
    """The operator of a full name; AttributeError if there is none."""
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    found: Any = getattr(getattr(getattr(ops, namespace), name), overload or "default")
    assert isinstance(found, OpOverload)
    return found


def key_named(name: str) -> str:
    """A dispatch key by its own name, or by that of a type of device; "default" are all devices."""
    if name in DispatchKey.__members__:
        return name
    return "CompositeExplicitAutograd" if name == "default" else _dispatch_key_for_device(name)


def several(device_types: DeviceTypes) -> list[str | None]:
    """One type of device, several, or None for all, as a list."""
    return [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)
