"""Which tensors have a history, and which may lose it or change, as in PyTorch?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import history
from glasstorch.autograd.accumulate_grad import AccumulateGrad


def test_nothing_is_recorded_without_a_tensor_that_requires_grad(torch: Any) -> None:
    c = torch.ones(2) * torch.ones(2)
    assert (c.requires_grad, c.is_leaf, c.grad_fn) == (False, True, None)


def test_a_leaf_has_one_accumulator_while_somebody_holds_it(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    x, y = a * 2, a * 3
    assert x.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]
    assert a.grad_fn is None


def test_results_of_one_node_have_numbers(torch: Any) -> None:
    a = torch.ones(4, requires_grad=True)
    first, second = (a * 1).unbind()[:2]
    assert first.grad_fn is second.grad_fn
    assert (first.output_nr, second.output_nr) == (0, 1)


def test_integers_have_no_history(torch: Any) -> None:
    a = torch.ones(3, requires_grad=True)
    values, indices = a.max(0)
    assert (values.requires_grad, indices.requires_grad, (a > 0).requires_grad) == (True, False, False)
    assert not a.long().requires_grad


def test_a_leaf_that_requires_grad_is_not_changed_in_place(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        a.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        a[0].add_(1)
    assert a.tolist() == [1.0, 1.0]
    with torch.no_grad():
        a.add_(1)
    assert (a.tolist(), a.is_leaf, a._version) == ([2.0, 2.0], True, 1)


def test_a_detached_leaf_forgets_that_it_required_grad(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    assert a.detach_() is a
    assert not a.requires_grad
    b = torch.ones(2, requires_grad=True) * 2
    b.detach_()
    assert (b.requires_grad, b.is_leaf) == (False, True)


def test_deep_copies_are_of_leaves_only(torch: Any) -> None:
    import copy

    a = torch.ones(2, requires_grad=True)
    b = copy.deepcopy(a)
    assert (b.requires_grad, b.is_leaf, b.data_ptr() != a.data_ptr()) == (True, True, True)
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(a * 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.sum(x, dtype=t.int64),
        lambda t, x: t.sum(x, 0, dtype=t.int64),
        lambda t, x: t.nansum(x, dtype=t.int32),
        lambda t, x: t.prod(x, dtype=t.int64),
        lambda t, x: t.prod(x, 0, dtype=t.int64),
        lambda t, x: t.cumsum(x, 0, dtype=t.int64),
        lambda t, x: t.cumprod(x, 0, dtype=t.int64),
        lambda t, x: t.sum(x, dtype=t.bool),
    ],
)
def test_integers_are_refused_as_the_dtype_of_a_result_that_would_require_grad(
    torch: Any, call: Callable[[Any, Any], Any]
) -> None:
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Autograd not support dtype: (Long|Int|Bool)"):
        call(torch, x)
    assert not call(torch, x.detach()).requires_grad
    with torch.no_grad():
        assert not call(torch, x).requires_grad


def test_what_is_copied_to_integers_leaves_them_without_a_history(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    integers = torch.tensor([0, 0])
    assert not integers.copy_(x).requires_grad
    integers[0] = x[1]
    assert not integers.requires_grad
    assert not x.to(torch.int64).requires_grad


def test_threads_that_use_a_leaf_at_once_have_one_accumulator(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(kind: type[AccumulateGrad]) -> AccumulateGrad:
        time.sleep(0.05)
        return object.__new__(kind)

    monkeypatch.setattr(history, "_new", slowly)
    leaf = glasstorch.ones(2, requires_grad=True)
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(leaf * 2)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({result.grad_fn.next_functions[0][0] for result in results}) == 1
