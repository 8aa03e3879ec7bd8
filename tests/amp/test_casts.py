"""Which arguments are cast, and which casts are kept?"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.amp.casts import _kept, cast, cast_list, widest
from glasstorch.core.keys import BACKEND_BIT
from glasstorch.dispatch.trace import trace

CPU = BACKEND_BIT["CPU"]
HALF, SINGLE = glasstorch.bfloat16, glasstorch.float32

Require = Callable[[str], Any]


def casts(function: Callable[[], Any]) -> int:
    """How many casts a call makes."""
    with trace() as hops:
        function()
    return sum((hop.operator, hop.key.name) == ("aten::_to_copy", "CPU") for hop in hops)


@pytest.fixture
def weight() -> Any:
    return glasstorch.ones(2, 2, requires_grad=True)


@pytest.fixture
def x() -> Any:
    return glasstorch.ones(2, 2, dtype=HALF)


def test_what_is_cast() -> None:
    single, double, whole = (glasstorch.ones(2, dtype=d) for d in (SINGLE, glasstorch.float64, glasstorch.int64))
    assert cast(single, HALF, HALF, CPU).dtype is HALF
    assert cast(single, SINGLE, HALF, CPU) is single
    for kept in (double, whole, single.to(glasstorch.complex64), glasstorch.ones(2, device="meta")):
        assert cast(kept, HALF, HALF, CPU) is kept
    listed = cast_list([single, None, double], HALF, HALF, CPU)
    assert (listed[0].dtype, listed[1], listed[2]) == (HALF, None, double)


def test_the_widest_dtype_is_float32_or_that_of_the_block() -> None:
    single, half, double = (glasstorch.ones(2, dtype=d) for d in (SINGLE, HALF, glasstorch.float64))
    assert widest([half, double, None], HALF, CPU) is HALF
    assert widest([half, [half, single]], HALF, CPU) is SINGLE
    with pytest.raises(RuntimeError, match=r"torch\.bfloat16 where autocast casts to torch\.float16"):
        widest([half], glasstorch.float16, CPU)


def test_a_weight_is_cast_once_for_the_block(weight: Any, x: Any) -> None:
    with glasstorch.autocast("cpu"):
        assert [casts(lambda: x @ weight) for _ in range(3)] == [1, 0, 0]
        with glasstorch.autocast("cpu"):
            assert casts(lambda: x @ weight) == 0
        assert casts(lambda: x @ weight) == 0  # an inner block that ends drops nothing
    assert not _kept
    with glasstorch.autocast("cpu"):
        assert casts(lambda: x @ weight) == 1


def test_only_leaves_in_float32_that_require_grad_are_kept(weight: Any, x: Any) -> None:
    others = [
        glasstorch.ones(2, 2),
        weight * 1,
        weight.t(),
        glasstorch.ones(2, 2, dtype=glasstorch.float16, requires_grad=True),
    ]
    with glasstorch.autocast("cpu"):
        for other in others:
            assert [casts(lambda other=other: x @ other) for _ in range(2)] == [1, 1]
        assert not _kept


def test_a_block_may_keep_nothing(weight: Any, x: Any) -> None:
    with glasstorch.autocast("cpu", cache_enabled=False):
        assert [casts(lambda: x @ weight) for _ in range(2)] == [1, 1]
        with glasstorch.autocast("cpu", cache_enabled=True):
            assert [casts(lambda: x @ weight) for _ in range(2)] == [1, 0]
    assert glasstorch.is_autocast_cache_enabled()


def test_a_cast_that_was_kept_in_no_grad_has_a_gradient_later(weight: Any, x: Any) -> None:
    with glasstorch.autocast("cpu"):
        with glasstorch.no_grad():
            assert not (x @ weight).requires_grad
        result = x @ weight
        assert casts(lambda: x @ weight) == 0
    result.float().sum().backward()
    assert weight.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_inference_mode_keeps_nothing(weight: Any, x: Any) -> None:
    with glasstorch.autocast("cpu"):
        with glasstorch.inference_mode():
            assert [casts(lambda: x @ weight) for _ in range(2)] == [1, 1]
        assert [casts(lambda: x @ weight) for _ in range(2)] == [1, 0]
        with glasstorch.inference_mode():
            assert casts(lambda: x @ weight) == 1


def test_the_cases_above_are_pytorchs(require: Require) -> None:
    """As they are counted by the nodes of a graph, and by the profiler, of PyTorch."""
    torch = require("torch")

    def count(function: Callable[[], Any]) -> int:
        with torch.autograd.profiler.profile() as profile:
            function()
        return sum(event.count for event in profile.key_averages() if event.key == "aten::_to_copy")

    weight, x = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, dtype=torch.bfloat16)
    with torch.autocast("cpu"):
        with torch.inference_mode():
            assert [count(lambda: x @ weight) for _ in range(2)] == [1, 1]
        with torch.no_grad():
            assert [count(lambda: x @ weight) for _ in range(2)] == [1, 0]
        assert (x @ weight).requires_grad
        assert count(lambda: x @ weight) == 0
        assert [count(lambda: x @ weight.t()) for _ in range(2)] == [1, 1]


def test_each_dtype_has_a_cast_of_its_own(weight: Any, x: Any) -> None:
    with glasstorch.autocast("cpu"):
        assert (x @ weight).dtype is HALF
        with glasstorch.autocast("cpu", dtype=glasstorch.float16):
            assert (x.float() @ weight).dtype is glasstorch.float16
        assert (x @ weight).dtype is HALF


def test_a_new_tensor_is_never_given_the_cast_of_one_that_died(x: Any) -> None:
    with glasstorch.autocast("cpu"):
        for value in range(200):
            weight = glasstorch.full((2, 2), float(value), requires_grad=True)
            assert (x @ weight)[0, 0] == 2 * value
            del weight


def test_a_cast_does_not_keep_its_weight_when_the_block_is_left(x: Any) -> None:
    weight = glasstorch.ones(2, 2, requires_grad=True)
    gone = weakref.ref(weight)
    with glasstorch.autocast("cpu"):
        x @ weight
    del weight
    gc.collect()
    assert gone() is None


def test_clearing_forgets_at_once(weight: Any, x: Any) -> None:
    with glasstorch.autocast("cpu"):
        x @ weight
        glasstorch.clear_autocast_cache()
        assert casts(lambda: x @ weight) == 1


@pytest.mark.parametrize("inner", [True, False])
def test_a_function_in_a_block_of_its_own_keeps_nothing_for_its_next_call(weight: Any, x: Any, inner: bool) -> None:
    @glasstorch.autocast("cpu")
    def product() -> Any:
        with glasstorch.autocast("cpu", enabled=inner):
            pass
        return x @ weight

    assert [casts(product), casts(product)] == [1, 1]
    assert not _kept
