"""Which rule gives the tangents of an operator's results?

`generated/forward_rules.py` fills the tables, from the lines for results in derivatives.yaml.

Mirrors: the forward derivatives of tools/autograd/derivatives.yaml
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Function = Callable[..., Any]


class Rule(NamedTuple):
    """How the tangents of results follow from those of arguments.

    `function` is called with all arguments, the results, and the tangents of `arguments`. Where it is None, the
    operator is linear, and the tangent of its result is its result of the tangents; or, with `transposed`, the tangent
    is the transpose of the backward pass. One that `lacks` zeros takes None for the tangent that an argument has not,
    and its tangent may have to be expanded to the result.
    """

    function: Function | None
    arguments: tuple[str, ...]
    uses: tuple[str, ...] = ()  # the arguments whose values it needs
    transposed: bool = False
    lacks: bool = False


RULES: dict[str, Rule] = {}


def rule(
    operator: str, arguments: tuple[str, ...], uses: tuple[str, ...] = (), lacks: bool = False
) -> Callable[[Function], Function]:
    """Register the decorated function as the rule of an operator."""

    def register(function: Function) -> Function:
        RULES[operator] = Rule(function, arguments, uses, lacks=lacks)
        return function

    return register


def linear(operator: str, arguments: tuple[str, ...]) -> None:
    """Register an operator that is linear in these arguments together."""
    RULES[operator] = Rule(None, arguments)


def transposed(operator: str, arguments: tuple[str, ...]) -> None:
    """Register an operator whose tangents follow from its gradients."""
    RULES[operator] = Rule(None, arguments, transposed=True)
