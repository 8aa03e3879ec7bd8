"""Which layers can be left out or merged when a model only infers?

Mirrors: torch/fx/experimental/optimization.py
Differs: there are no MKLDNN tensors, so no layout is changed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Final

from glasstorch.fx._symbolic_trace import Tracer, symbolic_trace
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Transformer
from glasstorch.fx.node import Argument, Node, Target
from glasstorch.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from glasstorch.nn.modules.conv import Conv1d, Conv2d, Conv3d
from glasstorch.nn.modules.dropout import Dropout
from glasstorch.nn.modules.linear import Linear
from glasstorch.nn.modules.module import Module
from glasstorch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = [
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "optimize_for_inference",
    "remove_dropout",
    "replace_node_module",
]

# A layer, the normalization behind it, and what makes one layer of both.
PAIRS: Final[tuple[tuple[type, type, Callable[..., Module]], ...]] = (
    (Conv1d, BatchNorm1d, fuse_conv_bn_eval),
    (Conv2d, BatchNorm2d, fuse_conv_bn_eval),
    (Conv3d, BatchNorm3d, fuse_conv_bn_eval),
    (Linear, BatchNorm1d, fuse_linear_bn_eval),
)


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Module]) -> bool:
    """Whether a node calls a module of the second class with the result of a call of a module of the first."""
    if not node.args:
        return False
    return all(
        isinstance(one, Node) and one.op == "call_module" and type(modules.get(one.target)) is kind
        for kind, one in zip(pattern, (node.args[0], node), strict=False)
    )


def replace_node_module(node: Node, modules: dict[str, Module], new_module: Module) -> None:
    """Let a node call another module, which takes the old one's place; `modules` has all of them by their paths."""
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """A module in which each convolution or linear layer has taken in the batch normalization behind it.

    Its results are the model's in evaluation, in which a normalization only scales and shifts. The model is copied
    unless `inplace`, and traced unless it has a graph and `no_trace`. A layer whose result is used elsewhere too, and
    a normalization without running statistics, stay as they are.
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for layer, normalization, fused in PAIRS:
        for node in graph.nodes:
            if not matches_module_pattern((layer, normalization), node, modules):
                continue
            before, bn = node.args[0], modules[node.target]
            if len(before.users) > 1 or not bn.track_running_stats:
                continue
            replace_node_module(before, modules, fused(modules[before.target], bn))
            node.replace_all_uses_with(before)
            graph.erase_node(node)
    return GraphModule(traced, graph)


class _DropoutRemover(Transformer):
    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        if not isinstance(self.submodules[target], Dropout):
            return super().call_module(target, args, kwargs)
        if len(args) != 1:
            raise AssertionError(f"Expected 1 arg for Dropout, got {len(args)}")
        return args[0]


def remove_dropout(model: Module) -> GraphModule:
    """A module that does what the model does, without its `Dropout` layers; parameters are shared."""
    return _DropoutRemover(symbolic_trace(model)).transform()


def extract_subgraph(orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """A module that computes some nodes of another one's graph: it takes `inputs`, and returns a list of `outputs`."""
    graph = Graph()
    copies = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output([copies[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


def optimize_for_inference(
    model: Module, pass_config: dict[str, Any] | None = None, tracer: type[Tracer] = Tracer
) -> Module:
    """The model with `fuse` and `remove_dropout` applied.

    `pass_config` switches them: `{"conv_bn_fuse": False, "remove_dropout": False}`. It may also have PyTorch's
    `mkldnn_layout_optimize`, which is False or a dict with a `heuristic`, and changes nothing here.
    """
    config = {"conv_bn_fuse": True, "remove_dropout": True, "mkldnn_layout_optimize": False, **(pass_config or {})}
    if config["conv_bn_fuse"]:
        model = fuse(model)
    if config["remove_dropout"]:
        model = remove_dropout(model)
    layout = config["mkldnn_layout_optimize"]
    if layout is not False and not isinstance(layout, dict):
        raise RuntimeError("mkldnn_layout_optimize config is not a dict")
    if layout is not False and "heuristic" not in layout:
        raise RuntimeError("Heuristic not found in mkldnn_layout_optimize config")
    return model
