"""Does a module with a graph run, fail and travel as others do?"""

from __future__ import annotations

import copy
import gc
import linecache
import math
import pickle
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.fx.graph_module import _loader
from tests.fx.programs import a_network


def test_its_gradients_are_those_of_the_module_that_was_traced(torch: Any) -> None:
    network = a_network(torch)
    module = torch.fx.symbolic_trace(network)
    x = torch.ones(3, 2)
    module(x)[0].sum().backward()
    ours = {name: parameter.grad.clone() for name, parameter in module.named_parameters()}
    assert all(parameter is dict(network.named_parameters())[name] for name, parameter in module.named_parameters())
    network.zero_grad()
    network(x)[0].sum().backward()
    assert all(torch.equal(ours[name], parameter.grad) for name, parameter in network.named_parameters())


def test_each_module_has_a_class_of_its_own(torch: Any) -> None:
    first, second = (torch.fx.symbolic_trace(lambda x, n=n: x + n) for n in (1, 2))
    assert type(first) is not type(second)
    assert first(torch.zeros(1)).item() == 1
    assert isinstance(first, torch.fx.GraphModule)


def test_an_error_in_the_code_shows_its_line(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    module = torch.fx.symbolic_trace(lambda x: x.nope())
    with pytest.raises(AttributeError, match="nope"):
        module(torch.ones(1))
    printed = capsys.readouterr().err
    assert "Call using an FX-traced Module, line 5 of the traced Module's generated forward function:" in printed
    assert "~~~ <--- HERE" in printed


def test_a_value_is_let_go_of_after_its_last_use() -> None:
    import weakref

    alive: list[Any] = []

    def note(x: Any) -> Any:
        alive.append(weakref.ref(x))
        return x * 2

    def dead(x: Any) -> Any:
        assert alive[0]() is None
        return x + 1

    graph = glasstorch.fx.Graph()
    x = graph.placeholder("x")
    first = graph.call_function(glasstorch.neg, (x,))
    noted = graph.call_function(note, (first,))
    graph.output(graph.call_function(dead, (noted,)))
    module = glasstorch.fx.GraphModule(glasstorch.nn.Module(), graph)
    assert module(glasstorch.ones(1)).item() == -1
    alive.clear()
    assert glasstorch.fx.Interpreter(module).run(glasstorch.ones(1)).item() == -1


def test_a_folder_makes_it_again_without_fx(tmp_path: Path) -> None:
    module = glasstorch.fx.symbolic_trace(glasstorch.nn.Sequential(glasstorch.nn.Linear(2, 3), glasstorch.nn.Tanh()))
    module.register_buffer("extra", glasstorch.ones(2))
    folder = tmp_path / "saved"
    with pytest.warns(UserWarning, match=r"saved as pickled files instead: \['1'\]"):
        module.to_folder(folder, "Saved")
    program = "import glasstorch; from saved import Saved; print(Saved()(glasstorch.ones(1, 2)).tolist())"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": ":".join([str(tmp_path), str(Path(glasstorch.__file__).parents[1])])},
    )  # fmt: skip
    assert done.stdout.strip() == str(module(glasstorch.ones(1, 2)).tolist()), done.stderr


def with_texts_as_annotations(x: glasstorch.Tensor, k: int = 2) -> list[glasstorch.Tensor]:
    return [x * k]


def test_annotations_that_are_texts_travel() -> None:
    module = pickle.loads(pickle.dumps(glasstorch.fx.symbolic_trace(with_texts_as_annotations)))
    assert module(glasstorch.ones(1))[0].tolist() == [2]


def test_a_package_imports_what_its_code_refers_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x, scale=None, *, way=2):  # type: ignore[no-untyped-def]
        return math.fsum(x)

    function.__annotations__ = {"x": glasstorch.Tensor, "scale": float | None, "way": Fraction}
    glasstorch.fx.symbolic_trace(function).to_folder(tmp_path / "with_imports")
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("with_imports").FxModule()
    assert module([1.0, 2.0]) == 3


def test_a_graph_made_by_hand_runs(torch: Any) -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    weight = graph.get_attr("inner.weight")
    graph.output(graph.call_function(torch.mul, (x, weight)))
    module = torch.fx.GraphModule({"inner.weight": torch.nn.Parameter(torch.full((2,), 3.0))}, graph, "ByHand")
    assert module(torch.ones(2)).tolist() == [3, 3]
    assert [name for name, _ in module.named_parameters()] == ["inner.weight"]
    assert type(module).__name__ == "ByHand"


def test_sizes_of_results_are_shown_where_they_are_known(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    for node in module.graph.nodes:
        node.meta["val"] = torch.ones(2, 3, dtype=torch.float64)
    shown = module.print_readable(print_output=False, include_stride=True, include_device=True)
    assert 'relu: "f64[2, 3][3, 1]cpu" = torch.relu(x);  x = None' in shown
    node = module.graph.find_nodes(op="call_function", target=torch.relu)[0]
    assert 'Tensor "f64[2, 3][3, 1]cpu"[num_users=1]' in node.format_node(include_tensor_metadata=True)


def test_dead_code_that_draws_or_writes_stays(torch: Any) -> None:
    def function(x: Any) -> Any:
        torch.relu(x)
        torch.ops.aten.add_.Tensor(x, 1)
        return x * 2

    module = torch.fx.symbolic_trace(function)
    graph = module.graph
    with graph.inserting_before(graph.output_node()):
        graph.call_function(torch.rand, (2,))
    assert graph.eliminate_dead_code()
    assert [node.name for node in graph.nodes] == ["x", "add__tensor", "mul", "rand", "output"]
    assert not graph.eliminate_dead_code()


def test_a_function_can_be_said_to_have_an_effect(torch: Any) -> None:
    @torch.fx.has_side_effect
    def effect(x: Any) -> None:
        return None

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(effect, (x,))
    graph.call_function(len, (x,))
    graph.output(x)
    graph.eliminate_dead_code()
    assert [node.name for node in graph.nodes] == ["x", "effect", "output"]


def a_wrong_sum(t: Any) -> Any:
    def function(x: Any) -> Any:
        y = x * 2
        return y + t.ones(3)

    return function


def test_an_error_in_the_generated_code_is_shown_where_it_is(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    module = torch.fx.symbolic_trace(a_wrong_sum(torch))
    with pytest.raises(RuntimeError, match="must match the size"):
        module(torch.ones(2))
    _, _, shown = capsys.readouterr().err.partition("Call using an FX-traced Module, ")
    assert shown.startswith("line 7 of the traced Module's generated forward function:\n")
    assert "    add = mul + _tensor_constant0;  mul = _tensor_constant0 = None\n\n~~~" in shown


@pytest.mark.parametrize(("inner", "count"), [("a module of torch.nn", 0), ("a module with a graph", 1)])
def test_an_error_is_shown_by_the_innermost_graph_only(
    torch: Any, capsys: pytest.CaptureFixture[str], inner: str, count: int
) -> None:
    called = torch.fx.symbolic_trace(a_wrong_sum(torch)) if count else torch.nn.Linear(3, 1)
    graph = torch.fx.Graph()
    graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
    module = torch.fx.GraphModule({"inner": called}, graph)
    with pytest.raises(RuntimeError):
        module(torch.ones(2))
    assert capsys.readouterr().err.count("Call using an FX-traced Module") == count


def test_sources_live_as_long_as_their_code() -> None:
    module = glasstorch.fx.symbolic_trace(a_wrong_sum(glasstorch))
    file = module.forward.__code__.co_filename
    assert "mul = x * 2" in "".join(linecache.getlines(file))
    kept = _loader.sources
    gc.collect()
    before = len(kept), len(linecache.cache)
    for _ in range(50):
        glasstorch.fx.symbolic_trace(a_wrong_sum(glasstorch))
        module.recompile()
    gc.collect()
    assert (len(kept), len(linecache.cache)) == before
    file, code = module.forward.__code__.co_filename, module.forward.__code__
    del module
    gc.collect()
    assert file in kept  # as a traceback may still show it
    del code
    assert file not in kept
    assert file not in linecache.cache


def test_a_copy_has_what_the_graph_does_not_fetch(torch: Any) -> None:
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    module.register_buffer("steps", torch.zeros(()))
    module.extra = torch.nn.Linear(1, 1)
    copied = copy.deepcopy(module)
    assert sorted(copied.state_dict()) == ["extra.bias", "extra.weight", "steps"]
    assert copied.steps is not module.steps


def test_a_value_that_is_given_is_not_computed(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: x.sin().cos() + x)
    sin = module.graph.find_nodes(op="call_method", target="sin")[0]
    x = torch.zeros(2)
    found = torch.fx.Interpreter(module).run(x, initial_env={sin: torch.full((2,), torch.pi)})
    assert found.tolist() == [-1, -1]
