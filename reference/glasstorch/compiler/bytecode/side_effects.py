"""What has the program changed that outlives the capture, and what did it make?

A program that is captured changes nothing at once: a list that was passed in keeps its items, while the value that
stands for it gets new ones. What was changed is noted here, and is carried out when the graph has run.

Mirrors: torch/_dynamo/side_effects.py
Differs: the state at the end is stored, as in PyTorch, but by Python text (`rebuild`) instead of bytecode.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Cell, Group, Known, Mapping, Sequence, Value, describe
from glasstorch.compiler.guards import Guards

V = TypeVar("V", bound=Value)
Container = Sequence | Mapping | Group


@dataclass(eq=False)
class Attributes:
    """What the program has set of one object; None stands for an attribute that it has deleted."""

    owner: Known
    items: dict[str, Value | None] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)  # those that were deleted at some time
    looked_at: bool = False  # whether the program has its `__dict__`


class SideEffects:
    """The changes of one capture, and the objects of the outside that it knows."""

    def __init__(self, guards: Guards) -> None:
        self.guards = guards
        self.outside: dict[int, Value] = {}  # by the number of the object
        self.kept: list[Any] = []  # so that no other object gets such a number
        self.containers: dict[int, Container] = {}  # those of the outside that were changed
        self.attributes: dict[int, Attributes] = {}  # by the number of the object
        self.names: dict[int, tuple[dict[str, Any], dict[str, Value | None]]] = {}  # globals that were set
        self.cells: dict[int, Cell] = {}  # the variables of outer functions, by the number of Python's cell
        self.new: dict[int, Known] = {}  # objects that the program made
        self.raised: set[int] = set()  # the errors among them that were raised

    # Objects of the outside --------------------------------------------------------------------------------------

    def known_as(self, obj: Any, source: Source) -> Value | None:
        """The value of an object of the outside that was reached before, by this way or by another."""
        found = self.outside.get(id(obj))
        if found is not None and found.source is not None and found.source != source:
            place, first = source.expression, found.source.expression
            self.guards.add("DUPLICATE_INPUT", place, f"{place} is {first}")
        return found

    def remember(self, obj: Any, value: V) -> V:
        """Note which value stands for an object of the outside."""
        self.outside[id(obj)] = value
        self.kept.append(obj)
        return value

    # Changes -----------------------------------------------------------------------------------------------------

    def change(self, value: Container) -> None:
        """Note that a container is about to be changed."""
        if isinstance(value, Mapping) and value.frozen:
            raise Unsupported(f"a change of {value.frozen}")
        if isinstance(value, Sequence) and value.kind is not list:
            raise Unsupported(f"a change of {describe(value)} of the class {value.kind.__name__}")
        if value.source is not None:
            self.containers[id(value)] = value

    def make(self, kind: type[Any], obj: Any) -> Known:
        """The value of an object of a class that the program makes, with an empty one in its place."""
        found = Known(obj)
        self.new[id(obj)] = found
        self.attributes[id(obj)] = Attributes(found)
        return found

    def set_args(self, error: Known, args: list[Value]) -> None:
        """Set what an error was made with."""
        self.attributes_of(error).items["args"] = Sequence(args, tuple)

    def is_new(self, value: Known) -> bool:
        """Whether the program has made the object."""
        return id(value.value) in self.new

    def attributes_of(self, value: Known) -> Attributes:
        """What the program has set of an object, to be read or changed."""
        return self.attributes.setdefault(id(value.value), Attributes(value))

    def read(self, value: Known, name: str) -> Value | None:
        """An attribute that the program has set; AttributeError if it has deleted it."""
        found = self.attributes.get(id(value.value))
        if found is None or name not in found.items:
            return None
        if found.items[name] is None:
            raise AttributeError(f"{type(value.value).__name__!r} object has no attribute {name!r}")
        return found.items[name]

    def write(self, value: Known, name: str, new: Value | None) -> None:
        """Set an attribute of an object, or delete it."""
        found = self.attributes_of(value)
        if found.looked_at:
            raise Unsupported(f"a change of {name} of {describe(value)}, whose __dict__ the program has")
        if new is None:
            found.deleted.add(name)
            if self.is_new(value):
                del found.items[name]
                return
        if name in found.deleted:
            found.items.pop(name, None)  # it becomes the last one again
        found.items[name] = new

    def read_global(self, names: dict[str, Any], name: str) -> Value | None:
        """A global name that the program has set; NameError if it has deleted it."""
        found = self.names.get(id(names), (names, {}))[1]
        if name in found and found[name] is None:
            raise NameError(f"name {name!r} is not defined")
        return found.get(name)

    def write_global(self, names: dict[str, Any], name: str, new: Value | None) -> None:
        """Set a global name, or delete it."""
        self.names.setdefault(id(names), (names, {}))[1][name] = new

    @property
    def is_empty(self) -> bool:
        """Whether nothing that lives outside was changed."""
        cells = any(cell.is_changed for cell in self.cells.values())
        objects = any(found.items and not self.is_new(found.owner) for found in self.attributes.values())
        return not (self.containers or self.names or cells or objects)

    def guard_aliases(self) -> None:
        """Guard that what was changed is not at the same time another object that the program knows."""
        changed: list[Value] = [*self.containers.values()]
        changed += [found.owner for found in self.attributes.values() if found.items and not self.is_new(found.owner)]
        for value in changed:
            for other in self.outside.values():
                if other is value or type(other) is not type(value) or value.source is None or other.source is None:
                    continue
                if isinstance(value, Known) and isinstance(other, Known) and not _may_be_one(value, other):
                    continue
                first, second = sorted((value.source.expression, other.source.expression))
                self.guards.add("NO_ALIASING", first, f"{first} is not {second}")


def _may_be_one(value: Known, other: Known) -> bool:
    """Whether two objects of one capture may be the same in another call."""
    return type(value.value) is type(other.value) and value.value is not other.value
