"""Is a function captured as PyTorch captures it, and does it compute what the function does?"""

from __future__ import annotations

import copy
import gc
import warnings
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from glasstorch._dynamo import Unsupported, explain, optimize
from glasstorch.compiler import captured
from tests.compiler.bytecode.programs import BROKEN, BROKEN_IN_BOTH, WHOLE, Config, Program, branches, square
from tests.fx.test_against_torch import told

Require = Callable[[str], Any]


def compiled(t: Any, function: Callable[..., Any], backend: Any, *, whole: bool) -> Callable[..., Any]:
    """The function, compiled by either library."""
    if t is glasstorch:
        plain = getattr(function, "__func__", None)
        if plain is None:
            return optimize(backend, nopython=whole)(function)  # type: ignore[no-any-return]
        run = optimize(backend, nopython=whole)(plain)
        return lambda *args, **kwargs: run(function.__self__, *args, **kwargs)  # type: ignore[attr-defined]
    t._dynamo.reset()
    return t.compile(function, backend=backend, fullgraph=whole, dynamic=False)  # type: ignore[no-any-return]


def graphs_of(t: Any, make: Program, *, whole: bool) -> tuple[list[Any], Any]:
    function, *args = make(t)
    graphs: list[Any] = []

    def backend(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module.forward

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return graphs, compiled(t, function, backend, whole=whole)(*args)


def leaves(t: Any, value: Any) -> list[Any]:
    return t.utils._pytree.tree_leaves(value)  # type: ignore[no-any-return]


@pytest.mark.parametrize("make", WHOLE.values(), ids=WHOLE)
def test_the_graph_is_pytorchs(require: Require, make: Program) -> None:
    def steps(t: Any) -> object:
        graphs, _ = graphs_of(t, make, whole=True)
        pretty = t.fx.Node._pretty_print_target
        return [
            [(node.op, pretty(node.target)) for node in graph.graph.nodes if node.op != "placeholder"]
            for graph in graphs
        ]

    assert told(lambda: steps(glasstorch)) == told(lambda: steps(require("torch")))


@pytest.mark.parametrize("make", WHOLE.values(), ids=WHOLE)
def test_results_are_the_functions(make: Program) -> None:
    function, *args = make(glasstorch)
    expected = function(*copy.deepcopy(args))
    glasstorch.manual_seed(3)
    found = compiled(glasstorch, function, lambda module, inputs: module.forward, whole=True)(*args)
    assert type(found) is type(expected)
    pairs = list(zip(leaves(glasstorch, expected), leaves(glasstorch, found), strict=True))
    assert all(
        glasstorch.equal(a, b) if isinstance(a, glasstorch.Tensor) else (a == b and type(a) is type(b))
        for a, b in pairs
    )


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_captured_runs_as_it_is(require: Require, make: Program) -> None:
    function, *args = make(glasstorch)
    run = optimize(lambda module, inputs: module.forward)(function)
    expected, found = function(*args), run(*args)
    assert glasstorch.equal(expected, found)
    assert len(run._optimized.breaks) == 1
    with pytest.raises(Unsupported):
        optimize(lambda module, inputs: module.forward, nopython=True)(function)(*args)
    if make in (BROKEN[name] for name in BROKEN_IN_BOTH):
        with pytest.raises(RuntimeError):
            graphs_of(require("torch"), make, whole=True)


class TestGuards:
    def counted(self, function: Callable[..., Any], **options: Any) -> tuple[Callable[..., Any], list[Any]]:
        graphs: list[Any] = []

        def backend(module: Any, inputs: Any) -> Any:
            graphs.append(module)
            return module.forward

        return optimize(backend, nopython=True, **options)(function), graphs

    def test_a_graph_is_used_again_while_its_guards_hold(self) -> None:
        run, graphs = self.counted(lambda x, n: x * n)
        for x in (glasstorch.ones(2), glasstorch.zeros(2)):
            run(x, 3)
        assert len(graphs) == 1
        assert run(glasstorch.ones(2), 4).tolist() == [4, 4]
        assert run(glasstorch.ones(2), 3.0).tolist() == [3, 3]
        assert run(glasstorch.ones(3), 3).tolist() == [3, 3, 3]
        assert run(glasstorch.ones(2, dtype=glasstorch.float64), 3).dtype is glasstorch.float64
        assert len(graphs) == 5
        assert "EQUALS_MATCH" in run._optimized.recompiles[0]
        assert "TYPE_MATCH" in run._optimized.recompiles[1]
        assert "tensor 'x' size mismatch" in run._optimized.recompiles[2]

    def test_the_mode_of_gradients_is_guarded(self) -> None:
        run, graphs = self.counted(lambda x: x * 2)
        x = glasstorch.ones(2, requires_grad=True)
        assert run(x).requires_grad
        with glasstorch.no_grad():
            assert not run(x).requires_grad
        assert len(graphs) == 2

    def test_attributes_globals_and_outer_variables_are_guarded(self) -> None:
        config = Config(0.5)
        run, graphs = self.counted(lambda x: config.apply(x))
        x = glasstorch.ones(1)
        assert run(x).item() == 3.5
        config.shift = 1.0
        assert run(x).item() == 4.0
        config = Config(2.0)
        assert run(x).item() == 5.0
        assert len(graphs) == 3

    def test_a_module_that_trains_is_another_one(self) -> None:
        drop = glasstorch.nn.Dropout(1.0)
        run, _ = self.counted(lambda x: drop(x))
        assert run(glasstorch.ones(2)).tolist() == [0, 0]
        drop.eval()
        assert run(glasstorch.ones(2)).tolist() == [1, 1]

    def test_containers_are_guarded_by_length_and_keys(self) -> None:
        run, graphs = self.counted(lambda items, table: sum(items) + sum(table.values()))
        x = glasstorch.ones(1)
        assert run([x, x], {"a": x}).item() == 3
        assert run([x, x, x], {"a": x}).item() == 4
        assert run([x, x], {"b": x}).item() == 3
        assert len(graphs) == 3

    def test_one_tensor_in_two_places_is_one_input(self) -> None:
        run, graphs = self.counted(lambda x, y: x * y)
        x, y = glasstorch.full((1,), 3.0), glasstorch.full((1,), 5.0)
        assert run(x, x).item() == 9
        assert run(x, y).item() == 15
        assert [len(graph.graph.find_nodes(op="placeholder")) for graph in graphs] == [1, 2]

    def test_after_eight_graphs_the_function_runs_as_it_is(self) -> None:
        graphs: list[Any] = []

        def backend(module: Any, inputs: Any) -> Any:
            graphs.append(module)
            return module.forward

        run = optimize(backend, dynamic=False)(lambda x: x + 1)
        for size in range(2, 16):
            assert run(glasstorch.ones(size)).tolist() == [2.0] * size
        assert len(graphs) == 8

    def test_a_function_that_is_dropped_leaves_nothing(self) -> None:
        def make() -> Any:
            x = glasstorch.ones(3)
            run, _ = self.counted(lambda y: y + x)
            run(glasstorch.ones(3))
            return weakref.ref(x), weakref.ref(run)

        references = make()
        gc.collect()
        assert all(reference() is None for reference in references)


class TestEffects:
    def test_a_list_that_was_passed_in_is_changed_once(self) -> None:
        def function(x: Any, items: list[Any]) -> Any:
            items.append(x)
            return x + len(items)

        run = optimize(lambda module, inputs: module.forward)(function)
        items: list[Any] = []
        assert run(glasstorch.ones(1), items).item() == 2
        assert len(items) == 1  # once, when the graph has run
        assert not run._optimized.breaks

    def test_an_attribute_is_set_once(self) -> None:
        class Counter:
            count = 0

        counter = Counter()

        def function(x: Any) -> Any:
            counter.count += 1
            return x + counter.count

        run = optimize(lambda module, inputs: module.forward, nopython=True)(function)
        assert run(glasstorch.ones(1)).item() == 2
        assert counter.count == 1

    def test_an_argument_is_written_to(self) -> None:
        run = optimize(lambda module, inputs: module.forward, nopython=True)(lambda x: x.add_(1))
        x = glasstorch.zeros(2)
        assert run(x) is not None
        assert x.tolist() == [1, 1]

    def test_the_programs_own_error_is_raised(self) -> None:
        def function(x: Any, n: int) -> Any:
            return x[{}["missing"]] if n else x.nope

        run = optimize(lambda module, inputs: module.forward)(function)
        with pytest.raises(KeyError, match="missing"):
            run(glasstorch.ones(1), 1)
        with pytest.raises(AttributeError, match="nope"):
            run(glasstorch.ones(1), 0)

    def test_what_came_in_and_was_not_changed_goes_out(self) -> None:
        run = optimize(lambda module, inputs: module.forward, nopython=True)(lambda x, items: (x, items, items[0] + 1))
        x, items = glasstorch.ones(1), [glasstorch.ones(1)]
        same, container, _ = run(x, items)
        assert same is x
        assert container is items


def test_the_gradients_are_the_functions() -> None:
    backend = import_module("glasstorch._functorch.aot_autograd")

    def aot(module: Any, inputs: Any) -> Any:
        def boxed(graph: Any, _: Any) -> Any:
            return backend.make_boxed_func(graph.forward)

        return backend.aot_function(module.forward, fw_compiler=boxed)

    network = glasstorch.nn.Sequential(glasstorch.nn.Linear(3, 4), glasstorch.nn.Tanh(), glasstorch.nn.Linear(4, 1))
    twin = copy.deepcopy(network)
    graphs = optimize(aot, nopython=True)(twin)
    x = glasstorch.randn(5, 3)
    for model in (network, graphs):
        (model(x) ** 2).mean().backward()
    for ours, theirs in zip(network.parameters(), twin.parameters(), strict=True):
        glasstorch.testing.assert_close(ours.grad, theirs.grad)


def test_explain_says_what_was_captured_and_why_not() -> None:
    found = explain(branches)(square(glasstorch), True, 3)
    assert (found.graph_count, found.graph_break_count, found.op_count) == (1, 0, 1)
    assert "TENSOR_MATCH" in str(found)
    broken = explain(lambda x: x if x.sum() > 0 else -x)(square(glasstorch))
    assert (broken.graph_count, broken.graph_break_count) == (1, 0)
    assert "Reason: a branch on a tensor" in str(broken)
    assert "test_capture.py" in str(broken)


def test_a_generator_and_a_builtin_are_refused_by_name() -> None:
    def generator(x: Any) -> Any:
        yield x

    with pytest.raises(Unsupported, match="generator, which is a generator"):
        optimize(lambda module, inputs: module.forward, nopython=True)(generator)(glasstorch.ones(1))
    with pytest.raises(Unsupported, match="a call of the builtin print"):
        optimize(lambda module, inputs: module.forward, nopython=True)(print)()


def test_the_line_of_the_program_is_named() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        return y if y.sum() > 0 else x

    with pytest.raises(Unsupported, match=r"a branch on a tensor.*test_capture.py:\d+ in function"):
        optimize(lambda module, inputs: module.forward, nopython=True)(function)(glasstorch.ones(1))


def test_an_unknown_python_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasstorch.compiler.bytecode.capture.is_understood", lambda: False)
    run = optimize(lambda module, inputs: module.forward)(lambda x: x + 1)
    other = optimize(lambda module, inputs: module.forward)(lambda x: x + 2)
    monkeypatch.setattr("glasstorch.compiler.captured.is_understood", lambda: False)
    captured._say_that_python_is_unknown.cache_clear()
    with pytest.warns(UserWarning, match="Python 3.11, 3.12 and 3.13, and this is .*: functions run as they are"):
        assert run(glasstorch.ones(1)).item() == 2
    assert other(glasstorch.ones(1)).item() == 3  # that is said once
    assert "the bytecode of this Python" in run._optimized.breaks[0].reason
