"""Does not know that `a -> *` is memory a."""

from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.jit.alias_analysis import UNDECLARED_VIEWS, MemoryFacts

REFUSED_BY = "check"


def letter(alias: str | None) -> str:
    """The bare letter: `a` of `a!` and of `a -> *`."""
    return (alias or "").rstrip("!")


def memory_facts(schema: FunctionSchema) -> MemoryFacts:
    """What a schema says of memory."""
    letters = [letter(argument.type.alias) for argument in schema.arguments]
    written = tuple(i for i, argument in enumerate(schema.arguments) if argument.type.is_write)
    sources = tuple(
        tuple(i for i, each in enumerate(letters) if each and each == letter(result.type.alias))
        for result in schema.returns
    )
    if schema.name in UNDECLARED_VIEWS:
        sources = tuple((UNDECLARED_VIEWS[schema.name],) for _ in schema.returns)
    return MemoryFacts(written, sources)
