"""Does a call of an operator do to its arguments what the schema says, and nothing else?

Mirrors: torch/_subclasses/schema_check_mode.py (SchemaCheckMode)
Differs: dense tensors only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

from glasstorch._library.schemas import tensors_in
from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.schema import Argument, FunctionSchema, Type
from glasstorch.operators.generated.functions import allclose


class Mutation(NamedTuple):
    """An argument that was written to, as the schema says."""

    op_name: str
    arg_name: str


class Aliasing(NamedTuple):
    """An argument whose memory a result shares, as the schema says."""

    op_name: str
    arg_name: str
    output_number: str


class _Before(NamedTuple):
    """What a tensor was before a call."""

    copy: Any
    strides: tuple[int, ...]
    storage: int

    @classmethod
    def of(cls, tensor: Any) -> _Before:
        return cls(tensor.detach().clone(), tuple(tensor.stride()), id(tensor.untyped_storage()))

    def differs(self, tensor: Any) -> bool:
        return not (
            self.copy.shape == tensor.shape
            and allclose(self.copy, tensor.detach(), equal_nan=True)
            and self.strides == tuple(tensor.stride())
            and self.storage == id(tensor.untyped_storage())
        )


class SchemaCheckMode(TorchDispatchMode):
    """Compare what each call inside changes and returns with the aliases in its schema.

    A RuntimeError names the first difference. `ops`, `mutated` and `aliasing` list what was seen.
    """

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.mutated: list[Mutation] = []
        self.aliasing: list[Aliasing] = []

    def reset_cache(self) -> None:
        """Forget what was seen."""
        for seen in (self.ops, self.mutated, self.aliasing):
            seen.clear()

    def display_ops(self) -> None:
        """Print the names of the operators that were called."""
        print(*self.ops, sep=",")

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = f"{func.namespace}::{func.schema.name}"
        self.ops.append(name)
        arguments = func.bind(args, dict(kwargs or {}))
        before = [[_Before.of(tensor) for tensor in tensors_in([value])] for value in arguments]
        result = func(*args, **(kwargs or {}))
        outputs = result if isinstance(result, tuple) else (result,)
        changed = [
            any(was.differs(tensor) for was, tensor in zip(were, tensors_in([value]), strict=True))
            for value, were in zip(arguments, before, strict=True)
        ]
        if broken := broken_promises(func.schema, arguments, changed, outputs):
            raise RuntimeError(_words(func.schema, min(broken, key=_order)))
        for i, (parameter, value) in enumerate(zip(func.schema.arguments, arguments, strict=True)):
            shown = _shown(parameter)
            self.aliasing += [
                Aliasing(name, shown, f"output_{j}") for j, output in enumerate(outputs) if overlap(output, value)
            ]
            if changed[i]:
                self.mutated.append(Mutation(name, shown))
        return result


# What a schema promises -----------------------------------------------------------------------------------------------

WRITES: Final = "writes"  # an argument that is not marked with `!` was changed
SHARES: Final = "shares"  # an argument and a result share memory, and their marks have no letter in common
RETURNED: Final = "returned"  # a result is an argument itself, which is not marked with `!`
RESULTS_SHARE: Final = "results share"  # two results share memory, and their marks have no letter in common


class Broken(NamedTuple):
    """A promise of a schema that a call has broken: which, and the places of the arguments or results concerned."""

    what: str
    first: int  # of the argument; of the first result for RESULTS_SHARE
    second: int | None = None  # of the result; None for WRITES


def broken_promises(
    schema: FunctionSchema, given: Sequence[Any], changed: Sequence[bool], returned: Sequence[Any]
) -> set[Broken]:
    """What a call has done and its schema does not allow.

    `given` are the arguments in the order of the schema; `changed` says of which of them the elements are others than
    before; `returned` are the results.
    """
    broken = set()
    for i, (declared, value) in enumerate(zip(schema.arguments, given, strict=True)):
        if changed[i] and not declared.type.is_write:
            broken.add(Broken(WRITES, i))
        for j, (promised, result) in enumerate(zip(schema.returns, returned, strict=False)):
            if overlap(value, result) and not _may_alias(declared.type, promised.type):
                broken.add(Broken(SHARES, i, j))
            if value is result and isinstance(value, TensorImpl) and not declared.type.is_write:
                broken.add(Broken(RETURNED, i, j))
    for (i, one), (j, other) in combinations(enumerate(schema.returns), 2):
        if overlap(returned[i], returned[j]) and not _may_alias(one.type, other.type):
            broken.add(Broken(RESULTS_SHARE, i, j))
    return broken


def _order(broken: Broken) -> tuple[bool, int, bool, int, bool]:
    """Which of several is named: by the argument, what it shares with a result before that it was written to."""
    what, first, second = broken
    return what == RESULTS_SHARE, first, what == WRITES, -1 if second is None else second, what == RETURNED


def _words(schema: FunctionSchema, broken: Broken) -> str:
    what, first, second = broken
    if what == RESULTS_SHARE:
        return f"Outputs {first} and {second} alias unexpectedly"
    shown = _shown(schema.arguments[first])
    if what == SHARES:
        return f"Argument {shown} is not defined to alias output but was aliasing"
    if what == WRITES:
        return f"Argument {shown} is not defined as mutable but was mutated"
    return (
        f"Dispatcher operators below autograd are not allowed to directly return inputs.\nHowever, we found that "
        f"`outputs[{second}] is {shown}"
    )


def _shown(parameter: Argument) -> str:
    return "input" if parameter.name == "self" else parameter.name


def overlap(one: Any, other: Any) -> bool:
    """Whether a tensor of the one, or in it, shares memory with a tensor of the other, or in it."""
    memories = {id(tensor.untyped_storage()) for tensor in tensors_in([one]) if tensor.numel()}
    return any(id(tensor.untyped_storage()) in memories for tensor in tensors_in([other]))


def _may_alias(one: Type, other: Type) -> bool:
    """Whether the schema lets the two share memory: they name a set of aliases in common, or one of them names any."""
    first, second = one.alias_info, other.alias_info
    if first is None or second is None:
        return False
    names, others = first.before_set | first.after_set, second.before_set | second.after_set
    return bool(names & others) or "*" in names | others
