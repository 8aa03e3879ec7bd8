"""What can a tracer be told?"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from threading import Event, Thread
from typing import Any

import pytest

import glasstorch


def a_function(x: Any) -> Any:
    return x + 1


class TestLeaves:
    def test_modules_of_torch_nn_stay_calls_and_others_are_run_through(self, torch: Any) -> None:
        inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        ops = [node.op for node in torch.fx.symbolic_trace(torch.nn.Sequential(inner)).graph.nodes]
        assert ops == ["placeholder", "call_module", "call_module", "output"]

    def test_a_subclass_decides(self, torch: Any) -> None:
        class All(torch.fx.Tracer):  # type: ignore[misc,name-defined]
            def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
                return False

        graph = All().trace(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.GELU()))
        assert [node.op for node in graph.nodes] == ["placeholder", "call_function", "call_function", "output"]

    def test_a_module_that_is_no_submodule_is_refused(self, torch: Any) -> None:
        other = torch.nn.Linear(2, 2)
        with pytest.raises(NameError, match="module is not installed as a submodule"):
            torch.fx.symbolic_trace(lambda x: other(x))

    def test_a_parameter_of_another_module_is_refused(self, torch: Any) -> None:
        other = torch.nn.Parameter(torch.ones(2))
        with pytest.raises(NameError, match="parameter is not a member of this module"):
            torch.fx.symbolic_trace(lambda x: torch.add(x, other))

    def test_functions_can_be_kept_as_calls(self, torch: Any) -> None:
        tracer = torch.fx.Tracer(autowrap_functions=(a_function,))
        graph = tracer.trace(lambda x: a_function(x) * 2)
        assert [node.target for node in graph.find_nodes(op="call_function", target=a_function)] == [a_function]
        assert a_function(1) == 2  # the name leads to the function again

    def test_names_are_restored_when_tracing_fails(self, torch: Any) -> None:
        call = torch.nn.Module.__call__
        with pytest.raises(ValueError, match="control flow"):
            torch.fx.symbolic_trace(lambda x: 1 if x else 2)
        assert torch.nn.Module.__call__ is call
        assert torch.nn.Linear(2, 2).weight.shape == (2, 2)


class TestWhatIsKnown:
    def test_sizes_of_parameters_can_be_taken_as_known(self, torch: Any) -> None:
        class Chosen(torch.nn.Module):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.weight = torch.nn.Parameter(torch.ones(2, 3))

            def forward(self, x: Any) -> Any:
                if self.weight.shape[0] == 2 and self.weight.dim() == 2 and self.weight.numel() == 6:
                    return x * self.weight
                return x

        with pytest.raises(ValueError, match="control flow"):
            torch.fx.symbolic_trace(Chosen())
        graph = torch.fx.Tracer(param_shapes_constant=True).trace(Chosen())
        assert [node.op for node in graph.nodes] == ["placeholder", "get_attr", "call_function", "output"]

    def test_buffers_can_become_proxies(self, torch: Any) -> None:
        class Buffers(torch.fx.Tracer):  # type: ignore[misc,name-defined]
            proxy_buffer_attributes = True

        class Shifted(torch.nn.Module):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("shift", torch.ones(2))

            def forward(self, x: Any) -> Any:
                return x + self.shift.relu()

        assert [n.op for n in Buffers().trace(Shifted()).nodes] == [
            "placeholder", "get_attr", "call_method", "call_function", "output",
        ]  # fmt: skip
        with_constant = torch.fx.Tracer().trace(Shifted())
        assert [n.target for n in with_constant.find_nodes(op="get_attr")] == ["_tensor_constant0"]

    def test_a_truth_that_a_subclass_knows_is_followed(self, torch: Any) -> None:
        class Yes(torch.fx.Tracer):  # type: ignore[misc,name-defined]
            def to_bool(self, obj: Any) -> bool:
                return True

            def iter(self, obj: Any) -> Any:
                return iter([obj[0], obj[1]])

        assert str(Yes().trace(lambda x: x if x.sum() > 0 else -x)).endswith("return x")
        assert str(Yes().trace(lambda x: [-y for y in x])).endswith("return [neg, neg_1]")

    def test_a_constant_tensor_is_stored_once(self, torch: Any) -> None:
        constant = torch.ones(2)
        module = torch.fx.symbolic_trace(lambda x: torch.add(x, constant) + torch.mul(x, constant))
        assert [name for name, _ in module.named_buffers()] == ["_tensor_constant0"]
        assert module._tensor_constant0 is constant


def test_the_stack_is_kept_from_forward_inwards(torch: Any) -> None:
    class Recorded(torch.fx.Tracer):  # type: ignore[misc,name-defined]
        record_stack_traces = True

    class Sum(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return a_function(x)

    module = Sum()
    graph = Recorded().trace(module)
    frames = graph.find_nodes(op="call_function", target=__import__("operator").add)[0].stack_trace
    lines = [line.rpartition(", in ")[2] for line in frames.splitlines() if line.lstrip().startswith("File")]
    assert lines[:2] == ["forward", "a_function"]  # PyTorch's has frames of its own below
    if torch is not glasstorch:
        return
    shown = torch.fx.GraphModule(module, graph).print_readable(print_output=False)
    assert "in a_function, code: return x + 1" in shown


def test_an_assertion_can_be_recorded() -> None:  # PyTorch's tracer does not find it in Python 3.11's bytecode
    class Asserting(glasstorch.fx.Tracer):
        trace_asserts = True

    names: dict[str, Any] = {}  # compiled here, because pytest rewrites the assertions of this file
    exec("def checked(x):\n    assert x.sum() > 0\n    return x", names)
    graph = Asserting().trace(names["checked"])
    module = glasstorch.fx.GraphModule(glasstorch.nn.Module(), graph)
    assert module(glasstorch.ones(2)).tolist() == [1.0, 1.0]
    with pytest.raises(AssertionError, match="Assertion failed"):
        module(-glasstorch.ones(2))
    assert "assert_fn" in module.code
    with pytest.raises(ValueError, match="control flow"):  # a branch that is no assertion
        Asserting().trace(lambda x: x if x.sum() > 0 else -x)


def test_calls_of_a_submodule_are_counted(torch: Any) -> None:
    class Twice(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.layer(self.layer(x))

    graph = torch.fx.symbolic_trace(Twice()).graph
    stacks = [list(node.meta["nn_module_stack"]) for node in graph.find_nodes(op="call_module")]
    assert stacks == [["layer"], ["layer@1"]]


def test_metadata_can_be_kept_by_a_second_graph(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    for node in module.graph.nodes:
        node.meta["custom"] = {"number": len(node.name)}
        node.stack_trace = "of the first graph"
    second = torch.fx.Transformer(module).transform()
    node = second.graph.find_nodes(op="call_function", target=torch.relu)[0]
    assert node.meta["custom"] == {"number": 4}
    assert node.stack_trace == "of the first graph"
    source = node.meta["from_node"][0]
    assert (source.name, source.pass_name, source.to_dict()["action"]) == ("relu", "Interpreter_Transformer", "create")


@pytest.fixture
def notes(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.traceback")


class TestMetadata:
    def test_it_is_kept_only_where_that_is_asked_for(self, torch: Any, notes: Any) -> None:
        assert not notes.has_preserved_node_meta()
        with notes.preserve_node_meta():
            assert notes.has_preserved_node_meta()
            notes.set_stack_trace(["File a", "File b"])
            assert notes.format_stack() == ["File aFile b"]
            graph = torch.fx.Tracer().trace(lambda x: x + 1)
            assert {node.stack_trace for node in graph.nodes} == {"File aFile b"}
        assert not notes.has_preserved_node_meta()
        assert "stack_trace" not in notes.get_current_meta()

    def test_threads_that_trace_at_once_do_not_disturb_each_other(self) -> None:
        notes = import_module("glasstorch.fx.traceback")
        inside, left = Event(), Event()

        def other() -> None:
            with notes.preserve_node_meta():
                inside.set()
                left.wait()

        thread = Thread(target=other)
        with notes.preserve_node_meta():
            thread.start()
            inside.wait()
        assert not notes.has_preserved_node_meta()
        left.set()
        thread.join()
        assert not notes.has_preserved_node_meta()

    def test_annotations_end_with_their_block(self, torch: Any, notes: Any) -> None:
        @notes.annotate_fn({"inner": 2})
        def inner(x: Any) -> Any:
            return x * 2

        def outer(x: Any) -> Any:
            with notes.annotate({"outer": 1}):
                y = inner(x)
                return y - 1

        with notes.preserve_node_meta():
            graph = torch.fx.Tracer().trace(outer)
        found = [node.meta.get("custom") for node in graph.nodes if node.op == "call_function"]
        assert found == [{"outer": 1, "inner": 2}, {"outer": 1}]
        assert "custom" not in notes.get_current_meta()

    def test_numbers_of_autograd_nodes_are_nested(self, notes: Any) -> None:
        with notes.preserve_node_meta():
            notes.set_grad_fn_seq_nr(3)
            notes.set_grad_fn_seq_nr(5)
            assert notes.get_current_meta()["grad_fn_seq_nr"] == [3, 5]
            notes.reset_grad_fn_seq_nr()
            assert notes.get_current_meta()["grad_fn_seq_nr"] == [3]
            notes.reset_grad_fn_seq_nr()
            assert "in_grad_fn" not in notes.get_current_meta()
            with pytest.raises(AssertionError, match="current_level > 0, got 0"):
                notes.reset_grad_fn_seq_nr()


def test_a_tracer_can_be_copied(torch: Any) -> None:
    tracer = torch.fx.Tracer()
    tracer.trace(lambda x: x + 1)
    copied = copy.deepcopy(tracer)
    assert str(copied.graph) == str(tracer.graph)
    assert copied.graph is not tracer.graph


@pytest.mark.parametrize("run", [lambda t: t.fx.Tracer().trace(3), lambda t: t.fx.Tracer().trace(len)])
def test_what_is_no_python_function_is_refused(torch: Any, run: Callable[[Any], object]) -> None:
    with pytest.raises(AssertionError, match="Expected FunctionType, got"):
        run(torch)


@pytest.mark.parametrize("name", ["relu", "ones", "nn.functional.gelu"])
def test_an_operator_is_no_python_function(torch: Any, name: str) -> None:
    with pytest.raises(AssertionError, match="Expected FunctionType, got"):
        torch.fx.symbolic_trace(attrgetter(name)(torch))


@pytest.mark.parametrize(
    "path",
    [
        "fx.experimental.symbolic_shapes.DimConstraints",
        "fx.experimental.proxy_tensor.selective_decompose",
        "fx.graph_module.reduce_package_graph_module",
        "fx.passes.net_min_base",
        "fx.proxy.MetaProxy",
        "_functorch.aot_autograd.aot_export_module",
    ],
)
def test_what_is_missing_is_named(path: str) -> None:
    module, _, name = path.rpartition(".")
    with pytest.raises(AttributeError, match=rf"torch\.{path}.* glasstorch"):
        getattr(import_module(f"glasstorch.{module}"), name)


def test_a_function_is_known_by_its_name_in_pytorch(torch: Any) -> None:
    functions = (
        torch.add, torch.nn.functional.relu, operator.add, torch.ops.aten.add.Tensor, torch.Tensor.add, torch.nn.Module,
        torch.nn.Linear, torch.nn.Parameter, torch.fx.Graph, torch.utils.checkpoint.checkpoint,
    )  # fmt: skip
    assert [torch.fx.node._get_qualified_name(function) for function in functions] == [
        "torch.add", "torch.nn.functional.relu", "_operator.add", "torch.ops.aten.add.Tensor", "torch.Tensor.add",
        "torch.nn.modules.module.Module", "torch.nn.modules.linear.Linear", "torch.nn.parameter.Parameter",
        "torch.fx.graph.Graph", "torch.utils.checkpoint.checkpoint",
    ]  # fmt: skip
