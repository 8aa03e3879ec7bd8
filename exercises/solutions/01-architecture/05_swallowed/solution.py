"""Refuses named arguments that are left over, even if there is only one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch.calls.arguments import REFUSED
from glasstorch.calls.signature import Mismatch, Signature, python_name

FILE = "calls/signature.py"
LINE = 112


def mended(self: Signature, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """All arguments in schema order, converted; a Mismatch names the one that does not fit."""
    if self.varargs is not None:
        args = self._gather_varargs(args, self.varargs)
    count = len(args)
    if count > len(self.positional):
        raise Mismatch("takes {} positional arguments but {} were given", len(self.positional), count)
    bound: list[Any] = []
    unused = len(kwargs)
    for i, parameter in enumerate(self.parameters):
        name = parameter.name
        if i < count:
            if unused and name in kwargs:
                raise Mismatch("got multiple values for argument '{}'", name)
            value = args[i]
        elif unused and name in kwargs:
            value = kwargs[name]
            unused -= 1
        elif unused and name == "self" and "input" in kwargs:
            value = kwargs["input"]
            unused -= 1
        elif parameter.has_default:
            bound.append(parameter.default)
            continue
        else:
            raise Mismatch('missing 1 required positional arguments: "{}"', python_name(parameter.argument))
        converted = parameter.convert(value)
        if converted is REFUSED:
            raise self.refusal(parameter.argument, i if i < count else None, value)
        bound.append(converted)
    if unused:
        known = {p.name for p in self.parameters} | ({"input"} if self.has_self else set())
        unknown = next((name for name in kwargs if name not in known), "input")  # or self is given by both names
        raise Mismatch("got an unexpected keyword argument '{}'", unknown)
    return bound
