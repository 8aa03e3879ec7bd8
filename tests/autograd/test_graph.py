"""Do backward, grad and the attributes of a tensor give and take what PyTorch's do?"""

from __future__ import annotations

from types import MappingProxyType
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
    found = grad((a * 2).sum(), [a, b], create_graph=True, materialize_grads=True)
    assert [g.requires_grad for g in found] == [False, True]
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
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges, but got NoneType"):
        torch.autograd.grad((a * 2).sum(), [a, None])
    with pytest.raises(RuntimeError, match=r"Mismatch in dtype: grad_output\[0\] has a dtype of torch.complex64 and"):
        torch.autograd.grad(a * 2, a, torch.ones(2, dtype=torch.complex64))


def test_a_dict_of_inputs_gives_a_dict_of_gradients(torch: Any) -> None:
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    found = torch.autograd.grad((a * b).sum(), {"first": a, "second": b})
    assert {name: gradient.tolist() for name, gradient in found.items()} == {"first": [3.0, 4.0], "second": [1.0, 2.0]}
    (a * b).sum().backward(inputs={"second": b})
    assert (a.grad, b.grad.tolist()) == (None, [1.0, 2.0])
    other = MappingProxyType({"first": a})
    for differentiate, name in ((torch.autograd.grad, "grad"), (torch.autograd.backward, "backward")):
        with pytest.raises(TypeError, match=rf"`inputs` argument to `{name}\(\)` must be a dict, not mappingproxy"):
            differentiate((a * b).sum(), inputs=other)


def test_a_batch_of_gradients_to_start_from_gives_a_batch(torch: Any) -> None:
    a, unused = leaf(torch, 1.0, 2.0), leaf(torch, 1.0)
    b = a * a
    batched = {"is_grads_batched": True}
    rows, none = torch.autograd.grad(b, [a, unused], torch.eye(2), allow_unused=True, create_graph=True, **batched)
    assert (rows.tolist(), none) == ([[2.0, 0.0], [0.0, 4.0]], None)
    assert torch.autograd.grad(rows.sum(), a, retain_graph=True)[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match=r"If `is_grads_batched=True`, .* grad_output\[0\] has a shape of .*\[\]\)"):
        torch.autograd.grad(b, a, torch.ones(2, 3), retain_graph=True, **batched)
    with pytest.raises(ValueError, match=r"same size in the mapped dimension, got sizes \[2, 3\]"):
        torch.autograd.grad([b, b.sum()], a, [torch.eye(2), torch.ones(3)], retain_graph=True, **batched)
    with pytest.raises(ValueError, match="Got in_dim=0 for some input"):
        torch.autograd.grad(b.sum(), a, retain_graph=True, **batched)
    torch.autograd.grad(b, a, torch.eye(2), **batched)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        torch.autograd.grad(b, a, torch.eye(2), **batched)


def test_edges_stand_for_their_tensors(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    b = a * a
    edge_of = torch.autograd.graph.get_gradient_edge
    of_a, of_b = torch.autograd.grad(edge_of(b.sum()), [edge_of(a), edge_of(b)], retain_graph=True)
    assert (of_a.tolist(), of_b.tolist()) == ([2.0, 4.0], [1.0, 1.0])
    assert torch.autograd.grad(edge_of(b), a, torch.ones(2), retain_graph=True)[0].tolist() == [2.0, 4.0]
    torch.autograd.backward(b.sum(), inputs=[edge_of(a)], retain_graph=True)
    assert a.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.grad(edge_of(b), a)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        torch.autograd.grad(b.sum(), [edge_of(leaf(torch, 1.0))], materialize_grads=True)


def test_old_arguments_are_deprecated(torch: Any) -> None:
    a = leaf(torch, 1.0, 2.0)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated and is ignored now"):
        assert torch.autograd.grad((a * a).sum(), a, None, False, False, False)[0].tolist() == [2.0, 4.0]
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated. Use `grad_tensors` instead"):
        torch.autograd.backward(a * 2, grad_variables=torch.ones(2))
    assert a.grad.tolist() == [2.0, 2.0]
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed to `backward"):
        torch.autograd.backward(a * 2, torch.ones(2), grad_variables=torch.ones(2))


def test_nodes_that_lead_to_no_input_do_not_run(torch: Any) -> None:
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    ran: list[str] = []
    left, right = a * 2, b * 3
    left.grad_fn.register_hook(lambda gi, go: ran.append("left"))
    right.grad_fn.register_hook(lambda gi, go: ran.append("right"))
    torch.autograd.grad((left * right).sum(), a)
    assert ran == ["left"]


def test_a_node_between_two_inputs_runs_and_one_that_is_met_twice_is_found(torch: Any) -> None:
    a = leaf(torch, 2.0)
    ran: list[str] = []
    b = a * 3
    c = b.exp()
    d = b * c  # leads to b by itself and through c
    for name, tensor in (("b", b), ("c", c), ("d", d)):
        tensor.grad_fn.register_hook(lambda gi, go, name=name: ran.append(name))
    for inputs, expected in (([a], "dcb"), ([b], "dc"), ([b, a], "dcb"), ([c], "d"), ([c, b], "dc"), ([d], "")):
        ran.clear()
        torch.autograd.grad(d, inputs, torch.ones(1), retain_graph=True)
        assert "".join(ran) == expected


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


def test_the_edge_of_a_tensor_is_where_its_gradient_arrives(torch: Any) -> None:
    import importlib

    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")
    a = leaf(torch, 1.0)
    x, y = a * 2, a * 3
    node, number = graph.get_gradient_edge(a)[:2]
    assert node is x.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]
    assert number == 0
    assert graph.get_gradient_edge(x)[:2] == (x.grad_fn, 0)


# requires_grad and grad -------------------------------------------------------------------------------------------


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
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        a.requires_grad = 1
    with pytest.raises(TypeError, match=r"argument 'requires_grad' \(position 1\) must be bool, not int"):
        a.requires_grad_(1)


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


def test_zeros_for_what_was_not_used_require_grad_where_a_graph_is_made(torch: Any) -> None:
    x, unused = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    for create_graph in (False, True):
        used, zeros = torch.autograd.grad((x**2).sum(), (x, unused), materialize_grads=True, create_graph=create_graph)
        assert (used.requires_grad, zeros.requires_grad) == (create_graph, create_graph)
        assert zeros.tolist() == [0, 0, 0]


def test_the_gradient_of_a_leaf_whose_storage_was_replaced_has_its_new_size(torch: Any) -> None:
    p = torch.nn.Parameter(torch.ones(2))
    other_graph = (p * 2).sum()
    with torch.no_grad():
        p.set_(torch.ones(3))
    (p * 2).sum().backward()
    assert p.grad.tolist() == [2, 2, 2]
    assert other_graph.item() == 4


def test_a_second_pass_through_an_index_is_refused_as_one(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    z = x[[0, 1]].sum()
    z.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        z.backward()


def test_a_resize_to_the_same_size_is_no_change(torch: Any) -> None:
    x = torch.ones(2)
    x.resize_(2)
    assert x._version == 0
    x.resize_(3)
    assert x._version == 1


def test_a_leaf_becomes_an_array_where_nothing_is_recorded(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert x.numpy().tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        x.numpy()


def test_data_is_a_tensor_and_stays(torch: Any) -> None:
    x = torch.ones(2)
    for bad in (None, 3):
        with pytest.raises(TypeError, match="Variable data has to be a tensor"):
            x.data = bad
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data


def test_a_storage_becomes_a_tensor_of_its_bytes(torch: Any) -> None:
    storage = torch.tensor([1.0]).untyped_storage()
    assert torch.tensor(storage, dtype=torch.uint8).tolist() == [0, 0, 128, 63]


@pytest.mark.parametrize("value", [3, None, "a", [], 1.5])
def test_what_is_no_tensor_has_no_gradient_edge(torch: Any, value: Any) -> None:
    with pytest.raises(AttributeError, match=f"'{type(value).__name__}' object has no attribute 'requires_grad'"):
        torch.autograd.graph.get_gradient_edge(value)


def test_an_edge_of_something_else_is_refused_as_input(torch: Any) -> None:
    GradientEdge, x = torch.autograd.graph.GradientEdge, torch.ones(2, requires_grad=True)
    output = x * 2
    with pytest.raises(RuntimeError, match=r"first object must be an autograd\.graph\.Node but got int"):
        torch.autograd.grad(output.sum(), GradientEdge(3, 0))
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        torch.autograd.grad(output.sum(), GradientEdge(output.grad_fn, "a"))
