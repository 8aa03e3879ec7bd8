"""By which names do a graph's code and its text know values and functions?

Mirrors: torch/fx/graph.py (_Namespace, _snake_case), torch/fx/node.py (_get_qualified_name, _type_repr)
Differs: the library's functions are defined in files that PyTorch does not have, so their names in PyTorch are looked
    up in the public modules that offer them. Code writes a name of `torch` only where that name leads to the same
    object.
"""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
import sys
import types
from functools import cache
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.unknown_names import as_torch, torch_names
from glasstorch.dispatch.overload import OpOverload

LIBRARY: Final = "glasstorch"
NOT_IN_AN_IDENTIFIER: Final = re.compile("[^0-9a-zA-Z_]+")
BASE_AND_NUMBER: Final = re.compile(r"([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?")
HUMP: Final = re.compile(r"(?<=[a-z])([A-Z])")

# Where PyTorch keeps the functions that its modules offer, in the order in which they are looked up: torch.functional
# is written in Python, and the modules below `torch._C` hold what is generated.
PLACES: Final = (
    "functional",
    "",
    "_C._nn",
    "nn.functional",
    "nn.init",
    "special",
    "linalg",
    "fft",
    "fx._symbolic_trace",
    "_C",
)
PLACES_OF_CLASSES: Final = ("", "_C")
BY_PREFIX: Final = {"fft_": "_C._fft", "linalg_": "_C._linalg", "special_": "_C._special"}


class Namespace:
    """Names for the values of a graph and for the objects that its code refers to, each given once.

    No name is a keyword, a builtin, or one of the names that the code of all graphs needs, unless it is that object's.
    """

    def __init__(self) -> None:
        self._name_of: dict[Any, str] = {}
        self._taken: set[str] = set()
        self._last_number: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A name that is not taken: the candidate, or the candidate with a number.

        The same object, if it is not None, gets the same name again.
        """
        if obj is not None and obj in self._name_of:
            return self._name_of[obj]
        match = BASE_AND_NUMBER.fullmatch(candidate)
        if match is None:
            candidate = NOT_IN_AN_IDENTIFIER.sub("_", candidate) or "_unnamed"
            candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
            match = BASE_AND_NUMBER.fullmatch(candidate)
            assert match is not None, candidate
        base, digits = match.groups()
        number = int(digits or 0)
        if digits is None or candidate in self._taken:
            number = self._last_number.get(base, 0)
            if RESERVED.get(candidate, obj) is not obj:
                number += 1
                candidate = f"{base}_{number}"
        while candidate in self._taken:
            number += 1
            candidate = f"{base}_{number}"
        self._taken.add(candidate)
        self._last_number[base] = number
        if obj is not None:
            self._name_of[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Note that an object has this name, which was created for it."""
        assert obj not in self._name_of, f"{obj} is already associated with the name {self._name_of[obj]}"
        self._name_of[obj] = name

    def rename(self, obj: Any, name: str) -> None:
        """Give an object another name."""
        assert obj in self._name_of, f"{obj} has no name yet"
        self._name_of[obj] = name
        self._taken.add(name)

    _rename_object = rename


RESERVED: Final[dict[str, Any]] = {**{name: object() for name in keyword.kwlist}, **vars(builtins)}


def snake_case(text: str) -> str:
    """A name as Python's variables have it.

    >>> snake_case("TensorPair")
    'tensor_pair'
    """
    return HUMP.sub(r"_\1", text).lower()


def target_to_str(target: Any) -> str:
    """The name that a node gets from what it calls: of a function its own, of a method or attribute the text."""
    name = target.__name__ if callable(target) else target
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return snake_case(name)


# Names in torch -------------------------------------------------------------------------------------------------


def at(path: str) -> Any:
    """What a path below `torch` leads to in this library; None if it leads nowhere."""
    found: Any = sys.modules[LIBRARY]
    for part in path.split("."):
        found = getattr(found, part, None) if part else found
    return found


def is_method_or_property(function: Any) -> bool:
    """Whether a function is one of Tensor's methods, or the `__get__` or `__set__` of one of its properties."""
    if getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__"):
        return True
    return any(value is function for kind in Tensor.__mro__[:-1] for value in vars(kind).values())


def qualified_name(function: Any) -> str:
    """The name by which PyTorch's code reaches a function or class, such as `torch.nn.functional.softmax`."""
    if isinstance(function, OpOverload) or hasattr(function, "overloads"):
        return f"torch.ops.{function}"
    name: str = function.__name__
    if getattr(builtins, name, None) is function:
        return name
    if is_method_or_property(function) or getattr(function, "__objclass__", None) is Tensor:
        return f"torch.Tensor.{name}"
    if name == "<lambda>":
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except OSError:
            raise RuntimeError("Unable to represent lambda") from None
    module = _module_of(function)
    if not _is_ours(module):
        return f"{module}.{name}"
    try:
        return _path_in_torch(function) or f"{_home(module, name, function)}.{name}"
    except TypeError:  # it has no hash
        return f"{_home(module, name, function)}.{name}"


def _home(module: str, name: str, function: Any) -> str:
    """Where PyTorch's programs find what a module defines: in it, or in one of the modules that it is in."""
    if module.partition(".")[0] == "torch":  # a class of a program that runs as PyTorch's says so itself
        return module
    _, *parts = module.split(".")
    for count in range(len(parts), 0, -1):
        place = ".".join(parts[:count])
        if f"torch.{place}" in torch_names() and getattr(at(place), name, None) is function:
            return f"torch.{place}"
    return as_torch(module)


def _module_of(function: Any) -> str:
    module = function.__module__
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    return str(module)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in (LIBRARY, "torch")


@cache
def _path_in_torch(function: Any) -> str | None:
    name = function.__name__
    places = PLACES_OF_CLASSES if isinstance(function, type) else PLACES
    for place in (*(place for prefix, place in BY_PREFIX.items() if name.startswith(prefix)), *places):
        module = at(place)
        listed = name in getattr(module, "__all__", (name,)) or (place == "_C" and name.startswith("_"))
        if getattr(module, name, None) is function and listed:
            return ".".join(part for part in ("torch", place, name) if part)
    return None


def is_from_torch(obj: Any) -> bool:
    """Whether code can refer to an object by its name in torch."""
    if isinstance(obj, OpOverload) or hasattr(obj, "overloads"):
        return True
    if isinstance(obj, types.ModuleType) or getattr(obj, "__name__", None) is None:
        return False
    if not _is_ours(getattr(obj, "__module__", None) or "torch"):
        return False
    try:
        path = qualified_name(obj)
    except (RuntimeError, AttributeError):
        return False
    return path.startswith("torch.") and at(path.removeprefix("torch.")) is obj


# Text for a reader ----------------------------------------------------------------------------------------------


def type_repr(obj: Any) -> str:
    """The text of an annotation: a class by its module and name, and anything else as Python prints it."""
    if isinstance(obj, type) and getattr(obj, "__origin__", None) is None:
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return qualified_name(obj) if is_from_torch(obj) else f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj).replace(f"{Tensor.__module__}.{Tensor.__qualname__}", "torch.Tensor")


def pretty_target(target: Any) -> str:
    """What a node calls, in the text of a graph: `operator.add`, `builtins.getattr`, `torch.relu`."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    if module in ("builtins", "_operator"):
        return f"{module.lstrip('_')}.{target.__name__}"
    return qualified_name(target)


def format_argument(argument: Any, most: float = float("inf")) -> str:
    """An argument in the text of a graph: a node with a percent sign, containers part by part."""
    if hasattr(argument, "_custom_fx_repr_fn"):
        return str(argument._custom_fx_repr_fn())
    if isinstance(argument, list | tuple):
        items = ", ".join(format_argument(item) for i, item in enumerate(argument) if i < most)
        more = f", ...[total_len={len(argument)}]" if len(argument) > most else ""
        if isinstance(argument, list):
            return f"[{items}{more}]"
        return f"({items}{',' if len(argument) == 1 else ''}{more})"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{key}: {format_argument(value)}" for key, value in argument.items()) + "}"
    return f"%{argument}" if hasattr(argument, "_input_nodes") else str(argument)
