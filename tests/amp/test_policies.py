"""What does each policy do, and does everything see the key?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.amp.policies import Cast, fp32_append_dtype
from glasstorch.core.keys import FUNCTIONALITY_BIT, DispatchKey
from glasstorch.dispatch.active_keys import active_keys, compute_keys
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.trace import trace
from glasstorch.nn import functional
from tests.devices.devices import Devices


def hops_of(function: Any, as_run: bool = False) -> list[tuple[str, DispatchKey, str]]:
    with glasstorch.autocast("cpu"), trace(as_run=as_run) as hops:
        function()
    return [(hop.operator, hop.key, hop.kernel) for hop in hops]


def test_a_trace_shows_the_hop_first() -> None:
    x = glasstorch.ones(2, 2)
    assert hops_of(lambda: glasstorch.mm(x, x))[0] == ("aten::mm", DispatchKey.AutocastCPU, "lower_precision_fp")
    assert hops_of(lambda: glasstorch.trace(x))[0] == ("aten::trace", DispatchKey.AutocastCPU, "fp32")
    assert hops_of(lambda: x + x)[0] == ("aten::add.Tensor", DispatchKey.AutogradCPU, "add_Tensor")


def test_what_an_operator_is_made_of_is_not_cast_again() -> None:
    x = glasstorch.ones(2, 2)
    keys = [key for _, key, _ in hops_of(lambda: functional.cross_entropy(x, glasstorch.tensor([0, 1])))]
    assert keys.count(DispatchKey.AutocastCPU) == 1


def test_a_cast_is_recorded_and_its_gradient_has_the_dtype_of_the_argument() -> None:
    x = glasstorch.ones(2, 2, requires_grad=True)
    with glasstorch.autocast("cpu"):
        y = x @ x
    assert (y.dtype, y.grad_fn.name()) == (glasstorch.bfloat16, "MmBackward0")
    assert [node.name() for node, _ in y.grad_fn.next_functions] == ["ToCopyBackward0"] * 2
    assert y.grad_fn._saved_self.dtype is glasstorch.bfloat16
    y.sum().backward()
    assert x.grad.dtype is glasstorch.float32


@pytest.mark.parametrize("as_run", [False, True])
def test_no_shortcut_passes_the_key_by(as_run: bool) -> None:
    """The operators that have shortcuts in front of their autograd kernel, or of a composite one."""
    x, bias = glasstorch.ones(2, 2), glasstorch.ones(2)
    scores, classes = glasstorch.ones(2, 3), glasstorch.tensor([0, 1])
    for _ in range(2):  # before and after the tables hold what runs with autocast off
        for call, operator, dtype in (
            (lambda: functional.linear(x, x, bias), "aten::linear", glasstorch.bfloat16),
            (lambda: functional.cross_entropy(scores, classes), "aten::cross_entropy_loss", glasstorch.float32),
            (lambda: glasstorch.mm(x, x), "aten::mm", glasstorch.bfloat16),
            (lambda: glasstorch.cat([x, x.bfloat16()]), "aten::cat", glasstorch.float32),
        ):
            call()
            assert (operator, DispatchKey.AutocastCPU) in [hop[:2] for hop in hops_of(call, as_run)]
            with glasstorch.autocast("cpu"):
                assert call().dtype is dtype
            assert call().dtype is glasstorch.float32


def test_views_and_sums_keep_their_shortcuts_and_their_dtype() -> None:
    x = glasstorch.ones(2, 2)
    with glasstorch.autocast("cpu"):
        for result in (x.view(4), x.reshape(4), x[0], x + x, x.sum(), x.softmax(0)):
            assert result.dtype is glasstorch.float32
        assert x.bfloat16().softmax(0).dtype is glasstorch.bfloat16


def test_lists_of_tensors_take_the_plain_way() -> None:
    x = [glasstorch.ones(2), glasstorch.ones(3)]
    with glasstorch.autocast("cpu"):
        assert [t.tolist() for t in glasstorch._foreach_add(x, 1.0)] == [[2.0, 2.0], [2.0, 2.0, 2.0]]


def test_the_key_is_masked_inside_and_back_afterwards() -> None:
    inside: list[int] = []

    class Look(glasstorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            inside.append(active_keys.get()[1])
            return x @ x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    x, bit = glasstorch.ones(2, 2), FUNCTIONALITY_BIT["AutocastCPU"]
    with glasstorch.autocast("cpu"):
        assert Look.apply(x).dtype is glasstorch.bfloat16  # a Function is no operator: its parts are cast
        with pytest.raises(RuntimeError):
            glasstorch.mm(x, glasstorch.ones(3, 2))
        assert active_keys.get()[1] & bit
    assert inside[0] & bit
    assert not active_keys.get()[1] & bit


def test_a_program_that_is_called_traced_or_scripted_casts_too() -> None:
    def program(x: Any) -> Any:
        return glasstorch.relu(x @ x + 1)

    x = glasstorch.ones(2, 2)
    traced = glasstorch.jit.trace(program, (x,))
    for _ in range(3):
        with glasstorch.autocast("cpu"):
            assert traced(x).dtype is program(x).dtype is glasstorch.bfloat16
        assert traced(x).dtype is glasstorch.float32


@pytest.mark.parametrize(("overload", "arguments"), [("Scalar", (2,)), ("ScalarOpt_dim", (2, [0], False))])
def test_a_norm_calls_the_overload_that_takes_a_dtype(overload: str, arguments: Any) -> None:
    """No operator for the CPU has this policy, and norm has no kernel for CUDA: its kernel is made for the CPU here."""
    kernel = fp32_append_dtype(Cast(registry.find(f"aten::norm.{overload}"), "cpu"))
    for given, expected in (("bfloat16", "float32"), ("float32", "float32"), ("float64", "float64")):
        x = glasstorch.ones(2, 2, dtype=getattr(glasstorch, given))
        assert kernel(compute_keys(x.key_set), x, *arguments).dtype is getattr(glasstorch, expected)


def test_every_policy_for_cuda(cuda: Devices) -> None:
    half, single = glasstorch.float16, glasstorch.float32
    x = glasstorch.ones(2, 2, device="cuda")
    h = x.half()
    with glasstorch.autocast("cuda"):
        assert (x @ x).dtype is half
        assert h.exp().dtype is single
        assert h.softmax(0).dtype is single
        assert h.softmax(0, dtype=half).dtype is half
        assert h.sum().dtype is single
        assert glasstorch.ones(2, dtype=glasstorch.int64, device="cuda").sum().dtype is glasstorch.int64
        assert glasstorch.addcmul(x, h, h).dtype is single
        assert glasstorch.addcmul(h, h, h).dtype is half
        with pytest.raises(RuntimeError, match="are unsafe to autocast"):
            functional.binary_cross_entropy(x, x)
        assert (glasstorch.ones(2, 2) @ glasstorch.ones(2, 2)).dtype is single  # the CPU has a key of its own
        with glasstorch.autocast("cpu"):
            assert (glasstorch.ones(2, 2) @ glasstorch.ones(2, 2)).dtype is glasstorch.bfloat16
            assert (x @ x).dtype is half
