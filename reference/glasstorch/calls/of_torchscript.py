"""Which overloads does TorchScript add for Python's own numbers, strings and lists, and how are they called?

Mirrors: torch/csrc/jit/runtime/register_prim_ops.cpp, register_prim_ops_fulljit.cpp, register_special_ops.cpp (the
    schemas), torch/csrc/jit/python/pybind_utils.cpp (toIValue)
Differs: only those of names that are operators of tensors too. There is no interpreter yet that would call them.

TorchScript's interpreter calls an operator for all that a program does, `2 + 3` as well. Such overloads are in no
dispatcher: they have no keys and no kernels, and a mode sees only the operators of tensors that they call. They are
made when a program asks for the overloads of a name, or calls it with arguments that no operator of tensors takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from operator import index as operator_index
from typing import Any, Final, NoReturn, cast

from glasstorch.calls.arguments import REFUSED
from glasstorch.calls.script_values import FUNCTIONS, as_number
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import ArgumentError, RegistrationError
from glasstorch.core.plain_types import SILENT
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.runtime_schema import Argument as Seen
from glasstorch.dispatch.runtime_schema import SchemaType
from glasstorch.dispatch.schema import Argument, FunctionSchema, Return, Type

# Their schemas -------------------------------------------------------------------------------------------------------

# Of an overload's name, what its parameters are, where it does not say so itself.
TYPES: Final = {"device": "Device", "enum": "AnyEnumType", "default": "Scalar"}


def _one(*results: str, of: str = "int float complex Scalar") -> tuple[str, ...]:
    """Overloads of one value, each named by its type."""
    return tuple(f".{kind}({kind} a) -> {result}" for kind, result in zip(of.split(), results, strict=True))


def _two(names: str, result: str = "") -> tuple[str, ...]:
    """Overloads of two values, named by their types: `int` of two, `int_float` of an int and a float.

    Without a result, it has the wider of the two types.
    """
    return tuple(_of_two(name, result) for name in names.split())


def _of_two(name: str, result: str) -> str:
    first, _, second = name.partition("_")
    if second == "list":
        first, second = f"{first}[]", ""
    first = TYPES.get(first, first)
    second = second or first
    result = result or max(first, second, key=("int", "float", "complex", "Scalar").index)
    return f"{'' if name == 'default' else '.' + name}({first} a, {second} b) -> {result}"


def _folded(kinds: str, result: str) -> tuple[str, ...]:
    """Overloads of a list, each named by the type of its elements."""
    return tuple(f".{kind}({kind}[] self) -> {result}" for kind in kinds.split())


_REAL = _one("float", "float", "Scalar", of="int float Scalar")
_COMPLEX = _one("float", "float", "complex", "Scalar")
_WHOLE = _one("int", "int", "Scalar", of="int float Scalar")
_TESTED = _one("bool", "bool", of="float complex")
_MIXED = "int float int_float float_int"
_ARITHMETIC = _two("int complex float int_complex complex_int float_complex complex_float int_float float_int default")
_ORDERED = _two(f"{_MIXED} default str", "bool")
_EQUAL = _two(
    "int_list device bool enum int complex float int_float float_int float_complex complex_float default str "
    "float_list Tensor_list bool_list str_list",
    "bool",
)
_KEYS: Final = ("str", "int", "bool", "float", "complex", "Tensor")
_VIEW = (".a(Tensor(a) self) -> Tensor(a)",)
_PUT = "Tensor[] indices, Tensor values, bool accumulate=False"
_MOVED = "bool non_blocking=False, bool copy=False) -> Tensor(b|a)"
_SLICED = "int? start=None, int? end=None, int step=1"

# Of names, the rest of the schemas of their overloads, in PyTorch's order.
ROWS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log10 sqrt", _COMPLEX),
    ("lgamma log1p expm1 erf erfc round", _REAL),
    ("floor ceil", _WHOLE),
    ("neg", _one("int", "float", "complex", "Scalar")),
    ("angle", _one("float", "float", "float", "Scalar")),
    ("isnan isinf isfinite", _TESTED),
    (
        "log",
        (
            *_COMPLEX,
            *_two("int_int float_float", "float"),
            *_two("complex_complex"),
            *_two("int_float float_int int_complex complex_int float_complex complex_float"),
            *_two("Scalar_Scalar", "float"),
        ),
    ),
    ("add", (".t(t[] a, t[] b) -> t[]", ".str(str a, str b) -> str", *_ARITHMETIC)),
    ("sub", _ARITHMETIC),
    ("mul", (".left_t(t[] l, int n) -> t[]", ".right_(int n, t[] l) -> t[]", *_ARITHMETIC)),
    ("div", (*_two("int", "float"), *_two("complex float"), *_two("default", "float"))),
    ("remainder", _two(f"{_MIXED} default")),
    ("fmod copysign", _two(f"{_MIXED} default", "float")),
    ("atan2", _two(f"{_MIXED} Scalar_Scalar", "float")),
    ("polar", (*_two(_MIXED, "complex"), *_two("Scalar_Scalar", "Scalar"))),
    (
        "pow",
        (
            *_two("int", "float"),
            *_two("complex float int_float float_int float_complex complex_float"),
            *_two("Scalar_Scalar", "float"),
            ".int_to_int(int a, int b) -> int",
        ),
    ),
    ("gcd", _two("int")),
    ("ldexp", ("(float x, int i) -> float",)),
    ("frexp", ("(float a) -> (float, int)",)),
    ("lt gt le ge", _ORDERED),
    ("eq ne", _EQUAL),
    ("add_", (".t(t[](a!) self, t[] b) -> t[]",)),
    ("mul_", (".t(t[](a!) l, int n) -> t[](a!)",)),
    (
        "sum",
        (*_folded("int", "int"), *_folded("float", "float"), *_folded("complex", "complex"), *_folded("bool", "int")),
    ),
    ("all", _folded("int float bool", "bool")),
    ("any", _folded("str int float bool", "bool")),
    (
        "sort",
        tuple(
            f".{'any' if kind == 't' else kind}({kind}[](a!) self, bool reverse=False) -> ()"
            for kind in ("int", "float", "Tensor", "bool", "str", "t")
        ),
    ),
    ("values", tuple(f".{key}(Dict({key}, t) self) -> t[](*)" for key in _KEYS)),
    (
        "copy",
        (".t(t[](a) self) -> t[]", *(f".Dict_{key}(Dict({key}, t)(a) self) -> Dict({key}, t)" for key in _KEYS)),
    ),
    ("select", (".t(t[](a) list, int idx) -> t(*)",)),
    ("slice", (f".t(t[] l, {_SLICED}) -> t[]", f".str(str string, {_SLICED}) -> str")),
    (
        "split",
        (
            ".str(str self, str? separator=None, int max=-1) -> str[]",
            "(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
        ),
    ),
    (
        "index",
        (
            ".Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor",
            ".str(str self, str substr, int start=0, int end=-1) -> int",
            *(f".list_{k}({k}[] self, {k} el) -> int" for k in ("int", "float", "bool", "Tensor", "str")),
        ),
    ),
    ("index_put", (f".hacked_twin(Tensor self, {_PUT}) -> Tensor",)),
    ("index_put_", (f".hacked_twin(Tensor(a!) self, {_PUT}) -> Tensor(a!)",)),
    (
        "copy_",
        tuple(f".{kind}(Tensor(a!) self, {kind} other) -> Tensor(a!)" for kind in ("Tensor", "int", "float")),
    ),
    (
        "to",
        (
            f".prim_Device(Tensor(a) self, Device? device, int? dtype=None, {_MOVED}",
            f".prim_dtype(Tensor(a) self, int? dtype=None, {_MOVED}",
            f".prim_other(Tensor(a) self, {_MOVED}",
        ),
    ),
    ("mT mH matrix_H numpy_T", _VIEW),
    ("einsum", (".sublist(Tensor a, ...) -> Tensor",)),
)


@cache
def _texts() -> dict[str, tuple[str, ...]]:
    return {name: rest for names, rest in ROWS for name in names.split()}


@cache
def overloads(namespace: str, name: str) -> tuple[ScriptOverload, ...]:
    """The overloads that are added to an operator's name; none for most."""
    if namespace != "aten":
        return ()
    return tuple(ScriptOverload(f"aten::{name}{rest}") for rest in _texts().get(name, ()))


# Their arguments -----------------------------------------------------------------------------------------------------


def _element(value: Any) -> Any:
    """A tensor's only element; any other value as it is."""
    if not isinstance(value, TensorImpl):
        return value
    if (tensor := cast(Any, value)).numel() != 1:
        raise TypeError("a tensor of several elements is no number")
    return tensor.item()


def _int(value: Any) -> Any:
    """64 bits of anything that is an index; a dtype is its number."""
    if isinstance(value, dtype):
        return value.scalar_type
    number = int(_element(value)) if isinstance(value, TensorImpl) else operator_index(value)
    return int(number) if -(1 << 63) <= number < 1 << 63 else REFUSED


def _float(value: Any) -> Any:
    return REFUSED if isinstance(value, str | bytes) else float(_element(value))


def _complex(value: Any) -> Any:
    return REFUSED if isinstance(value, str | bytes) else complex(_element(value))


def _bool(value: Any) -> Any:
    value = _element(value)
    return bool(value) if value is None or hasattr(type(value), "__bool__") else REFUSED


PLAIN_NUMBERS: Final[tuple[Any, ...]] = (bool, int, float, complex)


def _number(value: Any) -> Any:
    if isinstance(value, dtype):
        return value.scalar_type
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise OverflowError("int too big to convert")
    for kind in PLAIN_NUMBERS:
        if isinstance(value, kind):
            return kind(value)  # NumPy's float64 is a float, too
    return REFUSED


def _str(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str) else REFUSED


def _device(value: Any) -> Any:
    return device_from(value) if isinstance(value, str | Device) else REFUSED


def _tensor(value: Any) -> Any:
    return value if isinstance(value, TensorImpl) else REFUSED


READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _int,
    "float": _float,
    "complex": _complex,
    "bool": _bool,
    "Scalar": _number,
    "str": _str,
    "Device": _device,
    "Tensor": _tensor,
}
VARIABLE: Final = SchemaType("t")


def _read(kind: SchemaType, value: Any) -> Any:
    """A value as one of the type, or REFUSED."""
    if kind.element is not None and kind.base == "?":
        return None if value is None else _read(kind.element, value)
    if kind.element is not None and kind.base == "[]":
        return _read_list(kind.element, value)
    if kind.key is not None:
        return REFUSED if _read_list(VARIABLE, value) is REFUSED else {}
    if kind.base not in READERS:  # a variable or an enumeration: no value becomes one, so that a `t[]` is empty
        return REFUSED
    try:
        return READERS[kind.base](value)
    except (TypeError, ValueError, OverflowError):
        if kind.base == "Scalar":
            raise
        return REFUSED


def _read_list(element: SchemaType, values: Any) -> Any:
    """A new list of what can be iterated over; a list of numbers is none of a string or a tensor."""
    if not isinstance(values, Iterable):
        return REFUSED
    if isinstance(values, str | bytes | TensorImpl) and element.base in ("int", "float", "complex", "bool"):
        return REFUSED
    read = [_read(element, value) for value in values]
    return REFUSED if any(value is REFUSED for value in read) else read


# An overload ---------------------------------------------------------------------------------------------------------

REAL: Final = frozenset((int, float))
NUMBERS: Final = frozenset((int, float, complex))
COMPARED: Final = frozenset((int, float, complex, bool))


class ScriptOverload(OpOverload):
    """An overload of TorchScript's: a function behind a schema, which no dispatcher knows."""

    def __init__(self, text: str) -> None:
        super().__init__(text.partition("(")[0], text, caller(0), family="TorchScript")

    @cached_property
    def schema(self) -> FunctionSchema:
        """Its names and defaults; a type stands as a program sees it, as TorchScript has more than a declaration."""
        seen = self._schema
        arguments = (
            Argument(_written(a), a.name, repr(a.default_value) if a.has_default else None, a.kwarg_only)
            for a in seen.arguments
        )
        returns = (Return(_written(r), r.name or None) for r in seen.returns)
        return FunctionSchema("aten", self._opname, seen.overload_name, tuple(arguments), tuple(returns))

    @property
    def is_view(self) -> bool:
        return self._schema._is_view_op() and not self._schema.is_mutable

    @cached_property
    def function(self) -> Callable[..., Any]:
        """What computes its result."""
        function = FUNCTIONS.get(self.qualified_overload) or FUNCTIONS[self._opname]
        return as_number(function) if self.overload_name == "Scalar" else function

    @cached_property
    def numbers(self) -> frozenset[type]:
        """Which numbers it computes with where its schema says Scalar."""
        if self._opname in ("eq", "ne"):
            return COMPARED
        has_complex = any(".complex(" in text for text in _texts()[self._opname])
        return NUMBERS if has_complex and str(self._schema.returns[0].type) == "number" else REAL

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs or not SILENT.issuperset(map(type, args)):
            answer = self.answer(args, kwargs)
            if answer is not NotImplemented:
                return answer
        return self.compute(self.taken(args, kwargs))

    def taken(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments of a call in the types of the schema; ArgumentError where one cannot be."""
        fits = len(args) + len(kwargs) <= len(self._schema.arguments)
        first = [self._taken(i, value) for i, value in enumerate(args)] if fits else args
        bound = self.bind(first, kwargs)
        return [*first, *(self._taken(i, bound[i]) for i in range(len(first), len(bound)))]

    def _taken(self, i: int, value: Any) -> Any:
        read = _read(self._schema.arguments[i].type, value)
        if read is REFUSED:
            raise ArgumentError(self._refusal(i, value))
        return read

    def _converted(self, parameter: Argument, value: Any, position: int | None) -> Any:
        return value  # as it is; `taken` converts it

    def _refusal(self, i: int, value: Any) -> str:
        parameter = self._schema.arguments[i]
        inner = parameter.type.element or parameter.type
        why = f"\nCast error details: toIValue() cannot handle converting to type: {inner}"
        return (
            f"{self._schema.name}() Expected a value of type '{parameter.type}' for argument '{parameter.name}' but "
            f"instead found type '{type(value).__name__}'.\nPosition: {i}\nValue: {value!r}\n"
            f"Declaration: {self._schema}{'' if inner.base in READERS else why}"
        )

    def compute(self, taken: Sequence[Any]) -> Any:
        """Its result for arguments in the types of the schema."""
        for parameter, value in zip(self._schema.arguments, taken, strict=True):
            if parameter.type.base == "Scalar" and type(value) not in self.numbers:
                known = ", ".join(sorted(kind.__name__ for kind in self.numbers))
                raise ArgumentError(
                    f"{self.name}: does not compute with a {type(value).__name__}; it does with {known}"
                )
        return self.function(*taken)

    # The dispatcher does not know it ---------------------------------------------------------------------------------

    def _is_unknown(self, *ignored: Any, **named: Any) -> NoReturn:
        raise RegistrationError(f"operator {self.name} does not exist")

    has_kernel_for_dispatch_key = has_kernel_for_any_dispatch_key = _can_decompose = decompose = _is_unknown

    def redispatch(self, *ignored: Any, **named: Any) -> NoReturn:
        raise RegistrationError(f"Could not find schema for {self.name}")


def _written(parameter: Seen) -> Type:
    return Type(parameter.type.written(parameter.N), None, ())
