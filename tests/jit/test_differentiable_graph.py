"""Does one node of a graph stand for the gradient of many operators, and behave as their own nodes do?"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import pytest

import glasstorch
from glasstorch._tensor import wrapped_number
from glasstorch.autograd import gradcheck, gradgradcheck
from glasstorch.core.errors import AutogradError
from glasstorch.dispatch.trace import trace
from glasstorch.jit.autodiff import differentiate
from glasstorch.jit.differentiable_graph import SIGNATURE_LIMIT, DifferentiableGraph
from glasstorch.jit.interpreter import Code
from glasstorch.jit.parser import parse_ir
from tests.devices.devices import Devices
from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module

Tensor = glasstorch.Tensor
FUSER = "none"

LAYER = """graph(%x : Tensor, %w : Tensor, %b : Tensor):
  %none : NoneType = prim::Constant()
  %y : Tensor = aten::linear(%x, %w, %b)
  %z : Tensor = aten::tanh(%y)
  %s : Tensor = aten::sum(%z, %none)
  return (%s, %z)
"""
SINE = "graph(%x : Tensor):\n  %y : Tensor = aten::exp(%x)\n  %z : Tensor = aten::sin(%y)\n  return (%z)"
SQUARE = "graph(%x : Tensor):\n  %y : Tensor = aten::mul(%x, %x)\n  %z : Tensor = aten::neg(%y)\n  return (%z)"


def graph(text: str) -> DifferentiableGraph:
    return DifferentiableGraph(parse_ir(text), FUSER)


def layer_inputs(dtype: Any = glasstorch.float32) -> tuple[Tensor, Tensor, Tensor]:
    glasstorch.manual_seed(0)
    x, w, b = (glasstorch.randn(*shape, dtype=dtype) for shape in ((3, 4), (5, 4), (5,)))
    return x, w.requires_grad_(), b.requires_grad_()


def test_one_node_stands_for_all_operators() -> None:
    x, w, b = layer_inputs()
    total, z = graph(LAYER)(x, w, b)
    assert total.grad_fn is z.grad_fn
    assert total.grad_fn.name() == "DifferentiableGraphBackward"
    assert [node and node.name() for node, _ in total.grad_fn.next_functions] == [
        None,
        "torch::autograd::AccumulateGrad",
        "torch::autograd::AccumulateGrad",
    ]


def test_values_and_gradients_are_those_of_the_operators() -> None:
    found = []
    for run in (graph(LAYER), Code(parse_ir(LAYER))):
        x, w, b = layer_inputs()
        total, z = run(x, w, b)
        (total * 2 + z.pow(2).sum()).backward()
        found.append([total.item(), z.tolist(), x.grad, w.grad.tolist(), b.grad.tolist()])
    assert found[0] == found[1]


def test_nothing_is_recorded_where_no_input_requires_grad_or_grad_mode_is_off() -> None:
    x, w, b = layer_inputs()
    run = graph(LAYER)
    assert run(x, w.detach(), b.detach())[0].grad_fn is None
    with glasstorch.no_grad():
        assert run(x, w, b)[0].grad_fn is None
    with glasstorch.inference_mode():
        assert run(x, w, b)[0].is_inference()


def test_gradients_of_any_order_are_right() -> None:
    for text, sizes in ((LAYER, ((2, 3), (2, 3), (2,))), (SINE, ((3,),))):
        inputs = [glasstorch.rand(*size, dtype=glasstorch.float64, requires_grad=True) for size in sizes]
        run = graph(text)
        assert gradcheck(run, inputs)
        assert gradgradcheck(run, inputs)


def test_the_gradient_of_a_gradient_is_a_graph_too() -> None:
    x = glasstorch.rand(3, dtype=glasstorch.float64, requires_grad=True)
    value = graph(SINE)(x)[0]
    wanted = x.exp().sin()
    for _ in range(3):
        (value,) = glasstorch.autograd.grad(value.sum(), x, create_graph=True)
        (wanted,) = glasstorch.autograd.grad(wanted.sum(), x, create_graph=True)
        assert value.grad_fn.name() == "DifferentiableGraphBackward"
        assert glasstorch.allclose(value, wanted)


def test_a_second_backward_is_refused_unless_the_graph_was_kept() -> None:
    x = glasstorch.rand(3, requires_grad=True)
    (y,) = graph(SINE)(x)
    y.sum().backward(retain_graph=True)
    first = x.grad.clone()
    y.sum().backward()
    assert glasstorch.equal(x.grad, 2 * first)
    with pytest.raises(AutogradError, match="Trying to backward through the graph a second time"):
        y.sum().backward()


def test_an_input_that_was_saved_must_not_change() -> None:
    x = glasstorch.rand(3, requires_grad=True)
    saved = x * 1
    (y,) = graph(SQUARE)(saved)
    saved.add_(1)
    with pytest.raises(AutogradError, match="modified by an inplace operation"):
        y.sum().backward()


def test_an_output_that_was_saved_must_not_change() -> None:
    x, w, b = layer_inputs()
    total, z = graph(LAYER)(x, w, b)
    z.add_(1)
    with pytest.raises(AutogradError, match="modified by an inplace operation"):
        total.backward()


def test_an_input_that_only_a_second_gradient_needs_may_change_before_the_first() -> None:
    x = glasstorch.rand(3, requires_grad=True)
    given = x * 1
    (y,) = graph(SINE)(given)
    wanted = given.exp().cos() * given.exp()
    given.zero_()
    (found,) = glasstorch.autograd.grad(y.sum(), x, retain_graph=True)
    assert glasstorch.allclose(found, wanted)
    with pytest.raises(AutogradError, match="modified by an inplace operation"):
        glasstorch.autograd.grad(y.sum(), x, create_graph=True)


def test_an_output_may_be_changed_in_place_and_keeps_its_gradient() -> None:
    x = glasstorch.rand(3, requires_grad=True)
    (y,) = graph(SQUARE)(x)
    y.mul_(2)
    y.sum().backward()
    assert glasstorch.allclose(x.grad, -4 * x)


def test_an_output_that_shows_memory_of_a_value_inside_may_be_changed_in_place() -> None:
    x = glasstorch.rand(2, 3, requires_grad=True)
    (y,) = graph(SQUARE.replace("neg", "t"))(x)
    y.mul_(2)
    y.sum().backward()
    assert glasstorch.allclose(x.grad, 4 * x)


def test_only_gradients_that_arrive_are_followed() -> None:
    infinite = glasstorch.tensor([0.0], requires_grad=True)
    text = """graph(%x : Tensor):
  %y : Tensor = aten::neg(%x)
  %l : Tensor = aten::log(%y)
  %e : Tensor = aten::exp(%y)
  return (%l, %e)
"""
    _, e = graph(text)(infinite)
    e.sum().backward()
    assert infinite.grad.tolist() == [-1.0]  # zeros for the logarithm would have made it nan


def test_an_output_without_gradient_says_so() -> None:
    text = """graph(%x : Tensor, %y : Tensor):
  %a : Tensor = aten::gt(%x, %y)
  %b : Tensor = aten::detach(%x)
  %c : Tensor = aten::exp(%b)
  %d : Tensor = aten::mul(%x, %y)
  return (%a, %c, %d)
"""
    x, y = glasstorch.rand(2, requires_grad=True), glasstorch.rand(2)
    assert [result.requires_grad for result in graph(text)(x, y)] == [False, False, True]


@pytest.mark.parametrize("operator", ["reshape(%x, %size)", "flatten(%x, %zero, %one)", "contiguous(%x, %zero)"])
def test_a_gradient_may_arrive_with_any_strides(operator: str) -> None:
    text = f"""graph(%x : Tensor, %w : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %size : int[] = prim::Constant[value=[2, 2, 2]]()
  %a : Tensor = aten::{operator}
  %b : Tensor = aten::add(%a, %w, %one)
  return (%b)
"""
    x = glasstorch.rand(2, 2, 2, requires_grad=True)
    run = graph(text)
    wanted_shape = Code(parse_ir(text))(x, glasstorch.zeros(()))[0].shape
    transposed = glasstorch.rand(*wanted_shape[::-1]).permute(*range(len(wanted_shape))[::-1])
    for arriving in (transposed, glasstorch.rand(()).expand(wanted_shape)):
        result = run(x, glasstorch.zeros(()))[0]
        assert result.grad_fn.name() == "DifferentiableGraphBackward"
        (found,) = glasstorch.autograd.grad(result, x, arriving)
        assert glasstorch.equal(found, arriving.reshape(2, 2, 2))


def test_hooks_and_kept_gradients_work_on_its_outputs() -> None:
    x = glasstorch.rand(3, requires_grad=True)
    (y,) = graph(SQUARE)(x)
    y.retain_grad()
    y.register_hook(lambda grad: grad * 3)
    y.sum().backward()
    assert y.grad.tolist() == [3.0] * 3
    assert glasstorch.allclose(x.grad, -6 * x)


def test_gradients_are_derived_once_for_a_signature() -> None:
    run = graph(SINE)
    x = glasstorch.rand(3, requires_grad=True)
    run(x)
    (derived,) = run.derived()
    run(glasstorch.rand(3, requires_grad=True))
    assert run.derived() == [derived]
    run(glasstorch.rand(4, requires_grad=True))
    run(glasstorch.rand(4, 4, requires_grad=True))
    run(glasstorch.rand(4, 4, requires_grad=True).t())
    run(glasstorch.rand(3, dtype=glasstorch.float64, requires_grad=True))
    glasstorch.set_default_dtype(glasstorch.float64)
    try:
        run(x)
    finally:
        glasstorch.set_default_dtype(glasstorch.float32)
    assert len(run.derived()) == 6


def test_gradients_are_derived_for_those_inputs_that_want_one() -> None:
    run = graph(LAYER)
    x, w, b = layer_inputs()
    for wanted in ((x, w, b), (x, w.detach(), b), (x, w, b.detach())):
        run(*wanted)
    places = [derived.backward((True, False)).places for derived in run.derived() if derived is not None]
    assert [tuple(place is not None for place in found) for found in places] == [
        (False, True, True),
        (False, False, True),
        (False, True, False),
    ]


def test_beyond_the_limit_of_signatures_operators_run_one_by_one_and_that_is_told_once() -> None:
    said: list[str] = []
    run = DifferentiableGraph(parse_ir(SINE), FUSER, said.append)
    for n in range(SIGNATURE_LIMIT + 3):
        (y,) = run(glasstorch.rand(n + 1, requires_grad=True))
        name = "DifferentiableGraphBackward" if n < SIGNATURE_LIMIT else "SinBackward0"
        assert y.grad_fn.name() == name
    assert said == [f"it was derived for {SIGNATURE_LIMIT} kinds of inputs already, and these are of another"]


def test_a_signature_that_was_not_used_for_long_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasstorch.jit.differentiable_graph.SIGNATURE_LIMIT", 2)
    monkeypatch.setattr("glasstorch.jit.differentiable_graph.STALE_CALLS", 4)
    run = graph(SINE)

    def name(n: int) -> str:
        return run(glasstorch.rand(n, requires_grad=True))[0].grad_fn.name()

    assert name(1) == "DifferentiableGraphBackward"
    (first,) = run.derived()
    assert [name(n) for n in (2, 1, 3, 1, 3)] == [
        *["DifferentiableGraphBackward"] * 2,
        "SinBackward0",  # the second was used two calls ago
        "DifferentiableGraphBackward",
        "DifferentiableGraphBackward",  # now it was four
    ]
    assert first in run.derived()
    assert [name(n) for n in (1, 3, 2)] == [*["DifferentiableGraphBackward"] * 2, "SinBackward0"]


def test_what_cannot_be_derived_is_told_once_for_each_reason() -> None:
    text = """graph(%x : Tensor, %y : Tensor):
  %a : Tensor[] = aten::where(%y)
  %b : Tensor = prim::ListUnpack(%a)
  %c : Tensor = aten::mul(%x, %b)
  return (%c)
"""
    said: list[str] = []
    run = DifferentiableGraph(parse_ir(text), FUSER, said.append)
    for n in range(4):
        run(glasstorch.rand(n + 1, 1, requires_grad=True), glasstorch.ones(2))
    assert len(said) == 1
    assert run.derived() == [None] * 4


def test_an_input_is_kept_for_the_gradient_of_the_gradient() -> None:
    text = """graph(%x : Tensor):
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::exp(%a)
  %c : Tensor = aten::neg(%b)
  return (%c)
"""
    run = graph(text)
    x = glasstorch.rand(3, requires_grad=True)
    (y,) = run(x)
    (derived,) = run.derived()
    assert derived is not None
    assert derived.gradient.df_input_captured_inputs == []
    assert sorted(y.grad_fn.saved) == [0, 2]  # x, and what exp gave


def test_a_graph_that_needs_data_runs_operator_by_operator() -> None:
    text = """graph(%x : Tensor, %mask : Tensor):
  %indices : Tensor?[] = prim::ListConstruct(%mask)
  %y : Tensor = aten::index(%x, %indices)
  %z : Tensor = aten::exp(%y)
  return (%z)
"""
    x = glasstorch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (y,) = graph(text)(x, glasstorch.tensor([True, False, True]))
    assert y.grad_fn.name() == "ExpBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [y.tolist()[0], 0.0, y.tolist()[1]]


def test_wrong_sizes_are_refused_as_the_operators_refuse_them() -> None:
    x, w, b = layer_inputs()
    with pytest.raises(RuntimeError) as found:
        graph(LAYER)(x[:, :2], w, b)
    with pytest.raises(RuntimeError) as wanted:
        Code(parse_ir(LAYER))(x[:, :2], w, b)
    assert str(found.value) == str(wanted.value)


def test_a_mode_sees_every_operator() -> None:
    x = glasstorch.rand(3, requires_grad=True)
    traced = glasstorch.jit.trace(lambda x: graph(SINE)(x)[0], x)
    assert [node.kind for node in traced.graph.nodes] == ["aten::exp", "aten::sin"]


def test_nothing_of_autograd_is_asked_while_the_derived_graphs_run() -> None:
    x = glasstorch.rand(3, requires_grad=True)
    run = graph(SINE)
    run(x)[0].sum().backward()
    with trace() as recorded:
        (y,) = run(x)
    assert [(hop.operator, hop.key.name) for hop in recorded] == [("aten::exp", "CPU"), ("aten::sin", "CPU")]
    ones = glasstorch.ones(3)
    with glasstorch.no_grad(), trace() as recorded:
        y.grad_fn.apply([ones])
    assert {hop.key.name for hop in recorded} == {"CPU"}


def test_the_derived_graphs_are_fused_and_compute_again_what_is_cheap() -> None:
    text = """graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::mul(%x, %x)
  %b : Tensor = aten::add(%a, %x, %one)
  %c : Tensor = aten::sin(%b)
  return (%c)
"""
    counts = []
    for fuser in ("none", "numpy"):
        run = DifferentiableGraph(parse_ir(text), fuser)
        x = glasstorch.rand(3, requires_grad=True)
        with trace() as recorded:
            (y,) = run(x)
        (derived,) = run.derived()
        assert derived is not None
        run_operators = {hop.operator for hop in recorded if hop.key.name == "CPU"}
        counts.append((len(derived.gradient.f.outputs), "aten::sin" in run_operators))
        y.sum().backward()
        assert glasstorch.allclose(x.grad, (x * x + x).cos() * (2 * x + 1))
    assert counts == [(2, True), (1, False)]


def test_indices_that_were_captured_have_no_gradient_of_their_own() -> None:
    text = """graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %no : bool = prim::Constant[value=0]()
  %y : Tensor = aten::exp(%x)
  %values : Tensor, %indices : Tensor = aten::max(%y, %zero, %no)
  return (%values, %indices)
"""
    x = glasstorch.rand(3, 2, dtype=glasstorch.float64, requires_grad=True)
    run = graph(text)
    values, indices = run(x)
    assert not indices.requires_grad
    (first,) = glasstorch.autograd.grad(values.sum(), x, create_graph=True)
    assert first.grad_fn.name() == "DifferentiableGraphBackward"
    (second,) = glasstorch.autograd.grad(first.sum(), x)
    assert glasstorch.allclose(second, first)


def test_a_number_in_a_tensor_is_not_taken_for_a_tensor_of_its_dtype() -> None:
    run = graph("graph(%x : Tensor, %y : Tensor):\n  %a : Tensor = aten::mul(%x, %y)\n  return (%a)")
    x = glasstorch.tensor(1.0, dtype=glasstorch.float16, requires_grad=True)
    assert run(x, glasstorch.tensor(2.0))[0].dtype is glasstorch.float32
    result = run(x, wrapped_number(2.0))[0]
    assert result.dtype is glasstorch.float16
    assert result.grad_fn.name() == "MulBackward0"


def test_a_gradient_that_nobody_sends_is_followed_nowhere() -> None:
    class Nothing(glasstorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> Any:
            return None

    x = glasstorch.rand(3, requires_grad=True)
    run = graph(SINE)
    (found,) = glasstorch.autograd.grad(Nothing.apply(run(x)[0]).sum(), x, allow_unused=True)
    assert found is None
    (derived,) = run.derived()
    assert derived is not None
    assert not derived._backward


def test_the_node_does_not_keep_its_own_outputs_alive() -> None:
    x, w, b = layer_inputs()
    total, z = graph(LAYER)(x, w, b)  # z is captured
    node = weakref.ref(total.grad_fn)
    gc.disable()
    try:
        del total, z
        assert node() is None
    finally:
        gc.enable()


def test_an_inference_tensor_among_the_inputs_is_for_the_operators_to_refuse() -> None:
    with glasstorch.inference_mode():
        x = glasstorch.rand(2)
    text = """graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::add(%x, %y, %one)
  %b : Tensor = aten::exp(%a)
  return (%b)
"""
    y = glasstorch.rand(2, requires_grad=True)
    run = graph(text)
    run(glasstorch.rand(2), y)  # a plain tensor of the same sizes
    (result,) = run(x, y)
    assert result.grad_fn.name() == "ExpBackward0"
    result.sum().backward()
    assert glasstorch.equal(y.grad, result)


def test_the_log_says_why_a_gradient_is_left_to_the_operators() -> None:
    text = """graph(%x : Tensor, %y : Tensor):
  %1 : Tensor = prim::DifferentiableGraph_0(%x, %y)
  return (%1)
with prim::DifferentiableGraph_0 = graph(%x : Tensor, %y : Tensor):
  %1 : Tensor[] = aten::where(%y)
  %2 : Tensor = prim::ListUnpack(%1)
  %3 : Tensor = aten::mul(%x, %2)
  return (%3)
"""
    code = Code(parse_ir(text))
    said: list[str] = []
    with glasstorch.jit.show_passes(said.append):
        code(glasstorch.rand(2, requires_grad=True), glasstorch.ones(2))
    (line,) = [text for text in said if text.startswith("create_autodiff_subgraphs: left the gradient of %")]
    assert line.endswith(
        "prim::DifferentiableGraph_0(%x, %y) to its operators: "
        "NotImplementedError: nonzero: the sizes of its result depend on the data, and [2] on meta has none"
    )


def test_threads_that_come_first_together_derive_once(monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[Any] = []

    def slowly(*args: Any, **kwargs: Any) -> Any:
        time.sleep(0.05)
        derived.append(differentiate(*args, **kwargs))
        return derived[-1]

    monkeypatch.setattr("glasstorch.jit.differentiable_graph.differentiate", slowly)
    run = graph(SINE)
    x = glasstorch.rand(3, requires_grad=True)
    (wanted,) = glasstorch.autograd.grad(x.exp().sin().sum(), x)
    found: list[Any] = []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        found.append(glasstorch.autograd.grad(run(x)[0].sum(), x)[0].tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(derived) == 1
    assert found == [wanted.tolist()] * 4


def test_on_a_cuda_device_gradients_are_derived_too(cuda: Devices) -> None:
    run = graph(LAYER)
    on_cpu, on_device = layer_inputs(), [x.detach().to(cuda.device) for x in layer_inputs()]
    wanted = [x.requires_grad_() for x in on_device[1:]]
    total, _ = run(*on_device)
    assert total.grad_fn.name() == "DifferentiableGraphBackward"
    for ours, theirs in zip(
        glasstorch.autograd.grad(total, wanted), glasstorch.autograd.grad(run(*on_cpu)[0], on_cpu[1:]), strict=True
    ):
        assert ours.device == on_device[0].device
        assert glasstorch.allclose(ours.cpu(), theirs, rtol=1e-5, atol=1e-6)
