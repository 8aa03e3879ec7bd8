"""Which schema must an operator have that is tagged as in place, or as one with out= arguments?

Mirrors: torch/library.py (_validate_inplace_schema, _validate_out_schema)
Differs: for operators that a user defines; the library's own are held to it by the tests of their table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from glasstorch.dispatch.schema import Argument, FunctionSchema
from glasstorch.dispatch.tags import Tag


def _is_tensor(argument: Argument) -> bool:
    return argument.type.base == "Tensor" and not argument.type.suffixes


def check_inplace(schema: FunctionSchema) -> None:
    """Refuse a schema that does not write to its first argument, a tensor, and to no other, and return it."""

    def refuse(what: str) -> ValueError:
        return ValueError(f"Schema tagged with torch.Tag.inplace {what}. Got: {schema}")

    if not schema.positional:
        raise refuse("must have at least one positional argument")
    first, *others = schema.arguments
    if not first.type.is_write:
        raise refuse("requires the first positional argument to be mutable (e.g., Tensor(a!))")
    if not _is_tensor(first):
        raise refuse(
            f"requires the first positional argument to be a Tensor. Got type '{first.type}' for arg '{first.name}'"
        )
    if len(schema.returns) != 1:
        raise refuse(f"must return exactly one value (the first argument). Got {len(schema.returns)} returns")
    if str(schema.returns[0].type) != str(first.type):
        raise refuse(f"must return the first mutable argument (it returns {schema.returns[0].type})")
    if names := [a.name for a in others if a.type.is_write]:
        raise refuse(f"must only mutate the first positional argument. Found additional mutable args: {names}")


def check_out(schema: FunctionSchema) -> None:
    """Refuse a schema that does not write to keyword-only tensors alone, and return them in their order."""

    def refuse(what: str) -> ValueError:
        return ValueError(f"Schema tagged with torch.Tag.out {what}. Got: {schema}")

    written = [a for a in schema.arguments if a.type.is_write]
    if not written:
        raise refuse("must have at least one mutable argument")
    if names := [a.name for a in written if not a.keyword_only]:
        raise refuse(
            f"requires all mutable arguments to be keyword-only (after the *). Found mutable positional args: {names}"
        )
    if names := [a.name for a in written if not _is_tensor(a)]:
        raise refuse(f"only supports Tensor mutable arguments. Found unsupported mutable args: {names}")
    if len(schema.returns) != len(written):
        raise refuse(
            f"must return all mutable arguments (got {len(written)} mutable args but {len(schema.returns)} returns)"
        )
    for i, (returned, argument) in enumerate(zip(schema.returns, written, strict=True)):
        if str(returned.type) != str(argument.type):
            raise refuse(f"returns {returned.type} as its result {i}, which must alias mutable arg '{argument.name}'")


TAGGED_SCHEMAS: Final[dict[Tag, Callable[[FunctionSchema], None]]] = {Tag.inplace: check_inplace, Tag.out: check_out}
