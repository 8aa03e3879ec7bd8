"""Does a graph's picture have PyTorch's boxes and arrows?"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.fx.programs import a_network
from tests.fx.test_against_torch import same

Require = Callable[[str], Any]


class Recorded:
    """A stand-in for the classes of pydot, which keeps what it is given in order."""

    def __init__(self, *args: object, **options: object) -> None:
        self.parts: list[object] = [type(self).__name__, *args, sorted(options.items())]

    def add(self, part: object) -> None:
        self.parts.append(part)

    add_node = add_edge = add_subgraph = add

    def set(self, name: str, value: str) -> None:
        self.parts.append((name, value))

    def __repr__(self) -> str:
        return repr(self.parts)


@pytest.fixture
def pydot(require: Require, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stand-in in place of pydot, which PyTorch looks for when its module is first imported."""
    names = ("Dot", "Node", "Edge", "Cluster")
    made = ModuleType("pydot")
    vars(made).update({name: type(name, (Recorded,), {}) for name in names})
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pydot", made)
        importlib.reload(importlib.import_module(f"{require('torch').__name__}.fx.passes.graph_drawer"))
        yield
    importlib.reload(importlib.import_module("torch.fx.passes.graph_drawer"))


def drawer_of(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.fx.passes.graph_drawer").FxGraphDrawer


def a_module(t: Any) -> Any:
    """A module with shapes noted, with a graph among its children, and with nodes that came of one buffer."""
    module = t.fx.symbolic_trace(a_network(t))
    importlib.import_module(f"{t.__name__}.fx.passes.shape_prop").ShapeProp(module).propagate(t.ones(3, 2))
    module.layers.add_module("1", t.fx.symbolic_trace(t.nn.ReLU()))
    for node in module.graph.nodes:
        if node.name in ("add", "add_1"):
            node.meta["buf_meta"] = SimpleNamespace(name="buf0", n_origin=2)
        node.stack_trace = '  File "/the/book/example.py", line 3, in forward\n    y = x + {1}'
    return module


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ignore_getattr": True},
        {"ignore_parameters_and_buffers": True, "dot_graph_shape": "ellipse"},
        {"skip_node_names_in_args": False, "normalize_args": True},
        {"parse_stack_trace": True},
    ],
)
def test_a_picture_has_pytorchs_boxes_and_arrows(require: Require, pydot: None, options: dict[str, Any]) -> None:
    same(require, lambda t: drawer_of(t)(a_module(t), "network", **options).get_all_dot_graphs())


def test_a_submodules_picture_is_found_by_its_path(torch: Any, pydot: None) -> None:
    drawer = drawer_of(torch)(a_module(torch), "network")
    assert drawer.get_dot_graph() is drawer.get_main_dot_graph()
    assert drawer.get_dot_graph("layers.1") is drawer.get_all_dot_graphs()["network_layers.1"]


def test_what_is_missing_is_named(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pydot", None)
        module = importlib.reload(importlib.import_module(f"{torch.__name__}.fx.passes.graph_drawer"))
        with pytest.raises(RuntimeError, match="requires the pydot package to be installed"):
            module.FxGraphDrawer(torch.fx.symbolic_trace(lambda x: x.relu()), "relu")
    importlib.reload(module)


def test_a_note_that_is_no_tensors_is_refused(torch: Any, pydot: None) -> None:
    module = torch.fx.symbolic_trace(lambda x: x.relu())
    module.graph.output_node().meta["tensor_meta"] = 3
    with pytest.raises(RuntimeError, match="Unsupported tensor meta type"):
        drawer_of(torch)(module, "relu")
