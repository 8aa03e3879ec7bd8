"""Which patterns are looked for, and when?

Mirrors: torch/_inductor/fx_passes/pre_grad.py (pre_grad_passes), torch/_inductor/fx_passes/post_grad.py
    (post_grad_passes)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from glasstorch._subclasses.fake_tensor import FakeTensorMode
from glasstorch.compiler.patterns import algebra, attention, captured_calls, convolution, traced_operators
from glasstorch.compiler.patterns.matcher import Reader, find
from glasstorch.compiler.patterns.rewriting import Pattern, rewrite
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.fake_tensor_prop import FakeTensorProp

BEFORE: Final = (*attention.PATTERNS, *convolution.PATTERNS)
AFTER: Final = algebra.PATTERNS


def before_autograd(model: Any) -> Any:
    """A captured module whose patterns are replaced, or what was given if there are none, or it is no such module."""
    return _rewritten(model, BEFORE, captured_calls.read) if isinstance(model, GraphModule) else model


def after_autograd(module: GraphModule) -> GraphModule:
    """A traced module whose patterns are replaced, with fake tensors noted, or the module itself if there are none."""
    inputs = [node.meta.get("val") for node in module.graph.find_nodes(op="placeholder")]
    made = _rewritten(module, AFTER, traced_operators.read)
    if made is not module:
        made.graph.eliminate_dead_code()
        FakeTensorProp(made, FakeTensorMode(allow_non_fake_inputs=True)).propagate_dont_convert_inputs(*inputs)
    return made


def _rewritten(module: GraphModule, patterns: Sequence[Pattern], read: Reader) -> GraphModule:
    if not any(find(one.pattern, node, read, one.alone) for node in module.graph.nodes for one in patterns):
        return module
    graph = Graph()
    copies: dict[Node, Node] = {}
    graph.output(graph.graph_copy(module.graph, copies))
    for node, copied in copies.items():
        copied.meta.update(node.meta)
    if any(line.is_replaced for line in rewrite(graph, patterns, read)):
        return GraphModule(module, graph)
    return module
