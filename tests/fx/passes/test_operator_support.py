"""Does a table of supported nodes decide as PyTorch's?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def support(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.operator_support")


@pytest.fixture
def module(torch: Any) -> Any:
    """The sum of a layer's result and an input, with shapes noted."""

    class Program(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.relu = torch.nn.ReLU()

        def forward(self, x: Any, y: Any) -> Any:
            return torch.add(self.relu(x), other=y).neg()

    made = torch.fx.symbolic_trace(Program())
    import_module(f"{torch.__name__}.fx.passes.shape_prop").ShapeProp(made).propagate(
        torch.ones(2), torch.ones(2, dtype=torch.float64)
    )
    return made


def supported(module: Any, rule: Any) -> list[str]:
    submodules = dict(module.named_modules())
    return [node.name for node in module.graph.nodes if rule.is_node_supported(submodules, node)]


def test_a_row_may_limit_dtypes(torch: Any, support: Any, module: Any) -> None:
    relu = import_module(f"{torch.__name__}.fx.passes.tools_common").get_node_target(
        dict(module.named_modules()), next(node for node in module.graph.nodes if node.op == "call_module")
    )
    others = ["x", "y", "output"]

    def calls(table: dict[str, Any]) -> list[str]:
        return [name for name in supported(module, support.OperatorSupport(table)) if name not in others]

    assert calls({}) == []
    assert calls({relu: None, "neg": None}) == ["relu", "neg"]
    assert calls({"torch.add": (([torch.float32],), {})}) == ["add"]
    assert calls({"torch.add": (([torch.float64],), {})}) == []
    assert calls({"torch.add": ((None, [torch.int64]), {"alpha": [torch.int64], "other": [torch.float64]})}) == ["add"]
    assert calls({"torch.add": ((), {"other": [torch.float32]})}) == []


def test_rules_can_be_put_together(torch: Any, support: Any, module: Any) -> None:
    no_double = support.OpSupports.decline_if_input_dtype(torch.float64)
    no_relu = support.OpSupports.decline_if_node_in_names({"relu"})
    calls = support.create_op_support(lambda submodules, node: node.op.startswith("call"))
    assert supported(module, no_double) == ["x", "y", "relu"]
    assert supported(module, support.chain(no_relu, calls)) == ["add", "neg"]
    assert supported(module, support.any_chain(no_double, calls)) == ["x", "y", "relu", "add", "neg"]
    assert supported(module, support.chain()) == ["x", "y", "relu", "add", "neg", "output"]
    assert supported(module, support.any_chain()) == []


def test_an_interface_must_be_filled_in(support: Any) -> None:
    with pytest.raises(TypeError, match="is_node_supported"):
        support.OperatorSupportBase()
