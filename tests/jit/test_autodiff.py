"""Is the gradient of a graph derived as forward and backward graphs that compute what eager does?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch._tensor import wrapped_number
from glasstorch.core.keys import FUNCTIONALITY_BIT
from glasstorch.jit.autodiff import Gradient, NotDerivableError, differentiate, signature_of, trace_joint
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir

Tensor = glasstorch.Tensor

LAYER = """graph(%x : Tensor, %w : Tensor, %b : Tensor):
  %none : NoneType = prim::Constant()
  %y : Tensor = aten::linear(%x, %w, %b)
  %z : Tensor = aten::tanh(%y)
  %s : Tensor = aten::sum(%z, %none)
  return (%s, %z)
"""


def layer_inputs(*wanted: bool) -> list[Tensor]:
    glasstorch.manual_seed(0)
    inputs = [glasstorch.randn(3, 4), glasstorch.randn(5, 4), glasstorch.randn(5)]
    return [x.requires_grad_(want) for x, want in zip(inputs, wanted, strict=True)]


def derive(graph: Graph, inputs: list[Tensor]) -> Gradient:
    return differentiate(graph, signature_of(inputs, [x.requires_grad for x in inputs]))


def kinds(graph: Graph) -> list[str]:
    return [node.kind.partition("::")[2] for node in graph.nodes if not node.kind.startswith("prim::")]


def run_backward(gradient: Gradient, inputs: list[Tensor], grads: list[Tensor | None]) -> list[Any]:
    """The gradients of the inputs, by the forward graph and then the backward graph."""
    with glasstorch.no_grad():
        results = Code(gradient.f)(*inputs)
        backward = gradient.df(tuple(grad is not None for grad in grads))
        captured = [inputs[i] for i in gradient.df_input_captured_inputs]
        captured += [results[i] for i in gradient.df_input_captured_outputs]
        arrived = [grad for grad in grads if grad is not None]
        given = [*arrived, *(captured[i] for i in backward.inputs)]
        known = [*Code(backward.graph)(*given), *given]
    return [None if place is None else known[place] for place in backward.places]


def test_operators_made_of_others_are_entered_and_formulas_run_as_nodes() -> None:
    gradient = derive(parse_ir(LAYER), layer_inputs(False, True, True))
    assert kinds(gradient.f) == ["t", "addmm", "tanh", "sum"]
    backward = gradient.df((True, True))
    assert kinds(backward.graph) == ["expand", "add", "tanh_backward", "t", "mm", "sum", "view"]
    assert backward.places == (None, 0, 1)


def test_an_output_and_an_input_that_backward_needs_are_not_returned_again() -> None:
    gradient = derive(parse_ir(LAYER), layer_inputs(False, True, True))
    assert gradient.f_real_outputs == len(gradient.f.outputs) == 2
    assert gradient.df_input_captured_inputs == [0]  # x, for the gradient of w
    assert gradient.df_input_captured_outputs == [1]  # the result of tanh


def test_what_backward_needs_and_is_no_output_is_returned_after_the_outputs() -> None:
    graph = parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::exp(%x)\n  %z : Tensor = aten::sin(%y)\n  return (%z)")
    gradient = derive(graph, [glasstorch.rand(3, requires_grad=True)])
    assert gradient.f_real_outputs == 1
    assert [value.node.kind for value in gradient.f.outputs] == ["aten::sin", "aten::exp"]
    assert gradient.df_input_captured_inputs == []


@pytest.mark.parametrize("wanted", [(True, True, True), (False, True, False), (True, False, False)])
@pytest.mark.parametrize("arriving", [(True, True), (True, False), (False, True)])
def test_gradients_are_those_of_eager(wanted: tuple[bool, ...], arriving: tuple[bool, ...]) -> None:
    graph, inputs = parse_ir(LAYER), layer_inputs(*wanted)
    grads = [g if a else None for g, a in zip((glasstorch.rand(()), glasstorch.rand(3, 5)), arriving, strict=True)]
    found = run_backward(derive(graph, inputs), inputs, grads)
    results = Code(graph)(*inputs)
    glasstorch.autograd.backward(
        [r for r, a in zip(results, arriving, strict=True) if a], [g for g in grads if g is not None]
    )
    for x, gradient in zip(inputs, found, strict=True):
        assert (x.grad is None) == (gradient is None)
        assert gradient is None or glasstorch.equal(x.grad, gradient)


def test_gradients_that_do_not_arrive_are_not_taken_as_zeros() -> None:
    gradient = derive(parse_ir(LAYER), layer_inputs(False, True, False))
    assert kinds(gradient.df((True, False)).graph) == ["expand", "tanh_backward", "t", "mm"]


def test_the_whole_is_a_function_of_inputs_and_captured_outputs() -> None:
    gradient = derive(parse_ir(LAYER), layer_inputs(False, True, True))
    whole = gradient.whole((True, True))
    assert whole.inputs == gradient.taken_by_whole == (0, 3 + 1)  # x, and the result of tanh
    assert kinds(whole.graph) == kinds(gradient.df((True, True)).graph)


def test_the_whole_computes_again_what_is_captured_and_no_output() -> None:
    graph = parse_ir("graph(%x : Tensor):\n  %y : Tensor = aten::exp(%x)\n  %z : Tensor = aten::sin(%y)\n  return (%z)")
    whole = derive(graph, [glasstorch.rand(3, requires_grad=True)]).whole((True,))
    assert whole.inputs == (0,)
    assert kinds(whole.graph) == ["exp", "cos", "mul", "mul"]


def test_an_output_that_is_given_is_used_though_its_node_runs_again_for_another() -> None:
    graph = parse_ir(
        "graph(%x : Tensor):\n"
        "  %zero : int = prim::Constant[value=0]()\n"
        "  %no : bool = prim::Constant[value=0]()\n"
        "  %y : Tensor = aten::exp(%x)\n"
        "  %v : Tensor, %i : Tensor = aten::max(%y, %zero, %no)\n"
        "  %z : Tensor = aten::sin(%v)\n"
        "  return (%v, %z)"
    )
    whole = derive(graph, [glasstorch.rand(3, 2, requires_grad=True)]).whole((False, True))
    assert whole.inputs == (0, 1)
    (cosine,) = whole.graph.find_all_nodes("aten::cos")
    assert cosine.inputs[0] is whole.graph.inputs[2]  # after the gradient and x
    assert len(whole.graph.find_all_nodes("aten::max")) == 1  # for the indices


def test_one_gradient_of_two_inputs_is_returned_once() -> None:
    graph = parse_ir(
        "graph(%x : Tensor, %y : Tensor):\n"
        "  %one : int = prim::Constant[value=1]()\n"
        "  %s : Tensor = aten::add(%x, %y, %one)\n"
        "  %z : Tensor = aten::exp(%s)\n"
        "  return (%z)"
    )
    backward = derive(graph, [glasstorch.rand(3, requires_grad=True) for _ in range(2)]).df((True,))
    assert backward.places == (0, 0)
    assert len(backward.graph.outputs) == 1


def test_views_are_made_again_and_not_saved() -> None:
    graph = parse_ir(
        "graph(%x : Tensor, %y : Tensor):\n"
        "  %t : Tensor = aten::t(%y)\n"
        "  %z : Tensor = aten::mul(%x, %t)\n"
        "  return (%z)"
    )
    gradient = derive(graph, [glasstorch.rand(2, 3, requires_grad=True), glasstorch.rand(3, 2)])
    assert gradient.df_input_captured_inputs == [1]
    assert len(gradient.f.outputs) == 1
    assert kinds(gradient.df((True,)).graph) == ["t", "mul"]


def test_of_a_list_that_an_operator_made_of_new_tensors_its_elements_are_saved() -> None:
    graph = parse_ir(
        "graph(%x : Tensor):\n"
        "  %n : int = prim::Constant[value=1]()\n"
        "  %i : int = prim::Constant[value=0]()\n"
        "  %l : Tensor[] = aten::split_copy(%x, %n, %i)\n"
        "  %a : Tensor, %b : Tensor = prim::ListUnpack(%l)\n"
        "  %z : Tensor = aten::mul(%a, %b)\n"
        "  return (%z)"
    )
    inputs = [glasstorch.rand(2, 3, requires_grad=True)]
    for gradient in (derive(graph, inputs), differentiate(graph, signature_of(inputs, [True]), again=True)):
        assert [value.node.kind for value in gradient.f.outputs] == [
            "aten::mul",
            "prim::ListUnpack",
            "prim::ListUnpack",
        ]
        (found,) = run_backward(gradient, inputs, [glasstorch.ones(1, 3)])
        assert glasstorch.equal(found, inputs[0].flip(0))


def test_a_detached_result_cuts_the_gradient_and_the_result_itself_does_not() -> None:
    graph = parse_ir(
        "graph(%x : Tensor):\n"
        "  %y : Tensor = aten::exp(%x)\n"
        "  %d : Tensor = aten::detach(%y)\n"
        "  %z : Tensor = aten::mul(%y, %d)\n"
        "  return (%z)"
    )
    inputs = [glasstorch.rand(3, requires_grad=True)]
    gradient = derive(graph, inputs)
    # what ExpBackward0 saved is found as the result of exp, though the detached one has the same elements
    whole = gradient.whole((True,)).graph
    assert kinds(whole) == ["exp", "detach", "mul", "mul"]
    assert [value.node.kind for value in whole.outputs[0].node.inputs] == ["aten::mul", "aten::exp"]
    (found,) = run_backward(gradient, inputs, [glasstorch.ones(3)])
    assert glasstorch.allclose(found, (2 * inputs[0]).exp())


REFUSED = {
    "an operator that needs data": (
        "%y : Tensor = aten::nonzero(%x)\n  %z : Tensor = aten::clone(%y, %none)",
        "the sizes of its result depend on the data",
    ),
    "an output that is an input": ("%z : Tensor = aten::alias(%x)", "an output shares memory"),
    "two outputs of one memory": (
        "%y : Tensor = aten::exp(%x)\n  %z : Tensor = aten::alias(%y)\n  return (%y, %z)",
        "an output shares memory",
    ),
    "a write": ("%y : Tensor = aten::neg(%x)\n  %z : Tensor = aten::neg_(%y)", "writes to memory"),
    "a formula that goes by the data where there is any": (
        "%z : Tensor = aten::cumprod(%x, %i, %none)",
        "reads data",
    ),
    "an operator that goes by the data where there is any": (
        "%y : Tensor = aten::diag(%x, %i)\n  %z : Tensor = aten::linalg_inv(%y)",
        "reads data",
    ),
    "a list": ("%z : Tensor[] = prim::ListConstruct(%x)", "it returns list"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_derived_gradient_is_refused_with_the_reason(case: str) -> None:
    body, message = REFUSED[case]
    end = "" if "return" in body else "\n  return (%z)"
    constants = "%none : NoneType = prim::Constant()\n  %i : int = prim::Constant[value=0]()"
    graph = parse_ir(f"graph(%x : Tensor):\n  {constants}\n  {body}{end}")
    x = glasstorch.rand(3, requires_grad=True)
    with pytest.raises(NotDerivableError, match=message):
        trace_joint(graph, signature_of([x], [True]))


def test_a_formula_that_reads_data_is_refused_without_a_warning() -> None:
    graph = parse_ir(
        "graph(%x : Tensor, %y : Tensor):\n"
        "  %a : Tensor = aten::neg(%x)\n"
        "  %b : Tensor = aten::maximum(%x, %y)\n"
        "  %z : Tensor = aten::mul(%a, %b)\n"
        "  return (%z)"
    )
    inputs = [glasstorch.rand((), requires_grad=True) for _ in range(2)]
    whole = derive(graph, inputs).whole((True,))
    given = [glasstorch.rand((), requires_grad=True), *(inputs[i] for i in whole.inputs)]
    with pytest.raises(NotDerivableError, match="an operator or a formula reads data"):
        derive(whole.graph, given)


def test_inputs_on_several_devices_are_refused() -> None:
    with pytest.raises(NotDerivableError, match="cpu and meta"):
        signature_of([glasstorch.zeros(2), glasstorch.zeros(2, device="meta")], [True, False])


def test_inputs_that_are_no_plain_tensors_are_refused() -> None:
    with glasstorch.inference_mode():
        inference = glasstorch.zeros(2)
    seen_by_a_mode = glasstorch.zeros(2)
    seen_by_a_mode.key_set |= FUNCTIONALITY_BIT["Python"]
    for tensor, message in (
        (inference, "keys DispatchKeySet"),
        (seen_by_a_mode, "Python"),
        (wrapped_number(2), "a Python number"),
    ):
        with pytest.raises(NotDerivableError, match=message):
            signature_of([tensor], [False])


def test_devices_in_derived_graphs_are_those_of_the_inputs() -> None:
    graph = parse_ir(
        "graph(%x : Tensor):\n"
        "  %one : int = prim::Constant[value=1]()\n"
        '  %cpu : Device = prim::Constant[value="cpu"]()\n'
        "  %none : NoneType = prim::Constant()\n"
        "  %no : bool = prim::Constant[value=0]()\n"
        "  %o : Tensor = aten::ones_like(%x, %none, %none, %cpu, %none, %none)\n"
        "  %y : Tensor = aten::mul(%x, %o)\n"
        "  %v : Tensor, %i : Tensor = aten::max(%y, %one, %no)\n"
        "  %z : Tensor = aten::neg(%v)\n"
        "  return (%z)"
    )
    inputs = [glasstorch.rand(2, 3, requires_grad=True)]
    gradient = derive(graph, inputs)
    derived = (gradient.f, gradient.df((True,)).graph)
    constants = [node.output for graph in derived for node in graph.find_all_nodes("prim::Constant")]
    assert {str(value.constant()) for value in constants if str(value.type) == "Device"} == {"cpu"}
    (found,) = run_backward(gradient, inputs, [glasstorch.ones(2)])
    assert found.sum().item() == -2


CHAIN = """graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::mul(%x, %x)
  %b : Tensor = aten::add(%a, %x, %one)
  %c : Tensor = aten::exp(%b)
  %d : Tensor = aten::mul(%c, %b)
  return (%d)
"""


def test_what_is_cheap_is_computed_again_of_what_is_saved_anyway() -> None:
    graph, inputs = parse_ir(CHAIN), [glasstorch.rand(3, requires_grad=True)]
    signature = signature_of(inputs, [True])
    plain, again = differentiate(graph, signature), differentiate(graph, signature, again=True)
    assert [value.node.kind for value in plain.f.outputs] == ["aten::mul", "aten::add", "aten::exp"]
    assert [value.node.kind for value in again.f.outputs] == ["aten::mul", "aten::exp"]
    assert plain.df_input_captured_inputs == again.df_input_captured_inputs == [0]
    (one,), (other,) = (run_backward(g, inputs, [glasstorch.ones(3)]) for g in (plain, again))
    assert glasstorch.equal(one, other)


def test_no_input_is_saved_only_to_compute_something_again() -> None:
    text = CHAIN.replace("aten::mul(%x, %x)", "aten::neg(%x)")
    gradient = differentiate(parse_ir(text), signature_of([glasstorch.rand(3, requires_grad=True)], [True]), again=True)
    assert gradient.df_input_captured_inputs == []
    assert [value.node.kind for value in gradient.f.outputs] == ["aten::mul", "aten::add", "aten::exp"]


def test_what_takes_many_steps_is_saved() -> None:
    steps = "\n".join(f"  %a{i + 1} : Tensor = aten::add(%a{i}, %x, %one)" for i in range(6))
    text = (
        "graph(%x : Tensor):\n  %one : int = prim::Constant[value=1]()\n  %a0 : Tensor = aten::mul(%x, %x)\n"
        f"{steps}\n  %z : Tensor = aten::sin(%a6)\n  return (%z)"
    )
    gradient = differentiate(parse_ir(text), signature_of([glasstorch.rand(3, requires_grad=True)], [True]), again=True)
    assert [value.node.kind for value in gradient.f.outputs] == ["aten::sin", "aten::add"]


def test_a_gradient_that_is_passed_on_is_no_output_of_the_backward_graph() -> None:
    graph = parse_ir(
        "graph(%x : Tensor, %y : Tensor):\n"
        "  %one : int = prim::Constant[value=1]()\n"
        "  %z : Tensor = aten::sub(%x, %y, %one)\n"
        "  return (%z)"
    )
    inputs = [glasstorch.rand(3, requires_grad=True) for _ in range(2)]
    gradient = derive(graph, inputs)
    backward = gradient.df((True,))
    assert kinds(backward.graph) == ["neg"]
    assert backward.places == (1, 0)
    assert [g.tolist() for g in run_backward(gradient, inputs, [glasstorch.ones(3)])] == [[1] * 3, [-1] * 3]
