"""Puts a name before the text and a result behind it, and has the library read the whole: with this very function.

Refused by: graft
"""

from glasstorch.dispatch.schema import Argument, FunctionSchema


def parse_arguments(text: str) -> tuple[Argument, ...]:
    """The parameters between the parentheses of a declaration, in order."""
    return FunctionSchema.parse(f"operator({text}) -> Tensor").arguments
