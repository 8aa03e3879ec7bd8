"""Does a module become the chain of submodules that PyTorch makes of it?"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from operator import add, mul
from typing import Any

import pytest

import glasstorch
from tests.fx.programs import a_network
from tests.fx.test_against_torch import same, told

Require = Callable[[str], Any]


def splitting(t: Any) -> Any:
    return import_module(f"{t.__name__}.fx.passes.split_module")


@pytest.fixture
def split(torch: Any) -> Any:
    return splitting(torch)


def a_random_module(t: Any, seed: int) -> Any:
    """Calls of functions, methods and layers with fetched parameters, each of values made before it."""
    draw = random.Random(seed)
    root = t.nn.Module()
    root.layers = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU())
    root.scale = t.nn.Parameter(t.ones(2))
    root.register_buffer("shift", t.zeros(2))
    graph = t.fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("y", default_value=3)]
    for _ in range(draw.randint(0, 12)):
        one, other = draw.choice(values), draw.choice(values)
        make = draw.randrange(6)
        if make == 0:
            values.append(graph.get_attr(draw.choice(["scale", "shift"])))
        elif make == 1:
            values.append(graph.call_module(f"layers.{draw.randrange(2)}", (one,)))
        elif make == 2:
            values.append(graph.call_method("neg", (one,)))
        elif make == 3:
            values.append(graph.call_function(t.add, (one,), {"other": other}))
        else:
            values.append(graph.call_function(draw.choice([add, mul]), (one, other)))
    returned = [value for value in values if draw.random() < 0.3] or [values[-1]]
    graph.output(returned[0] if len(returned) == 1 else (tuple(returned), {"last": values[-1]}))
    return t.fx.GraphModule(root, graph)


@pytest.mark.parametrize("seed", range(60))
def test_random_modules_are_split_as_pytorch_splits_them(require: Require, seed: int) -> None:
    draw = random.Random(1000 + seed)
    monotonic = draw.random() < 0.6
    numbers = [draw.randrange(3) for _ in range(20)]
    numbers = sorted(numbers) if monotonic else numbers
    options = {
        "keep_original_order": draw.random() < 0.4,
        "keep_original_node_name": draw.random() < 0.3,
        "keep_original_input_name": draw.random() < 0.7,
        "tuple_return": draw.random() < 0.2,
        "partition_affix": "part" if draw.random() < 0.2 else None,
    }

    def run(t: Any) -> object:
        module = a_random_module(t, seed)
        number_of = dict(zip(module.graph.nodes, numbers, strict=False))
        paths: dict[str, str] = {}
        made = splitting(t).split_module(module, module, number_of.__getitem__, paths, **options)
        parts = [(name, child.code) for name, child in made.named_children() if hasattr(child, "code")]
        return made.code, parts, paths, sorted(made.meta["partition_names"]), list(made.state_dict())

    ours, theirs = told(lambda: run(glasstorch)), told(lambda: run(require("torch")))
    if theirs.startswith("KeyError"):  # the order cannot be kept, or only the output needs a parameter
        assert options["keep_original_order"]
        assert "keep_original_order" in ours or " = self.s" in ours
    else:
        assert ours == theirs


@pytest.mark.parametrize("seed", range(10))
def test_a_split_module_computes_what_the_module_did(torch: Any, split: Any, seed: int) -> None:
    module = a_random_module(torch, seed)
    places = {node: place // 3 for place, node in enumerate(module.graph.nodes)}
    made = split.split_module(module, module, places.__getitem__)
    x, y = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.5, 3.0]])
    assert str(made(x, y)) == str(module(x, y))


def test_parts_that_need_each_other_are_refused(torch: Any, split: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(torch.sigmoid(x + 1)))
    with pytest.raises(RuntimeError, match="cycle exists between partitions!"):
        split.split_module(module, module, lambda node: int(node.name == "sigmoid"))


def test_an_order_that_cannot_be_kept_is_refused() -> None:
    module = glasstorch.fx.symbolic_trace(lambda x: (x.neg(), (x + 1).relu().add(x.sin())))
    parts = {"neg": 0, "add": 1, "sin": 1}
    with pytest.raises(RuntimeError, match=r"submod_0 needs add, which .* keep_original_order=True"):
        splitting(glasstorch).split_module(
            module, module, lambda node: parts.get(node.name, 0), keep_original_order=True
        )


def test_what_only_the_output_needs_is_fetched_in_any_order() -> None:
    root = glasstorch.nn.Linear(2, 2)
    graph = glasstorch.fx.Graph()
    graph.output((graph.call_function(glasstorch.relu, (graph.placeholder("x"),)), graph.get_attr("bias")))
    module = glasstorch.fx.GraphModule(root, graph)
    made = splitting(glasstorch).split_module(module, module, lambda node: 0, keep_original_order=True)
    assert made(glasstorch.ones(1, 2))[1] is root.bias


def test_no_recording_of_gradients_holds_in_each_part(require: Require) -> None:
    def run(t: Any, number_of: Callable[[Any], int]) -> object:
        graph = t.fx.Graph()
        value = graph.call_function(t.relu, (graph.placeholder("x"),))
        for mode in (False, True):
            graph.call_function(t._C._set_grad_enabled, (mode,))
            value = graph.call_function(t.sigmoid, (graph.call_function(t.neg, (value,)),))
        graph.output(value)
        module = t.fx.GraphModule(t.nn.Module(), graph)
        made = splitting(t).split_module(module, module, number_of)
        return made.code, [child.code for child in made.children()], made(t.ones(1)).requires_grad

    parts = {"relu": 0, "_set_grad_enabled": 0, "neg": 0, "sigmoid": 1, "_set_grad_enabled_1": 2}
    same(require, lambda t: run(t, lambda node: parts.get(node.name, 3)))
    same(require, lambda t: run(t, lambda node: parts.get(node.name, 0)))


def test_a_simple_split_takes_a_dict(torch: Any, split: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x, y: torch.relu(x + y) * torch.sigmoid(x))
    numbers = {node: place // 2 for place, node in enumerate(list(module.graph.nodes)[2:-1])}
    made = split.split_module_simple(module, numbers, partition_affix="a")
    assert [name for name, _ in made.named_children()] == ["submod_a_0", "submod_a_1"]
    x = torch.tensor([1.0, -3.0])
    assert made(x, x + 1).tolist() == module(x, x + 1).tolist()


def test_an_attribute_that_is_missing_is_named(torch: Any, split: Any) -> None:
    module = torch.fx.symbolic_trace(a_network(torch))
    del module.scale
    with pytest.raises(AttributeError, match="Node target scale not found!"):
        split.split_module(module, module, lambda node: 0)
