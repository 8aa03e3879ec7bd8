"""Which operators are decomposed into simpler ones, so that a part can be fused?

Mirrors: torch/csrc/jit/passes/decompose_ops.cpp (DecomposeOps)
Differs: `linear` is decomposed too, and both only next to a pointwise operator: elsewhere the kernel that does matrix
    product and addition together is faster. Layer norm and batch norm are not decomposed.

As in PyTorch, the separate addition is more lenient than the original operator: it promotes dtypes and broadcasts the
product, which `addmm` refuses; and in half precision the product is rounded once more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from glasstorch.jit.constants import UNKNOWN, known
from glasstorch.jit.ir import Graph, Node, Value
from glasstorch.jit.passes.fuse_pointwise import is_fusible
from glasstorch.jit.types import NONE, TENSOR


def decompose_ops(graph: Graph) -> bool:
    """Rewrite `addmm` as `mm` and `add`, and `linear` with a bias as `linear` and `add`, where that helps fusion.

    The `alpha` and `beta` of an `addmm` must be known to be 1.
    """
    found = [node for node in graph.all_nodes() if node.kind in DECOMPOSITIONS]
    changed = [_decompose(node) for node in found]  # in order: a new addition may be next to the following node
    graph.lint()
    return any(changed)


def _decompose(node: Node) -> bool:
    if not _is_beside_pointwise(node):
        return False
    with node.graph.inserting_before(node):
        summands = DECOMPOSITIONS[node.kind](node)
        if summands is None:
            return False
        total = _new(node, "aten::add", *summands, node.graph.insert_constant(1))
    total.type = node.output.type
    name = node.output.debug_name if node.output.has_debug_name else ""
    node.output.replace_all_uses_with(total)
    node.destroy()
    total.set_debug_name(name)
    return True


def _is_beside_pointwise(node: Node) -> bool:
    """Whether a pointwise operator in the same block uses the result, or produces the addend."""
    users = [use.user for use in node.output.uses]
    maker = node.inputs[ADDED[node.kind]].node
    return any(other.owning_block is node.owning_block and is_fusible(other) for other in (*users, maker))


def _addmm(node: Node) -> tuple[Value, Value] | None:
    bias, left, right, beta, alpha = node.inputs
    if any(known(factor) is UNKNOWN or known(factor) != 1 for factor in (beta, alpha)):
        return None
    return _new(node, "aten::mm", left, right), bias


def _linear(node: Node) -> tuple[Value, Value] | None:
    rows, weight, bias = node.inputs
    if not bias.type.is_subtype_of(TENSOR):
        return None
    return _new(node, "aten::linear", rows, weight, _none(node.graph)), bias


def _none(graph: Graph) -> Value:
    """The constant None, at the beginning of the graph, so that all nodes can use it."""
    for node in graph.nodes:
        if node.kind != "prim::Constant":
            break
        if node.output.type == NONE:
            return node.output
    with graph.inserting_before(graph.nodes[0]):
        return graph.insert_constant(None)


def _new(node: Node, kind: str, *inputs: Value) -> Value:
    """The output of a new node at the insert point, with the source location of the original."""
    made = node.graph.insert_node(node.graph.create(kind, inputs))
    made.source, made.scope = node.source, node.scope
    return made.output


# kind -> a function that returns a node's two summands, as new nodes at the insert point; None if it does not apply
DECOMPOSITIONS: Final[dict[str, Callable[[Node], tuple[Value, Value] | None]]] = {
    "aten::addmm": _addmm,
    "aten::linear": _linear,
}
# kind -> the index of the input that is added to the product
ADDED: Final = {"aten::addmm": 0, "aten::linear": 2}
