"""Does a traced function or module give what the original gives, and refuse what it cannot take?"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import nn
from glasstorch.core.errors import ArgumentError
from glasstorch.dispatch.operator import Operator
from glasstorch.jit import ScriptFunction, TopLevelTracedModule, trace
from glasstorch.jit.passes.normalize_ops import original
from tests.agreement import samples
from tests.agreement.oracles import about, operator, results, runs
from tests.agreement.samples import Call, Row, arrays, in_library
from tests.agreement.table import ROWS


def tensors_in(values: Any) -> list[Any]:
    """The tensors among arguments, in lists too."""
    found = []
    for value in values:
        if isinstance(value, glasstorch.Tensor):
            found.append(value)
        elif isinstance(value, list):
            found += tensors_in(value)
    return found


def as_function(row: Row, call: Call, run: str) -> tuple[Callable[..., Any], list[Any], list[Any]]:
    """A call of the operator table as a function of its tensors, and two equal sets of them."""
    first, second = (in_library(glasstorch, call, arrays(row, call, run)) for _ in range(2))
    op = operator(row.op)

    def function(*tensors: Any) -> Any:
        left = iter(tensors)

        def filled(value: Any) -> Any:
            if isinstance(value, list):
                return [filled(v) for v in value]
            return next(left) if isinstance(value, glasstorch.Tensor) else value

        args, kwargs = first
        given = [filled(value) for value in args]  # before the others, as the tensors stand in order
        result = op(*given, **{name: filled(value) for name, value in kwargs.items()})
        return tuple(result) if isinstance(result, list | tuple) else result

    return function, *([*tensors_in(args), *tensors_in(kwargs.values())] for args, kwargs in (first, second))


def gives_tensors(op: Operator) -> bool:
    return all(returned.type.is_tensor_like for returned in op.schema.returns)


def gradients(outputs: list[Any], leaves: list[Any]) -> list[Any]:
    outputs = [output for output in outputs if output.requires_grad]
    leaves = [leaf for leaf in leaves if leaf.requires_grad]
    if not outputs or not leaves:
        return []
    seeds = [glasstorch.full_like(output, 0.5) for output in outputs]
    return list(glasstorch.autograd.grad(outputs, leaves, seeds, allow_unused=True))


def same(ours: Any, theirs: Any, what: str) -> None:
    if theirs is None:
        assert ours is None, what
        return
    assert ours.dtype is theirs.dtype, what
    assert (ours.shape, ours.stride()) == (theirs.shape, theirs.stride()), what
    np.testing.assert_array_equal(ours.detach().host_array(), theirs.detach().host_array(), err_msg=what)


@pytest.mark.parametrize("row", [row for row in ROWS if gives_tensors(operator(row.op))], ids=lambda row: row.op)
def test_every_operator_gives_the_same_traced_and_eager(row: Row) -> None:
    for call, run in {id(call): (call, run) for call, run in runs(row)}.values():  # each call with one dtype
        function, first, second = as_function(row, call, run)
        glasstorch.manual_seed(0)
        wanted = results(function(*[t.clone() for t in first]))
        traced = trace(function, tuple(t.clone() for t in first))
        traced.graph.lint()
        (node,) = [node for node in traced.graph.nodes if node.kind.startswith("aten::")]
        assert node.operator() is (original(operator(row.op)) or operator(row.op))
        glasstorch.manual_seed(0)
        found = results(traced(*[t.clone() for t in second]))
        assert len(found) == len(wanted)
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs, about(row, call, run))


DIFFERENTIABLE = [row for row in ROWS if row.differentiable and "float64" in row.dtypes]


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.op)
def test_every_gradient_is_the_same_traced_and_eager(row: Row) -> None:
    for call, run in runs(row):
        if run != "float64":
            continue
        function, first, second = as_function(row, call, run)
        for leaf, spec in zip((*first, *second), 2 * [*samples.tensors_in(call)], strict=True):
            leaf.requires_grad_(leaf.is_floating_point() and spec.grad)
        glasstorch.manual_seed(0)
        wanted = gradients(results(function(*[t.clone() for t in first])), first)
        traced = trace(function, tuple(t.clone() for t in first))
        glasstorch.manual_seed(0)
        found = gradients(results(traced(*[t.clone() for t in second])), second)
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs, about(row, call, run))


# Functions --------------------------------------------------------------------------------------------------------


def test_a_trace_runs_for_other_sizes_where_no_size_was_read() -> None:
    traced = trace(lambda x: (x * 2).exp().sum(), glasstorch.ones(2))
    assert traced(glasstorch.zeros(5)).item() == 5.0


def test_a_trace_keeps_the_way_it_went() -> None:
    def function(x: Any) -> Any:
        return x if x.sum() > 0 else -x

    with pytest.warns(glasstorch.jit.TracerWarning):
        traced = trace(function, glasstorch.ones(2))
    assert traced(-glasstorch.ones(2)).tolist() == [-1.0, -1.0]


def test_a_trace_changes_its_input_as_the_function_does() -> None:
    example, given = glasstorch.zeros(2), glasstorch.zeros(2)
    traced = trace(lambda x: x.add_(1) * 2, example)
    assert example.tolist() == [1.0, 1.0]  # the function really ran
    assert traced(given).tolist() == [2.0, 2.0]
    assert given.tolist() == [1.0, 1.0]


def test_changes_through_views_keep_their_order() -> None:
    def function(x: Any) -> Any:
        y = x.clone()
        before = y.sum()
        y[0].mul_(10)
        y[:, 1] = 7
        return before, y, y.sum()

    traced = trace(function, glasstorch.ones(2, 2))
    x = glasstorch.tensor([[1.0, 2.0], [3.0, 4.0]])
    before, y, after = traced(x)
    assert (before.item(), y.tolist(), after.item()) == (10.0, [[10.0, 7.0], [3.0, 7.0]], 27.0)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_gradient_flows_through_in_place_operators() -> None:
    def function(x: Any) -> Any:
        y = x * x
        y.add_(x).relu_()
        return y.sum()

    leaves = [glasstorch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2)]
    function(leaves[0]).backward()
    trace(function, glasstorch.zeros(2, requires_grad=True))(leaves[1]).backward()
    assert leaves[0].grad.tolist() == leaves[1].grad.tolist()


def test_random_numbers_are_drawn_again_at_every_run() -> None:
    traced = trace(lambda x: x + glasstorch.rand(3), glasstorch.zeros(3), check_trace=False)
    glasstorch.manual_seed(1)
    first, second = traced(glasstorch.zeros(3)), traced(glasstorch.zeros(3))
    glasstorch.manual_seed(1)
    assert first.tolist() == glasstorch.rand(3).tolist() != second.tolist()


def test_nested_inputs_and_outputs_keep_their_structure() -> None:
    def function(pair: Any, rest: Any) -> Any:
        (a, (b,)) = pair
        return (a + b, (rest[0] * a, b))

    one = glasstorch.ones(2)
    arguments = ((one, (one + 1,)), [one + 2])
    traced = trace(function, arguments)
    assert _listed(traced(*arguments)) == _listed(function(*arguments)) == ([3.0, 3.0], ([3.0, 3.0], [2.0, 2.0]))


def _listed(value: Any) -> Any:
    return tuple(map(_listed, value)) if isinstance(value, tuple) else value.tolist()


def test_a_traced_function_may_be_traced_into_another() -> None:
    inner = trace(lambda x: x.exp(), glasstorch.zeros(2))
    outer = trace(lambda x: inner(x) + 1, glasstorch.zeros(2))
    assert [node.kind for node in outer.graph.nodes if node.kind.startswith("aten::")] == ["aten::exp", "aten::add"]


def test_a_function_may_take_any_number_of_inputs() -> None:
    traced = trace(lambda x, *rest: x + rest[0] + rest[1], tuple(glasstorch.ones(1) for _ in range(3)))
    assert [value.debug_name for value in traced.graph.inputs] == ["x", "rest_1", "rest_2"]
    assert "(x, rest_1, rest_2)" in repr(traced)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), r"missing value for argument 'x'. Declaration: .*\(Tensor x\)"),
        ((glasstorch.ones(1), 2), r"expected at most 1 argument\(s\) but received 2 argument\(s\)"),
        (
            (3,),
            "Expected a value of type 'Tensor' for argument 'x' but instead found type 'int'.\nPosition: 0\nValue: 3",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_refused(arguments: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        trace(lambda x: x + 1, glasstorch.ones(1))(*arguments)


def test_a_tuple_of_another_structure_is_refused() -> None:
    one = glasstorch.ones(1)
    traced = trace(lambda pair: pair[0] + pair[1], ((one, one),))
    with pytest.raises(ArgumentError, match=r"Expected a value of type '\(Tensor, Tensor\)' for argument 'pair'"):
        traced((one, one, one))


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a function or a module, got 3 of type int"):
        trace(3, glasstorch.ones(1))


@pytest.mark.parametrize("given", [5, "x", {"x": 1}])
def test_examples_that_are_no_tuple_are_refused(given: Any) -> None:
    said = f"expected the inputs of a call as a tuple, .* got {given!r} of type {type(given).__name__}"
    with pytest.raises(TypeError, match=said):
        trace(lambda x: x, given)
    with pytest.raises(TypeError, match=said):
        trace(lambda x: x, glasstorch.ones(1), check_inputs=[given])


@pytest.mark.parametrize("program", [lambda x: x.exp(), nn.Sequential(nn.ReLU())], ids=["function", "module"])
@pytest.mark.parametrize("check", [True, False], ids=["was run", "was not run"])
def test_a_traced_program_is_not_pickled_and_says_what_to_do(program: Any, check: bool) -> None:
    traced = trace(program, glasstorch.ones(1), check_trace=check)
    with pytest.raises(pickle.PicklingError, match=r"cannot be pickled; jit\.save writes it"):
        pickle.dumps(traced)
    assert copy.deepcopy(traced)(glasstorch.ones(1)).item() == traced(glasstorch.ones(1)).item()


# Modules ----------------------------------------------------------------------------------------------------------


def model() -> Any:
    glasstorch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


class Counting(nn.Module):
    """Adds its calls up in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", glasstorch.zeros(()))

    def forward(self, x: Any) -> Any:
        self.calls.add_(1)
        return x * self.calls


def test_a_traced_module_gives_the_same_values_and_gradients() -> None:
    eager = model()
    traced = trace(copy.deepcopy(eager), glasstorch.zeros(1, 4))
    assert isinstance(traced, TopLevelTracedModule)
    x = glasstorch.rand(5, 4)
    same(traced(x), eager(x), "logits")
    for either in (eager, traced):
        either(x).pow(2).sum().backward()
    for (name, ours), (_, theirs) in zip(traced.named_parameters(), eager.named_parameters(), strict=True):
        same(ours.grad, theirs.grad, name)


def test_a_traced_module_has_the_parameters_of_the_module() -> None:
    original = model()
    traced = trace(original, glasstorch.zeros(1, 4))
    assert list(traced.state_dict()) == list(original.state_dict())
    assert all(a is b for a, b in zip(traced.parameters(), original.parameters(), strict=True))
    assert "original_name=Sequential" in repr(traced)


def test_a_traced_module_and_its_original_leave_each_other_as_they_are() -> None:
    original = nn.Sequential(nn.Linear(2, 2), nn.Sequential(Counting()))
    traced = trace(original.eval(), glasstorch.ones(1, 2), check_trace=False)
    original.train()
    traced.eval()
    assert [module.training for module in original.modules()] == [True] * 4
    assert [module.training for module in traced.modules()] == [False] * 4
    second_call = traced(glasstorch.ones(1, 2))
    original[0].weight = nn.Parameter(glasstorch.zeros(2, 2))
    original[1][0].calls = glasstorch.zeros(())
    assert glasstorch.allclose(traced(glasstorch.ones(1, 2)), second_call * 3 / 2)
    getattr(traced, "0").weight = nn.Parameter(glasstorch.ones(2, 2))
    assert original[0].weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_child_in_two_places_is_one_child_of_the_trace() -> None:
    layer = nn.Linear(2, 2)
    traced = trace(nn.Sequential(layer, nn.ReLU(), layer), glasstorch.ones(1, 2))
    assert getattr(traced, "0") is getattr(traced, "2")
    assert len(list(traced.parameters())) == 2
    assert repr(traced).endswith(
        "(0): Linear(original_name=Linear)\n  (1): ReLU(original_name=ReLU)\n  (2): Linear(original_name=Linear)\n)"
    )


def test_the_parts_are_called_what_they_were_first() -> None:
    named = nn.ReLU()
    named.original_name = glasstorch.ones(1)  # its own affair
    inner = trace(nn.Sequential(named), glasstorch.ones(1))
    outer = trace(nn.Sequential(inner), glasstorch.ones(1))
    assert [module.original_name for module in outer.modules()] == ["Sequential", "Sequential", "ReLU"]


def test_a_part_of_a_traced_module_has_no_graph_of_its_own(require: Callable[[str], Any]) -> None:
    for library in (glasstorch, require("torch")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            traced = library.jit.trace(library.nn.Sequential(library.nn.ReLU()), library.ones(1))
        with pytest.raises(RuntimeError, match="Trace submodules cannot be called"):
            getattr(traced, "0")(library.ones(1))


def test_a_trained_parameter_is_seen_at_the_next_call() -> None:
    traced = trace(nn.Linear(2, 1, bias=False), glasstorch.zeros(1, 2))
    traced.load_state_dict({"weight": glasstorch.tensor([[2.0, 3.0]])})
    assert traced(glasstorch.ones(1, 2)).item() == 5.0
    traced.weight = nn.Parameter(glasstorch.tensor([[1.0, 1.0]]))
    assert traced(glasstorch.ones(1, 2)).item() == 2.0


def test_a_copy_of_a_traced_module_has_parameters_of_its_own() -> None:
    traced = trace(nn.Linear(2, 1, bias=False), glasstorch.zeros(1, 2))
    copied = copy.deepcopy(traced)
    copied.weight.data.fill_(0)
    assert copied(glasstorch.ones(1, 2)).item() == 0.0
    assert traced(glasstorch.ones(1, 2)).item() != 0.0


def test_an_example_that_is_a_parameter_stays_an_input() -> None:
    layer = nn.Linear(2, 2, bias=False)
    traced = trace(layer, layer.weight)
    x = glasstorch.tensor([[1.0, 2.0], [3.0, 4.0]])
    same(traced(x), layer(x), "another input")


def test_a_buffer_changed_in_place_is_changed_by_the_trace() -> None:
    traced = trace(Counting(), glasstorch.ones(1), check_trace=False)  # which would count too
    assert [traced(glasstorch.ones(1)).item() for _ in range(2)] == [2.0, 3.0]
    assert traced.calls.item() == 3.0


def test_a_traced_module_is_in_the_mode_and_saves_what_the_module_does() -> None:
    original = Counting().eval()
    original.register_buffer("scratch", glasstorch.ones(1), persistent=False)
    traced = trace(original, glasstorch.ones(1), check_trace=False)
    assert not traced.training
    assert list(traced.state_dict()) == ["calls"]
    traced.calls = glasstorch.full((), 7.0)  # another tensor, for the trace only
    assert original.calls.item() == 1.0
    assert traced(glasstorch.ones(1)).item() == 8.0


def test_hooks_that_run_while_tracing_are_part_of_the_graph() -> None:
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda module, args, output: output * 0)
    assert trace(layer, glasstorch.ones(1, 2))(glasstorch.ones(1, 2)).tolist() == [[0.0, 0.0]]


def test_the_result_of_tracing_a_function_is_a_script_function() -> None:
    assert isinstance(trace(glasstorch.exp, glasstorch.zeros(1)), ScriptFunction)


def test_a_module_s_forward_is_the_module_and_its_other_methods_are_refused() -> None:
    layer = nn.Linear(2, 2)
    traced = trace(layer.forward, glasstorch.zeros(1, 2))
    assert isinstance(traced, TopLevelTracedModule)
    assert traced.weight is layer.weight
    with pytest.raises(
        AttributeError, match=r"individual module's functions: got Linear\.extra_repr; expected the module"
    ):
        trace(layer.extra_repr, glasstorch.zeros(1, 2))


def test_tracing_what_was_traced_is_said_to_do_nothing() -> None:
    for traced in (trace(nn.ReLU(), glasstorch.zeros(1)), trace(lambda x: x.exp(), glasstorch.zeros(1))):
        with pytest.warns(UserWarning, match="The input to trace is already a .*, tracing it is a no-op") as warned:
            assert trace(traced, glasstorch.zeros(1)) is traced
        assert warned[0].filename == __file__


# Named arguments ----------------------------------------------------------------------------------------------------


def test_arguments_may_be_given_by_name() -> None:
    traced = trace(lambda x, y: x - y, (glasstorch.zeros(1), glasstorch.zeros(1)))
    one, two = glasstorch.ones(1), glasstorch.full((1,), 2.0)
    assert traced(one, y=two).item() == traced(y=two, x=one).item() == -1.0
    layer = trace(nn.Linear(2, 1), glasstorch.zeros(1, 2))
    assert layer(input=glasstorch.ones(1, 2)).item() == layer(glasstorch.ones(1, 2)).item()


@pytest.mark.parametrize(
    ("args", "named", "said"),
    [
        ((0,), ("z",), "missing value for argument 'y'"),
        ((0, 0), ("y",), r"expected at most 2 argument\(s\) but received 3"),
        ((), ("y",), "missing value for argument 'x'"),
        ((), ("y", "z"), "missing value for argument 'x'"),
    ],
)
def test_names_that_do_not_fit_are_refused_as_by_torch(
    args: Any, named: Any, said: str, require: Callable[[str], Any]
) -> None:
    for library in (glasstorch, require("torch")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            zero = library.zeros(1)
            traced = library.jit.trace(lambda x, y: x - y, (zero, zero))
        with pytest.raises(RuntimeError, match=said):
            traced(*[zero for _ in args], **dict.fromkeys(named, zero))


def test_examples_may_be_given_by_name() -> None:
    def function(x: Any, y: Any, scale: int = 2) -> Any:
        return (x - y) * scale

    traced = trace(function, example_kwarg_inputs={"y": glasstorch.ones(2), "x": glasstorch.zeros(2)})
    assert traced(x=glasstorch.ones(2), y=glasstorch.zeros(2)).tolist() == [2.0, 2.0]
    assert [value.debug_name for value in traced.graph.inputs] == ["x", "y"]
    module = trace(nn.Linear(2, 1), example_kwarg_inputs={"input": glasstorch.ones(1, 2)})
    assert module(glasstorch.ones(3, 2)).shape == (3, 1)


@pytest.mark.parametrize("given", [{}, {"example_inputs": (), "example_kwarg_inputs": {}}])
def test_examples_are_given_in_one_way(given: Any) -> None:
    with pytest.raises(TypeError, match=r"expected either example_inputs or example_kwarg_inputs, got (neither|both)"):
        trace(lambda: glasstorch.ones(1), **given)
