"""Do backward, grad and hooks give and take what PyTorch's do?"""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterator
from typing import Any

import pytest


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values), requires_grad=True)


# backward -------------------------------------------------------------------------------------------------------


def test_a_tensor_of_several_elements_needs_a_gradient_to_start_from(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (a * 2).backward()
    (a * 2).backward(torch.tensor([1.0, 10.0]))
    assert a.grad.tolist() == [2.0, 20.0]
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\)"):
        (a * 2).backward(torch.ones(3))
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got"):
        (a * 2).backward([1.0, 2.0])


def test_a_tensor_of_one_element_starts_from_one_whatever_its_shape(torch: Any) -> None:
    a = leaf(torch, 3.0)
    (a * 2).view(1, 1).backward()
    assert a.grad.tolist() == [2.0]


def test_what_does_not_require_grad_has_no_backward(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        torch.ones(()).backward()
    a = leaf(torch, 1.0)
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        torch.autograd.backward([(a * 2).sum(), torch.ones(())])


def test_backward_to_some_inputs_leaves_the_others(torch: Any) -> None:
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    c = a * b
    c.sum().backward(inputs=[a], retain_graph=True)
    assert (a.grad.tolist(), b.grad) == ([3.0, 4.0], None)
    c.sum().backward(inputs=b)
    assert (a.grad.tolist(), b.grad.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    with pytest.raises(RuntimeError, match="`inputs` argument to `backward\\(\\)` cannot be empty"):
        (a * b).sum().backward(inputs=[])


def test_backward_to_some_inputs_accumulates_and_runs_their_hooks(torch: Any) -> None:
    a = leaf(torch, 1.0)
    seen: list[str] = []
    a.register_hook(lambda g: seen.append("hook"))
    a.register_post_accumulate_grad_hook(lambda p: seen.append("after"))
    for _ in range(2):
        (a * 3).sum().backward(inputs=[a])
    assert (a.grad.tolist(), seen) == ([6.0], ["hook", "after"] * 2)


def test_backward_to_a_result_needs_it_to_keep_its_gradient(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    b.retain_grad()
    (b * 3).sum().backward(inputs=[b])
    assert (b.grad.tolist(), a.grad) == ([3.0], None)


# grad -----------------------------------------------------------------------------------------------------------


def test_grad_returns_gradients_and_touches_none(torch: Any) -> None:
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    found = torch.autograd.grad((a * b).sum(), [a, b])
    assert isinstance(found, tuple)
    assert [g.tolist() for g in found] == [[3.0, 4.0], [1.0, 2.0]]
    assert (a.grad, b.grad) == (None, None)
    assert not found[0].requires_grad


def test_the_gradient_of_a_result_in_the_middle(torch: Any) -> None:
    a = leaf(torch, 2.0)
    b = a * 3
    c = b * b
    gb, ga = torch.autograd.grad(c.sum(), [b, a])
    assert (gb.tolist(), ga.tolist()) == ([12.0], [36.0])
    (gc,) = torch.autograd.grad(c * 1, c, torch.ones(1))
    assert gc.tolist() == [1.0]


def test_one_input_may_be_named_twice_and_several_outputs_add_up(torch: Any) -> None:
    a = leaf(torch, 1.0, 1.0)
    b = a * 3
    x, y, z = torch.autograd.grad(b.sum(), [a, b, a])
    assert (x.tolist(), y.tolist(), z.tolist()) == ([3.0, 3.0], [1.0, 1.0], [3.0, 3.0])
    assert torch.autograd.grad([(a * 2).sum(), a.sum()], [a])[0].tolist() == [3.0, 3.0]


def test_the_gradient_of_a_tensor_with_respect_to_itself_is_what_was_given(torch: Any) -> None:
    a = leaf(torch, 2.0)
    b = a * 3
    assert torch.autograd.grad(b, b, torch.tensor([5.0]))[0].tolist() == [5.0]
    assert torch.autograd.grad(a, a, torch.tensor([5.0]))[0].tolist() == [5.0]


def test_an_input_that_was_not_used_is_an_error_or_what_was_asked_for(torch: Any) -> None:
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    grad = torch.autograd.grad
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 0 appears to not have been used"):
        grad((a * 2).sum(), b)
    assert [g if g is None else g.tolist() for g in grad((a * 2).sum(), [a, b], allow_unused=True)] == [
        [2.0, 2.0],
        None,
    ]
    found = grad((a * 2).sum(), [a, b], materialize_grads=True)
    assert [g.tolist() for g in found] == [[2.0, 2.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when materialize_grads=True"):
        grad((a * 2).sum(), [a, b], materialize_grads=True, allow_unused=False)


def test_what_cannot_be_differentiated_is_refused(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.grad(a * 2, a)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        torch.autograd.grad((a * 2).sum(), torch.ones(2))
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `grad\(\)` cannot be empty"):
        torch.autograd.grad((a * 2).sum(), [])
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        torch.autograd.grad([a * 2, a * 3], [a], [torch.ones(2)])


def test_nodes_that_lead_to_no_input_do_not_run(torch: Any) -> None:
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    ran: list[str] = []
    left, right = a * 2, b * 3
    left.grad_fn.register_hook(lambda gi, go: ran.append("left"))
    right.grad_fn.register_hook(lambda gi, go: ran.append("right"))
    torch.autograd.grad((left * right).sum(), a)
    assert ran == ["left"]


# Second derivatives ---------------------------------------------------------------------------------------------


def test_a_second_derivative_needs_the_first_to_be_recorded(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x, create_graph=True)
    assert (g.item(), g.grad_fn.name()) == (27.0, "MulBackward0")
    (gg,) = torch.autograd.grad(g, x, create_graph=True)
    assert gg.item() == 18.0
    assert torch.autograd.grad(gg, x)[0].item() == 6.0
    (g,) = torch.autograd.grad(x**3, x)
    assert not g.requires_grad


def test_a_second_derivative_goes_through_the_given_gradient_too(torch: Any) -> None:
    x, v = leaf(torch, 2.0), leaf(torch, 5.0)
    (g,) = torch.autograd.grad(x * x, x, v, create_graph=True)
    assert g.tolist() == [20.0]
    assert torch.autograd.grad(g, v)[0].tolist() == [4.0]


def test_creating_a_graph_keeps_the_first_one(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = (x * x).sum()
    torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(y, x)


# Hooks ----------------------------------------------------------------------------------------------------------


def test_hooks_run_in_their_order_around_a_node(torch: Any) -> None:
    a = leaf(torch, 1.0, 1.0)
    b = a * 2
    order: list[Any] = []
    b.grad_fn.register_prehook(lambda go: order.append("node before"))
    b.register_hook(lambda g: order.append("first"))
    b.retain_grad()
    b.register_hook(lambda g: (order.append("second"), g * 10)[1])
    b.grad_fn.register_hook(lambda gi, go: order.append("node after"))
    a.register_hook(lambda g: order.append(("leaf", a.grad)))
    a.register_post_accumulate_grad_hook(lambda p: order.append(("accumulated", p.grad.tolist())))
    b.sum().backward()
    assert order == ["first", "second", "node before", "node after", ("leaf", None), ("accumulated", [20.0, 20.0])]
    assert b.grad.tolist() == [10.0, 10.0]  # kept after the tensor's hooks, whenever it was asked for


def test_what_a_hook_returns_replaces_the_gradient(torch: Any) -> None:
    a = leaf(torch, 1.0)
    handle = a.register_hook(lambda g: g * 5)
    ran: list[str] = []
    after = a.register_post_accumulate_grad_hook(lambda p: ran.append("after"))
    assert torch.autograd.grad((a * 1).sum(), a)[0].tolist() == [5.0]
    assert ran == []  # nothing was accumulated
    handle.remove()
    handle.remove()
    (a * 1).sum().backward()
    after.remove()
    (a * 1).sum().backward()
    assert (a.grad.tolist(), ran) == ([2.0], ["after"])


def test_what_a_nodes_hook_returns_replaces_its_gradients(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    b.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, *gi[1:]))
    with b.grad_fn.register_prehook(lambda go: (go[0] * 3,)):
        b.sum().backward(retain_graph=True)
    assert a.grad.tolist() == [600.0]
    b.sum().backward()
    assert a.grad.tolist() == [800.0]


def test_hooks_of_a_leaf_live_as_long_as_the_leaf(torch: Any) -> None:
    a = leaf(torch, 1.0)
    a.register_hook(lambda g: g * 2)
    for _ in range(2):
        (a * 1).sum().backward()
    assert a.grad.tolist() == [4.0]


def test_hooks_where_no_gradient_comes_are_refused(torch: Any) -> None:
    a = leaf(torch, 1.0)
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (a * 1).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(2).retain_grad()


def test_a_kept_gradient_is_that_of_the_value_after_an_in_place_operator(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    b.retain_grad()
    b.mul_(3)
    (b * 5).sum().backward()
    assert (b.grad.tolist(), a.grad.tolist()) == ([5.0], [30.0])


def test_a_hook_registered_before_an_in_place_operator_sees_the_old_values_gradient(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    seen: list[Any] = []
    b.register_hook(lambda g: seen.append(("old", g.tolist())))
    b.mul_(3)
    b.register_hook(lambda g: seen.append(("new", g.tolist())))
    (b * 5).sum().backward()
    assert seen == [("new", [5.0]), ("old", [15.0])]


def test_a_hook_may_drop_out_while_it_runs(torch: Any) -> None:
    a = leaf(torch, 1.0)
    seen: list[str] = []
    handles: list[Any] = []
    handles.append(a.register_hook(lambda g: (handles[0].remove(), seen.append("once"))[1]))
    a.register_hook(lambda g: seen.append("always"))
    for _ in range(2):
        (a * 1).sum().backward()
    assert seen == ["once", "always", "always"]


def test_a_hook_after_accumulation_may_drop_out_while_it_runs(torch: Any) -> None:
    a = leaf(torch, 1.0)
    seen: list[str] = []
    handles: list[Any] = []
    handles.append(a.register_post_accumulate_grad_hook(lambda p: (handles[0].remove(), seen.append("once"))[1]))
    a.register_post_accumulate_grad_hook(lambda p: seen.append("always"))
    for _ in range(2):
        (a * 1).sum().backward()
    assert seen == ["once", "always", "always"]


def test_the_gradient_that_is_handed_out_in_the_middle_is_before_its_hooks(torch: Any) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    b.register_hook(lambda g: g * 10)
    gb, ga = torch.autograd.grad((b * 3).sum(), [b, a])
    assert (gb.tolist(), ga.tolist()) == ([3.0], [60.0])
    b = a * 2
    b.register_hook(lambda g: g * 10)
    assert torch.autograd.grad((b * 3).sum(), b)[0].tolist() == [30.0]


def test_the_edge_of_a_tensor_is_where_its_gradient_arrives(torch: Any) -> None:
    import importlib

    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    a = leaf(torch, 1.0)
    x, y = a * 2, a * 3
    node, number = graph.get_gradient_edge(a)[:2]
    assert node is x.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]
    assert number == 0
    assert graph.get_gradient_edge(x)[:2] == (x.grad_fn, 0)


class Halve:
    """A hook without a name."""

    def __call__(self, gradient: Any) -> Any:
        return gradient[:1]


@pytest.mark.parametrize("of_leaf", [True, False])
@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda g: 3, TypeError, "expected Variable, but hook returned 'int'"),
        (lambda g: (g,), TypeError, "expected Variable, but hook returned 'tuple'"),
        (lambda g: g[:1], RuntimeError, "hook '<lambda>' has changed the size of value"),
        (Halve(), RuntimeError, "hook '<unknown>' has changed the size of value"),
        (
            lambda g: g.double(),
            RuntimeError,
            "hook '<lambda>' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)",
        ),
        (lambda g: g.to("meta"), RuntimeError, "hook '<lambda>' has changed the type of value"),
    ],
)
def test_a_hook_of_a_tensor_returns_a_gradient_of_the_same_kind(
    torch: Any, of_leaf: bool, hook: Any, error: type[Exception], message: str
) -> None:
    a = leaf(torch, 1.0, 2.0)
    b = a * 2
    (a if of_leaf else b).register_hook(hook)
    with pytest.raises(error, match=re.escape(message)):
        b.sum().backward()
    assert a.grad is None


@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda grads: grads[0], TypeError, "expected tuple, but hook returned 'Tensor'"),
        (lambda grads: list(grads), TypeError, "expected tuple, but hook returned 'list'"),
        (lambda grads: (3, *grads[1:]), TypeError, "expected Variable, but hook returned 'int'"),
        (lambda grads: (*grads, None), RuntimeError, "hook '<lambda>' has returned an incorrect number of values (got"),
        (lambda grads: (grads[0][:1], *grads[1:]), RuntimeError, "hook '<lambda>' has changed the size of value"),
        (lambda grads: (grads[0].double(), *grads[1:]), RuntimeError, "hook '<lambda>' has changed the type of value"),
    ],
)
def test_a_hook_of_a_node_returns_gradients_of_the_same_kinds(
    torch: Any, hook: Any, error: type[Exception], message: str
) -> None:
    a = leaf(torch, 1.0, 2.0)
    before, after = a * 2, a * 2
    before.grad_fn.register_prehook(hook)
    after.grad_fn.register_hook(lambda results, grads: hook(results))
    for b in (before, after):
        with pytest.raises(error, match=re.escape(message)):
            b.sum().backward()
    assert a.grad is None


def test_a_hook_of_a_node_may_drop_a_gradient_and_not_invent_one(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    b = a * 2
    b.grad_fn.register_hook(lambda results, grads: (None, None))
    b.sum().backward()
    assert a.grad is None
    c = a * 2
    c.grad_fn.register_hook(lambda results, grads: (results[0], results[0]))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        c.sum().backward()


# Who keeps whom alive -------------------------------------------------------------------------------------------


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Only references keep objects alive: a cycle would not be found."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_leaf_with_hooks_dies_with_its_last_reference(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    a.register_hook(lambda g: g * 2)
    a.register_post_accumulate_grad_hook(lambda p: None)
    (a * 3).sum().backward()
    assert a.grad.tolist() == [6.0, 6.0]
    watched = weakref.ref(a)
    del a
    assert watched() is None


@pytest.mark.usefixtures("no_collector")
def test_a_result_whose_gradient_is_kept_dies_with_its_last_reference(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    b = a * 3
    b.retain_grad()
    b.register_hook(lambda g: g * 2)
    b.sum().backward()
    assert b.grad.tolist() == [2.0, 2.0]
    watched = weakref.ref(a)
    del a, b
    assert watched() is None


def test_nobody_keeps_the_gradient_of_a_result_that_is_gone(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    b = a * 3
    b.retain_grad()
    c = b * 2
    del b
    c.sum().backward()
    assert a.grad.tolist() == [6.0, 6.0]


def test_a_hook_of_a_leaf_runs_whenever_it_was_registered(torch: Any) -> None:
    a = leaf(torch, 1.0)
    before = (a * 1).sum()
    handle = a.register_hook(lambda g: g * 10)
    after = (a * 1).sum()
    assert torch.autograd.grad(before, a)[0].tolist() == [10.0]
    after.backward(retain_graph=True)
    assert a.grad.tolist() == [10.0]
    handle.remove()
    after.backward()
    assert a.grad.tolist() == [11.0]
    a.register_hook(lambda g: g * 100)
    a.grad = None
    a.requires_grad_(False).requires_grad_()
    (a * 1).sum().backward()
    assert a.grad.tolist() == [100.0]
