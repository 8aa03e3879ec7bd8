"""Do tensors point to their nodes, and leaves to their gradients, as PyTorch's do?"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

import pytest


def test_a_result_points_to_its_node_and_the_node_to_where_gradients_go(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2)
    c = a * b
    assert (c.requires_grad, c.is_leaf, c.grad_fn.name()) == (True, False, "MulBackward0")
    (first, first_nr), second = c.grad_fn.next_functions
    assert (first.name().rpartition("::")[2], first_nr, second) == ("AccumulateGrad", 0, (None, 0))
    assert first.variable is a
    assert re.fullmatch(r"<MulBackward0 object at 0x[0-9a-f]+>", repr(c.grad_fn))


def test_nothing_is_recorded_without_a_tensor_that_requires_grad(torch: Any) -> None:
    c = torch.ones(2) * torch.ones(2)
    assert (c.requires_grad, c.is_leaf, c.grad_fn) == (False, True, None)


def test_nodes_are_named_after_their_operators(torch: Any) -> None:
    a = torch.ones(2, 2, requires_grad=True)
    made = {
        "AddBackward0": a + 1,
        "SubBackward0": a - a,
        "MulBackward0": a * 2,
        "DivBackward0": a / 2,
        "NegBackward0": -a,
        "PowBackward0": a**2,
        "ExpBackward0": a.exp(),
        "ReluBackward0": a.relu(),
        "TBackward0": a.t(),
        "TransposeBackward0": a.transpose(0, 1),
        "ViewBackward0": a.view(4),
        "SelectBackward0": a[0],
        "SliceBackward0": a[:1],
        "UnsqueezeBackward0": a.unsqueeze(0),
        "SumBackward0": a.sum(),
        "SumBackward1": a.sum(0),
        "MeanBackward0": a.mean(),
        "MmBackward0": a @ a,
        "CloneBackward0": a.clone(),
        "CatBackward0": torch.cat([a, a]),
        "ToCopyBackward0": a.double(),
    }
    assert {name: t.grad_fn.name() for name, t in made.items()} == {name: name for name in made}


def test_nodes_of_what_changes_in_place_have_the_names_of_pytorchs(torch: Any) -> None:
    x, row = torch.ones(3, requires_grad=True), torch.tensor([0, 1])

    def changed(change: Callable[[Any], object]) -> str:
        y = x * 1
        change(y)
        return str(y.grad_fn.name())

    assert changed(lambda y: y.copy_(x)) == "torch::autograd::CopyBackwards"
    assert changed(lambda y: y[:1].copy_(x[:1])) == "torch::autograd::CopySlices"
    assert changed(lambda y: y.index_put_((row,), torch.zeros(2))) == "IndexPutBackward0"
    assert changed(lambda y: y.__setitem__(y > 0, 0)) == "IndexPutBackward0"
    assert changed(lambda y: y.remainder_(x)) == "RemainderBackward1"
    assert changed(lambda y: y.add_(x)) == "AddBackward0"


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


# Leaves ---------------------------------------------------------------------------------------------------------


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


def test_only_floating_point_tensors_require_grad(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"[Oo]nly Tensors of floating point .*dtype can require gradients"):
        torch.ones(2, dtype=torch.int64, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"[Oo]nly Tensors of floating point .*dtype can require gradients"):
        torch.ones(2, dtype=torch.int64).requires_grad_()


def test_only_leaves_stop_requiring_grad(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        b.requires_grad = False
    b.requires_grad_(True)
    assert b.detach().requires_grad_().is_leaf
    a.requires_grad = False
    assert not a.requires_grad


def test_a_detached_leaf_forgets_that_it_required_grad(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    assert a.detach_() is a
    assert not a.requires_grad
    b = torch.ones(2, requires_grad=True) * 2
    b.detach_()
    assert (b.requires_grad, b.is_leaf) == (False, True)


def test_a_gradient_must_look_like_its_tensor(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"assign a gradient of size '\[3\]' to a tensor of size '\[2\]'"):
        a.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="assign a gradient with dtype 'double'"):
        a.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None but got grad of type"):
        a.grad = 1.0
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        a.grad = a
    a.grad = torch.full((2,), 3.0)
    (a * 2).sum().backward()
    assert a.grad.tolist() == [5.0, 5.0]
    a.grad = None
    assert a.grad is None
    del a.grad
    assert a.grad is None


def test_the_gradient_of_a_result_is_not_kept_unless_asked_for(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert b.grad is None
    assert not b.retains_grad
    b.retain_grad()
    b.retain_grad()  # a second time changes nothing
    assert b.retains_grad
    assert not a.retains_grad
    (b * 3).sum().backward()
    assert b.grad.tolist() == [3.0, 3.0]


def test_a_retained_gradient_is_a_row_major_copy_of_its_own(torch: Any) -> None:
    b = torch.arange(4.0, requires_grad=True) * 1
    b.retain_grad()
    b.sum().backward()
    assert b.grad.stride() == (1,)
    b.grad.add_(1)
    assert b.grad.tolist() == [2.0] * 4

    given = torch.ones(3, 2).t()
    c = torch.ones(2, 3, requires_grad=True) * 1
    c.retain_grad()
    c.backward(given, retain_graph=True)
    assert c.grad.stride() == (3, 1)
    c.grad.zero_()
    assert given.tolist() == [[1.0] * 3] * 2
    first = c.grad
    c.backward(given)
    assert (c.grad is first, c.grad.tolist()) == (False, [[1.0] * 3] * 2)


def test_a_retained_gradient_has_a_history_where_one_is_recorded(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = a * 1
    b.retain_grad()
    torch.autograd.grad(b, a, torch.ones(2, requires_grad=True), create_graph=True)
    assert b.grad.grad_fn.name() == "CloneBackward0"


# Adding up ------------------------------------------------------------------------------------------------------


def test_gradients_are_added_to_the_same_tensor(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    (a * 2).sum().backward()
    first = a.grad
    place = first.data_ptr()
    (a * 3).sum().backward()
    assert a.grad is first
    assert (a.grad.data_ptr(), a.grad.tolist()) == (place, [5.0, 5.0])


def test_with_create_graph_the_sum_is_a_new_tensor(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    (a * a).sum().backward()
    place = a.grad.data_ptr()
    with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
        (a * a).sum().backward(create_graph=True)
    assert a.grad.data_ptr() != place
    assert (a.grad.requires_grad, a.grad.tolist()) == (True, [4.0, 4.0])
    a.grad = None
    gc.collect()


def test_a_fresh_gradient_is_taken_and_a_users_is_copied(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    given = torch.full((2,), 7.0)
    (a * 1).backward(given)
    assert a.grad.data_ptr() != given.data_ptr()
    a.grad = None
    a.view(2).backward(given)
    assert a.grad.data_ptr() == given.data_ptr()  # PyTorch takes what looks fresh, even if it is a view of the user's


def test_a_gradient_that_a_hook_kept_is_not_shared(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    kept: list[Any] = []
    a.register_hook(lambda g: kept.append(g))
    (a * torch.full((2,), 2.0)).backward(torch.ones(2))
    (a * 1).backward(torch.ones(2))
    assert a.grad.tolist() == [3.0, 3.0]
    assert kept[0].tolist() == [2.0, 2.0]


def test_an_expanded_gradient_is_laid_out_like_its_leaf(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    kept: list[Any] = []
    b = a * 1
    b.register_hook(lambda g: kept.append(g))
    b.sum().backward()
    assert (kept[0].stride(), a.grad.stride()) == ((0,), (1,))
    t = torch.ones(2, 3).t().requires_grad_()
    (t * 2).sum().backward()
    assert t.grad.stride() == (1, 3)


def test_one_gradient_for_two_leaves_is_not_shared(torch: Any) -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (a + b).backward(torch.ones(2))
    a.grad.add_(5)
    assert b.grad.tolist() == [1.0, 1.0]


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
