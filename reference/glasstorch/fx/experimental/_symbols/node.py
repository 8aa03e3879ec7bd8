"""What does arithmetic with a symbol give?

Mirrors: torch/fx/experimental/sym_node.py
Differs: one table says what each operator is, in Python and in sympy. A node is given both operands as they are.

A symbol is computed with as the number that it stands for: each result is another symbol, whose node has the
expression, and the number for the sizes that the program was given (its hint). While `make_fx` records, the mode is
told of each result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import sympy

from glasstorch.core.symbols import SymBool, SymFloat, SymInt
from glasstorch.dispatch import mode_stack
from glasstorch.dispatch.mode_stack import _TorchDispatchModeKey
from glasstorch.fx._names import at
from glasstorch.fx.experimental._symbols import functions as written

Kind = type
Text = str  # which is the name of a method below
PROXY: Final = _TorchDispatchModeKey.PROXY
WRAPPERS: Final = {int: SymInt, float: SymFloat, bool: SymBool}
PLAIN: Final = {SymInt: int, SymFloat: float, SymBool: bool, int: int, float: float, bool: bool}


class Operation(NamedTuple):
    """One operator: in Python, in sympy, and the type of its result; None for that of its operands."""

    python: Callable[..., Any] | str  # a path below `torch` for a function of its own
    sympy: Callable[..., Any]
    result: Kind | None = None
    only_of: Kind | None = None  # the type that both operands must have, where another means nothing
    rounds: bool = False  # to an int, which an int is

    @property
    def function(self) -> Callable[..., Any]:
        """The function that a graph calls."""
        return at(self.python) if isinstance(self.python, str) else self.python


def _if_else(condition: Any, then: Any, otherwise: Any) -> Any:
    return sympy.Piecewise((then, condition), (otherwise, True))


def _is_whole(a: Any) -> Any:
    return sympy.Eq(written.ToFloat(written.FloorToInt(a)), a)


# By PyTorch's names. `mod` is in SymNode._expression: it asks for ranges.
OPERATIONS: Final[dict[str, Operation]] = {
    "add": Operation(operator.add, operator.add),
    "sub": Operation(operator.sub, operator.sub),
    "mul": Operation(operator.mul, operator.mul),
    "mod": Operation(operator.mod, written.PythonMod),
    "int_floordiv": Operation(operator.floordiv, written.FloorDiv),
    "int_truediv": Operation(operator.truediv, written.IntTrueDiv, float),
    "float_truediv": Operation(operator.truediv, written.FloatTrueDiv, float),
    "pow_by_natural": Operation(operator.pow, written.PowByNatural),
    "float_pow": Operation(operator.pow, written.FloatPow, float),
    "bitwise_and": Operation(operator.and_, written.BitwiseFn_bitwise_and, only_of=int),
    "bitwise_or": Operation(operator.or_, written.BitwiseFn_bitwise_or, only_of=int),
    "bitwise_xor": Operation(operator.xor, written.BitwiseFn_bitwise_xor, only_of=int),
    "lshift": Operation(operator.lshift, written.LShift, only_of=int),
    "rshift": Operation(operator.rshift, written.RShift, only_of=int),
    "sym_max": Operation("sym_max", written.greater),
    "sym_min": Operation("sym_min", sympy.Min),
    "round_decimal": Operation(round, written.RoundDecimal, float),
    "eq": Operation(operator.eq, sympy.Eq, bool),
    "ne": Operation(operator.ne, sympy.Ne, bool),
    "lt": Operation(operator.lt, sympy.Lt, bool),
    "le": Operation(operator.le, sympy.Le, bool),
    "gt": Operation(operator.gt, sympy.Gt, bool),
    "ge": Operation(operator.ge, sympy.Ge, bool),
    "and": Operation(operator.and_, sympy.And, bool, only_of=bool),
    "or": Operation(operator.or_, sympy.Or, bool, only_of=bool),
    "sym_not": Operation("sym_not", sympy.Not, bool),
    "neg": Operation(operator.neg, operator.neg),
    "abs": Operation(abs, sympy.Abs),
    "floor": Operation(math.floor, written.FloorToInt, int, rounds=True),
    "ceil": Operation(math.ceil, written.CeilToInt, int, rounds=True),
    "trunc": Operation(math.trunc, written.TruncToInt, int, rounds=True),
    "round": Operation(round, written.RoundToInt, int, rounds=True),
    "sym_float": Operation("sym_float", written.ToFloat, float),
    "is_integer": Operation(float.is_integer, _is_whole, bool),
    "sym_ite": Operation("sym_ite", _if_else),
    **{f.__name__: Operation(f"_sym_{f.__name__}", kind, float) for f, kind in written.OPAQUE.items()},
}


class SymNode:
    """An expression in an environment of symbols, the Python type of its value, and the value of the example."""

    __slots__ = ("__weakref__", "_expr", "_hint", "_seen", "pytype", "shape_env")

    def __init__(self, expr: Any, shape_env: Any, pytype: Kind, hint: Any, constant: Any = None, fx_node: Any = None):
        self._expr = expr
        self._seen = -1  # the number of replacements when `_expr` was replaced
        self.shape_env = shape_env
        self.pytype = pytype
        self._hint = hint

    # What it is -------------------------------------------------------------------------------------------------

    @property
    def expr(self) -> Any:
        """The expression, with all replacements that are known by now."""
        if self._seen != self.shape_env._replacements_version_counter:
            self._expr = self.shape_env.replace(self._expr)
            self._seen = self.shape_env._replacements_version_counter
        return self._expr

    @property
    def hint(self) -> Any:
        """The value for the sizes that the program was given; None where that depends on elements."""
        if self._hint is None:
            found = self.expr.xreplace(self.shape_env.backed_var_to_val)
            if not found.free_symbols:
                self._hint = self.pytype(found)
        return self._hint

    def has_hint(self) -> bool:
        """Whether there is one."""
        return self.hint is not None

    def require_hint(self, fallback: Any = None) -> Any:
        """The hint, or what takes its place; an error where there is neither."""
        if self.hint is None and fallback is None:
            raise self.shape_env._make_data_dependent_error(self.expr, self.expr)
        return fallback if self.hint is None else self.hint

    constant = None
    fx_node = None

    def maybe_as_int(self) -> int | None:
        """The number, if the expression is one by now."""
        return int(self.expr) if self.expr.is_number else None

    def maybe_as_float(self) -> float | None:
        """The float, if the expression is one by now."""
        return float(self.expr) if self.expr.is_number and self.pytype is float else None

    def maybe_as_bool(self) -> bool | None:
        """The bool, if the condition is known by now."""
        return bool(self.expr) if self.expr in (sympy.true, sympy.false) else None

    def is_int(self) -> bool:
        return self.pytype is int

    def is_float(self) -> bool:
        return self.pytype is float

    def is_bool(self) -> bool:
        return self.pytype is bool

    def is_symbolic(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    def is_nested_int(self) -> bool:
        return False

    def nested_int(self) -> None:
        """It is no ragged size."""

    def str(self) -> Text:
        """The expression in words."""
        notation = self.shape_env.notation
        return f"{self.expr}" if notation is None else str(notation(self.expr))

    def __str__(self) -> Text:
        return self.str()

    def __repr__(self) -> Text:
        return f"SymNode({self._expr}, shape_env={self.shape_env}, pytype={self.pytype}, hint={self._hint})"

    # What follows from a use as a number ------------------------------------------------------------------------

    def guard_int(self, file: Text, line: int) -> int:
        """The number. From here on it is one: the guard says so."""
        return int(self.shape_env.evaluate_sym_node(self))

    def guard_float(self, file: Text, line: int) -> float:
        """The float. From here on it is one: the guard says so."""
        return float(self.shape_env.evaluate_sym_node(self))

    def guard_bool(self, file: Text, line: int) -> bool:
        """Whether the condition holds. From here on it does, or does not: the guard says so."""
        return bool(self.shape_env.evaluate_sym_node(self))

    def expect_true(self, file: Text, line: int) -> bool:
        """Let the condition hold: a guard where it can be decided now, else an assertion for the time of running."""
        if self.has_hint():
            return self.guard_bool(file, line)
        return bool(self.shape_env.guard_or_defer_runtime_assert(self.expr, f"{file}:{line}"))

    def expect_size(self, file: Text, line: int) -> bool:
        """Let an int not be negative; one that depends on elements counts as a size from here on."""
        holds: bool = self.binary("ge", self.wrapped(), 0).node.expect_true(file, line)
        if holds and not self.has_hint() and self.expr.is_Symbol:
            self.shape_env._constrain_range_for_size(self.expr)
        return holds

    def guard_or_false(self, file: Text, line: int) -> bool:
        """As `guard_bool`, but false where it depends on elements."""
        return bool(self.shape_env.evaluate_sym_node(self, fallback_value=False))

    def guard_or_true(self, file: Text, line: int) -> bool:
        """As `guard_bool`, but true where it depends on elements."""
        return bool(self.shape_env.evaluate_sym_node(self, fallback_value=True))

    def statically_known_true(self, file: Text, line: int) -> bool:
        """Whether the condition certainly holds. No guard is noted."""
        return bool(self.shape_env._maybe_evaluate_static(self.expr) == sympy.true)

    def guard_size_oblivious(self, file: Text, line: int) -> bool:
        """As `guard_bool`, but sizes that depend on elements count as neither 0 nor 1."""
        return bool(self.shape_env.evaluate_sym_node(self, size_oblivious=True))

    def int_(self) -> int:
        return self.guard_int("", 0)

    index_ = int_

    def bool_(self) -> bool:
        return self.guard_bool("", 0)

    def truth(self) -> bool:
        """What `bool` of the symbol says."""
        return self.guard_bool("", 0) if self.pytype is bool else bool(self.binary("ne", self.wrapped(), 0))

    def hash_key(self) -> Any:
        """Refused: what a symbol is equal to may change. Who writes code of symbols takes them as they are written."""
        if self.shape_env.notation is not None:
            return id(self.shape_env), self.str()  # caches keep it: another environment has symbols of the same names
        raise TypeError(f"unhashable type: {'non-nested SymInt' if self.is_int() else WRAPPERS[self.pytype].__name__}")

    def wrapped(self) -> Any:
        """A symbol with this node."""
        return WRAPPERS[self.pytype](self)

    # Arithmetic -------------------------------------------------------------------------------------------------

    def binary(self, method: Text, left: Any, right: Any) -> Any:
        """What Python's operator gives for two values, one of which has this node."""
        kinds = PLAIN.get(type(left)), PLAIN.get(type(right))
        if None in kinds or any(isinstance(v, SymInt) and v.node.is_nested_int() for v in (left, right)):
            return NotImplemented
        if method == "round_decimal":
            return self.computed(method, left, right) if kinds[0] is float else left
        only_of = OPERATIONS[method].only_of if method in OPERATIONS else None
        if only_of is bool:
            return self.computed(method, left, right) if kinds == (bool, bool) else NotImplemented
        if kinds == (bool, bool):
            return self.computed(method, left, right) if method in ("eq", "ne") else NotImplemented
        left, right = (_as_int(v) if kind is bool else v for v, kind in zip((left, right), kinds, strict=True))
        if float in kinds:
            return NotImplemented if only_of is int else self._of_floats(method, _as_float(left), _as_float(right))
        return self._of_ints(method, left, right)

    def _of_ints(self, method: Text, left: Any, right: Any) -> Any:
        if method == "pow":
            if right >= 0:  # decided here, since it decides the type of the result
                return self.computed("pow_by_natural", left, right)
            return self.computed("float_pow", _as_float(left), _as_float(right))
        return self.computed({"floordiv": "int_floordiv", "truediv": "int_truediv"}.get(method, method), left, right)

    def _of_floats(self, method: Text, left: Any, right: Any) -> Any:
        if method == "floordiv":
            return _as_float(math.floor(self.computed("float_truediv", left, right)))
        return self.computed({"pow": "float_pow", "truediv": "float_truediv"}.get(method, method), left, right)

    def unary(self, method: Text) -> Any:
        """What a function gives for the value that has this node."""
        own = self.wrapped()
        if self.pytype is int and OPERATIONS[method].rounds:
            return own
        if method == "sym_float" and self.pytype is float:
            return own
        return self.computed(method, own)

    def ite(self, then: Any, otherwise: Any) -> Any:
        """The first value if the condition holds, else the second."""
        return self.computed("sym_ite", self.wrapped(), then, otherwise)

    def computed(self, method: Text, *operands: Any) -> Any:
        """The symbol of an operator's result."""
        operation = OPERATIONS[method]
        kind = operation.result or PLAIN[type(operands[-1])]
        hints = [v.node.hint if isinstance(v, SymInt | SymFloat | SymBool) else v for v in operands]
        hint = None if any(h is None for h in hints) else kind(operation.function(*hints))
        mode: Any = mode_stack.mode_with(PROXY)
        if mode is not None and method == "int_floordiv" and type(operands[1]) is int and operands[1] == 1:
            return operands[0]
        if mode is not None and method == "mul":
            for one, other in (operands, operands[::-1]):
                if type(one) is int and one == 1:
                    return other
        expr = self._expression(method, operation, *map(_expr_of, operands))
        result = WRAPPERS[kind](SymNode(expr, self.shape_env, kind, hint))
        if mode is not None:
            mode.computed(operation.function, operands, result)
        return result

    def _expression(self, method: Text, operation: Operation, *operands: Any) -> Any:
        if method == "mod" and all(self.shape_env.bound_sympy(e).lower >= 0 for e in operands):
            return written.Mod(*operands)
        return operation.sympy(*operands)


def _expr_of(value: Any) -> Any:
    return value.node.expr if isinstance(value, SymInt | SymFloat | SymBool) else sympy.sympify(value)


def _as_int(value: Any) -> Any:
    return value.node.ite(1, 0) if isinstance(value, SymBool) else int(value)


def _as_float(value: Any) -> Any:
    return value.node.unary("sym_float") if isinstance(value, SymInt | SymFloat) else float(value)
