"""Does a call of an operator do to its arguments what the schema says, and nothing else?

Mirrors: torch/_subclasses/schema_check_mode.py (SchemaCheckMode)
Differs: dense tensors only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from glasstorch._library.schemas import tensors_in
from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.schema import Type
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
        for parameter, value, were in zip(func.schema.arguments, arguments, before, strict=True):
            shown = parameter.name if parameter.name != "self" else "input"
            self._check_aliases(func, name, shown, parameter.type, value, outputs)
            if any(was.differs(tensor) for was, tensor in zip(were, tensors_in([value]), strict=True)):
                if not parameter.type.is_write:
                    raise RuntimeError(f"Argument {shown} is not defined as mutable but was mutated")
                self.mutated.append(Mutation(name, shown))
        for i, j in combinations(range(len(func.schema.returns)), 2):
            if _overlap(outputs[i], outputs[j]) and not _may_alias(
                func.schema.returns[i].type, func.schema.returns[j].type
            ):
                raise RuntimeError(f"Outputs {i} and {j} alias unexpectedly")
        return result

    def _check_aliases(
        self, func: Operator, name: str, shown: str, kind: Type, value: Any, outputs: Sequence[Any]
    ) -> None:
        for j, output in enumerate(outputs):
            if _overlap(output, value):
                if j < len(func.schema.returns) and not _may_alias(kind, func.schema.returns[j].type):
                    raise RuntimeError(f"Argument {shown} is not defined to alias output but was aliasing")
                self.aliasing.append(Aliasing(name, shown, f"output_{j}"))
            if value is output and isinstance(value, TensorImpl) and not kind.is_write:
                raise RuntimeError(
                    f"Dispatcher operators below autograd are not allowed to directly return inputs.\nHowever, we "
                    f"found that `outputs[{j}] is {shown}"
                )


def _overlap(one: Any, other: Any) -> bool:
    """Whether a tensor of the one shares memory with a tensor of the other."""
    memories = {id(tensor.untyped_storage()) for tensor in tensors_in([one]) if tensor.numel()}
    return any(id(tensor.untyped_storage()) in memories for tensor in tensors_in([other]))


def _may_alias(one: Type, other: Type) -> bool:
    """Whether the schema lets the two share memory: they name a set of aliases in common, or one of them names any."""
    if one.alias is None or other.alias is None:
        return False
    names = [
        set(kind.alias.replace("!", "").replace("->", "|").replace(" ", "").split("|"))
        for kind in (one, other)
        if kind.alias
    ]
    return bool(names[0] & names[1]) or any("*" in found for found in names)
