"""How are the instructions of one function executed symbolically?

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase)
Differs: CPython 3.11 only. A branch on a tensor, a `with` block, a `try` block and a generator are refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from glasstorch.compiler.bytecode.attributes import attribute, store_attribute
from glasstorch.compiler.bytecode.builtins import binary, contains, delete_item, items_of, store_item, subscript
from glasstorch.compiler.bytecode.calls import Caller, bind
from glasstorch.compiler.bytecode.instructions import Instruction, instructions_of
from glasstorch.compiler.bytecode.raising import Raised, evaluated, of_the_program
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Cell,
    Constant,
    Function,
    Group,
    Iterating,
    Known,
    Mapping,
    Sequence,
    TensorValue,
    Value,
    View,
    describe,
    known,
)
from glasstorch.compiler.bytecode.wrapping import BY_IDENTITY, made, wrap
from glasstorch.nn.modules.container import ModuleList
from glasstorch.nn.modules.container import Sequential as ModuleSequential

DEEPEST: Final = 100  # calls inside calls
BINARY: Final[tuple[Callable[..., Any], ...]] = (  # by the argument of BINARY_OP
    operator.add, operator.and_, operator.floordiv, operator.lshift, operator.matmul, operator.mul, operator.mod,
    operator.or_, operator.pow, operator.rshift, operator.sub, operator.truediv, operator.xor,
    operator.iadd, operator.iand, operator.ifloordiv, operator.ilshift, operator.imatmul, operator.imul, operator.imod,
    operator.ior, operator.ipow, operator.irshift, operator.isub, operator.itruediv, operator.ixor,
)  # fmt: skip
COMPARE: Final = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
NULL: Final = Constant(None)  # what PUSH_NULL pushes: told from others by identity


class Frame:
    """One function that is executed symbolically: its variables, its stack, and the instruction that is next."""

    def __init__(
        self, recorder: Recorder, function: Function, variables: dict[str, Value], outermost: bool, depth: int = 0
    ) -> None:
        self.recorder = recorder
        self.function = function
        self.code = function.code
        self.variables = variables
        self.outermost = outermost  # whether its globals are those that guards can look into
        self.depth = depth
        self.cells: dict[str, Cell] = {}
        self.stack: list[Value] = []
        self.keyword_names: tuple[str, ...] = ()
        self.next = 0
        self.caller = Caller(recorder, self._inline)
        recorder.call = self.caller.call

    def run(self) -> Value:
        """What the function returns."""
        instructions = instructions_of(self.code)
        while True:
            instruction = instructions[self.next]
            self.next += 1
            execute = getattr(self, f"_{instruction.name}", None)
            where = f"{self.code.co_filename}:{instruction.line} in {self.code.co_name}"
            if execute is None:
                raise Unsupported(f"the instruction {instruction.name}", where)
            if instruction.name == "RETURN_VALUE":
                return self.stack.pop()
            try:
                execute(instruction)
            except Unsupported as error:
                raise error.at(where) from error

    def _inline(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if self.depth >= DEEPEST:
            raise Unsupported(f"more than {DEEPEST} calls inside each other")
        if function.code.co_flags & 0x2A0:  # a generator or a coroutine
            raise Unsupported(f"{function.code.co_name}, which is a generator")
        variables = bind(function, args, kwargs)
        return Frame(self.recorder, function, variables, False, self.depth + 1).run()

    def _pop(self, count: int) -> list[Value]:
        if not count:
            return []
        found = self.stack[-count:]
        del self.stack[-count:]
        return found

    # Variables ---------------------------------------------------------------------------------------------------

    def _RESUME(self, i: Instruction) -> None: ...

    def _MAKE_CELL(self, i: Instruction) -> None:
        self.cells[i.value] = Cell(self.variables.get(i.value))

    def _COPY_FREE_VARS(self, i: Instruction) -> None:
        self.cells.update(zip(self.code.co_freevars, self.function.closure, strict=True))

    def _LOAD_FAST(self, i: Instruction) -> None:
        if i.value not in self.variables:
            raise Unsupported(f"the variable {i.value} is read before it is set")
        self.stack.append(self.variables[i.value])

    def _STORE_FAST(self, i: Instruction) -> None:
        self.variables[i.value] = self.stack.pop()

    def _DELETE_FAST(self, i: Instruction) -> None:
        del self.variables[i.value]

    def _LOAD_CLOSURE(self, i: Instruction) -> None:
        self.stack.append(_CellValue(self.cells[i.value]))

    def _LOAD_DEREF(self, i: Instruction) -> None:
        contents = self.cells[i.value].contents
        if contents is None:
            raise Unsupported(f"the variable {i.value} is read before it is set")
        self.stack.append(contents)

    def _STORE_DEREF(self, i: Instruction) -> None:
        cell = self.cells[i.value]
        cell.contents, cell.is_changed = self.stack.pop(), True

    def _DELETE_DEREF(self, i: Instruction) -> None:
        self._LOAD_DEREF(i)
        cell = self.cells[i.value]
        cell.contents, cell.is_changed = None, True
        self.stack.pop()

    def _LOAD_CONST(self, i: Instruction) -> None:
        self.stack.append(Known(i.value) if hasattr(i.value, "co_code") else made(i.value))

    def _LOAD_GLOBAL(self, i: Instruction) -> None:
        if i.arg & 1:
            self.stack.append(NULL)
        names = self.function.names
        with of_the_program():
            written = self.recorder.effects.read_global(names, i.value)
        if written is not None:
            self.stack.append(written)
            return
        if i.value in names:
            found = names[i.value]
            if self.outermost:
                self.stack.append(wrap(self.recorder, found, Source.of_global(i.value)))
            else:
                self.stack.append(self._of_other_module(i.value, found))
            return
        if self.outermost:
            self.recorder.guards.add("DICT_NOT_CONTAINS", "G", f"{i.value!r} not in G")
        builtins = names.get("__builtins__", __builtins__)
        table = builtins if isinstance(builtins, dict) else vars(builtins)
        if i.value not in table:
            raise Raised(NameError(f"name {i.value!r} is not defined"))
        self.stack.append(made(table[i.value]))

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

    # The stack ---------------------------------------------------------------------------------------------------

    def _POP_TOP(self, i: Instruction) -> None:
        self.stack.pop()

    def _PUSH_NULL(self, i: Instruction) -> None:
        self.stack.append(NULL)

    def _COPY(self, i: Instruction) -> None:
        self.stack.append(self.stack[-i.arg])

    def _SWAP(self, i: Instruction) -> None:
        self.stack[-1], self.stack[-i.arg] = self.stack[-i.arg], self.stack[-1]

    def _RETURN_VALUE(self, i: Instruction) -> None: ...

    # Operators ---------------------------------------------------------------------------------------------------

    def _BINARY_OP(self, i: Instruction) -> None:
        left, right = self._pop(2)
        self.stack.append(binary(self.recorder, BINARY[i.arg], left, right))

    def _BINARY_SUBSCR(self, i: Instruction) -> None:
        value, key = self._pop(2)
        if isinstance(value, Known) and isinstance(value.value, ModuleList | ModuleSequential):
            self.stack.append(subscript(self.recorder, Sequence(list(items_of(self.recorder, value)), list), key))
            return
        if isinstance(value, Known) and hasattr(type(value.value), "__getitem__"):
            self.stack.append(self.caller.call(attribute(self.recorder, value, "__getitem__"), [key], {}))
            return
        self.stack.append(subscript(self.recorder, value, key))

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
        self.stack.append(Constant(self._is_same(left, right) ^ bool(i.arg)))

    def _is_same(self, left: Value, right: Value) -> bool:
        """Whether two values stand for one object, where the guards say so of each call."""
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Constant) and isinstance(one.value, bool | None | type(...) | Enum):
                return isinstance(other, Constant) and other.value is one.value
            if isinstance(one, Known) and isinstance(one.value, BY_IDENTITY):
                return isinstance(other, Known) and other.value is one.value
        if left is right:
            return True
        objects = (Known, TensorValue, Sequence, Mapping, Group)
        if isinstance(left, objects) and isinstance(right, objects) and type(left) is not type(right):
            return False
        if left.source is not None and right.source is not None:
            return self._is_same_outside(left, right, left.source, right.source)
        effects = self.recorder.effects
        if isinstance(left, Known) and isinstance(right, Known) and (effects.is_new(left) or effects.is_new(right)):
            return left.value is right.value
        if all(isinstance(value, Mapping | Group) or _is_list(value) for value in (left, right)):
            return False  # at least one of them is new
        raise Unsupported(f"whether {describe(left)} is {describe(right)}: only their values are known")

    def _is_same_outside(self, left: Value, right: Value, one: Source, other: Source) -> bool:
        if not all(
            isinstance(value, Known | TensorValue | Mapping | Group) or _is_list(value) for value in (left, right)
        ):
            raise Unsupported(f"whether {describe(left)} is {describe(right)}: only their values are known")
        found = isinstance(left, Known) and isinstance(right, Known) and left.value is right.value
        first, second = one.expression, other.expression
        self.recorder.guards.add("ID_MATCH", first, f"{first} is {'' if found else 'not '}{second}")
        return found

    def _CONTAINS_OP(self, i: Instruction) -> None:
        item, container = self._pop(2)
        self.stack.append(Constant(contains(self.recorder, container, item) ^ bool(i.arg)))

    def _unary(self, function: Callable[..., Any]) -> None:
        value = self.stack.pop()
        if isinstance(value, TensorValue):
            self.stack.append(self.recorder.call_function(function, [value], {}))
        else:
            self.stack.append(made(evaluated(function, known(value))))

    def _UNARY_NEGATIVE(self, i: Instruction) -> None:
        self._unary(operator.neg)

    def _UNARY_POSITIVE(self, i: Instruction) -> None:
        self._unary(operator.pos)

    def _UNARY_INVERT(self, i: Instruction) -> None:
        self._unary(operator.invert)

    def _UNARY_NOT(self, i: Instruction) -> None:
        self.stack.append(Constant(not self._truth(self.stack.pop())))

    # Attributes and calls ----------------------------------------------------------------------------------------

    def _LOAD_ATTR(self, i: Instruction) -> None:
        self.stack.append(attribute(self.recorder, self.stack.pop(), i.value))

    def _LOAD_METHOD(self, i: Instruction) -> None:
        found = attribute(self.recorder, self.stack.pop(), i.value)
        self.stack += [NULL, found]

    def _STORE_ATTR(self, i: Instruction) -> None:
        new, owner = self._pop(2)
        store_attribute(self.recorder, owner, i.value, new)

    def _DELETE_ATTR(self, i: Instruction) -> None:
        store_attribute(self.recorder, self.stack.pop(), i.value, None)

    def _KW_NAMES(self, i: Instruction) -> None:
        self.keyword_names = self.code.co_consts[i.arg]

    def _PRECALL(self, i: Instruction) -> None: ...

    def _CALL(self, i: Instruction) -> None:
        args = self._pop(i.arg)
        names, self.keyword_names = self.keyword_names, ()
        kwargs = dict(zip(names, args[len(args) - len(names) :], strict=True))
        args = args[: len(args) - len(names)]
        first, second = self._pop(2)
        function, given = (second, args) if first is NULL else (first, [second, *args])
        self.stack.append(self.caller.call(function, given, kwargs))

    def _CALL_FUNCTION_EX(self, i: Instruction) -> None:
        kwargs = self.stack.pop() if i.arg & 1 else Mapping({})
        args = list(items_of(self.recorder, self.stack.pop()))
        function = self.stack.pop()
        if self.stack and self.stack[-1] is NULL:
            self.stack.pop()
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
        cells = tuple(item.cell for item in closure.items)  # type: ignore[attr-defined]
        self.stack.append(
            Function(code, self.function.names, tuple(defaults.items), dict(keywords.items), cells)  # type: ignore[attr-defined]
        )

    # Containers --------------------------------------------------------------------------------------------------

    def _BUILD_TUPLE(self, i: Instruction) -> None:
        self.stack.append(Sequence(self._pop(i.arg), tuple))

    def _BUILD_LIST(self, i: Instruction) -> None:
        self.stack.append(Sequence(self._pop(i.arg), list))

    def _BUILD_SET(self, i: Instruction) -> None:
        items = map(known, self._pop(i.arg))
        self.stack.append(Group(evaluated(set, items)))

    def _SET_ADD(self, i: Instruction) -> None:
        item = known(self.stack.pop())
        evaluated(self._container(i.arg).items.add, item)

    def _SET_UPDATE(self, i: Instruction) -> None:
        items = [known(item) for item in items_of(self.recorder, self.stack.pop())]
        evaluated(self._container(i.arg).items.update, items)

    def _BUILD_MAP(self, i: Instruction) -> None:
        items = self._pop(2 * i.arg)
        self.stack.append(Mapping({known(key): item for key, item in zip(items[::2], items[1::2], strict=True)}))

    def _BUILD_CONST_KEY_MAP(self, i: Instruction) -> None:
        keys = known(self.stack.pop())
        self.stack.append(Mapping(dict(zip(keys, self._pop(i.arg), strict=True))))

    def _BUILD_SLICE(self, i: Instruction) -> None:
        self.stack.append(Constant(slice(*map(known, self._pop(i.arg)))))

    def _BUILD_STRING(self, i: Instruction) -> None:
        self.stack.append(Constant("".join(map(known, self._pop(i.arg)))))

    def _FORMAT_VALUE(self, i: Instruction) -> None:
        spec = known(self.stack.pop()) if i.arg & 4 else ""
        convert: Any = {0: lambda x: x, 1: str, 2: repr, 3: ascii}[i.arg & 3]
        self.stack.append(Constant(format(convert(known(self.stack.pop())), spec)))

    def _LIST_APPEND(self, i: Instruction) -> None:
        item = self.stack.pop()
        self._container(i.arg).items.append(item)

    def _LIST_EXTEND(self, i: Instruction) -> None:
        items = self.stack.pop()
        self._container(i.arg).items.extend(items_of(self.recorder, items))

    def _LIST_TO_TUPLE(self, i: Instruction) -> None:
        self.stack.append(Sequence(list(self.stack.pop().items), tuple))  # type: ignore[attr-defined]

    def _MAP_ADD(self, i: Instruction) -> None:
        key, item = self._pop(2)
        self._container(i.arg).items[known(key)] = item

    def _DICT_UPDATE(self, i: Instruction) -> None:
        other = self.stack.pop()
        if not isinstance(other, Mapping):
            raise Unsupported(f"** of {describe(other)}")
        self._container(i.arg).items.update(other.items)

    _DICT_MERGE = _DICT_UPDATE

    def _container(self, depth: int) -> Any:
        return self.stack[-depth]

    def _UNPACK_SEQUENCE(self, i: Instruction) -> None:
        items = list(items_of(self.recorder, self.stack.pop()))
        if len(items) != i.arg:
            few = "not enough" if len(items) < i.arg else "too many"
            got = f", got {len(items)}" if len(items) < i.arg else ""
            raise Raised(ValueError(f"{few} values to unpack (expected {i.arg}{got})"))
        self.stack += reversed(items)

    def _UNPACK_EX(self, i: Instruction) -> None:
        items = list(items_of(self.recorder, self.stack.pop()))
        before, after = i.arg & 0xFF, i.arg >> 8
        middle = Sequence(items[before : len(items) - after], list)
        self.stack += reversed([*items[:before], middle, *items[len(items) - after :]])

    # Loops and branches ------------------------------------------------------------------------------------------

    def _GET_ITER(self, i: Instruction) -> None:
        self.stack.append(Iterating(items_of(self.recorder, self.stack.pop())))

    def _FOR_ITER(self, i: Instruction) -> None:
        iterator = self.stack[-1]
        assert isinstance(iterator, Iterating)
        first = next(iterator.items, None)
        if first is None:
            self.stack.pop()
            self.next = i.target
        else:
            self.stack.append(first)

    def _JUMP_FORWARD(self, i: Instruction) -> None:
        self.next = i.target

    _JUMP_BACKWARD = _JUMP_BACKWARD_NO_INTERRUPT = _JUMP_FORWARD

    def _truth(self, value: Value) -> bool:
        """Whether a value is true, which must not depend on a tensor's elements."""
        if isinstance(value, TensorValue):
            raise Unsupported("a branch on a tensor, whose elements are not known while the program is captured")
        if isinstance(value, Sequence | Mapping | Group):
            return bool(value.items)
        if isinstance(value, View):
            return bool(value.owner.items)
        if isinstance(value, Constant):
            return bool(value.value)
        kind = type(value.value) if isinstance(value, Known) else None
        if kind is not None and not hasattr(kind, "__bool__") and not hasattr(kind, "__len__"):
            return True
        raise Unsupported(f"a branch on {describe(value)}")

    def _jump_if(self, i: Instruction, wanted: bool) -> None:
        if self._truth(self.stack.pop()) is wanted:
            self.next = i.target

    def _POP_JUMP_FORWARD_IF_TRUE(self, i: Instruction) -> None:
        self._jump_if(i, True)

    def _POP_JUMP_FORWARD_IF_FALSE(self, i: Instruction) -> None:
        self._jump_if(i, False)

    _POP_JUMP_BACKWARD_IF_TRUE, _POP_JUMP_BACKWARD_IF_FALSE = _POP_JUMP_FORWARD_IF_TRUE, _POP_JUMP_FORWARD_IF_FALSE

    def _is_none(self, value: Value) -> bool:
        return isinstance(value, Constant) and value.value is None

    def _POP_JUMP_FORWARD_IF_NONE(self, i: Instruction) -> None:
        if self._is_none(self.stack.pop()):
            self.next = i.target

    def _POP_JUMP_FORWARD_IF_NOT_NONE(self, i: Instruction) -> None:
        if not self._is_none(self.stack.pop()):
            self.next = i.target

    _POP_JUMP_BACKWARD_IF_NONE = _POP_JUMP_FORWARD_IF_NONE
    _POP_JUMP_BACKWARD_IF_NOT_NONE = _POP_JUMP_FORWARD_IF_NOT_NONE

    def _jump_or_pop(self, i: Instruction, wanted: bool) -> None:
        if self._truth(self.stack[-1]) is wanted:
            self.next = i.target
        else:
            self.stack.pop()

    def _JUMP_IF_TRUE_OR_POP(self, i: Instruction) -> None:
        self._jump_or_pop(i, True)

    def _JUMP_IF_FALSE_OR_POP(self, i: Instruction) -> None:
        self._jump_or_pop(i, False)


def _is_list(value: Value) -> bool:
    return isinstance(value, Sequence) and value.kind is list


class _CellValue(Value):
    """A variable on the stack that a new function will share."""

    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.cell = cell


__all__ = ["Frame"]
