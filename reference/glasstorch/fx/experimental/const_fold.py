"""Which part of a graph depends on parameters alone, and can be computed once?

Mirrors: torch/fx/experimental/const_fold.py
Differs: sizes are numbers.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from operator import getitem
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.fx._names import at
from glasstorch.fx._symbolic_trace import symbolic_trace
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node, map_arg
from glasstorch.fx.passes.split_module import split_module
from glasstorch.nn.modules.container import ParameterList
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]

CONSTANT, REST = "submod_0", "submod_1"


class FoldedGraphModule(GraphModule):
    """A module that computes the constant part of its graph when it is called for the first time.

    `const_subgraph_module` computes that part, and takes no arguments. Its results become the attribute named
    `fx_const_folded_attrs_name`: a parameter, or a list of parameters.
    """

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Compute the constant part, if there is one; AssertionError if that has been done."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        folded = self.const_subgraph_module()
        made = ParameterList(map(self._parameter, folded)) if isinstance(folded, tuple) else self._parameter(folded)
        setattr(self, self.fx_const_folded_attrs_name, made)

    def _parameter(self, value: Tensor | int) -> Parameter:
        if isinstance(value, Tensor):
            return Parameter(value.detach().clone(), requires_grad=value.requires_grad)
        number = at("tensor")([float(value)], device=self.device_for_folded_attrs)
        return Parameter(number, requires_grad=False)


def get_unique_attr_name_in_module(mod_traced: Module, name: str) -> str:
    """The name, as an identifier, with a number behind it if the module has it already."""
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    if name[0].isdigit():
        name = f"_{name}"
    while hasattr(mod_traced, name):
        numbered = re.match(r"(.*)_(\d+)$", name)
        name = f"{name}_1" if numbered is None else f"{numbered[1]}_{int(numbered[2]) + 1}"
    return name


def split_const_subgraphs(
    module: Module,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """A module that computes once what depends on parameters and buffers alone.

    Nodes with side effects are not among that, nor those for which `skip_folding_node_fn` is true. A result that is a
    number becomes a parameter on `device_for_folded_attrs`.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant = _constant_nodes(traced, skip_folding_node_fn)
    if all(node.op == "get_attr" for node in constant):
        return FoldedGraphModule(traced, traced.graph)
    split: Any = split_module(traced, module, lambda node: 0 if node in constant else 1)
    for part in (REST, CONSTANT):
        child = getattr(split, part, None)
        for node in child.graph.nodes if child is not None else ():
            if node.op == "call_module":
                setattr(split, node.target, getattr(child, node.target))
    call = next(node for node in split.graph.nodes if node.op == "call_module" and node.target == CONSTANT)
    once = copy.deepcopy(getattr(split, CONSTANT).graph)
    _fetch_inputs(once, call)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    several = isinstance(once.output_node().args[0], tuple)
    setattr(split, name, ParameterList() if several else Parameter(at("empty")(0)))
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    if hasattr(split, REST):
        _inline_module(split, REST)
    split.graph.eliminate_dead_code()
    return FoldedGraphModule(split, split.graph, once, name, device_for_folded_attrs)


def _constant_nodes(module: GraphModule, skip: Callable[[Node], bool] | None) -> set[Node]:
    """The nodes that fetch an attribute or depend on such nodes alone."""
    found: set[Node] = set()
    for node in module.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        depends = node.op != "get_attr" and not found.issuperset(node.all_input_nodes)
        if depends or (skip is not None and skip(node)) or node.is_impure() or _calls_impure(module, node):
            continue
        found.add(node)
    return found


def _calls_impure(module: GraphModule, node: Node) -> bool:
    """Whether a node calls a module whose graph has a side effect."""
    called = module.get_submodule(node.target) if node.op == "call_module" else None
    return isinstance(called, GraphModule) and any(
        (inner.op == "call_function" and inner.is_impure()) or _calls_impure(called, inner)
        for inner in called.graph.nodes
    )


def _fetch_inputs(graph: Graph, call: Node) -> None:
    """Let a graph fetch what the call passes in, all of which the calling graph fetches."""
    for node, given in zip(graph.find_nodes(op="placeholder"), call.args, strict=True):
        with graph.inserting_before(node):
            fetched = graph.get_attr(given.target)
        fetched.meta = node.meta.copy()
        node.replace_all_uses_with(fetched)
        graph.erase_node(node)


def _inline_module(gm: GraphModule, inline_mod_name: str, run_dce: bool = True) -> dict[Node, Any]:
    """Put the nodes of a submodule's graph in the place of its call; returns what they became by what they were."""
    inner = gm.get_submodule(inline_mod_name)
    if not isinstance(inner, GraphModule):
        raise AssertionError(f"Expected GraphModule, got {type(inner)}")
    calls = [node for node in gm.graph.nodes if node.op == "call_module" and node.target == inline_mod_name]
    if not calls:
        raise AssertionError(f"Could not find call_module node for {inline_mod_name}")
    call = calls[0]
    became: dict[Node, Any] = {}
    places = iter(call.args)
    for node in inner.graph.nodes:
        if node.op == "placeholder":
            became[node] = call.kwargs[node.name] if node.name in call.kwargs else next(places)
        elif node.op != "output":
            with gm.graph.inserting_before(call):
                became[node] = gm.graph.node_copy(node, became.__getitem__)
    result = map_arg(inner.graph.output_node().args[0], became.__getitem__)
    if isinstance(result, list | tuple):
        for user in list(call.users):
            if user.op == "call_function" and user.target is getitem and isinstance(user.args[1], int):
                became[user] = result[user.args[1]]
                user.replace_all_uses_with(became[user])
                gm.graph.erase_node(user)
    for user in list(call.users):
        user._replace_input_with(call, result)
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return became
