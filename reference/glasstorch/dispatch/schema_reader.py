"""How is the text of a schema read at run time, and where is it wrong?

Mirrors: torch/csrc/jit/frontend/function_schema_parser.cpp, schema_type_parser.cpp, lexer.h
Differs: no classes, futures or tuples in a type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from keyword import kwlist
from typing import Any, Final, NamedTuple, NoReturn

from glasstorch.core.device import device_from
from glasstorch.core.errors import SchemaTextError
from glasstorch.dispatch.runtime_schema import BASE, OTHER_WORDS, Argument, FunctionSchema, SchemaType
from glasstorch.dispatch.schema import AliasInfo

CONSTANTS: Final = {"Mean": 1, "contiguous_format": 0, "strided": 0, "long": 4, "float": 6, "float32": 6}
LITERALS: Final[dict[str, Any]] = {"True": True, "False": False, "None": None}
ONLY_NONE: Final = frozenset(["Tensor", "Generator", "Storage", "Stream", "QScheme", "Any"])
LISTS: Final = frozenset(["int", "SymInt", "float", "complex", "bool"])

TOKEN = re.compile(
    r"(?P<space>[ \t]+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?)|(?P<ident>[A-Za-z_]\w*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<mark>->|\.\.\.|[()\[\],*?!|:.=+-])|(?P<newline>\n\s*)"
)
NAMES_IN_SCHEMAS: Final = frozenset(
    ["async", "await", "except", "finally", "from", "lambda", "nonlocal", "try", "yield"]
)
KEYWORDS: Final = frozenset(kwlist) - NAMES_IN_SCHEMAS
KIND_OF_MARK = {"->": "arrow"}
TYPES = (
    "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
    "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
)


class _Token(NamedTuple):
    kind: str  # ident, number, string_literal, eof, indent, or the mark or keyword itself
    text: str
    start: int


def parse_schema(schema: str, allow_typevars: bool = True) -> FunctionSchema:
    """`torch._C.parse_schema`. RuntimeError marks the place that could not be read.

    With type variables, a word in small letters that is no type stands for any, as in `f(t[] a) -> t`.
    """
    return _Reader(schema, allow_typevars).schema()


class _Reader:
    """A recursive descent over the tokens of one schema."""

    def __init__(self, text: str, allow_typevars: bool) -> None:
        self.text = text
        self.allow_typevars = allow_typevars
        self.tokens = self._tokens()
        self.current = next(self.tokens)
        self.unnamed = 0
        self.is_vararg = self.is_varret = False

    def _tokens(self) -> Iterator[_Token]:
        at = 0
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if match is None:
                self.refuse(f"expected a valid token but found '{self.text[at]}' here", _Token("", " ", at))
            kind, text = str(match.lastgroup), match[0]
            if kind == "newline" and not self.text[match.end() :].strip():
                break
            if kind == "newline":
                # A newline means something only to Python's own grammar, which has the same lexer.
                yield _Token("indent" if text.endswith((" ", "\t")) else "newline", "", len(self.text))
            elif kind == "string":
                yield _Token("string_literal", text, at)
            elif kind == "mark" or text in KEYWORDS:
                yield _Token(text, text, at)
            elif kind != "space":
                yield _Token(kind, text, at)
            at = match.end()
        while True:
            yield _Token("eof", "", len(self.text))

    def refuse(self, problem: str, token: _Token) -> NoReturn:
        """Raise what PyTorch does: the problem, the schema, and a line that points at the token."""
        mark = f"\n{' ' * token.start}{'~' * len(token.text)} <--- HERE\n" if token.text else ""
        raise SchemaTextError(f"{problem}:\n{self.text}{mark}")

    def take(self) -> _Token:
        token, self.current = self.current, next(self.tokens)
        return token

    def takes(self, kind: str) -> bool:
        """Whether the next token is of this kind; if so, it is taken."""
        if self.current.kind == kind:
            self.take()
            return True
        return False

    def expect(self, kind: str) -> _Token:
        if self.current.kind != kind:
            wanted = KIND_OF_MARK.get(kind, kind)
            found = KIND_OF_MARK.get(self.current.kind, self.current.kind)
            self.refuse(f"expected {wanted} but found '{found}' here", self.current)
        return self.take()

    def schema(self) -> FunctionSchema:
        name = self.expect("ident").text
        if self.takes(":"):
            self.expect(":")
            name = f"{name}::{self.expect('ident').text}"
        overload = self.overload()
        if self.current.kind == "eof":
            raise SchemaTextError("Tried to parse a function schema but only the operator name was given")
        if self.current.kind != "(":
            self.expect("eof")
        self.expect("(")
        arguments = self.arguments()
        self.expect("->")
        returns = self.results()
        self.expect("eof")
        seen = False
        for argument in arguments:
            if seen and not (argument.has_default or argument.kwarg_only):
                raise SchemaTextError(
                    "Non-default positional argument follows default argument. "
                    f"Parameter {argument.name} in {self.text}"
                )
            seen = seen or argument.has_default
        return FunctionSchema(name, overload, arguments, returns, self.is_vararg, self.is_varret)

    def overload(self) -> str:
        if not self.takes("."):
            return ""
        overload = self.expect("ident").text
        if overload == "default" or overload.startswith("__"):
            raise SchemaTextError(f"{overload} is not a legal overload name for aten operators")
        return overload

    def arguments(self) -> list[Argument]:
        """The parameters after an opening parenthesis."""
        found: list[Argument] = []
        named = False
        if self.takes(")"):
            return found
        while True:
            if self.takes("*"):
                named = True
            elif self.takes("..."):
                self.is_vararg = True
            else:
                found.append(self.argument(named))
            if not self.takes(","):
                self.expect(")")
                return found

    def results(self) -> list[Argument]:
        found: list[Argument] = []
        if self.takes("..."):
            self.is_varret = True
            return found
        if not self.takes("("):
            return [self.result()]
        if self.takes(")"):
            return found
        while True:
            if self.takes("..."):
                self.is_varret = True
            else:
                found.append(self.result())
            if not self.takes(","):
                self.expect(")")
                return found

    def result(self) -> Argument:
        kind, size = self.type()
        name = self.take().text if self.current.kind == "ident" else ""
        return Argument(name, kind, size)

    def argument(self, keyword_only: bool) -> Argument:
        kind, size = self.type()
        name = self.expect("ident").text
        if not self.takes("="):
            return Argument(name, kind, size, None, False, keyword_only)
        return Argument(name, kind, size, self.default(kind, size), True, keyword_only)

    def type(self) -> tuple[SchemaType, int | None]:
        """A type and the length of its list."""
        kind = self.base_type(self.expect("ident") if self.current.kind != "None" else self.take())
        size = None
        while True:
            if self.takes("["):
                size = int(self.take().text) if self.current.kind == "number" else None
                self.expect("]")
                kind = SchemaType("[]", kind, self.alias())
            elif self.takes("?"):
                kind = SchemaType("?", kind)
            else:
                return kind, size

    def base_type(self, token: _Token) -> SchemaType:
        """What stands before the brackets of lists."""
        base = OTHER_WORDS.get(token.text, token.text)
        if base == "Dict":
            self.expect("(")
            key = self.type()[0]
            self.expect(",")
            value = self.type()[0]
            self.expect(")")
            return SchemaType("{}", value, self.alias(), key=key)
        if base not in BASE:
            if not (self.allow_typevars and base[0].islower()):
                self.refuse("\n" + TYPES, token)
            return SchemaType(base, None, self.alias())
        return SchemaType(base, None, self.alias() if base == "Tensor" else None)

    def alias(self) -> AliasInfo | None:
        """`(a)`, `(a!)`, `(a|b -> c)`, or `!` alone, which makes a set of its own."""
        if self.takes("!"):
            self.unnamed += 1
            return AliasInfo(True, {f"${self.unnamed - 1}"}, set())
        if not self.takes("("):
            return None
        before = self.sets()
        is_write = self.takes("!")
        after = self.sets() if self.takes("->") else before
        self.expect(")")
        return AliasInfo(is_write, before, after)

    def sets(self) -> set[str]:
        found = set()
        while True:
            found.add("*" if self.takes("*") else self.expect("ident").text)
            if not self.takes("|"):
                return found

    def default(self, kind: SchemaType, size: int | None) -> Any:
        base = kind.element if kind.base == "?" and kind.element else kind
        if base.base == "[]":
            assert base.element is not None
            return self.list_default(base.element, size, optional=kind.base == "?")
        if kind.base in ONLY_NONE:
            self.expect("None")
            return None
        return self.constant(base)

    def list_default(self, element: SchemaType, size: int | None, optional: bool) -> Any:
        if optional and self.takes("None"):
            return None
        if size is not None and self.current.kind != "[":
            return [self.constant(element)] * size
        opening = self.expect("[")
        if element.base not in LISTS and self.current.kind != "]":
            self.refuse("\nlists are only supported for float, int and complex types", opening)
        values: list[Any] = []
        if self.takes("]"):
            return values
        while True:
            values.append(self.constant(element))
            if not self.takes(","):
                self.expect("]")
                return values

    def constant(self, kind: SchemaType) -> Any:
        token = self.current
        if token.kind in LITERALS:
            return LITERALS[self.take().kind]
        if token.kind == "string_literal":
            text = self.take().text[1:-1].encode().decode("unicode_escape")
            return device_from(text) if kind.base == "Device" else text
        if token.text in CONSTANTS:
            return CONSTANTS[self.take().text]
        sign = -1 if self.takes("-") else 1
        if self.current.kind != "number":
            self.take()
            self.refuse("\ninvalid numeric default value", self.current)  # PyTorch marks what follows the word
        return sign * _number(self.take().text, kind.base)


READ_NUMBER: Final[dict[str, Callable[[str], Any]]] = {"float": float, "complex": complex}


def _number(text: str, base: str) -> Any:
    if text.endswith("j"):
        return complex(text)
    whole = text.isdigit() and base not in READ_NUMBER
    number: Any = int(text) if whole else READ_NUMBER.get(base, float)(text)
    if whole and number >= 2**63:
        raise IndexError("stoll")
    if isinstance(number, float) and math.isinf(number):
        raise IndexError("stod")
    return number
