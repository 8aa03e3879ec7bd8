"""Does a module become the chain of submodules that its tags say?"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fx.passes.test_split_module import a_random_module
from tests.fx.test_against_torch import same

Require = Callable[[str], Any]
TAGS = ("first", "second", "third")


def splitting(t: Any) -> Any:
    return import_module(f"{t.__name__}.fx.passes.split_utils")


def tagged(t: Any, seed: int) -> Any:
    """A random module whose calls have tags in the order in which they stand."""
    module = a_random_module(t, seed)
    output = module.graph.output_node()
    output.args = ({"each once": output.all_input_nodes},)
    module.recompile()
    draw = random.Random(seed)
    calls = [node for node in module.graph.nodes if node.op.startswith("call")]
    for node, number in zip(calls, sorted(draw.randrange(3) for _ in calls), strict=True):
        node.tag = TAGS[number]
    return module


@pytest.mark.parametrize("seed", range(40))
def test_random_modules_are_split_as_pytorch_splits_them(require: Require, seed: int) -> None:
    def run(t: Any) -> object:
        made, paths = splitting(t).split_by_tags(
            tagged(t, seed), list(TAGS), return_fqn_mapping=True, return_tuple=seed % 4 == 0
        )
        return made.code, [(name, child.code) for name, child in made.named_children()], paths

    same(require, run)


@pytest.mark.parametrize("seed", range(8))
def test_a_split_module_computes_what_the_module_did(torch: Any, seed: int) -> None:
    module = tagged(torch, seed)
    x, y = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.5, 3.0]])
    assert str(splitting(torch).split_by_tags(module, list(TAGS))(x, y)) == str(module(x, y))


def test_a_tag_that_is_missing_or_too_early_is_refused(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1))
    with pytest.raises(AssertionError, match="Node does not have tag: %add"):
        splitting(torch).split_by_tags(module, ["first"])
    add, relu = list(module.graph.nodes)[1:3]
    add.tag, relu.tag = "second", "first"
    with pytest.raises(AssertionError, match="Component first order must be >= max of its upstream components"):
        splitting(torch).split_by_tags(module, ["first", "second"])


def test_attributes_are_reached_by_their_paths(torch: Any) -> None:
    module = torch.nn.Module()
    module.layers = torch.nn.ModuleList([torch.nn.Linear(2, 3)])
    tools = splitting(torch)
    assert tools.getattr_recursive(module, "layers.0.weight") is module.layers[0].weight
    assert tools.getattr_recursive(module, "layers.1.weight") is None
    assert tools.getattr_recursive(module, "nothing.at.all") is None
    tools.setattr_recursive(module, "layers.training", 3)
    assert module.layers.training == 3


def test_numbers_do_not_pass_between_parts(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: Any) -> Any:
        y = x + 1
        rows = y.size(0)
        half = rows // 2
        return y.sum(), torch.relu(x).view(half, -1)

    module = torch.fx.symbolic_trace(program)
    import_module(f"{torch.__name__}.fx.passes.shape_prop").ShapeProp(module).propagate(torch.ones(4, 2))
    nodes = {node.name: node for node in module.graph.nodes}
    parts = [
        SimpleNamespace(is_acc=True, nodes=[nodes[name] for name in ("add", "size", "floordiv", "sum_1")]),
        SimpleNamespace(is_acc=False, nodes=[nodes[name] for name in ("relu", "view")]),
    ]
    splitting(torch).move_non_tensor_nodes_on_boundary(parts)
    names = [[node.name for node in part.nodes] for part in parts]
    assert names == [["add", "sum_1"], ["relu", "view", "floordiv", "size"]]


def test_a_number_that_two_parts_need_stays(torch: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: (torch.relu(x).view(x.size(0)), torch.neg(x).view(x.size(0))))
    import_module(f"{torch.__name__}.fx.passes.shape_prop").ShapeProp(module).propagate(torch.ones(4))
    nodes = {node.name: node for node in module.graph.nodes}
    nodes["view_1"].args = (nodes["neg"], nodes["size"])
    parts = [
        SimpleNamespace(is_acc=number == 0, nodes=[nodes[name] for name in part])
        for number, part in enumerate((["size"], ["relu", "view"], ["neg", "view_1"]))
    ]
    splitting(torch).move_non_tensor_nodes_on_boundary(parts)
    assert [node.name for node in parts[0].nodes] == ["size"]
