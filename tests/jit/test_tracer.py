"""Does a trace record each operator once, each tensor as the value it is, and warn of what it cannot record?"""

from __future__ import annotations

import inspect
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core import hooks
from glasstorch.core.errors import ArgumentError
from glasstorch.core.keys import key_set_of
from glasstorch.dispatch.active_keys import active_keys, include
from glasstorch.dispatch.library import Library
from glasstorch.jit.tracer import TracerWarning, is_tracing
from glasstorch.jit.tracer import trace_graph as trace_with_parameters


def traced(function: Callable[..., Any], *inputs: Any) -> Any:
    """The graph of one run, its inputs named after the function's parameters."""
    names = list(inspect.signature(function).parameters)
    return trace_with_parameters(function, inputs, names, {}).graph


def kinds(graph: Any) -> list[str]:
    """The operators of a graph, in order."""
    return [node.kind.removeprefix("aten::") for node in graph.nodes if node.kind.startswith("aten::")]


def x() -> Any:
    return glasstorch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# What is recorded -------------------------------------------------------------------------------------------------

PROGRAMS: list[Callable[..., Any]] = [
    lambda t, x: x + 1,
    lambda t, x: x.view(3, 2).sum(0, dtype=t.float64),
    lambda t, x: (x.add_(1), x * 2),
    lambda t, x: x[0],
    lambda t, x: x.unbind(0)[1],
    lambda t, x: t.cat([x, x]),
    lambda t, x: x.clamp(min=0),
    lambda t, x: x[x > 0],
    lambda t, x: x.max(1).values.exp(),
    lambda t, x: t.nn.functional.linear(x, x, x.sum(1)),
    lambda t, x: t.where(x > 2, x, -x).transpose(0, 1).softmax(-1),
    lambda t, x: x.detach().reshape(6)[1:5:2],
]


@pytest.mark.filterwarnings("ignore:`torch.jit.trace` is deprecated")
@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_trace_prints_as_pytorch_prints_it(require: Callable[[str], Any], program: Callable[..., Any]) -> None:
    torch = require("torch")
    ours = str(traced(lambda x: program(glasstorch, x), x()))
    theirs = str(torch.jit.trace(lambda x: program(torch, x), torch.tensor(x().tolist()), check_trace=False).graph)
    assert _canonical(ours) == _canonical(theirs)


def _canonical(text: str) -> str:
    """A graph's text without places in source files, and with values numbered in the order of their appearance."""
    text = re.sub(r" # .*", "", text)
    numbers: dict[str, str] = {}
    return re.sub(r"%[\w.]+", lambda match: numbers.setdefault(match[0], f"%{len(numbers)}"), text)


def test_what_an_operator_is_made_of_is_not_recorded() -> None:
    assert kinds(traced(lambda x: x.reshape(6).matmul(x.reshape(6)), x())) == ["reshape", "reshape", "matmul"]


def test_an_operator_of_a_users_library_is_recorded_whole() -> None:
    with Library("trace_me", "DEF") as library:
        library.define("twice(Tensor x, int n=1) -> Tensor")
        library.impl("twice", lambda x, n=1: x * 2 * n, "CompositeImplicitAutograd")
        graph = traced(lambda x: glasstorch.ops.trace_me.twice(x), x())
        assert [node.kind for node in graph.nodes] == ["prim::Constant", "trace_me::twice"]


def test_a_tensor_changed_in_place_is_from_then_on_the_result() -> None:
    def function(x: Any) -> Any:
        before = x.exp()
        before.mul_(2)
        return before + x

    graph = traced(function, x())
    assert kinds(graph) == ["exp", "mul_", "add"]
    changed = graph.find_all_nodes("aten::mul_")[0].output
    assert graph.find_all_nodes("aten::add")[0].inputs[0] is changed


def test_a_node_knows_the_line_it_came_from() -> None:
    graph = traced(lambda x: x.exp(), x())
    source = graph.nodes[0].source
    assert source is not None
    assert source.filename.endswith("test_tracer.py")
    assert "graph = traced(lambda x: x.exp(), x())" in Path(source.filename).read_text().splitlines()[source.line - 1]


def test_one_tensor_given_twice_is_two_inputs() -> None:
    one = x()
    graph = traced(lambda a, b: a - b, one, one)
    assert graph.nodes[-1].inputs[:2] == graph.inputs


def test_nested_inputs_are_taken_apart() -> None:
    graph = traced(lambda pair: pair[0] + pair[1][0], (x(), [x()]))
    assert [n.kind for n in graph.nodes][:2] == ["prim::TupleUnpack", "prim::ListUnpack"]
    assert str(graph.inputs[0].type).endswith("Tensor[])")


def test_a_parameter_becomes_an_input_when_it_is_first_used() -> None:
    weight = glasstorch.nn.Parameter(glasstorch.ones(3))
    unused = glasstorch.nn.Parameter(glasstorch.ones(3))
    held = {id(weight): ("layer.weight", weight), id(unused): ("unused", unused)}
    state = trace_with_parameters(lambda x: x * weight + weight, [x()], ["x"], held)
    assert state.used_parameters == ["layer.weight"]
    assert [value.debug_name for value in state.graph.inputs] == ["x", "self.layer.weight"]


def test_an_input_that_is_a_parameter_too_is_two_values() -> None:
    weight = glasstorch.nn.Parameter(glasstorch.ones(3))
    held = {id(weight): ("weight", weight)}
    state = trace_with_parameters(lambda x: x - weight, [weight], ["x"], held)
    assert state.used_parameters == ["weight"]
    (minus,) = state.graph.find_all_nodes("aten::sub")
    assert minus.inputs[:2] == state.graph.inputs


def test_the_data_of_a_parameter_is_not_a_constant() -> None:
    weight = glasstorch.nn.Parameter(glasstorch.ones(3))
    state = trace_with_parameters(lambda x: x * weight.data, [x()], ["x"], {id(weight): ("weight", weight)})
    assert kinds(state.graph) == ["detach", "mul"]
    assert state.used_parameters == ["weight"]


def test_the_backward_pass_inside_a_function_is_recorded() -> None:
    def slope(x: Any) -> Any:
        return glasstorch.autograd.grad(x.tanh().sum(), x)[0]

    graph = traced(slope, x().requires_grad_())
    assert kinds(graph) == ["tanh", "sum", "ones_like", "expand", "detach", "tanh_backward"]
    constants = [node.output.constant() for node in graph.find_all_nodes("prim::Constant")]
    assert not any(isinstance(constant, glasstorch.Tensor) for constant in constants)


# What cannot be recorded ------------------------------------------------------------------------------------------

CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "Python boolean": lambda x: x if x.sum() > 0 else -x,
    "Python integer": lambda x: x * int(x.sum()),
    "Python float": lambda x: x * float(x.sum()),
    "Python number": lambda x: x * x.sum().item(),
    "Python index": lambda x: x[x.argmax() * 0],
    "Python list": lambda x: x * x.tolist()[0][0],
    "NumPy array": lambda x: x * float(x.numpy()[0, 0]),
}


@pytest.mark.parametrize("into", CONVERSIONS)
def test_a_value_that_leaves_the_graph_is_warned_of_at_its_line(into: str) -> None:
    with pytest.warns(TracerWarning, match=f"Converting a tensor to a {into} might cause the trace to be") as caught:
        traced(CONVERSIONS[into], x())
    (warning,) = caught
    assert warning.filename == __file__
    assert f'"{into}": lambda' in Path(__file__).read_text().splitlines()[warning.lineno - 1]


def test_what_a_value_is_converted_to_is_not_read_from_the_names_of_the_program_s_functions() -> None:
    def get(x: Any) -> Any:
        return x * x.sum().item()

    class Shown:
        def __init__(self, x: Any) -> None:
            self.x = x

        def __repr__(self) -> str:
            return str(float(self.x.sum()))

    with pytest.warns(TracerWarning, match="Converting a tensor to a Python number"):
        traced(get, x())
    with pytest.warns(TracerWarning, match="Converting a tensor to a Python float"):
        traced(lambda x: x * float(repr(Shown(x))), x())


LOST: dict[str, Callable[[Any, Any], Any]] = {
    "Iterating over a tensor": lambda t, x: next(row * 2 for row in x),
    "Using len to get tensor shape": lambda t, x: x * len(x),
    "torch.tensor results are registered as constants": lambda t, x: x * t.tensor([1.0, 2.0, 3.0]),
    "torch.as_tensor results are registered as constants": lambda t, x: x * t.as_tensor(2.0),
    "torch.from_numpy results are registered as constants": lambda t, x: x * t.from_numpy(np.ones((2, 3))),
    "torch.Tensor results are registered as constants": lambda t, x: x * t.Tensor([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("begins", LOST)
def test_what_no_graph_can_hold_is_warned_of_in_pytorch_s_words(begins: str, require: Callable[[str], Any]) -> None:
    torch, program = require("torch"), LOST[begins]
    with pytest.warns(TracerWarning) as ours:
        traced(lambda x: program(glasstorch, x), x())
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter("always")
        torch.jit.trace(lambda x: program(torch, x), torch.tensor(x().tolist()), check_trace=False)
    said = [str(warning.message) for warning in theirs if warning.category is torch.jit.TracerWarning]
    assert [str(warning.message) for warning in ours] == said
    assert len(said) == 1
    assert said[0].startswith(begins)
    assert ours[0].filename == __file__
    assert f'"{begins}": lambda' in Path(__file__).read_text().splitlines()[ours[0].lineno - 1]


SEEN_AGAIN: list[Callable[[Any], Any]] = [
    lambda x: x * x.data.sum().item(),
    lambda x: x * x.data.tolist()[0][0],
    lambda x: x * len(x.data),
    lambda x: x * sum(1 for _ in x.data),
]


@pytest.mark.parametrize("program", SEEN_AGAIN, ids=range(len(SEEN_AGAIN)))
def test_the_same_elements_seen_by_another_tensor_are_warned_of(program: Callable[..., Any]) -> None:
    with pytest.warns(TracerWarning) as caught:
        traced(program, x())
    assert len(caught) == 1


def test_the_elements_of_a_parameter_that_is_not_used_yet_are_warned_of() -> None:
    weight = glasstorch.nn.Parameter(glasstorch.ones(1))
    with pytest.warns(TracerWarning, match="Python number"):
        trace_with_parameters(lambda x: x * weight.data.item(), [x()], ["x"], {id(weight): ("weight", weight)})


def test_what_the_library_itself_makes_and_counts_is_not_warned_of() -> None:
    def function(x: Any) -> Any:
        return glasstorch.asarray(2.0) * glasstorch.nn.functional.cross_entropy(x, glasstorch.zeros(2).long())

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "mul" in kinds(traced(function, x()))


def test_constants_may_be_converted_and_counted_and_tensors_shown() -> None:
    constant = glasstorch.tensor([2.0])
    shown = []

    def function(x: Any) -> Any:
        shown.append(repr(x.exp()))
        x = x + constant
        return x * constant.item() * len(constant) * sum(1 for _ in constant.data)

    graph = traced(function, x())
    assert [kind for kind in kinds(graph) if kind != "unbind"] == ["exp", "add", "mul", "mul", "mul"]
    assert shown[0].startswith("tensor(")


def test_a_change_of_grad_mode_is_warned_of() -> None:
    def function(x: Any, w: Any) -> Any:
        with glasstorch.no_grad():
            return x * w

    with pytest.warns(TracerWarning, match="grad mode was changed inside the traced function"):
        traced(function, x(), glasstorch.ones(3, requires_grad=True))


class Doubled(glasstorch.autograd.Function):
    """Twice its argument, with a gradient that is none."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 100


@pytest.mark.parametrize("requires_grad", [True, False])
def test_the_backward_of_an_autograd_function_is_missed(requires_grad: bool) -> None:
    with pytest.warns(TracerWarning, match="The autograd function Doubled ran inside the traced function"):
        graph = traced(lambda x: Doubled.apply(x), x().requires_grad_(requires_grad))
    assert kinds(graph) == ["mul"]


def test_a_grad_mode_that_touches_no_gradient_is_not_warned_of() -> None:
    def function(x: Any) -> Any:
        with glasstorch.no_grad():
            return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kinds(traced(function, x())) == ["mul"]


@pytest.mark.parametrize("method", ["register_hook", "register_post_accumulate_grad_hook"])
def test_a_hook_on_a_gradient_is_warned_of(method: str) -> None:
    def function(x: Any) -> Any:
        getattr(x, method)(lambda grad: None)
        return x * 2

    with pytest.warns(TracerWarning, match="A gradient hook was registered inside the traced function"):
        traced(function, x().requires_grad_())


def test_a_hook_on_what_is_the_same_at_every_run_is_not_warned_of() -> None:
    weight = glasstorch.nn.Parameter(glasstorch.ones(3))

    def function(x: Any) -> Any:
        weight.register_hook(lambda grad: grad * 0)
        return x * weight

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace_with_parameters(function, [x()], ["x"], {id(weight): ("weight", weight)})


def test_a_write_to_a_constant_is_warned_of() -> None:
    sums = glasstorch.zeros(2, 3)
    with pytest.warns(TracerWarning, match="writes to a tensor that the trace keeps as a constant"):
        traced(lambda x: sums.add_(x), x())


def test_a_returned_list_is_warned_of() -> None:
    with pytest.warns(TracerWarning, match="Encountering a list at the output"):
        graph = traced(lambda x: [x, x], x())
    assert graph.nodes[-1].kind == "prim::ListConstruct"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (3, r"tensors, lists of tensors and tuples of them can be output .*, got 3 of type int"),
        ({"a": 1}, "got {'a': 1} of type dict"),
        ((), r"got \(\) of type tuple"),
        (None, "didn't return any values! Side-effects are not captured"),
    ],
)
def test_a_result_that_is_not_tensors_is_refused(result: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        traced(lambda x: result, x())


def test_an_input_that_is_not_tensors_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"Type 'int' cannot be traced\. Only Tensors"):
        traced(lambda x: x, 3)


def test_a_tensor_that_requires_grad_is_no_constant() -> None:
    weight = glasstorch.ones(3, requires_grad=True)
    with pytest.raises(ArgumentError, match="Cannot insert a Tensor that requires grad as a constant"):
        traced(lambda x: x * weight, x())


def test_a_call_that_the_graph_would_read_as_another_overload_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"cannot trace a call of aten::max.unary_out: .* is aten::max.other"):
        traced(lambda x: glasstorch.max(x, out=glasstorch.empty(())), x())


def test_a_generator_is_no_constant() -> None:
    with pytest.raises(TypeError, match=r"a graph cannot hold .* of type Generator"):
        traced(lambda x: x + glasstorch.rand(3, generator=glasstorch.Generator()), x())


def test_tracing_cannot_be_nested() -> None:
    with pytest.raises(RuntimeError, match="Tracing can't be nested"):
        traced(lambda x: traced(lambda y: y, x), x())


# What is left behind ----------------------------------------------------------------------------------------------


def test_nothing_is_left_when_the_function_fails() -> None:
    before = active_keys.get()
    with pytest.raises(ZeroDivisionError):
        traced(lambda x: 1 / 0, x())
    assert not is_tracing()
    assert active_keys.get() == before
    assert hooks.trace_hooks is None


def test_an_operator_that_fails_is_not_recorded() -> None:
    def function(x: Any) -> Any:
        with pytest.raises(RuntimeError):
            x.view(7)
        return x.exp()

    assert kinds(traced(function, x())) == ["exp"]


def test_other_threads_are_not_recorded() -> None:
    def function(x: Any) -> Any:
        thread = threading.Thread(target=lambda: x.exp().tolist())
        thread.start()
        thread.join()
        return x.neg()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kinds(traced(function, x())) == ["neg"]


def test_the_key_alone_records_nothing() -> None:
    with include(key_set_of("Tracer")):
        assert (x() + 1)[0, 0].item() == 2.0


def test_a_kernel_may_read_values() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = traced(lambda x: x.clone().index_put_((x > 2,), x[x > 2] * 2), x())
    assert kinds(graph) == ["clone", "gt", "gt", "index", "mul", "index_put_"]
