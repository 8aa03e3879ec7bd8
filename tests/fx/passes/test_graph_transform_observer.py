"""Is noted what a pass did to a graph's nodes?"""

from __future__ import annotations

import copy
from importlib import import_module, reload
from pathlib import Path
from typing import Any

import pytest

from tests.fx.passes.test_graph_drawer import Recorded


class Picture(Recorded):
    """A stand-in for pydot's picture, which is written as text."""

    def get_node_list(self) -> list[Any]:
        return [part for part in self.parts if type(part).__name__ == "Box"]

    def write(self, path: str) -> None:
        lines = [f"{box.get_name()} {box.obj_dict['attributes']['fillcolor']}" for box in self.get_node_list()]
        Path(path).write_text("\n".join(lines), encoding="utf-8")


class Box(Recorded):
    def __init__(self, name: str, **options: object) -> None:
        super().__init__(name)
        self.name = name
        self.obj_dict: dict[str, dict[str, object]] = {"attributes": options}

    def get_name(self) -> str:
        return self.name


@pytest.fixture
def observer(torch: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class, with the stand-ins in place of pydot."""
    import sys
    from types import SimpleNamespace

    drawer = import_module(f"{torch.__name__}.fx.passes.graph_drawer")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pydot", SimpleNamespace(Dot=Picture, Node=Box, Edge=Recorded, Cluster=Recorded))
        reload(drawer)
        yield reload(import_module(f"{torch.__name__}.fx.passes.graph_transform_observer")).GraphTransformObserver
    reload(drawer)


def exchange(torch: Any, graph: Any) -> str:
    """The pass that calls sigmoid in place of relu."""
    relu = next(node for node in graph.nodes if node.name == "relu")
    with graph.inserting_after(relu):
        new = graph.call_function(torch.sigmoid, relu.args)
    relu.replace_all_uses_with(new)
    graph.erase_node(relu)
    return "done"


def test_what_a_pass_did_is_noted_and_drawn(torch: Any, observer: Any, tmp_path: Path) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1).neg())
    before = observer.get_current_pass_count()
    watched = observer(module, "exchange", log_url=str(tmp_path))
    assert watched.apply_graph_pass(lambda graph: exchange(torch, graph)) == "done"
    number = observer.get_current_pass_count()
    assert number == before + 1
    (source,) = module.graph.find_nodes(op="call_function", target=torch.sigmoid)[0].meta["from_node"]
    assert (source.name, source.pass_name) == ("relu", "exchange")
    assert [action.name for action in source.action] == ["REPLACE", "CREATE"]
    pictures = [(tmp_path / f"pass_{number}_exchange_{which}_graph.dot").read_text() for which in ("input", "output")]
    assert pictures[0].splitlines() == ["x grey", "add grey", "relu yellow", "neg grey", "output grey"]
    assert pictures[1].splitlines() == ["x grey", "add grey", "sigmoid yellow", "neg grey", "output grey"]


def test_nothing_is_written_if_nothing_changed(torch: Any, observer: Any, tmp_path: Path) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    assert observer(module, "none", log_url=str(tmp_path)).apply_gm_pass(lambda gm: gm) is module
    with observer(module, "copies", log_url=str(tmp_path)) as watched:
        copied = copy.deepcopy(module)
        assert watched.copied_gms == [copied]
    assert (copied._create_node_hooks, module._create_node_hooks) == ([], [])
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_nothing_is_observed(torch: Any, observer: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x).neg())
    before = observer.get_current_pass_count()
    assert observer(module, "exchange").apply_gm_pass(lambda gm: exchange(torch, gm.graph)) == "done"
    assert observer.get_current_pass_count() == before
    assert "from_node" not in module.graph.find_nodes(op="call_function", target=torch.sigmoid)[0].meta
