"""Puts a name before the text and a result behind it, and has the library read the whole: with this very function."""

from glasstorch.dispatch.schema import Argument, FunctionSchema

REFUSED_BY = "graft"


def parse_arguments(text: str) -> tuple[Argument, ...]:
    return FunctionSchema.parse(f"operator({text}) -> Tensor").arguments
