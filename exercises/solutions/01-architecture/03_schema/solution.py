"""Splits at the commas outside brackets, and takes each part apart from its end: default, name, type."""

from glasstorch.core.errors import SchemaError
from glasstorch.dispatch.schema import Argument, Type


def parse_arguments(text: str) -> tuple[Argument, ...]:
    """The parameters between the parentheses of a declaration, in order."""
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
    """The text, split at the commas outside brackets."""
    found, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found] if text.strip() else []
