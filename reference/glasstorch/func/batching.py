"""How does vmap hand a call to its rule?

Mirrors: aten/src/ATen/functorch/VmapInterpreter.cpp, BatchedFallback.cpp, BatchRulesHelper.h
Differs: rules are found by the operator's row (rules/) and its tags; a loop is the last resort, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.keys import WRAPPED, DispatchKey
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.user_line import warn_user
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.operator import Kernel, Operator, keys_of
from glasstorch.dispatch.resolve import KERNEL, Choice, entry_for
from glasstorch.dispatch.tags import Tag
from glasstorch.func.layers import Interpreter, Rest, call, map_tensors, rebuilt
from glasstorch.func.wrapped import NO_VALUE, batched, refresh, wrapping, wrapping_by
from glasstorch.operators.generated import functions as f

BelowRule = Callable[["Batch", Operator, list[Any]], Any]


class Rule(NamedTuple):
    """How an operator is worked out for a batch.

    A rule is called as `function(batch, operator, arguments)` at the levels below, and returns NotImplemented for
    arguments that it leaves to the operator's composite kernel. One that `is_made_of_others` is called as
    `function(*arguments)` at the level of vmap, where each operator that it calls finds its own rule.
    """

    function: Callable[..., Any]
    is_made_of_others: bool = False


class RuleOfUser:
    """A rule that a user has registered under FuncTorchBatched: users_rule.py has what becomes of one."""

    def process(self, batch: Batch, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        """Handle a call; `rest` is where it goes on."""
        raise NotImplementedError

    def __call__(self, *arguments: Any) -> Any:
        """Refused: vmap calls `process`, which knows where the call goes on."""
        raise AssertionError("a rule for a batch is called by vmap")


IMPLICIT = DispatchKey.CompositeImplicitAutograd
BATCHED = DispatchKey.FuncTorchBatched
RULES: dict[str, Rule] = {}  # by the operator, from the rows of the table: rules/__init__.py
BY_TAG: dict[Tag, Rule] = {}  # of operators whose row names none


class Batch(Interpreter):
    """The interpreter of vmap."""

    def __init__(self, size: int, randomness: str = "error") -> None:
        self.size, self.randomness = size, randomness

    def process(self, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        some = self.has_wrapped(arguments)
        if not some and Tag.nondeterministic_seeded not in operator.tags:
            return rest.call(call, operator, arguments)  # once for all examples
        if some and operator.schema.is_out:
            raise no_rule_for_out(operator)
        if not operator.family and (registered := operator.kernels.get(BATCHED)):
            return self.by_user(registered[-1], operator, arguments, rest)
        kernel = composite_of(operator)
        rule = rule_of(operator, kernel)
        if rule is not None and rule.is_made_of_others:
            result = rule.function(*arguments)
            return arguments[0].copy_(result) if operator.schema.is_inplace else result
        if rule is not None:
            result = rest.call(rule.function, self, operator, list(arguments))
            if result is not NotImplemented:
                return result
        if kernel is not None:
            return called(kernel, operator, arguments)  # each of its parts comes here
        return rest.call(one_by_one, self, operator, list(arguments))

    def by_user(self, kernel: Kernel, operator: Operator, arguments: Sequence[Any], rest: Rest) -> Any:
        """Call what a user has registered for an operator of their own under FuncTorchBatched."""
        if isinstance(kernel.function, RuleOfUser):
            return kernel.function.process(self, operator, arguments, rest)
        keys = compute_keys(keys_of(arguments))
        return entry_for(operator, Choice(BATCHED, kernel, KERNEL), keys)(keys, *arguments)

    def has_wrapped(self, arguments: Sequence[Any]) -> bool:
        """Whether a tensor among the arguments is batched at this level."""
        for argument in arguments:
            if isinstance(argument, TensorImpl):
                if argument.key_set & WRAPPED and wrapping(argument).owner is self:
                    return True
            elif isinstance(argument, (list, tuple)) and self.has_wrapped(argument):
                return True
        return False

    # What rules use ---------------------------------------------------------------------------------------------

    def in_front(self, value: Any) -> tuple[Tensor, bool]:
        """The value with the batch in front, and whether there is one."""
        found = wrapping_by(self, value)
        if found is None:
            return value, False
        assert found.bdim is not None
        return found.value.movedim(found.bdim, 0) if found.bdim else found.value, True

    def expanded(self, value: Any) -> Tensor:
        """The value with the batch in front, the same for all examples where there was none."""
        front, is_batched = self.in_front(value)
        return front if is_batched else front.expand((self.size, *front._shape))

    def fronts(self, arguments: Sequence[Any], everything: bool) -> list[Any]:
        """The arguments with the batch in front; with `everything`, also where there was none."""

        def front(tensor: Tensor) -> Tensor:
            return self.expanded(tensor) if everything and tensor._number is None else self.in_front(tensor)[0]

        return map_tensors(front, arguments)

    def around(self, value: Any, bdim: int = 0) -> Any:
        """A result as batched tensors."""
        if isinstance(value, TensorImpl):
            return batched(value, bdim, self)  # type: ignore[arg-type]
        return rebuilt(value, (self.around(one, bdim) for one in value)) if isinstance(value, (list, tuple)) else value

    def check_writable(self, operator: Operator, arguments: Sequence[Any]) -> None:
        """Refuse to change in place a tensor that all examples share; put the batch of another in front."""
        if not operator.schema.is_inplace:
            return
        found = wrapping_by(self, arguments[0])
        if found is None:
            raise incompatible("inplace arithmetic")
        if found.bdim:
            found.value, found.bdim = found.value.movedim(found.bdim, 0), 0

    def finished(self, operator: Operator, arguments: Sequence[Any], result: Any) -> Any:
        """The result around its level; of an operator in place, the tensor that was changed."""
        if operator.schema.is_inplace:
            refresh(arguments[0])
            return arguments[0]
        return self.around(result)


def rule_of(operator: Operator, kernel: Kernel | None) -> Rule | None:
    """The rule that an operator's row names, or one of its tags; `kernel` is what composes it of others, if any."""
    rule = RULES.get(operator.qualified_overload) if operator.namespace == "aten" else None
    is_random = Tag.nondeterministic_seeded in operator.tags
    if rule is None and not (is_random and kernel is not None and kernel.key is IMPLICIT):
        rule = next((found for tag, found in BY_TAG.items() if tag in operator.tags), None)
    return rule


def called(kernel: Kernel, operator: Operator, arguments: Sequence[Any]) -> Any:
    """Call the kernel that composes an operator of others, at the level of vmap."""
    keys = compute_keys(keys_of(arguments))
    if kernel.by_user:
        return entry_for(operator, Choice(kernel.key, kernel, KERNEL), keys)(keys, *arguments)
    return kernel.function(keys, *arguments) if kernel.takes_keys else kernel.function(*arguments)


def no_rule_for_out(operator: Operator) -> RuntimeError:
    """The error of a batched call with out=."""
    return RuntimeError(
        f"Batching rule not implemented for {operator.name}; the fallback path doesn't work on out= or view ops."
    )


def full_name(operator: Operator) -> str:
    """An operator's name, without that of its overload."""
    return f"{operator.namespace}::{operator.schema.name}"


def incompatible(name: str, where: str = "in a vmap") -> RuntimeError:
    """The error of a change in place that would need more elements than there are."""
    return RuntimeError(
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        f"more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
        f"{where}. Please try to use out-of-place operators instead of {name}. If said operator is being called "
        f"inside the PyTorch framework, please file a bug report instead."
    )


def composite_of(operator: Operator) -> Kernel | None:
    """The kernel of an operator that is composed of others; its own out= form is no other."""
    if Tag.structured in operator.tags:
        return None
    explicit = (DispatchKey.CompositeExplicitAutograd, DispatchKey.CompositeExplicitAutogradNonFunctional)
    # That of a user, for all devices, may do anything with the elements.
    for key in (IMPLICIT, *explicit) if operator.family else (IMPLICIT,):
        if kernels := operator.kernels.get(key):
            return kernels[-1]
    on_devices = operator.kernels.get(DispatchKey.CPU, [])[-1:] if Tag.strided_only in operator.tags else []
    return next((kernel for kernel in on_devices if getattr(kernel.table, "key", None) in explicit), None)


def one_by_one(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The last resort: a loop over the examples, whose results are stacked."""
    if Tag.nondeterministic_seeded not in operator.tags:
        warn_user(
            f"There is a performance drop because we have not yet implemented the batching rule for {operator.name}. "
            f"Please file us an issue on GitHub so that we can prioritize its implementation."
        )
    for place in written(operator):
        if wrapping_by(batch, arguments[place]) is None:
            raise incompatible(full_name(operator), f"at level {batch.level}")
    fronts = map_tensors(lambda tensor: _Front(*batch.in_front(tensor)), arguments)
    results = [call(operator, _at(fronts, i)) for i in range(batch.size)]
    returned = [arguments[place] for place in written(operator)]
    for tensor in returned:
        refresh(tensor)
    if returned and operator.schema.is_inplace:
        return returned[0]
    first = results[0]
    if not isinstance(first, tuple | list):
        return _stacked(batch, results)
    return rebuilt(first, [_stacked(batch, column) for column in zip(*results, strict=True)])


def _stacked(batch: Batch, column: Sequence[Any]) -> Any:
    """The results of all examples as a batch; numbers, which a program may branch on, have to be equal."""
    if isinstance(column[0], TensorImpl):
        return batch.around(f.stack(list(column)))
    if any(value != column[0] for value in column):
        raise RuntimeError(NO_VALUE)
    return column[0]


class _Front:
    """A tensor of a call, with the batch in front if it has one."""

    def __init__(self, value: Any, is_batched: bool) -> None:
        self.value, self.is_batched = value, is_batched


def _at(values: Sequence[Any], example: int) -> list[Any]:
    return [
        (value.value.select(0, example) if value.is_batched else value.value)
        if isinstance(value, _Front)
        else _at(value, example)
        if isinstance(value, list) and any(isinstance(one, _Front) for one in value)
        else value
        for value in values
    ]


def written(operator: Operator) -> list[int]:
    """The places of the arguments that an operator writes to."""
    return [i for i, argument in enumerate(operator.schema.arguments) if argument.type.is_write]
