"""How are graphs before and after a pass written down and compared?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir

FLOAT = "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"
LONG = "Long(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"
ONE = "%one : int = prim::Constant[value=1]()"
NONE = "%none : NoneType = prim::Constant()"


def graph_of(
    nodes: str, returns: str, inputs: str = "%x : Tensor, %y : Tensor", constants: Sequence[Any] = ()
) -> Graph:
    """The graph with these inputs, nodes (a text of lines) and outputs."""
    return parse_ir(f"graph({inputs}):\n{nodes}\n  return ({returns})\n", constants)


def after(change: Callable[[Graph], bool], graph: Graph) -> list[str]:
    """The kinds of nodes left after a pass, in order, with those in blocks; constants are left out.

    The pass must say that it changed the graph exactly if it did.
    """
    before = str(graph)
    said = change(graph)
    assert said == (str(graph) != before)
    return [node.kind.partition("::")[2] for node in graph.all_nodes() if node.kind != "prim::Constant"]


def canonical(text: str) -> str:
    """The text with its values numbered in order of appearance."""
    numbers: dict[str, str] = {}
    return re.sub(r"%[\w.]+", lambda match: numbers.setdefault(match[0], f"%{len(numbers)}"), re.sub(r"\s+", " ", text))
