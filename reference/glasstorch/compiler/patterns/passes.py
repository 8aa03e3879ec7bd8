"""Which patterns are looked for, and when?

Mirrors: torch/_inductor/fx_passes/pre_grad.py (pre_grad_passes), torch/_inductor/fx_passes/post_grad.py
    (post_grad_passes)
"""

from __future__ import annotations

from typing import Any

from glasstorch.compiler.patterns import captured_calls
from glasstorch.compiler.patterns.attention import PATTERNS as ATTENTION
from glasstorch.compiler.patterns.rewriting import rewrite
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node


def before_autograd(model: Any) -> Any:
    """A captured module whose patterns are replaced, or what was given if there are none, or it is no such module."""
    if not isinstance(model, GraphModule):
        return model
    graph = Graph()
    copies: dict[Node, Node] = {}
    output = graph.graph_copy(model.graph, copies)
    graph.output(output)
    for node, copied in copies.items():
        copied.meta.update(node.meta)
    replaced = any(line.is_replaced for line in rewrite(graph, ATTENTION, captured_calls.read))
    return GraphModule(model, graph) if replaced else model
