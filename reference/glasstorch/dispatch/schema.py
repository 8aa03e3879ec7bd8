"""What does an operator's declaration say?

Mirrors: aten/src/ATen/core/function_schema.h, torch/csrc/jit/frontend/function_schema_parser.cpp, torchgen/model.py
Differs: a type that none of PyTorch's own declarations has is refused by name. `runtime_schema.py` has the
    form in which a running program sees a schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from glasstorch.core import layout
from glasstorch.core.dtype import int64
from glasstorch.core.errors import SchemaError

BASE_TYPES = frozenset(
    [
        "Tensor",
        "Scalar",
        "int",
        "SymInt",
        "float",
        "bool",
        "str",
        "ScalarType",
        "Layout",
        "Device",
        "MemoryFormat",
        "Generator",
        "Dimname",
        "Storage",
        "Stream",
        "DeviceIndex",
        "QScheme",
        "SymBool",
    ]
)

TYPE = re.compile(r"(?P<base>\w+)(?:\((?P<alias>[^)]*)\))?(?P<suffixes>(?:\[\d*\]|\?)*)")
SCHEMA = re.compile(
    r"(?:(?P<namespace>\w+)::)?(?P<name>\w+)(?:\.(?P<overload>\w+))?\((?P<arguments>.*)\) -> (?P<returns>.+)",
    re.DOTALL,
)
INPLACE = re.compile(r".*[^_]_|__i(?:and|or|xor|lshift|rshift)__")
ENUMERATORS: dict[str, Any] = {
    "Mean": 1,  # at::Reduction
    "contiguous_format": layout.contiguous_format,
    "preserve_format": layout.preserve_format,
    "strided": layout.strided,
    "long": int64,
}


class AliasInfo(NamedTuple):
    """Which memory a value shares before and after the call, as names of sets, and whether it is written to.

    `(a -> *)` is in a before, and in any set after: its parts are handed out. Values of one set may share memory.
    """

    is_write: bool
    before_set: set[str]
    after_set: set[str]

    @classmethod
    def parse(cls, text: str) -> AliasInfo:
        """Read what stands in the parentheses: `a`, `a!`, `a|b -> c`."""
        before, arrow, after = text.partition(" -> ")
        sets = set(before.rstrip("!").split("|"))
        return cls(before.endswith("!"), sets, set(after.split("|")) if arrow else sets)

    def __str__(self) -> str:
        before, after = "|".join(sorted(self.before_set)), "|".join(sorted(self.after_set))
        return f"({before}{'!' * self.is_write}{f' -> {after}' if after != before else ''})"


@dataclass(frozen=True, slots=True)
class Type:
    """A type in a schema: `Tensor(a!)`, `int[2]?`, `Scalar`.

    `alias` is what the parentheses say: `a` for a view of something named a, `a!` for something written to.
    """

    base: str
    alias: str | None
    suffixes: tuple[str, ...]  # `?` and `[]` or `[2]`, in the order written

    @classmethod
    def parse(cls, text: str) -> Type:
        match = TYPE.fullmatch(text)
        if match is None or match["base"] not in BASE_TYPES:
            raise SchemaError(
                f"cannot read the type {text!r}; expected one of {', '.join(sorted(BASE_TYPES))}, then ? or []"
            )
        return cls(match["base"], match["alias"], tuple(re.findall(r"\[\d*\]|\?", match["suffixes"])))

    @property
    def is_optional(self) -> bool:
        return self.suffixes[-1:] == ("?",)

    @property
    def is_list(self) -> bool:
        return any(suffix[0] == "[" for suffix in self.suffixes)

    @property
    def list_size(self) -> int | None:
        """The length that a single value is repeated to (`int[2]`), if the type has one."""
        sizes = [suffix[1:-1] for suffix in self.suffixes if suffix[0] == "["]
        return int(sizes[0]) if sizes and sizes[0] else None

    @property
    def is_tensor_like(self) -> bool:
        return self.base == "Tensor"

    @property
    def alias_info(self) -> AliasInfo | None:
        """The sets of memory that the value is in, None for one that is fresh."""
        return None if self.alias is None else AliasInfo.parse(self.alias)

    @property
    def is_write(self) -> bool:
        return self.alias is not None and "!" in self.alias

    def __str__(self) -> str:
        alias = f"({self.alias})" if self.alias is not None else ""
        return self.base + alias + "".join(self.suffixes)


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter: type, name, the default as written, and whether it must be given by name.

    SchemaError for a default that cannot be parsed.
    """

    type: Type
    name: str
    default: str | None
    keyword_only: bool

    def __post_init__(self) -> None:
        if self.default is not None:
            _value(self.default)

    @property
    def default_value(self) -> Any:
        """The default as a Python value; only for arguments that have one. `int[2] padding=0` has [0, 0]."""
        assert self.default is not None
        value, size = _value(self.default), self.type.list_size
        return value if size is None or value is None or isinstance(value, list) else [value] * size

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + (f"={self.default}" if self.default is not None else "")


@dataclass(frozen=True, slots=True)
class Return:
    """One result: its type and, in a tuple with field names, its name."""

    type: Type
    name: str | None

    def __str__(self) -> str:
        return str(self.type) + (f" {self.name}" if self.name else "")


@dataclass(frozen=True)
class FunctionSchema:
    """An operator's name, parameters and results; prints back as it was written.

    >>> schema = FunctionSchema.parse("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    >>> schema.overload, schema.arguments[2].default_value
    ('Tensor', 1)
    """

    namespace: str | None
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @classmethod
    def parse(cls, text: str) -> FunctionSchema:
        """Read a declaration; SchemaError says what was found and what was expected."""
        match = SCHEMA.fullmatch(text.strip())
        if match is None:
            raise SchemaError(f"cannot read the schema {text!r}; expected 'name.overload(Type argument, ...) -> Type'")
        try:
            schema = cls(
                match["namespace"],
                match["name"],
                match["overload"] or "",
                parse_arguments(match["arguments"]),
                _parse_returns(match["returns"]),
            )
        except SchemaError as error:
            raise SchemaError(f"in the schema {text!r}: {error}") from None
        if str(schema) != text.strip():
            raise SchemaError(f"the schema {text!r} was read as '{schema}'; write it in that form")
        return schema

    @cached_property
    def qualified_name(self) -> str:
        """`aten::add.Tensor`"""
        dotted = f"{self.name}.{self.overload}" if self.overload else self.name
        return f"{self.namespace or 'aten'}::{dotted}"

    @property
    def positional(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if not a.keyword_only)

    @property
    def keyword_only(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.keyword_only)

    @cached_property
    def out_arguments(self) -> tuple[Argument, ...]:
        """The arguments of an out= overload that are written to and returned."""
        return tuple(a for a in self.arguments if a.keyword_only and a.type.is_write)

    @cached_property
    def is_inplace(self) -> bool:
        """Whether the operator changes its first argument and returns it: `add_`."""
        return INPLACE.fullmatch(self.name) is not None

    @cached_property
    def is_out(self) -> bool:
        return bool(self.out_arguments)

    @property
    def is_view(self) -> bool:
        """Whether a result aliases an argument that is only read: `transpose(Tensor(a) self, ...) -> Tensor(a)`."""
        read = [a.type.alias_info.before_set for a in self.arguments if a.type.alias_info and not a.type.is_write]
        shared = set().union(*read)
        return any(r.type.alias_info is not None and r.type.alias_info.before_set & shared for r in self.returns)

    @property
    def is_factory(self) -> bool:
        """Whether the operator makes a tensor on a device that is an argument."""
        return any(a.type.base == "Device" for a in self.arguments)

    def __str__(self) -> str:
        prefix = f"{self.namespace}::" if self.namespace else ""
        overload = f".{self.overload}" if self.overload else ""
        arguments = [str(a) for a in self.positional]
        if self.keyword_only:
            arguments += ["*", *map(str, self.keyword_only)]
        if len(self.returns) == 1:
            returns = str(self.returns[0])
        else:
            returns = f"({', '.join(map(str, self.returns))})"
        return f"{prefix}{self.name}{overload}({', '.join(arguments)}) -> {returns}"


def split_at_commas(text: str) -> list[str]:
    """Split at commas that are not inside brackets or parentheses."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def parse_arguments(text: str) -> tuple[Argument, ...]:
    """The parameters between the parentheses of a declaration; SchemaError for what cannot be parsed."""
    arguments: list[Argument] = []
    keyword_only = False
    for part in split_at_commas(text):
        if part == "*":
            keyword_only = True
            continue
        declaration, equals, default = part.partition("=")
        type_text, space, name = declaration.rpartition(" ")
        if not space or not name.isidentifier():
            raise SchemaError(f"cannot read the argument {part!r}; expected 'Type name' or 'Type name=default'")
        if any(a.name == name for a in arguments):
            raise SchemaError(f"two arguments are named {name!r}")
        arguments.append(Argument(Type.parse(type_text), name, default if equals else None, keyword_only))
    return tuple(arguments)


def _parse_returns(text: str) -> tuple[Return, ...]:
    parts = split_at_commas(text[1:-1]) if text.startswith("(") and text.endswith(")") else [text]
    returns = []
    for part in parts:
        type_text, space, name = part.rpartition(" ")
        named = bool(space) and name.isidentifier() and not part.endswith(")")
        returns.append(Return(Type.parse(type_text if named else part), name if named else None))
    return tuple(returns)


def _value(text: str) -> Any:
    """A default as written in a schema, as a Python value."""
    words = {"None": None, "True": True, "False": False, **ENUMERATORS}
    if text in words:
        return words[text]
    if text.startswith("[") and text.endswith("]"):
        return [_value(part) for part in split_at_commas(text[1:-1])]
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    raise SchemaError(
        f"cannot read the default {text!r}; expected a number, a quoted string, None, True, False or a list"
    )
