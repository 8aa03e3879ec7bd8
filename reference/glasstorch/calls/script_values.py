"""What do TorchScript's own operators compute from numbers, strings, lists and tensors?

Mirrors: torch/csrc/jit/runtime/register_prim_ops.cpp, register_prim_ops_fulljit.cpp, register_special_ops.cpp,
    register_string_ops.cpp, c10/util/complex.h, c10/util/complex_math.h
Differs: what C++ leaves undefined is refused, as is an integer's remainder by zero, which ends PyTorch's process.

An int has 64 bits and wraps around; a float's division by zero, or a function outside of its domain, gives an infinity
or NaN; a string is the bytes of its UTF-8. Python's own numbers and strings differ in all of these.
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Sequence
from functools import cmp_to_key, reduce
from typing import Any, Final

import numpy as np

from glasstorch.core.dtype import DTYPES
from glasstorch.core.errors import ArgumentError, DimensionError, IntegerDivisionError
from glasstorch.dispatch.operator import registry

Real = int | float
Function = Callable[..., Any]

# Integers ------------------------------------------------------------------------------------------------------------


def wrapped(value: int, width: int = 64) -> int:
    """An integer as a register of so many bits holds it."""
    half = 1 << (width - 1)
    return (value + half) % (2 * half) - half


def _int_remainder(a: int, b: int) -> int:
    """The remainder with the sign of the dividend, as C has it."""
    return int(math.copysign(1, a)) * (abs(a) % abs(b))


def _whole(function: Callable[[float], float]) -> Callable[[Real], int]:
    """`floor` or `ceil`, whose result is an integer of 64 bits."""

    def computes(a: Real) -> int:
        a = float(a)
        if not -(2.0**63) <= a < 2.0**63:
            raise ArgumentError(f"Cannot convert float {a:f} to integer")
        return int(function(a))

    return computes


# Functions of a float ------------------------------------------------------------------------------------------------

# Where a function is infinite.
POLES: Final[dict[tuple[Function, float], float]] = {
    **{(function, 0.0): -math.inf for function in (math.log, math.log10)},
    (math.log1p, -1.0): -math.inf,
    (math.atanh, 1.0): math.inf,
    (math.atanh, -1.0): -math.inf,
}


def _real(function: Callable[[float], float]) -> Callable[[Real], float]:
    """A function of `math` that gives NaN or an infinity where Python refuses."""

    def computes(a: Real) -> float:
        a = float(a)
        try:
            return function(a)
        except ValueError:
            if function is math.lgamma and a == math.floor(a):
                return math.inf
            return POLES.get((function, a), math.nan)
        except OverflowError:
            return math.copysign(math.inf, a) if function is math.sinh else math.inf

    return computes


def _of_both(function: Callable[[float], float], of_complex: Function) -> Function:
    """A function of `math` for real numbers, and NumPy's for complex ones: both are those of the C library."""
    real = _real(function)

    def computes(a: Real | complex) -> Any:
        if not isinstance(a, complex):
            return real(a)
        with np.errstate(all="ignore"):
            return complex(of_complex(np.complex128(a)))

    return computes


def _divided(a: Real, b: Real) -> float:
    a, b = float(a), float(b)
    if b:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def _fmod(a: Real, b: Real) -> float:
    try:
        return math.fmod(a, b)
    except ValueError:
        return math.nan


def _remainder(a: Real, b: Real) -> Real:
    """The remainder with the sign of the divisor."""
    if not (isinstance(a, int) and isinstance(b, int)):
        return _fmod(b + _fmod(a, b), b)
    if not b:
        raise IntegerDivisionError(f"remainder: the integer {a} has no remainder by zero; divide by another number")
    return _int_remainder(wrapped(b + _int_remainder(a, b)), b)


def _real_power(a: Real, b: Real) -> float:
    """`pow` of the C library: an infinity for a power of zero or one too large, NaN for a root of a negative number."""
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError) as error:
        if a and isinstance(error, ValueError):
            return math.nan
        is_odd = float(b).is_integer() and math.fmod(b, 2) != 0
        return math.copysign(math.inf, a) if is_odd else math.inf


def _scaled(a: float, exponent: int) -> float:
    """Times a power of two, whose exponent has 32 bits."""
    try:
        return math.ldexp(a, wrapped(exponent, 32))
    except OverflowError:
        return math.copysign(math.inf, a)


def as_number(function: Function) -> Function:
    """The form of a function that takes any number: it rounds a float to single precision, and cuts an int to 32 bits.

    A complex result is given back as it is.
    """

    def computes(a: Any) -> Any:
        result = function(a)
        if isinstance(result, complex):
            return result
        if isinstance(result, int):
            return wrapped(result, 32)
        with np.errstate(all="ignore"):
            return float(np.float32(result))

    return computes


# Complex numbers -----------------------------------------------------------------------------------------------------

# A real operand has no imaginary part: Python would take one of zero, whose sign and product with infinity are seen.


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return wrapped(a + b)
    if isinstance(a, complex) == isinstance(b, complex):
        return a + b
    number, z = (b, a) if isinstance(a, complex) else (a, b)
    return complex(z.real + number, z.imag)


def _subtract(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return wrapped(a - b)
    if isinstance(a, complex) == isinstance(b, complex):
        return a - b
    return complex(a.real - b, a.imag) if isinstance(a, complex) else complex(a - b.real, -b.imag)


def _multiply(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return wrapped(a * b)
    if isinstance(a, complex) == isinstance(b, complex):
        return a * b
    number, z = (b, a) if isinstance(a, complex) else (a, b)
    return complex(z.real * number, z.imag * number)


def _quotient(a: Any, b: Any) -> Any:
    """By a complex number: numerator and denominator over the larger part of the denominator, as in NumPy."""
    if not isinstance(b, complex):
        return complex(_divided(a.real, b), _divided(a.imag, b)) if isinstance(a, complex) else _divided(a, b)
    a, c, d = complex(a), b.real, b.imag
    if abs(c) >= abs(d):
        if c == d == 0:
            return complex(_divided(a.real, abs(c)), _divided(a.imag, abs(d)))
        ratio = d / c
        scale = _divided(1.0, c + d * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = _divided(c, d)
    scale = _divided(1.0, c * ratio + d)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)


def _polar(length: Real, angle: Real) -> complex:
    return complex(length * _real(math.cos)(angle), length * _real(math.sin)(angle))


def _angle(a: Any) -> float:
    if isinstance(a, complex):
        return math.atan2(a.imag, a.real)
    return math.pi if math.copysign(1, a) < 0 else 0.0


_exp, _log = _of_both(math.exp, np.exp), _of_both(math.log, np.log)


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, complex) and isinstance(b, complex):
        return _exp(_c_product(b, _log(a)))
    if isinstance(a, complex):
        if a.imag == 0 and a.real > 0:
            return complex(_real_power(a.real, b))
        logarithm = _log(a)
        return _polar(_exp(b * logarithm.real), b * logarithm.imag)
    if isinstance(b, complex):
        if a > 0:
            return _polar(_real_power(a, b.real), b.imag * _log(a))
        return _power(complex(a), b)
    if a == 0 and b < 0:
        raise ArgumentError("0.0 cannot be raised to a negative power")
    return _real_power(a, b)


def _c_product(a: complex, b: complex) -> complex:
    """The product as C has it, in which an infinity times a number is one, and not NaN (C99, annex G)."""
    product = a * b
    if not (math.isnan(product.real) and math.isnan(product.imag)):
        return product
    if not any(math.isinf(part) for z in (a, b) for part in (z.real, z.imag)):
        return product
    a, b = (_boxed(z) if math.isinf(z.real) or math.isinf(z.imag) else z for z in (a, b))
    a, b = (complex(*(math.copysign(0, p) if math.isnan(p) else p for p in (z.real, z.imag))) for z in (a, b))
    return complex(math.inf * (a.real * b.real - a.imag * b.imag), math.inf * (a.real * b.imag + a.imag * b.real))


def _boxed(z: complex) -> complex:
    """An infinity as a direction: a part that is infinite counts as one, the other as zero."""
    return complex(*(math.copysign(math.isinf(part), part) for part in (z.real, z.imag)))


def _logarithm(a: Any, *base: Any) -> Any:
    return _quotient(_log(a), _log(base[0])) if base else _log(a)


def _log10(a: Any) -> Any:
    if not isinstance(a, complex):
        return _real(math.log10)(a)
    z, ten = _log(a), math.log(10.0)
    return complex(z.real / ten, z.imag / ten)


def _any_part(function: Callable[[float], bool]) -> Callable[[Any], bool]:
    return lambda a: function(a.real) or function(a.imag)


# Comparisons ---------------------------------------------------------------------------------------------------------


def _compared(function: Function) -> Function:
    """A comparison in which an int beside a float is one first, which rounds it."""

    def compares(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, float):
            return function(float(a), b)
        return function(a, float(b)) if isinstance(a, float) and isinstance(b, int) else function(a, b)

    return compares


def _same_tensors(a: Sequence[Any], b: Sequence[Any]) -> bool:
    equal = _tensor_operator("eq.Tensor")
    return len(a) == len(b) and all(bool(equal(x, y)) for x, y in zip(a, b, strict=True))


# Strings and lists ---------------------------------------------------------------------------------------------------


def _find(string: str, part: str, start: int, end: int) -> int:
    text, wanted = string.encode(), part.encode()
    start = max(0, len(text) + start) if start < 0 else start
    end = max(0, len(text) + end + 1) if end < 0 else end
    found = (text[start:end] if end > start else b"").find(wanted)
    if found < 0:
        raise ArgumentError("ValueError: substring not found")
    return found + start


def _split(string: str, separator: str | None, most: int) -> list[str]:
    if separator == "":
        raise ArgumentError("ValueError: empty separator")
    if separator is None:  # then the most is not looked at
        return [part.decode() for part in string.encode().split()]
    return string.split(separator, max(most, -1))


def _slice(values: Any, start: int | None, end: int | None, step: int) -> Any:
    if step == 0:
        raise ArgumentError("List slice should have non-zero step")
    return values.encode()[start:end:step].decode() if isinstance(values, str) else values[start:end:step]


def _select(values: Sequence[Any], place: int) -> Any:
    if not -len(values) <= place < len(values):
        raise DimensionError("list index out of range")
    return values[place]


def _position(values: Sequence[Any], wanted: Any) -> int:
    for i, value in enumerate(values):
        if value == wanted:
            return i
    raise ArgumentError(f"'{wanted if isinstance(wanted, str) else format(wanted, 'g')}' is not in list")


def _position_of_tensor(values: Sequence[Any], wanted: Any) -> int:
    equal = _tensor_operator("eq.Tensor")
    for i, value in enumerate(values):
        if equal(value, wanted):
            return i
    raise ArgumentError(f"'{wanted}' is not in list")


def _sort(values: list[Any], reverse: bool) -> None:
    """Sort a list in place: that of the call, which is a copy of the program's."""
    values.sort(reverse=reverse)


def _sort_tensors(values: list[Any], reverse: bool) -> None:
    less = _tensor_operator("lt.Tensor")
    values.sort(key=cmp_to_key(lambda a, b: -1 if bool(less(a, b)) != reverse else 1))


# Tensors -------------------------------------------------------------------------------------------------------------


def _tensor_operator(name: str) -> Any:
    return registry.find(f"aten::{name}")


def _einsum(tensor: Any) -> Any:
    raise ArgumentError(
        "einsum: sublists of numbers come after their tensors, but a schema cannot take them; give an equation, as in "
        "einsum('ij->ji', [x])"
    )


def _same(name: str) -> Function:
    """The operator of another name, which takes the same arguments."""
    return _tensor_operator(name)  # type: ignore[no-any-return]


def _to(tensor: Any, device: Any, dtype: int | None, non_blocking: bool, copies: bool) -> Any:
    if device is not None:
        kind = tensor.dtype if dtype is None else dtype_numbered(dtype)
        return _tensor_operator("to.device")(tensor, device, kind, non_blocking, copies)
    if dtype is None and not copies:
        return tensor
    kind = tensor.dtype if dtype is None else dtype_numbered(dtype)
    return _tensor_operator("to.dtype")(tensor, kind, non_blocking, copies)


def dtype_numbered(number: int) -> Any:
    """The dtype whose number graphs and kernels store."""
    for kind in DTYPES:
        if kind.scalar_type == number:
            return kind
    raise ArgumentError(f"no dtype has the number {number}; they are those of c10::ScalarType")


# The table -----------------------------------------------------------------------------------------------------------

# By the name of an operator or, where its overloads have little in common, of one overload.
FUNCTIONS: Final[dict[str, Function]] = {
    "sin": _of_both(math.sin, np.sin),
    "cos": _of_both(math.cos, np.cos),
    "tan": _of_both(math.tan, np.tan),
    "sinh": _of_both(math.sinh, np.sinh),
    "cosh": _of_both(math.cosh, np.cosh),
    "tanh": _of_both(math.tanh, np.tanh),
    "exp": _of_both(math.exp, np.exp),
    "sqrt": _of_both(math.sqrt, np.sqrt),
    "asin": _of_both(math.asin, np.arcsin),
    "acos": _of_both(math.acos, np.arccos),
    "atan": _of_both(math.atan, np.arctan),
    "asinh": _of_both(math.asinh, np.arcsinh),
    "acosh": _of_both(math.acosh, np.arccosh),
    "atanh": _of_both(math.atanh, np.arctanh),
    "lgamma": _real(math.lgamma),
    "log1p": _real(math.log1p),
    "expm1": _real(math.expm1),
    "erf": _real(math.erf),
    "erfc": _real(math.erfc),
    "lt": _compared(operator.lt),
    "gt": _compared(operator.gt),
    "le": _compared(operator.le),
    "ge": _compared(operator.ge),
    "eq": _compared(operator.eq),
    "ne": _compared(operator.ne),
    "log": _logarithm,
    "log10": _log10,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "round": lambda a: math.copysign(round(a), a) if math.isfinite(a) else a,
    "neg": lambda a: wrapped(-a) if isinstance(a, int) else -a,
    "angle": _angle,
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "div": _quotient,
    "remainder": _remainder,
    "fmod": _fmod,
    "pow": _power,
    "pow.Scalar_Scalar": _real_power,
    "atan2": math.atan2,
    "copysign": math.copysign,
    "polar": _polar,
    "gcd": lambda a, b: wrapped(math.gcd(a, b)),
    "frexp": math.frexp,
    "ldexp": _scaled,
    "isnan": _any_part(math.isnan),
    "isinf": _any_part(math.isinf),
    "isfinite": lambda a: math.isfinite(a.real) and math.isfinite(a.imag),
    "all": all,
    "any": any,
    "sum.int": lambda values: wrapped(sum(values), 32),  # as PyTorch adds them up
    "sum.bool": sum,
    "sum.float": lambda values: reduce(operator.add, values, 0.0),
    "sum.complex": lambda values: reduce(operator.add, values, 0j),
    "add.str": operator.add,
    "add_": operator.iadd,
    "mul_": operator.imul,
    "slice": _slice,
    "select": _select,
    "copy": copy.copy,
    "values": lambda dictionary: [*dictionary.values()],
    "split.str": _split,
    "index.str": _find,
    "index": _position,
    "index.list_Tensor": _position_of_tensor,
    "sort": _sort,
    "sort.Tensor": _sort_tensors,
    "eq.Tensor_list": _same_tensors,
    "ne.Tensor_list": lambda a, b: not _same_tensors(a, b),
    "einsum": _einsum,
    "split": _same("split_with_sizes"),
    "index.Tensor_hacked_twin": _same("index.Tensor"),
    "index_put.hacked_twin": _same("index_put"),
    "index_put_.hacked_twin": _same("index_put_"),
    "copy_.Tensor": _same("copy_"),
    "copy_": _same("fill_.Scalar"),
    "mT": _same("mT"),
    "mH": _same("mH"),
    "matrix_H": _same("matrix_H"),
    "numpy_T": _same("numpy_T"),
    "to.prim_Device": _to,
    "to.prim_dtype": lambda x, dtype, non_blocking, copies: _to(x, None, dtype, non_blocking, copies),
    "to.prim_other": lambda x, non_blocking, copies: _to(x, None, None, non_blocking, copies),
}
