"""How does a module become a chain of submodules by tags on its nodes?

Mirrors: torch/fx/passes/split_utils.py
Differs: an attribute that the output has twice is fetched once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import getitem
from typing import Any

from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node, map_arg
from glasstorch.fx.passes._boundary import move_non_tensor_nodes_on_boundary as move_non_tensor_nodes_on_boundary
from glasstorch.fx.passes.tools_common import NodeList
from glasstorch.fx.passes.utils.common import HolderModule, lift_subgraph_as_module
from glasstorch.nn.modules.container import ModuleList

__all__ = ["Component", "getattr_recursive", "move_non_tensor_nodes_on_boundary", "setattr_recursive", "split_by_tags"]


def getattr_recursive(obj: object, name: str) -> Any:
    """What an object has at a dotted path, through the items of lists of modules; None if there is nothing."""
    for step in name.split("."):
        if isinstance(obj, ModuleList):
            obj = obj._modules.get(step)
        else:
            obj = getattr(obj, step, None)
        if obj is None:
            return None
    return obj


def setattr_recursive(obj: object, attr: str, value: object) -> None:
    """Set what an object has at a dotted path."""
    *way, name = attr.split(".")
    for step in way:
        obj = getattr(obj, step)
    setattr(obj, name, value)


@dataclass
class Component:
    """One part of a split graph: its own graph, and which of its nodes stand for which of the old one.

    `input_placeholders` are the graph's inputs, and `orig_inputs` the old nodes in the same order; `orig_outputs` are
    the old nodes whose values it returns. `gm` is the finished module.
    """

    graph: Graph
    order: int
    name: str
    input_placeholders: NodeList = field(default_factory=list)
    orig_inputs: NodeList = field(default_factory=list)
    orig_outputs: NodeList = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def split_by_tags(
    gm: GraphModule,
    tags: list[str],
    return_fqn_mapping: bool = False,
    return_tuple: bool = False,
    GraphModuleCls: type[GraphModule] = GraphModule,
) -> Any:
    """A module that calls one submodule for each tag, named after it, in the order of `tags`.

    Each call in the graph must have an attribute `tag`, and no call may use the result of one with a later tag;
    AssertionError is raised otherwise. Each submodule fetches the parameters that it needs. With `return_fqn_mapping`,
    a pair: the module, and the new paths of submodules and parameters by their old ones.
    """
    components = {tag: Component(Graph(), order, tag) for order, tag in enumerate(tags)}
    outer = Graph()
    in_outer: dict[Node, Node] = {}
    owner: dict[Node, Component] = {}
    copies: dict[Node, Node] = {}
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            in_outer[node] = outer.placeholder(node.name, type_expr=node.type)
            in_outer[node].meta = copy.copy(node.meta)
        elif node.op not in ("get_attr", "output"):
            if not hasattr(node, "tag"):
                raise AssertionError(f"Node does not have tag: {node.format_node()}")
            component = owner[node] = components[node.tag]
            _check_order(component, [owner[source] for source in node.all_input_nodes if source in owner])
            copied: Any = component.graph.node_copy(node, _into(component, owner, copies))
            copied.tag = node.tag
            copies[node] = copied
    if not any(node.op == "output" for node in gm.graph.nodes):
        raise RuntimeError("Graph had no output node!")
    output = gm.graph.output_node()
    fetched = [node for node in output.all_input_nodes if node.op == "get_attr"]
    for node in fetched:
        in_outer[node] = outer.get_attr(node.name, type_expr=node.type)
    _note_outputs(list(components.values()), owner, output.all_input_nodes)
    paths: dict[str, str] = {}
    for component in components.values():
        paths |= _finish(gm, component, copies, return_tuple)
        _call(outer, component, in_outer, return_tuple)
    outer.output(map_arg(output.args[0], in_outer.__getitem__))
    outer._codegen = gm.graph._codegen
    root = HolderModule({component.name: component.gm for component in components.values()})
    for node in fetched:
        setattr(root, node.name, getattr_recursive(gm, node.target))
    made = GraphModuleCls(root, outer)
    return (made, paths) if return_fqn_mapping else made


def _check_order(component: Component, before: list[Component]) -> None:
    highest = max((one.order for one in before), default=0)
    if component.order < highest:
        raise AssertionError(
            f"Component {component.name} order must be >= max of its upstream components, "
            f"order={component.order} and max={highest}"
        )


def _into(component: Component, owner: dict[Node, Component], copies: dict[Node, Node]) -> Callable[[Node], Node]:
    """What stands for an old node in a component: a copy, something fetched, or an input."""

    def stand_in(node: Node) -> Node:
        if node.op == "get_attr":
            if node not in component.getattr_maps:
                made = component.graph.get_attr(node.target, type_expr=node.type)
                made.meta = copy.copy(node.meta)
                component.getattr_maps[node] = made
            return component.getattr_maps[node]
        if owner.get(node) is component:
            return copies[node]
        if node not in component.orig_inputs:
            made = component.graph.placeholder(node.name, type_expr=node.type)
            made.meta = copy.copy(node.meta)
            component.orig_inputs.append(node)
            component.input_placeholders.append(made)
        return component.input_placeholders[component.orig_inputs.index(node)]

    return stand_in


def _note_outputs(components: list[Component], owner: dict[Node, Component], returned: NodeList) -> None:
    """Let each component return what others, or the output, use."""
    used = [node for component in components for node in component.orig_inputs] + returned
    for node in dict.fromkeys(used):
        if node in owner:
            owner[node].orig_outputs.append(node)


def _finish(gm: GraphModule, component: Component, copies: dict[Node, Node], return_tuple: bool) -> dict[str, str]:
    results = tuple(copies[node] for node in component.orig_outputs)
    component.graph.output(results[0] if len(results) == 1 and not return_tuple else results)
    component.gm, paths = lift_subgraph_as_module(gm, subgraph=component.graph, comp_name=component.name)
    return paths


def _call(outer: Graph, component: Component, in_outer: dict[Node, Node], return_tuple: bool) -> None:
    made = outer.call_module(component.name, tuple(in_outer[node] for node in component.orig_inputs))
    single = len(component.orig_outputs) == 1 and not return_tuple
    for i, node in enumerate(component.orig_outputs):
        in_outer[node] = made if single else outer.call_function(getitem, (made, i))
