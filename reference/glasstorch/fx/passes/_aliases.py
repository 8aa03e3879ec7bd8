"""Which nodes of a graph share memory?

Mirrors: torch/fx/passes/reinplace.py (_FunctionalizationMetadataProp)
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import getitem
from typing import Any

from glasstorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.core.pytree import tree_leaves
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Interpreter
from glasstorch.fx.node import Node


class AliasProp(Interpreter):
    """Runs a graph of operators on fake tensors, and notes in each node's `meta` what it gives and what that views.

    `fake_result` is the result, `node_idx` the node's place, and `view_of` the node of whose result a view was taken.
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.place = -1
        self.lists_of_views: dict[Node, Any] = {}  # calls such as `split`, and what they split

    def run_node(self, n: Node) -> Any:
        """What the node gives, a fake tensor or a container of them."""
        self.place += 1
        result = super().run_node(n)
        n.meta["fake_result"], n.meta["node_idx"] = result, self.place
        if isinstance(n.target, OpOverload) and n.target.is_view:
            if isinstance(result, Tensor):
                n.meta["view_of"] = n.args[0]
            else:
                self.lists_of_views[n] = n.args[0]
        elif n.target is getitem and n.args[0] in self.lists_of_views:
            n.meta["view_of"] = self.lists_of_views[n.args[0]]
        assert "view_of" not in n.meta or set(storages(n)) == set(storages(n.meta["view_of"])), f"{n} is not a view"
        return result

    def propagate(self, *args: object) -> Any:
        """Run the graph on fake tensors of the examples."""
        with FakeTensorMode() as mode:
            return super().run(*(mode.from_tensor(arg) if isinstance(arg, Tensor) else arg for arg in args))


def storages(node: Node) -> Iterator[int]:
    """The storages of a node's results, as numbers."""
    for leaf in tree_leaves(node.meta["fake_result"]):
        if isinstance(leaf, FakeTensor):
            yield leaf.untyped_storage()._cdata


class SharedMemory:
    """The nodes whose results are in a storage. Storages can be united, when one result takes the place of another."""

    def __init__(self, nodes: Iterator[Node]) -> None:
        self._nodes: dict[int, set[Node]] = {}
        for node in nodes:
            for storage in storages(node) if "fake_result" in node.meta else ():
                self._nodes.setdefault(storage, set()).add(node)

    def with_memory_of(self, node: Node) -> set[Node]:
        """The nodes whose results share memory with that of a node."""
        return set().union(*(self._nodes[storage] for storage in storages(node)))

    def unite(self, a: Node, b: Node) -> None:
        """From now on, the results of two nodes are in one storage."""
        both = self.with_memory_of(a) | self.with_memory_of(b)
        for node in list(both):
            self._nodes.update(dict.fromkeys(storages(node), both))
