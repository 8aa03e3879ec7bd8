"""Has every operator an autograd kernel where PyTorch has one, at no cost, if no gradient is recorded?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd.records_nothing import NOTHING_RECORDED, has_gradient, records_nothing
from glasstorch.core.keys import BELOW_AUTOGRAD, CPU_KEYS, DispatchKey
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.trace import trace

Require = Callable[[str], Any]


def test_what_autograd_does_not_record_has_the_one_kernel_that_records_nothing() -> None:
    assert registry.find("aten::eq.Tensor").kernels[DispatchKey.Autograd] == [NOTHING_RECORDED]
    assert not has_gradient(registry.find("aten::eq.Tensor"))
    assert has_gradient(registry.find("aten::add.Tensor"))
    assert not has_gradient(registry.find("aten::matmul"))


def test_every_operator_has_an_autograd_kernel_or_is_made_of_others() -> None:
    lacking = [
        operator.name
        for operator in registry.operators.values()
        if operator.family and not operator.has_kernel_for("Autograd")
        and not operator.has_kernel_for("CompositeImplicitAutograd")
    ]  # fmt: skip
    # Their out= forms are generated, for operators that are made of others.
    assert {name.partition(".")[0] for name in lacking} == {
        "aten::adaptive_avg_pool1d",
        "aten::avg_pool1d",
        "aten::upsample_bilinear2d",
        "aten::upsample_nearest2d",
    }


def test_the_kernel_is_a_hop_that_a_trace_shows() -> None:
    x = glasstorch.ones(2)
    with trace() as found:
        x.argmax()
    assert [(hop.operator, hop.key.name) for hop in found][:2] == [
        ("aten::argmax", "AutogradCPU"),
        ("aten::argmax", "CPU"),
    ]


def test_no_call_pays_for_it() -> None:
    operator = registry.find("aten::eq.Tensor")
    entry = operator.table[CPU_KEYS]
    assert entry is operator.table[CPU_KEYS & BELOW_AUTOGRAD]


def test_it_calls_the_kernel_below() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    found = records_nothing(registry.find("aten::argmax"), x.key_set, x, None, False)
    assert found.item() == 0
    assert not found.requires_grad


@pytest.mark.parametrize("name", ["_fused_adam_", "split_copy", "_foreach_add_"])
def test_writes_to_lists_are_counted_as_in_pytorch(name: str, require: Require) -> None:
    calls: dict[str, Callable[[Any, list[Any]], object]] = {
        "_fused_adam_": lambda t, x: t._fused_adam_(
            x[:1], x[1:2], [t.zeros(2)], [t.zeros(2)], [], [t.tensor(1.0)], lr=0.1, beta1=0.9, beta2=0.99,
            weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False,
        ),
        "split_copy": lambda t, x: t.split_copy(t.ones(4), 2, out=x),
        "_foreach_add_": lambda t, x: t._foreach_add_(x, 1.0),
    }  # fmt: skip
    counted = []
    for t in (require("torch"), glasstorch):
        tensors = [t.ones(2), t.ones(2)]
        calls[name](t, tensors)
        with t.inference_mode():
            calls[name](t, tensors)
        counted.append([tensor._version for tensor in tensors])
    assert counted[0] == counted[1]
