"""How do values become objects again, and changes real, when the graph has run?

A function is written as Python text. It gets the graph's results, the arguments and the globals; fetches what came
from outside before anything is changed; makes the new objects, each once; and carries the changes out.

Mirrors: torch/_dynamo/codegen.py (PyCodegen), torch/_dynamo/side_effects.py (codegen_update_mutated)
Differs: Python text instead of bytecode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CellType, FunctionType, MethodType
from typing import Any, NamedTuple

from glasstorch.autograd.modes import _set_grad_enabled, is_grad_enabled, set_grad_enabled
from glasstorch.compiler.bytecode.blocks import block_of
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.side_effects import Attributes
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Cell,
    CellValue,
    Constant,
    Context,
    Function,
    Group,
    Known,
    Mapping,
    Method,
    Partial,
    SymbolValue,
    TensorValue,
    Value,
    describe,
)
from glasstorch.compiler.bytecode.values import Sequence as Items
from glasstorch.fx.proxy import Proxy
from glasstorch.nn.modules.module import Module


class Replay(NamedTuple):
    """What the graph has to return, and the text and the function that make objects of it."""

    results: list[Proxy]
    text: str
    run: Callable[[Sequence[Any], dict[str, Any], dict[str, Any]], list[Any]]  # of results, arguments and globals


def replaying(recorder: Recorder, values: list[Value]) -> Replay:
    """Carry out all changes up to now, and make the objects that these values stand for."""
    return _Writer(recorder).replay(values)


class _Writer:
    """Writes the function."""

    def __init__(self, recorder: Recorder) -> None:
        self.guards, self.effects = recorder.guards, recorder.effects
        self.generators = recorder.generators
        self.recorder = recorder
        self.grad_enabled_before = recorder.grad_enabled
        self.results: list[Proxy] = []
        self.numbers: dict[Any, int] = {}  # of results, by node
        self.names: dict[Any, str] = {}  # of variables, by what they hold
        self.kept: list[Any] = []  # so that the numbers of objects in `names` stay theirs
        self.fetching: list[str] = []
        self.making: list[str] = []
        self.changing: list[str] = []

    def replay(self, values: list[Value]) -> Replay:
        given = [self.name(value) for value in values]
        effects = self.effects
        if any(frame.would_run_when_dropped() for frame in self.generators):
            raise Unsupported("a generator that is not at its end and has something left to do when it is dropped")
        effects.guard_aliases()
        for container in list(effects.containers.values()):
            self._fill(container)
        for found in list(effects.attributes.values()):
            if found.items and not effects.is_new(found.owner):
                self._set_attributes(found)
        for names, written in effects.names.values():
            table = self.guards.name_of(names)
            for name, new in written.items():
                self.changing.append(
                    f"{table}.pop({name!r}, None)" if new is None else f"{table}[{name!r}] = {self.name(new)}"
                )
        for cell in list(effects.cells.values()):
            if cell.is_changed:
                self._set_cell(self.cell(cell), cell)
        if is_grad_enabled() != self.grad_enabled_before:
            self.changing.append(f"{self.guards.name_of(_set_grad_enabled)}({is_grad_enabled()})")
        returned = f"return [{', '.join(given)}]"
        lines = [*self.fetching, *self.making, *self.changing, returned]
        text = "def replay(found, L, G):\n" + "".join(f"    {line}\n" for line in lines)
        scope = self.guards.names.copy()
        exec(text, scope)
        return Replay(self.results, text, scope["replay"])

    def _variable(self, key: Any, lines: list[str], text: str) -> str:
        name = self.names[key] = f"v{len(self.names)}"
        lines.append(f"{name} = {text}")
        return name

    def name(self, value: Value) -> str:
        """The variable that holds the object of a value, or the text of a constant."""
        if isinstance(value, SymbolValue) and self.recorder.symbols is not None:
            return self.fetched(self.recorder.symbols.text(value.example))
        if isinstance(value, Constant):
            obj = value.value
            if obj is None or type(obj) in (bool, int, str):
                return repr(obj)
            return self.guards.name_of(obj)
        if value.source is not None and not isinstance(value, Method):
            return self.fetched(value.source.expression)
        if isinstance(value, TensorValue):
            return self._tensor(value)
        if isinstance(value, CellValue):
            return self.cell(value.cell)
        if isinstance(value, Known) and not self.effects.is_new(value):
            return self.guards.name_of(value.value)
        key = id(value.value) if isinstance(value, Known) else id(value)
        self.kept.append(value)
        return self.names[key] if key in self.names else self._made(value, key)

    def fetched(self, expression: str) -> str:
        """The variable that holds what is fetched from outside."""
        found = self.names.get(expression)
        return found if found is not None else self._variable(expression, self.fetching, expression)

    def _tensor(self, value: TensorValue) -> str:
        node = value.proxy.node
        if node not in self.numbers:
            self.numbers[node] = len(self.results)
            self.results.append(value.proxy)
        return f"found[{self.numbers[node]}]"

    def _made(self, value: Value, key: int) -> str:
        """A new object; what may contain itself is made empty and filled afterwards."""
        if isinstance(value, Items) and value.kind is list:
            name = self._variable(key, self.making, "[]")
            self._fill(value)
            return name
        if isinstance(value, Items):
            parts = ", ".join(map(self.name, value.items))
            kind = self.guards.name_of(value.kind)
            if value.kind is tuple:
                return self._variable(key, self.making, f"({parts},)" if parts else "()")
            spread = hasattr(value.kind, "_fields")
            return self._variable(key, self.making, f"{kind}({parts})" if spread else f"{kind}([{parts}])")
        if isinstance(value, Mapping):
            first = "" if value.factory is None else self.name(value.factory)
            name = self._variable(key, self.making, f"{self.guards.name_of(value.kind)}({first})")
            self._fill(value)
            return name
        if isinstance(value, Group):
            name = self._variable(key, self.making, "set()")
            self._fill(value)
            return name
        if isinstance(value, Known):
            return self._instance(value, key)
        if isinstance(value, Partial):
            args = "".join(f", {self.name(arg)}" for arg in value.args)
            named = ", ".join(f"{name!r}: {self.name(item)}" for name, item in value.kwargs.items())
            function, kind = self.name(value.function), self.guards.name_of(functools.partial)
            return self._variable(key, self.making, f"{kind}({function}{args}, **{{{named}}})")
        if isinstance(value, Function):
            return self._function(value, key)
        if isinstance(value, Context):
            return self._context(value, key)
        if isinstance(value, Method):
            return self._method(value, key)
        raise Unsupported(f"{describe(value)} as a result")

    def _context(self, value: Context, key: int) -> str:
        """A mode of the library. One whose block the rest of the function enters again is another object there."""
        kind, arguments = block_of(value)
        if value.entered or value in self.recorder.cut_contexts or kind is set_grad_enabled:
            raise Unsupported(f"{describe(value)} as a result")
        given = ", ".join(self.name(Constant(argument)) for argument in arguments)
        return self._variable(key, self.making, f"{self.guards.name_of(kind)}({given})")

    def _fill(self, value: Any) -> None:
        """Give a container its items; one of the outside loses those that it had."""
        name, is_outside = self.name(value), value.source is not None
        lines = self.changing
        if isinstance(value, Group):
            lines += [f"{name}.clear()", f"{name}.update({self.guards.name_of(value.items.copy())})"]
        elif isinstance(value, Items):
            lines.append(f"{name}[:] = [{', '.join(map(self.name, value.items))}]")
        else:
            items = ", ".join(f"({self._key(key)}, {self.name(item)})" for key, item in value.items.items())
            lines += [*([f"{name}.clear()"] if is_outside else []), *([f"{name}.update([{items}])"] if items else [])]

    def _key(self, key: Any) -> str:
        return repr(key) if type(key) in (bool, int, str) or key is None else self.guards.name_of(key)

    def _instance(self, value: Known, key: int) -> str:
        if id(value.value) in self.effects.raised:
            raise Unsupported("an error that was raised, as a result")
        kind = self.guards.name_of(type(value.value))
        found = self.effects.attributes[key]
        args = found.items.get("args") if isinstance(value.value, BaseException) else None
        if isinstance(args, Items):
            spread = "".join(f", {self.name(item)}" for item in args.items)
            name = self._variable(key, self.making, f"{kind}.__new__({kind}{spread})")
        else:
            name = self._variable(key, self.making, f"object.__new__({kind})")
        self._set_attributes(found)
        return name

    def _set_attributes(self, found: Attributes) -> None:
        name = self.name(found.owner)
        store = "setattr" if isinstance(found.owner.value, Module | type) else "object.__setattr__"
        is_new = self.effects.is_new(found.owner)
        for attribute in found.deleted:
            if not is_new and hasattr(found.owner.value, attribute):
                self.changing.append(f"delattr({name}, {attribute!r})")
        for attribute, new in found.items.items():
            if new is not None:
                self.changing.append(f"{store}({name}, {attribute!r}, {self.name(new)})")

    def cell(self, cell: Cell) -> str:
        """The variable that holds Python's cell of a variable."""
        key = ("cell", id(cell))
        if key in self.names:
            return self.names[key]
        self.kept.append(cell)
        if cell.outer is not None:
            return self.guards.name_of(cell.outer) if cell.source is None else self.fetched(cell.source.expression)
        name = self._variable(key, self.making, f"{self.guards.name_of(CellType)}()")
        self._set_cell(name, cell)
        return name

    def _set_cell(self, name: str, cell: Cell) -> None:
        if cell.contents is not None:
            self.changing.append(f"{name}.cell_contents = {self.name(cell.contents)}")
        elif cell.outer is not None:
            self.changing.append(f"del {name}.cell_contents")

    def _function(self, value: Function, key: int) -> str:
        kind, code, names = map(self.guards.name_of, (FunctionType, value.code, value.names))
        defaults = "".join(f"{self.name(item)}, " for item in value.defaults)
        cells = "".join(f"{self.cell(cell)}, " for cell in value.closure)
        closure = f"({cells})" if cells else "None"
        text = f"{kind}({code}, {names}, {value.code.co_name!r}, ({defaults}) or None, {closure})"
        name = self._variable(key, self.making, text)
        if value.keyword_defaults:
            items = ", ".join(f"{name!r}: {self.name(item)}" for name, item in value.keyword_defaults.items())
            self.changing.append(f"{name}.__kwdefaults__ = {{{items}}}")
        return name

    def _method(self, value: Method, key: int) -> str:
        owner = self.name(value.owner)
        if isinstance(value.function, str):
            return self._variable(key, self.making, f"{owner}.{value.function}")
        text = f"{self.guards.name_of(MethodType)}({self.name(value.function)}, {owner})"
        return self._variable(key, self.making, text)
