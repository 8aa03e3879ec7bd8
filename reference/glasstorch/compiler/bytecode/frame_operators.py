"""What do the instructions of operators, attributes and calls do?

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import EnumMeta
from typing import Any, Final

from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.classes import is_written_in_python
from glasstorch.compiler.bytecode.frame_base import NULL, FrameBase
from glasstorch.compiler.bytecode.instructions import Instruction
from glasstorch.compiler.bytecode.objects import is_users, special
from glasstorch.compiler.bytecode.operations import (
    binary,
    contains,
    delete_item,
    items_of,
    same,
    slice_of,
    store_item,
    subscript,
    truth,
)
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.storing import store_attribute
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    CellValue,
    Constant,
    Function,
    Known,
    Mapping,
    Sequence,
    Super,
    SymbolValue,
    TensorValue,
    Value,
    describe,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made
from glasstorch.nn.modules.container import ModuleList
from glasstorch.nn.modules.container import Sequential as ModuleSequential

BINARY: Final[tuple[Callable[..., Any], ...]] = (  # by the argument of BINARY_OP
    operator.add, operator.and_, operator.floordiv, operator.lshift, operator.matmul, operator.mul, operator.mod,
    operator.or_, operator.pow, operator.rshift, operator.sub, operator.truediv, operator.xor,
    operator.iadd, operator.iand, operator.ifloordiv, operator.ilshift, operator.imatmul, operator.imul, operator.imod,
    operator.ior, operator.ipow, operator.irshift, operator.isub, operator.itruediv, operator.ixor,
)  # fmt: skip
COMPARE: Final = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Operators(FrameBase):
    """Instructions of operators, attributes and calls."""

    def _BINARY_OP(self, i: Instruction) -> None:
        left, right = self._pop(2)
        self.stack.append(binary(self.recorder, BINARY[i.arg], left, right))

    def _BINARY_SUBSCR(self, i: Instruction) -> None:
        value, key = self._pop(2)
        if isinstance(value, Known) and isinstance(value.value, ModuleList | ModuleSequential):
            self.stack.append(subscript(self.recorder, Sequence(list(items_of(self.recorder, value)), list), key))
            return
        if isinstance(value, Known) and isinstance(value.value, type):
            self.stack.append(self._of_class(value, key))
            return
        self.stack.append(subscript(self.recorder, value, key))

    def _of_class(self, value: Known, key: Value) -> Value:
        """An item of a class: a member of an Enum, or a class with parameters."""
        if isinstance(value.value, EnumMeta) or not is_written_in_python(value.value):
            return made(evaluated(operator.getitem, value.value, known(key)))
        raise Unsupported(f"an item of the class {value.value.__name__}")

    def _BINARY_SLICE(self, i: Instruction) -> None:
        self.stack.append(slice_of(self._pop(2)))
        self._BINARY_SUBSCR(i)

    def _STORE_SLICE(self, i: Instruction) -> None:
        self.stack.append(slice_of(self._pop(2)))
        self._STORE_SUBSCR(i)

    def _STORE_SUBSCR(self, i: Instruction) -> None:
        new, value, key = self._pop(3)
        store_item(self.recorder, value, key, new)

    def _DELETE_SUBSCR(self, i: Instruction) -> None:
        delete_item(self.recorder, *self._pop(2))

    def _COMPARE_OP(self, i: Instruction) -> None:
        left, right = self._pop(2)
        self.stack.append(binary(self.recorder, COMPARE[i.value], left, right))

    def _IS_OP(self, i: Instruction) -> None:
        left, right = self._pop(2)
        self.stack.append(Constant(same(self.recorder, left, right) ^ bool(i.arg)))

    def _CONTAINS_OP(self, i: Instruction) -> None:
        item, container = self._pop(2)
        self.stack.append(Constant(contains(self.recorder, container, item) ^ bool(i.arg)))

    def _unary(self, function: Callable[..., Any]) -> None:
        value = self.stack.pop()
        if is_users(value):
            method = special(self.recorder, value, f"__{function.__name__}__")
            if method is None:
                raise Raised(TypeError(f"bad operand type for unary {function.__name__}"))
            self.stack.append(self.caller.call(method, [], {}))
            return
        if isinstance(value, TensorValue):
            self.stack.append(self.recorder.call_function(function, [value], {}))
        elif isinstance(value, SymbolValue) and function is not operator.invert:
            self.stack.append(made(function(value.example)))
        else:
            self.stack.append(made(evaluated(function, known(value))))

    def _UNARY_NEGATIVE(self, i: Instruction) -> None:
        self._unary(operator.neg)

    def _UNARY_POSITIVE(self, i: Instruction) -> None:
        self._unary(operator.pos)

    def _UNARY_INVERT(self, i: Instruction) -> None:
        self._unary(operator.invert)

    def _UNARY_NOT(self, i: Instruction) -> None:
        self.stack.append(Constant(not truth(self.recorder, self.stack.pop())))

    def _LOAD_ATTR(self, i: Instruction) -> None:
        self.stack.append(attribute(self.recorder, self.stack.pop(), i.value))

    def _LOAD_METHOD(self, i: Instruction) -> None:
        self.stack += self._with_null(attribute(self.recorder, self.stack.pop(), i.value))

    def _LOAD_SUPER_ATTR(self, i: Instruction) -> None:
        function, after, owner = self._pop(3)
        if isinstance(function, Known) and function.value is super and isinstance(after, Known):
            found: Value = Super(owner, after.value)
        else:
            found = self.caller.call(function, [after, owner] if i.arg & 2 else [], {})
        self.stack.append(attribute(self.recorder, found, i.value))

    def _LOAD_SUPER_METHOD(self, i: Instruction) -> None:
        self._LOAD_SUPER_ATTR(i)
        self.stack += self._with_null(self.stack.pop())

    def _STORE_ATTR(self, i: Instruction) -> None:
        new, owner = self._pop(2)
        store_attribute(self.recorder, owner, i.value, new)

    def _DELETE_ATTR(self, i: Instruction) -> None:
        store_attribute(self.recorder, self.stack.pop(), i.value, None)

    def _CALL(self, i: Instruction) -> None:
        self._call(i.arg, ())

    def _CALL_KW(self, i: Instruction) -> None:
        self._call(i.arg, i.value)

    def _call(self, count: int, names: tuple[str, ...]) -> None:
        args = self._pop(count)
        kwargs = dict(zip(names, args[len(args) - len(names) :], strict=True))
        args = args[: len(args) - len(names)]
        first, second = self._pop(2)
        function, given = _callee(first, second)
        given = [*given, *args]
        if isinstance(function, Known) and function.value is super and len(given) in (0, 2) and not names:
            self.stack.append(self._super(*given))
            return
        self.stack.append(self.caller.call(function, given, kwargs))

    def _super(self, after: Value | None = None, owner: Value | None = None) -> Value:
        """What `super()` gives; without arguments it looks into the function that it is called in."""
        if owner is not None and isinstance(after, Known):
            return Super(owner, after.value)
        first = self.code.co_varnames[0]
        owner = self.cells[first].contents if first in self.cells else self.variables.get(first)
        after = self.cells["__class__"].contents if "__class__" in self.cells else None
        if owner is None or not isinstance(after, Known):
            raise Unsupported("super() without arguments here")
        return Super(owner, after.value)

    def _CALL_FUNCTION_EX(self, i: Instruction) -> None:
        kwargs = self.stack.pop() if i.arg & 1 else Mapping({})
        args = list(items_of(self.recorder, self.stack.pop()))
        first, second = self._pop(2)
        function, _ = _callee(first, second)
        if not isinstance(kwargs, Mapping):
            raise Unsupported(f"keyword arguments that are {describe(kwargs)}")
        self.stack.append(self.caller.call(function, args, dict(kwargs.items)))

    def _MAKE_FUNCTION(self, i: Instruction) -> None:
        code = known(self.stack.pop())
        closure = self.stack.pop() if i.arg & 8 else Sequence([], tuple)
        if i.arg & 4:
            self.stack.pop()  # annotations
        keywords = self.stack.pop() if i.arg & 2 else Mapping({})
        defaults = self.stack.pop() if i.arg & 1 else Sequence([], tuple)
        if not isinstance(closure, Sequence) or not isinstance(defaults, Sequence) or not isinstance(keywords, Mapping):
            raise Unsupported(f"the function {code.co_name}, whose defaults are {describe(defaults)}")
        cells = tuple(item.cell for item in closure.items if isinstance(item, CellValue))
        made_ = Function(code, self.function.names, tuple(defaults.items), dict(keywords.items), cells)
        self.stack.append(made_)

    def _SET_FUNCTION_ATTRIBUTE(self, i: Instruction) -> None:
        given, function = self._pop(2)
        assert isinstance(function, Function)
        if i.arg == 8 and isinstance(given, Sequence):
            function.closure = tuple(item.cell for item in given.items if isinstance(item, CellValue))
        elif i.arg == 2 and isinstance(given, Mapping):
            function.keyword_defaults = dict(given.items)
        elif i.arg == 1 and isinstance(given, Sequence):
            function.defaults = tuple(given.items)
        elif i.arg != 4:  # annotations
            raise Unsupported(f"the function {function.code.co_name}, whose defaults are {describe(given)}")
        self.stack.append(function)


def _callee(first: Value, second: Value) -> tuple[Value, list[Value]]:
    """What is called, and the object of a method, if it stands beside it."""
    if first is NULL:
        return second, []
    return first, [] if second is NULL else [second]
