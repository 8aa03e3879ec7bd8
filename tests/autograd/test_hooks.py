"""Do hooks run when PyTorch's do, with what PyTorch's get and give, and keep nothing alive?"""

from __future__ import annotations

import copy
import gc
import pickle
import re
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values), requires_grad=True)


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


@pytest.mark.parametrize("kind", ["tensor", "accumulated", "before", "after"])
def test_a_handle_removes_its_own_hook_alone(torch: Any, kind: str) -> None:
    a = leaf(torch, 1.0)
    b = a * 2
    register = {
        "tensor": b.register_hook,
        "accumulated": a.register_post_accumulate_grad_hook,
        "before": b.grad_fn.register_prehook,
        "after": b.grad_fn.register_hook,
    }[kind]
    order: list[str] = []

    def hook(*given: Any) -> None:
        order.append("hook")

    first = register(hook)
    register(lambda *given: order.append("between"))
    second = register(hook)
    second.remove()
    second.remove()
    b.sum().backward(retain_graph=True)
    assert order == ["hook", "between"]
    register(hook)
    first.remove()
    first.remove()
    b.sum().backward()
    assert order[2:] == ["between", "hook"]


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


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda p: p.grad * 0, RuntimeError, "Tensor post accumulate grad hooks should return None."),
        (lambda p: p.grad.double(), RuntimeError, "hook '<lambda>' has changed the type of value"),
        (lambda p: p.grad.sum(), RuntimeError, "hook '<lambda>' has changed the size of value"),
        (lambda p: False, TypeError, "expected Variable, but hook returned 'bool'"),
    ],
)
def test_a_hook_after_accumulation_returns_nothing(
    torch: Any, returned: Any, error: type[Exception], message: str
) -> None:
    a = leaf(torch, 1.0, 2.0)
    a.register_post_accumulate_grad_hook(returned)
    with pytest.raises(error, match=re.escape(message)):
        (a * 2).sum().backward()
    assert a.grad.tolist() == [2.0, 2.0]
    b = leaf(torch, 1.0)
    b.register_post_accumulate_grad_hook(lambda p: p)
    (b * 2).sum().backward()
    assert b.grad.tolist() == [2.0]


# Who keeps whom alive ---------------------------------------------------------------------------------------------


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


# Gradients of results ---------------------------------------------------------------------------------------------


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


def test_a_retained_gradient_moves_with_the_values_and_not_with_the_geometry(torch: Any) -> None:
    a = torch.ones(3, 4, requires_grad=True)
    turned, scaled = a * 2, a * 2
    turned.retain_grad()
    scaled.retain_grad()
    turned.t_()
    scaled.mul_(5)
    (turned.t() * scaled * 3).sum().backward()
    assert (turned.grad.shape, turned.shape) == ((3, 4), (4, 3))
    assert scaled.grad.tolist() == [[6.0] * 4] * 3, "of what it has become"


def test_a_gradient_that_was_kept_of_the_old_geometry_survives_a_change_of_values() -> None:
    a = glasstorch.ones(3, 4, requires_grad=True)
    b = a * 2
    b.retain_grad()
    b.t_()
    b.mul_(3)  # PyTorch fails with an internal assertion
    b.sum().backward()
    assert b.grad.tolist() == [[3.0] * 4] * 3


def test_a_view_whose_base_got_its_history_later_retains_nothing_before_it_was_asked_for_its_node(torch: Any) -> None:
    def view_of_changed() -> Any:
        base = torch.zeros(3, 4)
        view = base[1:]
        base.mul_(torch.ones(4, requires_grad=True))
        return view

    asked, unasked = view_of_changed(), view_of_changed()
    assert asked.grad_fn is not None
    for view in (asked, unasked):
        view.retain_grad()
    assert (asked.retains_grad, unasked.retains_grad) == (True, False)


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


def test_a_hook_of_a_result_that_no_gradient_reaches_gets_none(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    first, second = x.unbind(0)
    seen: list[Any] = []
    first.register_hook(lambda g: seen.append(("first", g.item())))
    second.register_hook(lambda g: seen.append(("second", g)))
    first.backward()
    assert sorted(seen) == [("first", 1.0), ("second", None)]
    assert x.grad.tolist() == [1, 0]


def test_a_gradient_set_by_its_private_name_is_the_gradient(torch: Any) -> None:
    p = torch.ones(2, requires_grad=True)
    p._grad = torch.full((2,), 3.0)
    assert p.grad.tolist() == [3, 3]
    assert p._grad is p.grad
    p._grad = None
    assert p.grad is None


def test_the_hooks_of_a_tensor_are_a_dict_by_the_ids_of_their_handles(torch: Any) -> None:
    a, plain = torch.ones(2, requires_grad=True), torch.ones(2)
    assert a._backward_hooks is a._post_accumulate_grad_hooks is plain._backward_hooks is None
    assert plain._post_accumulate_grad_hooks is None
    first, second = a.register_hook(print), a.register_hook(repr)
    after = a.register_post_accumulate_grad_hook(str)
    assert isinstance(a._backward_hooks, OrderedDict)
    assert list(a._backward_hooks.items()) == [(first.id, print), (second.id, repr)]
    assert list(a._post_accumulate_grad_hooks.items()) == [(after.id, str)]
    first.remove()
    after.remove()
    assert list(a._backward_hooks.values()) == [repr]
    assert dict(a._post_accumulate_grad_hooks) == {}
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        with pytest.raises(RuntimeError, match=r"Deletion of .* not allowed!"):
            delattr(a, name)


def test_hooks_may_be_assigned_and_taken_away_from_their_dict(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    a._backward_hooks = OrderedDict({0: lambda grad: grad * 3})
    handle = a.register_hook(lambda grad: grad * 2)
    grads = []
    for change in (lambda: None, handle.remove, lambda: a._backward_hooks.clear(), lambda: None):
        change()
        a.grad = None
        a.sum().backward()
        grads.append(a.grad.tolist()[0])
    assert grads == [6.0, 3.0, 1.0, 1.0]
    graph = a * 1  # which keeps the leaf's node
    a._backward_hooks = {7: lambda grad: grad * 5}
    a.grad = None
    graph.sum().backward(retain_graph=True)
    a._backward_hooks = None
    graph.sum().backward()
    assert a.grad.tolist() == [6.0, 6.0]
    seen = []
    a._post_accumulate_grad_hooks = OrderedDict({0: lambda leaf: seen.append(leaf.grad[0].item())})
    a.sum().backward()
    assert seen == [7.0]


def test_hooks_that_are_assigned_before_a_leaf_requires_grad_are_called_once_it_does(torch: Any) -> None:
    a = torch.ones(2)
    a._backward_hooks = OrderedDict({0: lambda grad: grad * 3})
    a.requires_grad_().sum().backward()
    assert a.grad.tolist() == [3.0, 3.0]


def test_a_change_in_place_leaves_the_hooks_to_the_old_value(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    handle = b.register_hook(lambda grad: grad * 10)
    b.mul_(3)
    assert b._backward_hooks is None
    b.register_hook(lambda grad: grad * 7)
    assert len(b._backward_hooks) == 1
    b.sum().backward(retain_graph=True)
    assert a.grad.tolist() == [420.0, 420.0]
    handle.remove()
    a.grad = None
    b.sum().backward()
    assert a.grad.tolist() == [42.0, 42.0]


def test_a_handle_removes_the_hook_of_a_tensor_that_is_gone(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    middle = a * 2
    handle = middle.register_hook(lambda grad: grad * 10)
    end = middle * 1
    del middle
    handle.remove()
    end.sum().backward()
    assert a.grad.tolist() == [2.0, 2.0]


def test_copies_have_no_hooks_and_a_pickle_warns_of_them(torch: Any) -> None:
    a = torch.ones(2, requires_grad=True)
    a.register_hook(print)
    assert copy.deepcopy(a)._backward_hooks is None
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        assert not pickle.loads(pickle.dumps(a))._backward_hooks
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.register_hook(print)
    assert not pickle.loads(pickle.dumps(parameter))._backward_hooks  # and does not warn
    assert copy.copy(a._backward_hooks) == OrderedDict(a._backward_hooks)


def test_a_copied_parameter_has_neither_gradient_nor_attributes(torch: Any) -> None:
    parameter = torch.nn.Parameter(torch.ones(2, 3).t())
    parameter.grad, parameter.mark = torch.ones(3, 2), 1
    copied = copy.deepcopy([parameter, parameter])
    assert copied[0] is copied[1]
    assert (copied[0].grad, copied[0].__dict__, copied[0].stride()) == (None, {}, (1, 3))


def test_a_hook_after_accumulation_is_refused_where_there_is_no_gradient(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(2).register_post_accumulate_grad_hook(print)


def test_hooks_that_are_no_dict_are_refused() -> None:
    a = glasstorch.ones(2, requires_grad=True)
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        with pytest.raises(TypeError, match=f"{name} has to be a dict of hooks or None, but got int"):
            setattr(a, name, 5)


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("taken", ["del", "pop", "popitem", "clear"])
def test_a_hook_that_is_taken_out_of_the_dict_is_not_called(torch: Any, taken: str, leaf: bool) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x if leaf else x * 1
    handle = y.register_hook(lambda grad: grad * 10)
    hooks = y._backward_hooks
    if taken == "del":
        del hooks[handle.id]
    else:
        getattr(hooks, taken)(*[handle.id] * (taken == "pop"))
    (y * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


# Hooks that are assigned ----------------------------------------------------------------------------------------------


def assign(*before: str) -> Callable[[Any, Callable[[str], Any]], None]:
    """Do these, in this order, to a tensor."""

    def change(y: Any, hook: Callable[[str], Any]) -> None:
        given = OrderedDict({50: hook("given")})
        for step in before:
            match step:
                case "register":
                    y.register_hook(hook("registered"))
                case "removed":
                    y.register_hook(hook("removed")).remove()
                case "assign":
                    y._backward_hooks = given
                    assert y._backward_hooks is given
                case "dict":
                    y._backward_hooks = {50: hook("dict")}
                case "none":
                    y._backward_hooks = None
                    assert y._backward_hooks is None
                case "same":
                    y._backward_hooks = y._backward_hooks
                case "add":
                    given[51] = hook("added")
                case "clear":
                    given.clear()
                case "in place":
                    y.add_(1)
                    assert y._backward_hooks is None

    return change


# steps -> which hooks of a leaf are called, and which of another tensor: those that were registered alone
STEPS: list[tuple[tuple[str, ...], list[str], list[str]]] = [
    (("assign",), ["given"], []),
    (("dict",), ["dict"], []),
    (("register", "assign"), ["given"], ["registered"]),
    (("assign", "register"), ["given", "registered"], []),
    (("assign", "removed"), ["given"], []),
    (("register", "assign", "register"), ["given", "registered"], ["registered"]),
    (("register", "none"), [], ["registered"]),
    (("register", "none", "register"), ["registered"], ["registered", "registered"]),
    (("register", "same"), ["registered"], ["registered"]),
    (("assign", "same"), ["given"], []),
    (("assign", "dict"), ["dict"], []),
    (("assign", "add"), ["given", "added"], []),
    (("assign", "clear"), [], []),
    (("assign", "none"), [], []),
    (("assign", "none", "register"), ["registered"], ["registered"]),
]


@pytest.mark.parametrize(("steps", "of_leaf", "of_other"), STEPS, ids=lambda value: " ".join(value))
@pytest.mark.parametrize("kind", ["leaf", "result", "view"])
def test_assigned_hooks_are_called_for_a_leaf_alone(
    torch: Any, kind: str, steps: tuple[str, ...], of_leaf: list[str], of_other: list[str]
) -> None:
    called: list[str] = []
    x = torch.ones(2, requires_grad=True)
    y = x if kind == "leaf" else x * 1 if kind == "result" else (x * 1)[:]
    assign(*steps)(y, lambda name: lambda grad: called.append(name))
    (y * 2).sum().backward()
    assert called == (of_leaf if kind == "leaf" else of_other)


@pytest.mark.parametrize("steps", [("assign", "in place"), ("in place", "assign")], ids=" ".join)
def test_a_change_in_place_does_not_bring_them_to_life(torch: Any, steps: tuple[str, ...]) -> None:
    called: list[str] = []
    y = torch.ones(2, requires_grad=True) * 1
    assign(*steps)(y, lambda name: lambda grad: called.append(name))
    y.sum().backward()
    assert called == []


def test_hooks_of_what_becomes_a_result_are_forgotten(torch: Any) -> None:
    w, y = torch.ones(2, requires_grad=True), torch.ones(2)
    y._backward_hooks = OrderedDict({0: lambda grad: grad * 10})
    y.add_(w)
    y.sum().backward()
    assert (y._backward_hooks, w.grad.tolist()) == (None, [1, 1])


def test_hooks_stay_with_a_leaf_that_for_a_time_requires_no_grad(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x._backward_hooks = OrderedDict({0: lambda grad: grad * 10})
    x.requires_grad_(False)
    x.requires_grad_()
    x.sum().backward()
    assert x.grad.tolist() == [10, 10]
