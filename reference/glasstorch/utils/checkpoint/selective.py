"""How are the results of some operators kept, and only the others computed again?

Mirrors: torch/utils/checkpoint.py (CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts)
Differs: results that a policy wants offloaded to the CPU are computed again, as in PyTorch outside of torch.compile.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

from glasstorch._python_dispatch import TorchDispatchMode
from glasstorch._tensor import Tensor, alias
from glasstorch.calls.ops import OpOverloadPacket, ops
from glasstorch.dispatch.operator import Operator

Policy = Callable[..., Any]


class SelectiveCheckpointContext:
    """What a policy function is told besides the operator and its arguments: the result. `is_recompute` is False."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class CheckpointPolicy(enum.Enum):
    """Whether the result of an operator is kept or computed again; `MUST` and `PREFER` differ for a compiler only."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


KEPT: Final = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
# Operators that no policy is asked about: the checkpoint itself calls them, not as often the second time.
SAC_IGNORED_OPS: Final[set[Operator]] = {ops.aten.detach.default}
RECOMPUTED, CONSUMED = object(), object()
MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
    "changed between forward and backward."
)


class Kept:
    """A value of a result, and the version that it had, if it is a tensor."""

    def __init__(self, value: Any) -> None:
        self.value = alias(value) if isinstance(value, Tensor) else value
        self.version = value._version if isinstance(value, Tensor) else None

    def given_out(self, may_be_changed: bool) -> Any:
        if self.version is not None and not may_be_changed and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value


def _each(function: Callable[[Any], Any], result: Any) -> Any:
    """A result with the function applied to each value in it."""
    return type(result)(map(function, result)) if type(result) in (list, tuple) else function(result)


class _Storage:
    """The results of each operator of a region, in the order of its calls."""

    def __init__(self) -> None:
        self.results: dict[Operator, dict[int, Any]] = defaultdict(dict)


class _Counting(TorchDispatchMode):
    """Counts the calls of each operator."""

    def __init__(self, storage: _Storage) -> None:
        self.storage = storage
        self.calls: dict[Operator, int] = defaultdict(int)

    def __enter__(self) -> Self:
        self.calls.clear()
        return super().__enter__()

    def number(self, operator: Operator) -> int:
        self.calls[operator] += 1
        return self.calls[operator] - 1


class _CachingTorchDispatchMode(_Counting):
    """The forward pass: keeps the results that the policy wants."""

    def __init__(self, policy_fn: Policy, storage: _Storage) -> None:
        super().__init__(storage)
        self.policy_fn = policy_fn

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        result = func(*args, **named)
        if func in SAC_IGNORED_OPS:
            return result
        policy = self.policy_fn(SelectiveCheckpointContext(is_recompute=False, op_output=result), func, *args, **named)
        if isinstance(policy, bool):
            policy = CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
        kept = _each(Kept, result) if policy in KEPT else RECOMPUTED
        self.storage.results[func][self.number(func)] = kept
        return result


class _CachedTorchDispatchMode(_Counting):
    """The second run: gives out what was kept, once."""

    def __init__(self, storage: _Storage, allow_cache_entry_mutation: bool) -> None:
        super().__init__(storage)
        self.allow_cache_entry_mutation = allow_cache_entry_mutation

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        results, number = self.storage.results.get(func), self.number(func)
        if results is None:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {MISMATCH}")
        if number not in results:
            raise RuntimeError(
                f"{func} invocation index {number} encountered during backward but not found in storage. {MISMATCH}"
            )
        kept = results[number]
        if kept is CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if kept is RECOMPUTED:
            return func(*args, **(kwargs or {}))
        results[number] = CONSUMED
        return _each(lambda one: one.given_out(self.allow_cache_entry_mutation), kept)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """The two blocks for `context_fn`, under which the results of some operators are kept.

    A policy is called as `policy(context, operator, *args, **kwargs)` and returns a CheckpointPolicy, or whether to
    keep the result. A list names operators, such as `torch.ops.aten.mm.default`, whose results are kept. A tensor that
    was kept and changed in place is refused unless `allow_cache_entry_mutation`.
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, Operator):
                advice = (
                    "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                    "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                    if isinstance(op, OpOverloadPacket)
                    else ""
                )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {advice}"
                )
        listed = frozenset(policy_fn_or_list)

        def policy(ctx: SelectiveCheckpointContext, op: Operator, *args: Any, **kwargs: Any) -> Any:
            return op in listed

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage = _Storage()
    return _CachingTorchDispatchMode(policy, storage), _CachedTorchDispatchMode(storage, allow_cache_entry_mutation)
