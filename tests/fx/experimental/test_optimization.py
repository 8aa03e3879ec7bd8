"""Does a model infer the same with fewer layers?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import glasstorch

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")  # PyTorch's own use


@pytest.fixture
def optimization(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.experimental.optimization")


def a_model(torch: Any) -> Any:
    """Convolutions and linear layers, most of them with a normalization that has seen data, and dropout."""
    torch.manual_seed(3)
    nn = torch.nn

    class Model(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU())
            self.kept = nn.Conv2d(3, 3, 1)
            self.norm = nn.BatchNorm2d(3)
            self.plain = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3, track_running_stats=False))
            self.linear = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))

        def forward(self, x: Any) -> Any:
            y = self.kept(self.conv(x))
            return self.linear(self.plain(self.norm(y) + y).mean(dim=(2, 3)))

    model = Model()
    model(torch.randn(5, 2, 6, 6))
    return model.eval()


def kinds(module: Any) -> list[str]:
    called = [module.get_submodule(node.target) for node in module.graph.nodes if node.op == "call_module"]
    return [type(one).__name__ for one in called]


def test_normalizations_are_taken_in_by_the_layers_before(torch: Any, optimization: Any) -> None:
    model = a_model(torch)
    fused = optimization.fuse(model)
    assert kinds(fused) == ["Conv2d", "ReLU", "Conv2d", "BatchNorm2d", "Conv2d", "BatchNorm2d", "Linear", "Dropout"]
    x = torch.randn(2, 2, 6, 6)
    assert torch.allclose(fused(x), model(x), atol=1e-5)
    assert type(model.conv[1]).__name__ == "BatchNorm2d"
    first = model.conv[0].weight.clone()
    again = optimization.fuse(torch.fx.symbolic_trace(model), inplace=True, no_trace=True)
    assert torch.equal(model.conv[0].weight, first)  # the layer is another one, not changed
    assert torch.allclose(again(x), fused(x), atol=1e-6)


def test_dropout_is_left_out(torch: Any, optimization: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.9), torch.nn.ReLU())
    without = optimization.remove_dropout(model)
    assert kinds(without) == ["Linear", "ReLU"]
    assert getattr(without, "0").weight is model[0].weight


def test_part_of_a_graph_becomes_a_module(torch: Any, optimization: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x, y: (torch.relu(x + y) * y).neg())
    _, y, add, relu, mul, *_ = module.graph.nodes
    part = optimization.extract_subgraph(module, [relu, mul], [add, y], [relu, mul])
    assert [node.name for node in part.graph.nodes] == ["add", "y", "relu", "mul", "output"]
    assert [value.item() for value in part(torch.tensor(-1.0), torch.tensor(2.0))] == [0, 0]


def test_a_call_is_given_another_module(torch: Any, optimization: Any) -> None:
    nn = torch.nn
    module = torch.fx.symbolic_trace(nn.Sequential(nn.Sequential(nn.ReLU()), nn.Tanh()))
    modules = dict(module.named_modules())
    x, relu, tanh, _ = module.graph.nodes
    assert optimization.matches_module_pattern((nn.ReLU, nn.Tanh), tanh, modules)
    assert not optimization.matches_module_pattern((nn.Tanh, nn.ReLU), tanh, modules)
    assert not optimization.matches_module_pattern((nn.Tanh, nn.ReLU), relu, modules)
    assert not optimization.matches_module_pattern((nn.Tanh, nn.ReLU), x, modules)
    optimization.replace_node_module(relu, modules, nn.Identity())
    assert module(torch.tensor(-3.0)).item() == torch.tanh(torch.tensor(-3.0)).item()
    assert modules["0.0"] is module.get_submodule("0.0")


def test_a_model_is_made_ready_for_inference(torch: Any, optimization: Any) -> None:
    model = a_model(torch)
    x = torch.randn(2, 2, 6, 6)
    made = optimization.optimize_for_inference(model, {"mkldnn_layout_optimize": False})
    assert "Dropout" not in kinds(made)
    assert torch.allclose(made(x), model(x), atol=1e-5)
    same = optimization.optimize_for_inference(
        model, {"conv_bn_fuse": False, "remove_dropout": False, "mkldnn_layout_optimize": False}
    )
    assert same is model
    for layout, message in ((3, "is not a dict"), ({}, "Heuristic not found")):
        with pytest.raises(RuntimeError, match=message):
            optimization.optimize_for_inference(model, {"mkldnn_layout_optimize": layout})


def test_no_layout_is_changed_here() -> None:
    from glasstorch.fx.experimental import optimization

    model = a_model(glasstorch)
    assert kinds(optimization.optimize_for_inference(model)) == kinds(
        optimization.optimize_for_inference(model, {"mkldnn_layout_optimize": {"heuristic": len}})
    )
