"""What do the instructions do that read and set names: variables, globals, cells, and the stack itself?

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase)
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.frame_base import NULL, FrameBase
from glasstorch.compiler.bytecode.instructions import Instruction
from glasstorch.compiler.bytecode.raising import Raised, of_the_program
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Cell,
    CellValue,
    Known,
    TensorValue,
    Value,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made, wrap


class Names(FrameBase):
    """Instructions on names and on the stack."""

    def _RESUME(self, i: Instruction) -> None: ...

    def _MAKE_CELL(self, i: Instruction) -> None:
        self.cells[i.value] = Cell(self.variables.get(i.value))

    def _COPY_FREE_VARS(self, i: Instruction) -> None:
        self.cells.update(zip(self.code.co_freevars, self.function.closure, strict=True))

    def _LOAD_FAST(self, i: Instruction) -> None:
        if i.value in self.cells:
            self._LOAD_CLOSURE(i)
            return
        if i.value not in self.variables:
            text = f"cannot access local variable {i.value!r} where it is not associated with a value"
            raise Raised(UnboundLocalError(text))
        self.stack.append(self.variables[i.value])

    def _LOAD_FAST_AND_CLEAR(self, i: Instruction) -> None:
        """Set a variable aside, itself if others share it: a comprehension has one of the same name."""
        value = self.variables.get(i.value, NULL)
        if value is not NULL:
            del self.variables[i.value]
        cell = self.cells.pop(i.value, None)
        self.stack.append(value if cell is None else CellValue(cell))

    def _STORE_FAST(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.cells.pop(i.value, None)
        if isinstance(value, CellValue):
            self.cells[i.value] = value.cell
        elif value is not NULL:
            self.variables[i.value] = self._named(value, i.value)
        elif i.value in self.variables:
            del self.variables[i.value]

    def _named(self, value: Value, name: str) -> Value:
        """A value; the node of a tensor gets the name of the first variable that holds it."""
        if isinstance(value, TensorValue) and not value.is_named:
            value.proxy.node._rename(name)
            value.is_named = True
        return value

    def _DELETE_FAST(self, i: Instruction) -> None:
        self._LOAD_FAST(i)
        self.stack.pop()
        del self.variables[i.value]

    def _LOAD_CLOSURE(self, i: Instruction) -> None:
        self.stack.append(CellValue(self.cells[i.value]))

    def _LOAD_DEREF(self, i: Instruction) -> None:
        contents = self.cells[i.value].contents
        if contents is None and i.value in self.code.co_freevars:
            text = f"cannot access free variable {i.value!r} where it is not associated with a value in enclosing scope"
            raise Raised(NameError(text))
        if contents is None:
            text = f"cannot access local variable {i.value!r} where it is not associated with a value"
            raise Raised(UnboundLocalError(text))
        self.stack.append(contents)

    def _STORE_DEREF(self, i: Instruction) -> None:
        cell = self.cells[i.value]
        cell.contents, cell.is_changed = self.stack.pop(), True
        if i.value in self.code.co_cellvars:
            self._named(cell.contents, i.value)

    def _DELETE_DEREF(self, i: Instruction) -> None:
        self._LOAD_DEREF(i)
        cell = self.cells[i.value]
        cell.contents, cell.is_changed = None, True
        self.stack.pop()

    def _LOAD_CONST(self, i: Instruction) -> None:
        self.stack.append(Known(i.value) if hasattr(i.value, "co_code") else made(i.value))

    def _LOAD_GLOBAL(self, i: Instruction) -> None:
        found = self._global(i)
        self.stack += self._with_null(found) if i.arg & 1 else [found]

    def _global(self, i: Instruction) -> Value:
        names = self.function.names
        with of_the_program():
            written = self.recorder.effects.read_global(names, i.value)
        if written is not None:
            return written
        if i.value in names:
            found = names[i.value]
            if self.outermost:
                return wrap(self.recorder, found, Source.of_global(i.value))
            return self._of_other_module(i.value, found)
        builtins = names.get("__builtins__", __builtins__)
        table = builtins if isinstance(builtins, dict) else vars(builtins)
        if i.value not in table:
            if self.outermost:
                self.recorder.guards.add("DICT_NOT_CONTAINS", "G", f"{i.value!r} not in G")
            raise Raised(NameError(f"name {i.value!r} is not defined"))
        if self.outermost:
            self.recorder.guards.builtin(i.value, table)
        return made(table[i.value])

    def _STORE_GLOBAL(self, i: Instruction) -> None:
        self.recorder.effects.write_global(self.function.names, i.value, self.stack.pop())

    def _DELETE_GLOBAL(self, i: Instruction) -> None:
        names = self.function.names
        with of_the_program():
            if self.recorder.effects.read_global(names, i.value) is None and i.value not in names:
                raise NameError(f"name {i.value!r} is not defined")
        self.recorder.effects.write_global(names, i.value, None)

    def _of_other_module(self, name: str, found: Any) -> Value:
        """A global of a function of another module: a guard looks it up through that function's globals."""
        if self.function.names is self.recorder.names:
            return wrap(self.recorder, found, Source.of_global(name))
        return wrap(self.recorder, found, Source(self.recorder.guards.name_of(self.function.names)).item(name))

    def _POP_TOP(self, i: Instruction) -> None:
        self.stack.pop()

    def _PUSH_NULL(self, i: Instruction) -> None:
        self.stack.append(NULL)

    def _COPY(self, i: Instruction) -> None:
        self.stack.append(self.stack[-i.arg])

    def _SWAP(self, i: Instruction) -> None:
        self.stack[-1], self.stack[-i.arg] = self.stack[-i.arg], self.stack[-1]

    def _RETURN_VALUE(self, i: Instruction) -> None: ...

    def _IMPORT_NAME(self, i: Instruction) -> None:
        level, wanted = map(known, self._pop(2))
        names = self.function.names
        name = importlib.util.resolve_name("." * level + i.value, names.get("__package__")) if level else i.value
        if name not in sys.modules:
            raise Unsupported(f"the import of {name}, which was not imported before")
        self.stack.append(Known(sys.modules[name if wanted else name.partition(".")[0]]))

    def _IMPORT_FROM(self, i: Instruction) -> None:
        self.stack.append(attribute(self.recorder, self.stack[-1], i.value))
