"""Which results can be written over a tensor that is no longer needed?

Mirrors: torch/fx/passes/reinplace.py
Differs: which view an operator such as `select_scatter` writes into is found by its name and its arguments.

A functional program makes a new tensor for each result: `b = a.add(1)`. If nothing uses `a` later, nor anything that
shares its memory, `a.add_(1)` does the same without the new tensor. A write into a part of a tensor is functional as
`y = select_scatter(a, part, 0, 1)`; it becomes `a.select(0, 1).copy_(part)`, and nothing at all if `part` was computed
in place in that very part of `a`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx._names import at
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes._aliases import AliasProp, SharedMemory, storages

__all__ = ["reinplace"]


def reinplace(gm: GraphModule, *sample_args: Any) -> GraphModule:
    """The module, changed: operators work in place where nobody can tell, as examples of its arguments show.

    The graph must consist of functional operators, as `make_fx` of a functionalized function gives it. What shares
    memory with an argument is never written to.
    """
    AliasProp(gm).propagate(*sample_args)
    graph = gm.graph
    given = {storage for node in graph.find_nodes(op="placeholder") for storage in storages(node)}
    memory = SharedMemory(iter(graph.nodes))
    erased: dict[Node, None] = {}
    for node in graph.nodes:
        if node in erased or not _could_write(node) or not given.isdisjoint(storages(node.args[0])):
            continue
        first = node.args[0]
        aliases = memory.with_memory_of(first)
        later = _later_uses(aliases, node)
        undone = _undone_by(later, aliases)
        if later - set(undone):
            continue
        if (view := _written_view(node.target)) is not None:
            with graph.inserting_before(node):
                part = graph.call_function(view, (first, *node.args[2:]), node.kwargs)
                graph.call_function(at("ops.aten.copy_").default, (part, node.args[1]))
            erased[node] = None
        elif (in_place := _in_place(node.target)) is not None:
            node.target = in_place
        else:
            continue
        memory.unite(first, node)
        erased.update(dict.fromkeys(undone))
        for old in (node, *undone):
            _use_first_argument(old, node, memory)
    for node in reversed(erased):
        graph.erase_node(node)
    gm.recompile()
    return gm


def _could_write(node: Node) -> bool:
    """Whether a node's result would fit into its first argument, and into nothing else that it reads."""
    if node.op != "call_function" or not isinstance(node.target, OpOverload) or not node.args:
        return False
    first = node.args[0]
    into, result = (one.meta.get("fake_result") if isinstance(one, Node) else None for one in (first, node))
    if not isinstance(into, Tensor) or not isinstance(result, Tensor):
        return False
    overlaps = any(stride == 0 and size > 1 for size, stride in zip(into.shape, into.stride(), strict=True))
    fits = into.numel() == result.numel() and into.dtype == result.dtype and not overlaps
    return fits and sum(argument is first for argument in node.args) == 1


def _later_uses(aliases: set[Node], node: Node) -> set[Node]:
    """The nodes after one that use any of these, except those that only take another view."""
    return {
        user
        for alias in aliases
        for user in alias.users
        if user.meta.get("node_idx", -1) > node.meta["node_idx"]
        and not (user in aliases and (isinstance(user.target, OpOverload) or user.target is getitem))
    }


def _undone_by(later: set[Node], aliases: set[Node]) -> list[Node]:
    """Those of the later nodes that write a part back to where it is a view of, in the order of the graph."""
    return sorted(node for node in later if (view := _written_view(node.target)) and _writes_back(node, view, aliases))


def _writes_back(node: Node, view: Callable[..., Any], aliases: set[Node]) -> bool:
    into = node.args[0].meta["fake_result"]
    for alias in aliases:
        if "view_of" not in alias.meta:
            continue
        base = alias.meta["view_of"].meta["fake_result"]
        try:
            taken = view(base, *node.args[2:], **node.kwargs)
        except (IndexError, RuntimeError, TypeError, ValueError):  # such a part does not exist of this base
            continue
        if _same_place(base, into) and _same_place(taken, alias.meta["fake_result"]):
            return True
    return False


def _same_place(a: Tensor, b: Tensor) -> bool:
    return (a.size(), a.stride(), a.storage_offset()) == (b.size(), b.stride(), b.storage_offset())


def _written_view(operator: Any) -> Any:
    """The operator that takes the view into which another one writes: `select.int` of `select_scatter`, or None."""
    if not isinstance(operator, OpOverload) or not operator._opname.endswith("_scatter"):
        return None
    packet = at(f"ops.aten.{operator._opname.removesuffix('_scatter')}")
    wanted = [argument.name for argument in operator._schema.arguments if argument.name != "src"]
    views = [getattr(packet, name) for name in packet.overloads()] if packet is not None else []
    return next((one for one in views if [argument.name for argument in one._schema.arguments] == wanted), None)


def _in_place(operator: Any) -> Any:
    """The in-place operator with the same arguments: `add_.Tensor` of `add.Tensor`. None for a view, too."""
    packet = None if operator.is_view else at(f"ops.{operator._namespace}.{operator._opname}_")
    kinds = [argument.real_type for argument in operator._schema.arguments]
    found = [getattr(packet, name) for name in packet.overloads()] if packet is not None else []
    return next((one for one in found if [argument.real_type for argument in one._schema.arguments] == kinds), None)


def _use_first_argument(old: Node, node: Node, memory: SharedMemory) -> None:
    """Let what comes after `node` use the first argument of `old`, which has the result of `old` now."""
    new = old.args[0]
    for user in list(old.users):
        if user.meta.get("node_idx", -1) > node.meta["node_idx"]:
            user.replace_input_with(old, new)
            if user.op != "output" and set(storages(user)) == set(storages(old)):  # a view
                memory.unite(new, user)
