"""What stands for an object while a function is executed symbolically?

Mirrors: torch/_dynamo/variables
Differs: some twenty classes, which hold data only, instead of some two hundred. What can be done with a value is in
    attributes.py, operations.py and calls.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType, WrapperDescriptorType
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.shapes import number_of
from glasstorch.core.geometry import Size
from glasstorch.fx.proxy import Proxy
from glasstorch.nn.modules.module import Module

# Objects that do nothing of their own when Python compares, hashes or prints them.
PLAIN_OBJECTS: Final = (type, FunctionType, BuiltinFunctionType, ModuleType, CodeType, WrapperDescriptorType, property)


@dataclass(eq=False)
class Value:
    """What stands for one object; its source, if it came from outside."""

    source: Source | None = field(default=None, kw_only=True)


@dataclass(eq=False)
class Constant(Value):
    """An object that is the same in each call that the guards let through: a number, a text, a dtype."""

    value: Any


@dataclass(eq=False)
class TensorValue(Value):
    """A tensor: its proxy in the graph, and a fake tensor with its sizes, dtype and device."""

    proxy: Proxy
    example: Tensor
    is_named: bool = False  # after the first variable that holds it


@dataclass(eq=False)
class SymbolValue(Value):
    """A number or a condition that is another one in other calls. What needs to know it makes it a constant."""

    example: Any


@dataclass(eq=False)
class SymbolSlice(Value):
    """A slice between numbers that are others in other calls."""

    parts: list[Value]


@dataclass(eq=False)
class Sequence(Value):
    """A list, a tuple, or an instance of a class that derives from tuple."""

    items: list[Value]
    kind: type[Any]


@dataclass(eq=False)
class Mapping(Value):
    """A dict, or an instance of a class of Python that derives from it, whose keys are known."""

    items: dict[Any, Value]
    kind: type[Any] = dict
    factory: Value | None = None  # of a defaultdict
    frozen: str = ""  # why it cannot be changed, if it cannot


@dataclass(eq=False)
class Group(Value):
    """A set, whose items are known."""

    items: set[Any]


@dataclass(eq=False)
class View(Value):
    """The keys, values or items of a dict, as they are when they are looked at."""

    owner: Mapping
    what: str


@dataclass(eq=False)
class Known(Value):
    """An object that is known by its identity: a module, a function, a class, a user's object.

    An object that the program makes is stood for by an empty one of its class; its attributes are in `side_effects`.
    """

    value: Any


@dataclass(eq=False)
class Cell:
    """A variable that several functions share; of the outside, also its cell, and where that comes from."""

    contents: Value | None
    outer: CellType | None = None
    source: Source | None = None
    is_changed: bool = False


@dataclass(eq=False)
class CellValue(Value):
    """A variable itself, on the stack for a new function that will share it, or as what the rest of a function gets."""

    cell: Cell


@dataclass(eq=False)
class Function(Value):
    """A Python function, with values in place of its defaults and of the variables that it shares."""

    code: CodeType
    names: dict[str, Any]  # its globals
    defaults: tuple[Value, ...] = ()
    keyword_defaults: dict[str, Value] = field(default_factory=dict)
    closure: tuple[Cell, ...] = ()


@dataclass(eq=False)
class Method(Value):
    """A function with its first argument."""

    owner: Value
    function: Value | str  # a name for a method of a tensor or a container


@dataclass(eq=False)
class Iterating(Value):
    """An iterator over values."""

    items: Iterator[Value]


@dataclass(eq=False)
class Generator(Iterating):
    """A generator, and its function that is executed step by step."""

    frame: Any


@dataclass(eq=False)
class Partial(Value):
    """A function with some of its arguments, as `functools.partial` makes it."""

    function: Value
    args: list[Value]
    kwargs: dict[str, Value]


@dataclass(eq=False)
class Context(Value):
    """A mode of the library that a `with` block sets, and its settings; for each block that it is in, what ends it."""

    kind: type[Any]
    settings: tuple[Any, ...]
    entered: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class Super(Value):
    """What `super()` gives: an object or a class, and the class after which its methods are looked for."""

    owner: Value
    after: type[Any]


@dataclass(eq=False)
class Traceback(Value):
    """The traceback of an error, which can only be passed on."""


def known(value: Value | str) -> Any:
    """The object that a value stands for, if no tensor and no user's object is part of it.

    What a user's object does when Python asks it something is not known, and must not happen twice.
    """
    if isinstance(value, Constant) or (isinstance(value, Known) and isinstance(value.value, PLAIN_OBJECTS)):
        return value.value
    if isinstance(value, SymbolValue):
        return number_of(value.example)
    if isinstance(value, SymbolSlice):
        return slice(*map(known, value.parts))
    if isinstance(value, Sequence):
        items = [known(item) for item in value.items]
        return value.kind(*items) if hasattr(value.kind, "_fields") else value.kind(items)
    if isinstance(value, Mapping) and value.factory is None:
        return value.kind({key: known(item) for key, item in value.items.items()})
    if isinstance(value, Group):
        return set(value.items)
    if isinstance(value, View):
        return getattr(known(value.owner), value.what)()
    raise Unsupported(f"a Python value is needed here, and this is {describe(value)}")


def as_key(value: Value) -> Any:
    """The object that a value stands for, as a key of a dict or an item of a set: also a module, by its identity."""
    if isinstance(value, Known) and isinstance(value.value, Module) and type(value.value).__hash__ is object.__hash__:
        return value.value
    return known(value)


def is_known(value: Value) -> bool:
    """Whether no tensor, function, iterator or user's object is part of a value."""
    if isinstance(value, Sequence):
        return all(map(is_known, value.items))
    if isinstance(value, View):
        return is_known(value.owner)
    if isinstance(value, Mapping):
        return value.factory is None and all(map(is_known, value.items.values()))
    if isinstance(value, Known):
        return isinstance(value.value, PLAIN_OBJECTS)
    return isinstance(value, Constant | Group | SymbolValue | SymbolSlice)


def has_tensor(value: Any) -> bool:
    """Whether a tensor is part of a value."""
    if isinstance(value, Sequence):
        return any(map(has_tensor, value.items))
    if isinstance(value, Mapping):
        return any(map(has_tensor, value.items.values()))
    return isinstance(value, TensorValue)


def mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    """The object that a value stands for, with each tensor and each symbol converted."""
    if isinstance(value, TensorValue | SymbolValue):
        return convert(value)
    if isinstance(value, SymbolSlice):
        return slice(*[mapped(part, convert) for part in value.parts])
    if isinstance(value, Sequence):
        items = [mapped(item, convert) for item in value.items]
        return value.kind(*items) if hasattr(value.kind, "_fields") else value.kind(items)
    if isinstance(value, Mapping) and value.factory is None:
        return value.kind({key: mapped(item, convert) for key, item in value.items.items()})
    return known(value)


def plain_kind(kind: type[Any]) -> type[Any]:
    """The class of a part or a sum of sequences of a class: a list, a torch.Size, or a tuple."""
    return kind if kind in (list, Size) else tuple


def describe(value: Any) -> str:
    """What a value is, for a message."""
    if isinstance(value, TensorValue | SymbolValue):
        return "a tensor" if isinstance(value, TensorValue) else f"the number {value.example}"
    if isinstance(value, Group):
        return "a set"
    if isinstance(value, Function):
        return f"the function {value.code.co_name}"
    if isinstance(value, Known) and not isinstance(value.value, PLAIN_OBJECTS):
        return f"an object of the class {type(value.value).__name__}"
    if isinstance(value, Constant | Known):
        return f"{type(value.value).__name__} {value.value!r}"[:80]
    return NAMES.get(type(value), "a method")


NAMES: Final[dict[type[Any], str]] = {
    Sequence: "a sequence", Mapping: "a dict", View: "a view of a dict", Context: "a mode of the library",
    Partial: "a partial function", Iterating: "an iterator", Generator: "a generator", Super: "super()",
    Traceback: "a traceback",
}  # fmt: skip
