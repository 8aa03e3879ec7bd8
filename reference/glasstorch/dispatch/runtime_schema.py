"""What does a running program see of a schema, and how is it printed?

Mirrors: aten/src/ATen/core/function_schema.h and its printing, torch/csrc/jit/python/init.cpp (FunctionSchema)
Differs: a type is a description, and not one of the types in `jit/`.

A declaration of native_functions.yaml and what a running program shows of it are two texts: `alpha=1.0` is shown as
`alpha=1.`, `padding=0` of an `int[2]` as `padding=[0, 0]`, and `reduction=Mean` as `reduction=1`. `schema.py` reads the
first and keeps it as written; `schema_reader.py` makes the second of it, and spaces are free there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from glasstorch.dispatch.schema import AliasInfo

# Of a base type: the word that a program sees, the one of the type as declared, and the kind. An enumeration is an int.
BASE: Final[dict[str, tuple[str, str, str]]] = {
    "Tensor": ("Tensor", "Tensor", "TensorType"),
    "int": ("int", "int", "IntType"),
    "SymInt": ("int", "int", "IntType"),
    "SymBool": ("bool", "bool", "SymBoolType"),
    "float": ("float", "float", "FloatType"),
    "complex": ("complex", "complex", "ComplexType"),
    "bool": ("bool", "bool", "BoolType"),
    "str": ("str", "str", "StringType"),
    "Scalar": ("number", "number", "NumberType"),
    "ScalarType": ("int", "ScalarType", "IntType"),
    "Layout": ("int", "Layout", "IntType"),
    "MemoryFormat": ("int", "MemoryFormat", "IntType"),
    "DeviceIndex": ("int", "int", "IntType"),
    "Device": ("Device", "Device", "DeviceObjType"),
    "Generator": ("Generator", "Generator", "GeneratorType"),
    "Storage": ("Storage", "Storage", "StorageType"),
    "Stream": ("Stream", "Stream", "StreamObjType"),
    "QScheme": ("QScheme", "QScheme", "QSchemeType"),
    "Any": ("Any", "Any", "AnyType"),
    "AnyEnumType": ("AnyEnumType", "AnyEnumType", "AnyEnumType"),
    "NoneType": ("NoneType", "NoneType", "NoneType"),
}
OTHER_WORDS: Final = {"None": "NoneType", "DeviceIndex": "int"}  # names of types that are printed by another one


@dataclass(frozen=True, slots=True)
class SchemaType:
    """A type as a program sees it: a base, a variable such as `t`, or a list, an optional or a dictionary of others."""

    base: str
    element: SchemaType | None = None  # what a list, an optional or a dictionary holds
    alias: AliasInfo | None = None
    size: int | None = None  # N of `int[N]`, below an optional too
    key: SchemaType | None = None  # of a dictionary

    def kind(self) -> str:
        return {"[]": "ListType", "?": "OptionalType", "{}": "DictType"}.get(self.base) or _base(self.base)[2]

    def getElementType(self) -> SchemaType:
        assert self.element is not None, f"{self} has no elements"
        return self.element

    def getKeyType(self) -> SchemaType:
        assert self.key is not None, f"{self} has no keys"
        return self.key

    def getValueType(self) -> SchemaType:
        return self.getElementType()

    @property
    def annotation_str(self) -> str:
        return str(self)

    @property
    def real(self) -> str:
        """The type as declared: an enumeration is not an int."""
        return self._words(1)

    def _words(self, column: int) -> str:
        if self.element is None:
            return _base(self.base)[column]
        if self.key is not None:
            return f"Dict[{self.key._words(column)}, {self.element._words(column)}]"
        return f"{'List' if self.base == '[]' else 'Optional'}[{self.element._words(column)}]"

    def written(self, size: int | None) -> str:
        """The type as a schema writes it; a list has its length there."""
        if self.element is None:
            return OTHER_WORDS.get(self.base, self.base) + (str(self.alias) if self.alias else "")
        if self.base == "?":
            return self.element.written(size) + "?"
        own = str(self.alias) if self.alias and (self.alias.before_set or self.alias.after_set) else ""
        if self.key is not None:
            return f"Dict({self.key.written(None)}, {self.element.written(None)}){own}"
        return f"{self.element.written(None)}[{'' if size is None else size}]{own}"

    def __str__(self) -> str:
        return self._words(0)

    __repr__ = __str__


def _base(word: str) -> tuple[str, str, str]:
    """The words of a base type; one that is not in the table is a variable, which stands for any type."""
    return BASE.get(word) or (word, word, "VarType")


class Argument(NamedTuple):
    """One parameter or result."""

    name: str
    type: SchemaType
    N: int | None = None
    default_value: Any = None
    has_default: bool = False
    kwarg_only: bool = False

    @property
    def alias_info(self) -> AliasInfo | None:
        """What the value shares, None for one that is fresh. A list of aliases has the write of its elements."""
        kind: SchemaType | None = self.type
        while kind is not None and kind.base == "?":
            kind = kind.element
        assert kind is not None
        if kind.alias is not None or kind.element is None:
            return kind.alias
        inner = kind.element.alias or (kind.element.element.alias if kind.element.element else None)
        if inner is None:
            return None
        return AliasInfo(inner.is_write, set(), set())

    @property
    def is_write(self) -> bool:
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        return self.kwarg_only and self.is_write

    @property
    def real_type(self) -> str:
        return self.type.real

    def has_default_value(self) -> bool:
        return self.has_default

    def __str__(self) -> str:
        default = f"={shown(self.default_value, self.type)}" if self.has_default else ""
        return f"{self.type.written(self.N)}{' ' + self.name if self.name else ''}{default}"

    def __repr__(self) -> str:
        return f"<torch.Argument {self}>"


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """`torch._C.FunctionSchema`: what a program reads from `operator._schema`.

    >>> from glasstorch.dispatch.schema_reader import parse_schema
    >>> schema = parse_schema("aten::celu(Tensor self, Scalar alpha=1.0) -> Tensor")
    >>> schema, schema.name, schema.is_mutable
    (aten::celu(Tensor self, Scalar alpha=1.) -> Tensor, 'aten::celu', False)
    """

    name: str
    overload_name: str
    arguments: list[Argument]
    returns: list[Argument]
    is_vararg: bool = False  # `f(...)`: takes any arguments
    is_varret: bool = False

    @property
    def is_mutable(self) -> bool:
        return any(argument.is_write for argument in self.arguments)

    def _is_view_op(self) -> bool:
        """Whether the memory of an argument is shared, and is not written to."""
        return any(argument.alias_info and not argument.is_write for argument in self.arguments)

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """Whether a program written for `old` still runs: parameters keep their places, new ones have defaults."""
        mine, theirs = _first_out(self.arguments), _first_out(old.arguments)
        if not self._is_same_function(old) or not all(map(_replaces, old.returns, self.returns)):
            return False
        if mine < theirs or len(self.arguments) - mine != len(old.arguments) - theirs:
            return False
        pairs = [*zip(self.arguments, old.arguments[:theirs], strict=False), *_outs(self, old)]
        kept = all(_replaces(new, before) for new, before in pairs)
        return kept and all(a.has_default for a in self.arguments[theirs:mine])

    def check_forward_compatible_with(self, old: FunctionSchema) -> tuple[bool, str]:
        """Whether a program written for this schema runs where only `old` is, and if not, why."""
        mine, theirs = _first_out(self.arguments), _first_out(old.arguments)
        if not self._is_same_function(old):
            return False, "Function schemas are of other names or numbers of results"
        if len(self.arguments) - mine != len(old.arguments) - theirs:
            return False, "Function schemas have other numbers of out arguments"
        pairs = [*zip(self.arguments[:mine], old.arguments[:theirs], strict=False), *_outs(self, old)]
        for new, before in pairs:
            same = (new.name, new.N, new.alias_info, new.default_value) == (
                *(before.name, before.N, before.alias_info, before.default_value),
            )
            if not same or (new.kwarg_only and not before.kwarg_only) or not _accepts(before.type, new.type):
                return False, f"'{new.name}' is not forward compatible with the older version of the schema"
        for added in self.arguments[theirs:mine]:
            if not added.has_default:
                return False, (
                    f"Function schema is not forward compatible since the new argument '{added.name}' of type "
                    f"{added.type} did not provide a default value."
                )
        return True, ""

    def _is_same_function(self, old: FunctionSchema) -> bool:
        return (self.name, self.overload_name, len(self.returns)) == (old.name, old.overload_name, len(old.returns))

    def __str__(self) -> str:
        overload = f".{self.overload_name}" if self.overload_name else ""
        arguments = [str(a) for a in self.arguments]
        first = next((i for i, a in enumerate(self.arguments) if a.kwarg_only), None)
        if first is not None:
            arguments.insert(first, "*")
        arguments += ["..."] * self.is_vararg
        returns = ", ".join([*map(str, self.returns), *["..."] * self.is_varret])
        if len(self.returns) + self.is_varret != 1:
            returns = f"({returns})"
        return f"{self.name}{overload}({', '.join(arguments)}) -> {returns}"

    __repr__ = __str__

    def __hash__(self) -> int:
        return hash(str(self))


def _first_out(arguments: list[Argument]) -> int:
    return next((i for i, argument in enumerate(arguments) if argument.is_out), len(arguments))


def _outs(new: FunctionSchema, old: FunctionSchema) -> Iterator[tuple[Argument, Argument]]:
    return zip(new.arguments[_first_out(new.arguments) :], old.arguments[_first_out(old.arguments) :], strict=True)


def _replaces(new: Argument, old: Argument) -> bool:
    """Whether a value for the old argument is one for the new, and what was left out still may be."""
    if (new.name, new.N, new.alias_info) != (old.name, old.N, old.alias_info):
        return False
    if new.kwarg_only and not old.kwarg_only:
        return False
    if old.has_default and not (new.has_default and new.default_value == old.default_value):
        return False
    return _accepts(new.type, old.type)


def _accepts(kind: SchemaType, given: SchemaType) -> bool:
    """Whether every value of the given type is one of the first."""
    return str(kind) in (str(given), f"Optional[{given}]")


def shown(value: Any, kind: SchemaType) -> str:
    """A default as the runtime prints it: a string of a `str` in quotes, a float with a point."""
    if isinstance(value, list):
        element = kind.element
        if element and element.base == "int" and len(value) > 1 and value.count(value[0]) == len(value):
            return str(value[0])
        return f"[{', '.join(shown(v, kind) for v in value)}]"
    if isinstance(value, str):
        return json.dumps(value) if "str" in (kind.base, kind.element and kind.element.base) else value
    if isinstance(value, complex):
        return f"{shown(value.real, kind)}+{shown(value.imag, kind)}j"
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and -(2**63) <= value < 2**63:
        return f"{int(value)}."
    return f"{value:.17g}" if math.isfinite(value) else str(value)
