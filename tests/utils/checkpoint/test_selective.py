"""Are the results kept that a policy wants, as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same
from tests.utils.checkpoint.test_regions import module, numbers

Require = Callable[[str], Any]


def log(lib: Any, into: list[str]) -> Any:
    class Log(import_module(f"{lib.__name__}.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if "detach" not in str(func):
                into.append(str(func))
            return func(*args, **(kwargs or {}))

    return Log()


def program(lib: Any, policy: Any, **options: Any) -> list[Any]:
    """The operators that the backward pass runs, and the gradients."""
    policy = policy(lib) if callable(policy) else policy
    x, y = (lib.tensor([[0.1, 0.5], [0.2, 0.3]], requires_grad=True) for _ in range(2))
    contexts = partial(module(lib).create_selective_checkpoint_contexts, policy, **options)

    def function(x: Any, y: Any) -> Any:
        return lib.sigmoid(lib.matmul(lib.matmul(x, y), y).exp()) * y

    result = module(lib).checkpoint(function, x, y, use_reentrant=False, context_fn=contexts)
    ran: list[str] = []
    with log(lib, ran):
        result.sum().backward()
    return [
        sorted(name for name in ran if "exp" in name or "mm" in name or "sigmoid" in name),
        *numbers(x.grad, y.grad),
    ]


POLICIES = [
    lambda lib: [lib.ops.aten.mm.default],
    lambda lib: [lib.ops.aten.mm.default, lib.ops.aten.sigmoid.default],
    lambda lib: lambda ctx, op, *args, **kwargs: op is lib.ops.aten.exp.default,
    lambda lib: (
        lambda ctx, op, *args, **kwargs: (
            module(lib).CheckpointPolicy.MUST_SAVE
            if ctx.op_output.dim() and not ctx.is_recompute
            else module(lib).CheckpointPolicy.PREFER_RECOMPUTE
        )
    ),
    lambda lib: lambda ctx, op, *args, **kwargs: module(lib).CheckpointPolicy.MUST_CPU_OFFLOAD,
]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_second_run_computes_what_was_not_kept(policy: Any, require: Require) -> None:
    assert_same(lambda lib: program(lib, policy), require("torch"), within=1e-6)


def test_what_is_no_policy_is_refused(require: Require) -> None:
    torch = require("torch")
    assert_same(lambda lib: module(lib).create_selective_checkpoint_contexts(3), torch)
    assert_same(lambda lib: module(lib).create_selective_checkpoint_contexts(["x"]), torch)
    assert_same(lambda lib: module(lib).create_selective_checkpoint_contexts([lib.ops.aten.mm]), torch, words=False)


def checkpointed(lib: Any, function: Any, operators: list[str], **options: Any) -> Any:
    kept = [getattr(lib.ops.aten, name).default for name in operators]
    contexts = partial(module(lib).create_selective_checkpoint_contexts, kept, **options)
    x = lib.tensor([0.1, 0.5], requires_grad=True)
    return x, module(lib).checkpoint(function, x, use_reentrant=False, context_fn=contexts)


def backward_twice(lib: Any) -> None:
    _, result = checkpointed(lib, lambda x: x.sin().exp(), ["sin"])
    result.sum().backward(retain_graph=True)
    result.sum().backward()


def changed(lib: Any, **options: Any) -> Any:
    x, result = checkpointed(lib, lambda x: (x.sin() * 1).mul_(2).exp(), ["sin"], **options)
    result.sum().backward()
    return numbers(x.grad)


def kept_is_changed(lib: Any, **options: Any) -> Any:
    x, result = checkpointed(lib, lambda x: x.sin().mul_(2).exp(), ["sin"], **options)
    result.sum().backward()
    return numbers(x.grad)


def differs(lib: Any, second: str) -> Any:
    names = iter(("sin", second))
    _, result = checkpointed(lib, lambda x: getattr(x, next(names))().exp().exp(), ["sin"])
    result.sum().backward()


@pytest.mark.parametrize(
    "case",
    [
        backward_twice,
        changed,
        kept_is_changed,
        lambda lib: differs(lib, "cos"),
        lambda lib: differs(lib, "exp"),
    ],
)
def test_misuse_is_answered_as_in_pytorch(case: Callable[[Any], Any], require: Require) -> None:
    assert_same(case, require("torch"), within=1e-6)


def test_policies_and_what_is_ignored_are_pytorchs(require: Require) -> None:
    assert_same(lambda lib: [(p.name, p.value) for p in module(lib).CheckpointPolicy], require("torch"))
    assert glasstorch.ops.aten.detach.default in module(glasstorch).SAC_IGNORED_OPS
