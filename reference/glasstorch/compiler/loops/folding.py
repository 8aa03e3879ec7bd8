"""Which values of a graph can be computed once, when it is compiled?

Mirrors: torch/_inductor/constant_folding.py (ConstantFolder)
Differs: what depends on a tensor that the program holds is never folded, as the program may write to it.

A mask such as `tril(ones(n, n))` depends on no input. It is computed by the library's own kernels, once, if it is more
than one number everywhere, which a loop has for nothing.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.compiler.loops.pointwise import FILLS
from glasstorch.core.symbols import is_symbol
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node, map_arg

MOST: Final = 1 << 20  # elements of a value that is kept


def constants_of(graph: Graph) -> dict[Node, Tensor]:
    """The values that are known, of nodes that a node with inputs reads, other than numbers that fill a tensor."""
    known: dict[Node, Any] = {}
    depends = {node for node in graph.nodes if not _may_be_known(node)}
    for node in graph.nodes:
        if any(source in depends for source in node.all_input_nodes):
            depends.add(node)
    found: dict[Node, Tensor] = {}
    for node in graph.nodes:
        read = node not in depends and any(user in depends and user.op != "output" for user in node.users)
        if read and _name(node) not in FILLS and _is_small(node) and not _is_returned(node):
            with no_grad():
                value = _value(node, known)
            if isinstance(value, Tensor):
                found[node] = value
    return found


def _may_be_known(node: Node) -> bool:
    return node.op == "call_function" and isinstance(node.target, OpOverload) and is_pure(node.target)


def is_pure(target: OpOverload) -> bool:
    """Whether an operator of the library gives the same each time, and does nothing else."""
    random = any(tag.name == "nondeterministic_seeded" for tag in target.tags)
    return target.namespace == "aten" and not random and not target._schema.is_mutable


def _name(node: Node) -> str:
    return str(node.target).removeprefix("aten.").removesuffix(".default")


def _is_small(node: Node) -> bool:
    like = node.meta.get("val")
    if not isinstance(like, Tensor) or any(map(is_symbol, like.shape)):
        return False
    return like.device.type == "cpu" and prod(like.shape) <= MOST


def _is_returned(node: Node) -> bool:
    """Whether the caller gets it, or a view of it."""
    return any(user.op == "output" or (_shows(user) and _is_returned(user)) for user in node.users)


def _shows(node: Node) -> bool:
    return not isinstance(node.target, OpOverload) or node.target.is_view or node.target.name == "aten::_unsafe_view"


def _value(node: Node, known: dict[Node, Any]) -> Any:
    if node not in known:
        args, kwargs = map_arg((node.args, dict(node.kwargs)), lambda source: _value(source, known))
        known[node] = node.target(*args, **kwargs)
    return known[node]
