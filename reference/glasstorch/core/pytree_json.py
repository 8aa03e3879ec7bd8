"""How is the structure of a tree written as text?

Mirrors: torch/utils/_pytree.py (treespec_dumps, treespec_loads, treespec_pprint)
"""

from __future__ import annotations

import importlib
import json
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from glasstorch.core.pytree_nodes import (
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
)
from glasstorch.core.pytree_spec import TreeSpec, treespec_leaf

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL: Final = 1  # PyTorch's number for this form
PROTOCOL: Final = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL


class EnumEncoder(json.JSONEncoder):
    """Writes members of enumerations by their class and name."""

    def default(self, obj: object) -> Any:
        if isinstance(obj, Enum):
            kind = type(obj)
            return {"__enum__": True, "fqn": f"{kind.__module__}:{kind.__qualname__}", "name": obj.name}
        return super().default(obj)


def enum_object_hook(obj: dict[str, Any]) -> Any:
    """A member of an enumeration that was written as EnumEncoder does; other dicts as they are."""
    if "__enum__" not in obj:
        return obj
    module, _, path = obj["fqn"].partition(":")
    kind: Any = importlib.import_module(module)
    for name in path.split("."):
        kind = getattr(kind, name)
    return kind[obj["name"]]


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON, for `treespec_loads` and PyTorch's. Types without a name for it are refused."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    _check_protocol(PROTOCOL if protocol is None else protocol)
    return json.dumps((PROTOCOL, _to_json(treespec)), cls=EnumEncoder)


@lru_cache
def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps`, or PyTorch's, wrote."""
    protocol, written = json.loads(serialized)
    _check_protocol(protocol)
    return _from_json(written)


def _check_protocol(protocol: int) -> None:
    if protocol != PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[PROTOCOL]}")


def _to_json(treespec: TreeSpec) -> dict[str, Any]:
    if treespec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    known = SUPPORTED_SERIALIZED_TYPES.get(treespec.type)
    if known is None:
        raise NotImplementedError(f"Serializing {treespec.type} in pytree is not registered.")
    if known.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(
            f"No registered serialization name for {treespec.type} found. Please update your _register_pytree_node "
            f"call with a `serialized_type_name` kwarg."
        )
    if known.to_dumpable_context is not None:
        context = known.to_dumpable_context(treespec.context)
    else:
        try:
            context = json.dumps(treespec.context, cls=EnumEncoder)
        except TypeError as error:
            raise TypeError(
                "Unable to serialize context. Please make the context json dump-able, or register a custom serializer "
                "using _register_pytree_node."
            ) from error
    children = [_to_json(child) for child in treespec.children()]
    return {"type": known.serialized_type_name, "context": context, "children_spec": children}


def _from_json(written: dict[str, Any]) -> TreeSpec:
    name, context, children = written["type"], written["context"], written["children_spec"]
    if name is None and context is None and not children:
        return treespec_leaf()
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    kind = SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
    read = SUPPORTED_SERIALIZED_TYPES[kind].from_dumpable_context
    if read is not None:
        context = read(context)
    else:
        try:
            context = json.loads(context, object_hook=enum_object_hook)
        except TypeError as error:
            raise TypeError(
                "Unable to deserialize context. Please make the context json load-able, or register a custom "
                "serializer using _register_pytree_node."
            ) from error
    return TreeSpec(kind, context, [_from_json(child) for child in children])


class _Asterisk(str):
    """What stands for a leaf."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """A structure as a tree of it is printed, with * for each leaf."""
    return repr(treespec.unflatten([_Asterisk("*")] * treespec.num_leaves))
