"""Cuts at every comma."""

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import Argument, Type

REFUSED_BY = "check"


def parse_arguments(text: str) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    keyword_only = False
    for part in parts(text):
        if part == "*":
            keyword_only = True
            continue
        declaration, equals, default = part.partition("=")
        kind, _, name = declaration.rpartition(" ")
        if not kind or not name.isidentifier():
            raise SchemaError(f"cannot read the argument {part!r}")
        if any(argument.name == name for argument in arguments):
            raise SchemaError(f"two arguments are named {name!r}")
        arguments.append(Argument(Type.parse(kind), name, default if equals else None, keyword_only))
    return tuple(arguments)


def parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []
