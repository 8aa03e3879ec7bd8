"""Is the graph of a model the one that PyTorch draws, box by box?"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import glasstorch

pytest.importorskip("tensorboard")

from tensorboard.compat.proto.graph_pb2 import GraphDef

from glasstorch.utils.tensorboard import SummaryWriter
from glasstorch.utils.tensorboard._pytorch_graph import graph
from tests.utils.tensorboard.logs import logged, read


def perceptron(t: Any) -> tuple[Any, Any]:
    return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.ReLU(), t.nn.Linear(4, 2), t.nn.Softmax(-1)), t.ones(5, 3)


def convolutions(t: Any) -> tuple[Any, Any]:
    class Block(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = t.nn.Conv2d(2, 2, 3, padding=1)
            self.norm = t.nn.BatchNorm2d(2)

        def forward(self, x: Any) -> Any:
            return (self.norm(self.conv(x)) + x).relu()

    class Net(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = t.nn.ModuleList([Block(), Block()])
            self.head = t.nn.Linear(2, 3)

        def forward(self, x: Any, scale: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            x = self.blocks[0](x)
            return self.head(x.mean((2, 3)).mul(scale)), x

    return Net(), (t.ones(1, 2, 4, 4), t.ones(1))


def without_modules(t: Any) -> tuple[Any, Any]:
    class Plain(t.nn.Module):
        def forward(self, x: Any, unused: Any) -> Any:
            return x.exp().neg()

    return Plain(), (t.ones(2), t.ones(2))


QUIET = ("prim::Constant", "prim::ListConstruct")


def nodes(drawn: Any) -> tuple[Counter[str], set[str]]:
    """Each operator with its box, its shape and where its inputs come from; and the boxes of the parameters.

    The numbers of the values may differ, and so may how often a constant or a parameter is fetched. PyTorch's trace has
    `_convolution`, with six further settings, where ours has the operator that was called; and PyTorch gives a tuple
    that is returned the shape [1].
    """
    by_name = {node.name: node for node in drawn.node}
    operators = [node for node in drawn.node if node.op not in (*QUIET, "prim::GetAttr")]
    return Counter(map(partial(_told, by_name), operators)), {
        _place(node) for node in drawn.node if node.op == "prim::GetAttr"
    }


def _told(by_name: dict[str, Any], node: Any) -> str:
    inputs = [by_name[name] for name in node.input]
    shape = shape_of(node) if not inputs or inputs[0].op != "prim::TupleConstruct" else None
    given = [_place(one) for one in inputs[: 3 if "conv" in node.op else None]]
    return f"{_place(node)} {shape} of {given}"


def _place(node: Any) -> str:
    kind = node.op.replace("::_convolution", "::conv2d")
    return kind if kind in QUIET else f"{kind} in {node.name.rpartition('/')[0]}"


def shape_of(node: Any) -> list[int] | None:
    shapes = node.attr["_output_shapes"].list.shape
    return [dim.size for dim in shapes[0].dim] if shapes else None


@pytest.mark.parametrize("model", [perceptron, convolutions, without_modules], ids=lambda model: model.__name__)
def test_the_graph_is_that_of_torch(model: Any, tmp_path: Path) -> None:
    oracle = pytest.importorskip("torch")

    def use(t: Any, w: Any) -> None:
        w.add_graph(*model(t))

    mine = logged(glasstorch, tmp_path, use)
    with pytest.warns(DeprecationWarning, match="torch.jit.trace"):
        expected = logged(oracle, tmp_path, use)
    graphs = [GraphDef.FromString(read(folder)._graph) for folder in (mine, expected)]
    assert [read(folder).Tags()["run_metadata"] for folder in (mine, expected)] == [["step1"], ["step1"]]
    ours, theirs = map(nodes, graphs)
    assert len(ours[0]) > 2
    assert ours == theirs
    assert graphs[0].versions == graphs[1].versions


def test_every_node_is_in_the_box_of_the_module_that_computes_it() -> None:
    model, inputs = convolutions(glasstorch)
    drawn, _ = graph(model, inputs)
    names = {node.name.rpartition("/")[0] for node in drawn.node}
    assert {"Net/Block[0]/Conv2d[conv]", "Net/Block[1]/BatchNorm2d[norm]", "Net/Linear[head]/weight", "Net"} <= names
    shapes = {node.name: shape_of(node) for node in drawn.node}
    assert shapes["Net/Linear[head]/weight/weight"] == [3, 2]
    known = {node.name for node in drawn.node}
    assert all(source in known for node in drawn.node for source in node.input)


def test_drawing_leaves_the_model_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    model, inputs = convolutions(glasstorch)
    model.blocks[1].eval()
    mean = model.blocks[0].norm.running_mean.clone()
    graph(model, inputs, verbose=True)
    assert capsys.readouterr().out.startswith("graph(%x")
    assert [model.training, model.blocks[0].norm.training, model.blocks[1].norm.training] == [True, True, False]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert glasstorch.equal(model.blocks[0].norm.running_mean, mean)


def test_a_model_that_fails_is_left_as_it_was_and_nothing_is_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = perceptron(glasstorch)
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            writer.add_graph(model, glasstorch.ones(5, 7))
    assert capsys.readouterr().out.endswith("Error occurs, No graph saved\n")
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())
    assert read(tmp_path).Tags()["graph"] is False


def test_a_list_of_results_is_drawn_without_a_warning_where_it_is_asked_for() -> None:
    class Two(glasstorch.nn.Module):
        def forward(self, x: Any) -> Any:
            return [x + 1, x * 2]

    drawn, _ = graph(Two(), glasstorch.ones(2), use_strict_trace=False)
    assert [node.op for node in drawn.node][-2:] == ["prim::ListConstruct", "IO Node"]
    with pytest.warns(glasstorch.jit.TracerWarning, match="Encountering a list"):
        graph(Two(), glasstorch.ones(2))
