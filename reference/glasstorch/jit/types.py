"""What type does a value of a graph have, and which values does a type accept?

Mirrors: aten/src/ATen/core/jit_type.h, jit_type_base.h, type.cpp (operator<<), torch/csrc/jit/ir/constants.cpp
Differs: only the types that tensor programs need: no classes, dictionaries, futures or type variables. A bool matches
    Scalar in operator lookup: PyTorch traces `x + True` and then finds no operator for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import DTYPES
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.layout import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from glasstorch.dispatch import schema


@dataclass(frozen=True, slots=True)
class Type:
    """What is known about a value before the program runs. Types are compared by content."""

    def is_subtype_of(self, other: Type) -> bool:
        """Whether every value of this type is one of `other` too."""
        if isinstance(other, OptionalType):
            return self.is_subtype_of(other.element)
        return self == other or isinstance(other, AnyType)

    def unshaped(self) -> Type:
        """The type without facts about tensors: `Float(2, 3)[]` becomes `Tensor[]`."""
        return self


@dataclass(frozen=True, slots=True)
class _Word(Type):
    """A type named by a single word."""

    word: ClassVar[str]

    def __str__(self) -> str:
        return self.word


@dataclass(frozen=True, slots=True)
class AnyType(_Word):
    word = "Any"


@dataclass(frozen=True, slots=True)
class NumberType(_Word):
    """An int or a float."""

    word = "Scalar"


@dataclass(frozen=True, slots=True)
class _NumberKind(_Word):
    """A subtype of NumberType."""

    def is_subtype_of(self, other: Type) -> bool:
        return isinstance(other, NumberType) or _Word.is_subtype_of(self, other)


@dataclass(frozen=True, slots=True)
class IntType(_NumberKind):
    word = "int"


@dataclass(frozen=True, slots=True)
class FloatType(_NumberKind):
    word = "float"


@dataclass(frozen=True, slots=True)
class BoolType(_Word):
    word = "bool"


@dataclass(frozen=True, slots=True)
class StringType(_Word):
    word = "str"


@dataclass(frozen=True, slots=True)
class DeviceObjType(_Word):
    word = "Device"


@dataclass(frozen=True, slots=True)
class GeneratorType(_Word):
    word = "Generator"


@dataclass(frozen=True, slots=True)
class NoneType(_Word):
    """The type of None, a subtype of every optional type."""

    word = "NoneType"

    def is_subtype_of(self, other: Type) -> bool:
        return isinstance(other, OptionalType) or _Word.is_subtype_of(self, other)


@dataclass(frozen=True, slots=True)
class OpaqueType(Type):
    """A type in schemas that graphs treat as opaque: Storage, Stream."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class TensorType(Type):
    """What is known about a tensor; None means unknown, for a whole fact and for each size and stride.

    >>> print(TensorType(), TensorType(sizes=(2, None)))
    Tensor Tensor(2, *)
    """

    dtype: Dtype | None = None
    sizes: tuple[int | None, ...] | None = None
    strides: tuple[int | None, ...] | None = None  # in elements
    device: Device | None = None
    requires_grad: bool | None = None

    @classmethod
    def of(cls, tensor: Tensor) -> TensorType:
        """All facts about this tensor, as a trace records them."""
        strides = tuple(tensor.stride()) or None  # a 0-dim tensor has none
        return cls(tensor.dtype, tuple(tensor.shape), strides, tensor.device, tensor.requires_grad)

    def is_subtype_of(self, other: Type) -> bool:
        if not isinstance(other, TensorType):
            return Type.is_subtype_of(self, other)
        return (
            _says(self.dtype, other.dtype)
            and _all_say(self.sizes, other.sizes)
            and _all_say(self.strides, other.strides)
            and _says(self.device, other.device)
            and _says(self.requires_grad, other.requires_grad)
        )

    def unshaped(self) -> TensorType:
        return TENSOR

    def with_requires_grad(self, requires_grad: bool | None) -> TensorType:
        return replace(self, requires_grad=requires_grad)

    def __str__(self) -> str:
        word = self.dtype.scalar_name if self.dtype is not None else "Tensor"
        if self.dtype is not None and self.sizes is None:
            word += "Tensor"  # FloatTensor has an unknown rank; Float() has rank 0
        inside = [_star(size) for size in self.sizes or ()]
        if self.sizes and self.strides is not None and None not in self.strides:
            inside.append(f"strides=[{', '.join(map(str, self.strides))}]")
        if self.requires_grad is not None:
            inside.append(f"requires_grad={int(self.requires_grad)}")
        if self.device is not None:
            inside.append(f"device={self.device}")
        return word if self.sizes is None and not inside else f"{word}({', '.join(inside)})"


@dataclass(frozen=True, slots=True)
class ListType(Type):
    """A list. Lists are invariant in their element type, as elements could be appended."""

    element: Type

    def unshaped(self) -> ListType:
        return ListType(self.element.unshaped())

    def __str__(self) -> str:
        return f"{self.element}[]"


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """A tuple. Tuples are covariant: a subtype has subtypes as elements."""

    elements: tuple[Type, ...]

    def is_subtype_of(self, other: Type) -> bool:
        if not isinstance(other, TupleType):
            return Type.is_subtype_of(self, other)
        return len(self.elements) == len(other.elements) and all(
            mine.is_subtype_of(theirs) for mine, theirs in zip(self.elements, other.elements, strict=True)
        )

    def unshaped(self) -> TupleType:
        return TupleType(tuple(element.unshaped() for element in self.elements))

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


@dataclass(frozen=True, slots=True)
class OptionalType(Type):
    """A value of the element type, or None."""

    element: Type

    def is_subtype_of(self, other: Type) -> bool:
        if isinstance(other, OptionalType):
            return self.element.is_subtype_of(other.element)
        return Type.is_subtype_of(self, other)

    def unshaped(self) -> OptionalType:
        return OptionalType(self.element.unshaped())

    def __str__(self) -> str:
        return f"{self.element}?"


TENSOR: Final = TensorType()
INT: Final = IntType()
FLOAT: Final = FloatType()
BOOL: Final = BoolType()
STRING: Final = StringType()
NONE: Final = NoneType()
NUMBER: Final = NumberType()
DEVICE: Final = DeviceObjType()
GENERATOR: Final = GeneratorType()
ANY: Final = AnyType()

# The base type of a schema -> its type in a graph (parseBaseType in schema_type_parser.cpp): enumerations are ints.
FROM_SCHEMA: Final[dict[str, Type]] = {
    "Tensor": TENSOR,
    "Scalar": NUMBER,
    "int": INT,
    "SymInt": INT,
    "float": FLOAT,
    "bool": BOOL,
    "str": STRING,
    "ScalarType": INT,
    "Layout": INT,
    "MemoryFormat": INT,
    "Device": DEVICE,
    "Generator": GENERATOR,
    "Dimname": STRING,
    "Storage": OpaqueType("Storage"),
    "Stream": OpaqueType("Stream"),
}

# A dtype is represented in a graph by its value in c10::ScalarType.
DTYPE_OF_NUMBER: Final = {d.scalar_type: d for d in DTYPES}
MEMORY_FORMATS: Final = (
    contiguous_format,
    preserve_format,
    channels_last,
    channels_last_3d,
)  # in the order of c10::MemoryFormat
LAYOUTS: Final = (strided,)  # in the order of c10::Layout


def from_schema(declared: schema.Type) -> Type:
    """The graph type for the type of an argument or result in a schema.

    >>> print(from_schema(schema.Type.parse("SymInt[2]?")))
    int[]?
    """
    found = FROM_SCHEMA[declared.base]
    for suffix in declared.suffixes:
        found = OptionalType(found) if suffix == "?" else ListType(found)
    return found


def type_of(value: Any) -> Type:
    """The type of a Python value as a constant in a graph; TypeError for one that no graph can hold."""
    match value:
        case None:
            return NONE
        case bool():
            return BOOL
        case int() | Dtype() | layout() | memory_format():
            return INT
        case float():
            return FLOAT
        case str():
            return STRING
        case Device():
            return DEVICE
        case Tensor():
            return TensorType.of(value)
        case tuple():
            return TupleType(tuple(map(type_of, value)))
        case list() if value:
            kinds = list(dict.fromkeys(type_of(element).unshaped() for element in value))
            if len(kinds) == 1:
                return ListType(kinds[0])
            raise TypeError(
                f"the elements of a list in a graph have one type, got {', '.join(map(str, kinds))} in {value!r}"
            )
        case list():
            raise TypeError("an empty list does not say what its elements are; give its type, such as int[]")
    raise TypeError(
        f"a graph cannot hold {value!r} of type {type(value).__name__}; expected None, a bool, int, float, str, dtype, "
        "device, tensor, or a list or tuple of them"
    )


def plain_constant(value: Any) -> Any:
    """The value as a graph stores it: dtypes, layouts and memory formats become their numbers."""
    match value:
        case Dtype():
            return value.scalar_type
        case layout():
            return LAYOUTS.index(value)
        case memory_format():
            return MEMORY_FORMATS.index(value)
        case list():
            return [plain_constant(element) for element in value]
        case tuple():
            return tuple(plain_constant(element) for element in value)
    return value


def as_argument(declared: schema.Type, value: Any) -> Any:
    """The value that a kernel expects for an argument: undoes `plain_constant` where the schema says so."""
    if value is None:
        return None
    if isinstance(value, list):
        return [as_argument(declared, element) for element in value] if declared.base in NUMBERED else value
    numbered = NUMBERED.get(declared.base)
    return numbered[value] if numbered is not None and isinstance(value, int) else value


NUMBERED: Final[dict[str, Any]] = {
    "ScalarType": DTYPE_OF_NUMBER,
    "MemoryFormat": dict(enumerate(MEMORY_FORMATS)),
    "Layout": dict(enumerate(LAYOUTS)),
}


def _says(mine: object, asked: object) -> bool:
    return asked is None or mine == asked


def _all_say(mine: tuple[object, ...] | None, asked: tuple[object, ...] | None) -> bool:
    if asked is None or mine is None:
        return asked is None
    return len(mine) == len(asked) and all(map(_says, mine, asked))


def _star(size: int | None) -> str:
    return "*" if size is None else str(size)
