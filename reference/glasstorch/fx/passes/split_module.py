"""How does a module become a chain of submodules?

Mirrors: torch/fx/passes/split_module.py
Differs: sizes are numbers, so no part needs symbols as inputs. With `keep_original_order`, what only the output needs
    is fetched too, and an order in which the parts cannot run is refused in words; PyTorch raises KeyError for both.
    `split_module_simple` splits as `split_module` does.

Each part gets a graph of its own. A value that another part uses is an output of the part that computes it and an
input of the part that uses it; parameters are fetched by the outer module, and passed in.
"""

from __future__ import annotations

from collections.abc import Callable

from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node, map_arg
from glasstorch.fx.passes._global_state import grad_regions
from glasstorch.fx.passes._outer_module import OuterModule, Partition, found_at
from glasstorch.nn.modules.module import Module

__all__ = ["Partition", "split_module", "split_module_simple"]


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """A module that computes what `m` does by calling submodules, `submod_0` and so on, one for each part.

    `split_callback` gives the number of the part that a node belongs to; it is asked for calls only. Parts run in an
    order in which each has its inputs, or in that of their first nodes with `keep_original_order`. `qualname_map` is
    filled with the old paths of submodules by their new ones. `root_m` is not used. RuntimeError is raised if two
    parts need each other, or if one would run before another that it needs.
    """
    prefix = "" if partition_affix is None else f"{partition_affix}_"
    number_of = {node: split_callback(node) for node in m.graph.nodes if _is_call(node)}
    part_of, partitions = _assigned(number_of, prefix)
    regions = grad_regions(m.graph, number_of.__getitem__)
    _connect(m.graph, part_of)
    runs = _in_order(partitions)
    for switch, numbers in regions.items():
        for number in numbers[1:]:  # the first part has the node itself
            part = partitions[f"{prefix}{number}"]
            _stand_in(part, switch, part.graph.call_function(switch.target, switch.args))
    for part in runs:
        _add_inputs(m, part, keep_original_input_name)
    for node, part in part_of.items():
        _add_call(m, part, node, qualname_map, keep_original_node_name)
    outer = OuterModule(m, keep_original_node_name, tuple_return)
    if not keep_original_order:
        outer.fetch(m.graph.nodes)
    for part in partitions.values() if keep_original_order else runs:
        outer.call(part)
    return outer.finished(partitions)


def split_module_simple(
    m: GraphModule, node_to_partition: dict[Node, int], *, partition_affix: str | None = None
) -> GraphModule:
    """`split_module` with a dict that has the part of each call, and with the parts in the order of the nodes."""
    return split_module(m, m, node_to_partition.__getitem__, keep_original_order=True, partition_affix=partition_affix)


def _is_call(node: Node) -> bool:
    return node.op not in ("placeholder", "get_attr", "output")


def _assigned(number_of: dict[Node, int], prefix: str) -> tuple[dict[Node, Partition], dict[str, Partition]]:
    """The part of each call, and the parts by their names, in the order of their first nodes."""
    partitions: dict[str, Partition] = {}
    part_of: dict[Node, Partition] = {}
    for node, number in number_of.items():
        name = f"{prefix}{number}"
        part = part_of[node] = partitions.setdefault(name, Partition(name))
        part.node_names.append(node.name)
    return part_of, partitions


def _connect(graph: Graph, part_of: dict[Node, Partition]) -> None:
    """Note in the parts which values pass between them."""
    for node in graph.nodes:
        user = part_of.get(node)
        for source in node.all_input_nodes if _is_call(node) or node.op == "output" else ():
            owner = part_of.get(source)
            if owner is user:
                continue
            if owner is not None:
                owner.outputs.setdefault(source)
            if user is not None:
                user.inputs.setdefault(source)
            if owner is not None and user is not None:
                owner.dependents.setdefault(user.name)
                user.dependencies.setdefault(owner.name)


def _in_order(partitions: dict[str, Partition]) -> list[Partition]:
    """The parts with each after those whose results it needs."""
    missing = {name: set(part.dependencies) for name, part in partitions.items()}
    ready = [part for name, part in partitions.items() if not missing[name]]
    runs: list[Partition] = []
    while ready:
        part = ready.pop()
        runs.append(part)
        for name in part.dependents:
            missing[name].remove(part.name)
            if not missing[name]:
                ready.append(partitions[name])
    if len(runs) != len(partitions):
        raise RuntimeError("cycle exists between partitions!")
    return runs


def _add_inputs(m: GraphModule, part: Partition, keep_names: bool) -> None:
    """Give a part's graph its placeholders; a module among the inputs is fetched by the part itself."""
    modules = [node for node in part.inputs if node.op == "get_attr" and isinstance(found_at(m, node.target), Module)]
    part.inputs = {node: None for node in part.inputs if node not in modules}
    for number, node in enumerate(part.inputs):
        name = node.name if keep_names else f"arg_{number}"
        _stand_in(part, node, part.graph.placeholder(name, type_expr=node.type))
    for node in modules:
        part.targets[node.target] = found_at(m, node.target)
        _stand_in(part, node, part.graph.get_attr(node.target))


def _stand_in(part: Partition, node: Node, copied: Node) -> None:
    copied.meta = node.meta.copy()
    part.environment[node] = copied


def _add_call(
    m: GraphModule, part: Partition, node: Node, qualname_map: dict[str, str] | None, keep_name: bool | None
) -> None:
    """Copy a call into its part, which gets the submodule that is called."""
    target = node.target
    if node.op == "call_module":
        target = node.target.replace(".", "_")
        part.targets[target] = found_at(m, node.target)
        if qualname_map is not None:
            qualname_map[f"{part.submod_name}.{target}"] = node.target
    args = map_arg(node.args, part.environment.__getitem__)
    kwargs = map_arg(node.kwargs, part.environment.__getitem__)
    name = node.name if keep_name else None
    _stand_in(part, node, part.graph.create_node(node.op, target, args, kwargs, name, node.type))
