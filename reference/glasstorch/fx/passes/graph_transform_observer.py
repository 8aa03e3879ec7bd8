"""Which nodes did a pass make, replace and remove?

Mirrors: torch/fx/passes/graph_transform_observer.py
Differs: no setting of the compiler is read, so nothing is observed without `log_url`, and no pass is switched off.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.graph_drawer import FxGraphDrawer
from glasstorch.fx.traceback import NodeSource, NodeSourceAction

__all__ = ["GraphTransformObserver"]

T = TypeVar("T")


class GraphTransformObserver:
    """While it is entered, notes what becomes of a module's nodes, and then draws the graph before and after.

    `log_url` is a folder, into which two `.dot` files are written if anything changed: nodes that were removed or made
    are yellow. A new node's `meta["from_node"]` says which pass made it, and instead of which node. Without `log_url`,
    nothing is observed.
    """

    _pass_count: ClassVar = 0

    def __init__(
        self, gm: GraphModule, passname: str, subsystem: str | None = None, log_url: str | None = None
    ) -> None:
        self.gm = gm
        self.passname = passname
        self.subsystem = subsystem
        self.log_url = log_url
        self.active = log_url is not None
        if not self.active:
            return
        self.erased_nodes: set[str] = set()
        self.created_nodes: set[str] = set()
        self.name_to_node: dict[str, Node] = {}
        self.copied_gms: list[GraphModule] = []  # copies have the hooks too
        self._node_creation_hook = self.get_node_creation_hook()
        self._node_erase_hook = self.get_node_erase_hook()
        self._node_replace_hook = self.get_node_replace_hook()
        self._deepcopy_hook = self.get_deepcopy_hook()
        GraphTransformObserver._pass_count += 1
        self.input_dot_graph = self._drawn()

    @classmethod
    def get_current_pass_count(cls) -> int:
        """How many passes have been observed."""
        return cls._pass_count

    def apply_gm_pass(self, pass_fn: Callable[[GraphModule], T]) -> T | None:
        """What a pass returns for the module, which is observed."""
        with self:
            return pass_fn(self.gm)

    def apply_graph_pass(self, pass_fn: Callable[[Graph], T]) -> T | None:
        """What a pass returns for the module's graph, which is observed."""
        with self:
            return pass_fn(self.gm.graph)

    def __enter__(self) -> Self:
        if self.active:
            self.gm._register_create_node_hook(self._node_creation_hook)
            self.gm._register_erase_node_hook(self._node_erase_hook)
            self.gm._register_replace_node_hook(self._node_replace_hook)
            self.gm._register_deepcopy_hook(self._deepcopy_hook)
            self.erased_nodes.clear()
            self.created_nodes.clear()
            self.copied_gms.clear()
            self.name_to_node = {node.name: node for node in self.gm.graph.nodes}
        return self

    def __exit__(self, *error: object) -> None:
        if not self.active:
            return
        for gm in (*self.copied_gms, self.gm):
            gm._unregister_create_node_hook(self._node_creation_hook)
            gm._unregister_erase_node_hook(self._node_erase_hook)
            gm._unregister_replace_node_hook(self._node_replace_hook)
            gm._unregister_deepcopy_hook(self._deepcopy_hook)
        if self.created_nodes or self.erased_nodes:
            self._write(self.input_dot_graph, self.erased_nodes, "input")
            self._write(self._drawn(), self.created_nodes, "output")

    def _drawn(self) -> Any:
        drawer = FxGraphDrawer(self.gm, self.passname, ignore_getattr=True, ignore_parameters_and_buffers=True)
        return drawer.get_dot_graph()

    def _write(self, picture: Any, changed: set[str], which: str) -> None:
        for box in picture.get_node_list():
            box.obj_dict["attributes"]["fillcolor"] = "yellow" if box.get_name() in changed else "grey"
        assert self.log_url is not None
        name = f"pass_{self._pass_count}_{self.passname}_{which}_graph.dot"
        picture.write(str(Path(self.log_url) / name))

    # The hooks are functions rather than methods, since a copy of the module copies its hooks, and with a method all
    # that the observer holds.

    def get_node_creation_hook(self) -> Callable[[Node], None]:
        """What is called with each new node."""

        def on_node_creation(node: Node) -> None:
            self.created_nodes.add(node.name)
            self.name_to_node[node.name] = node
            node.meta.setdefault("from_node", []).append(NodeSource(None, self.passname, NodeSourceAction.CREATE))

        return on_node_creation

    def get_node_erase_hook(self) -> Callable[[Node], None]:
        """What is called with each node that is removed."""

        def on_node_erase(node: Node) -> None:
            self.erased_nodes.add(node.name)
            self.name_to_node.pop(node.name, None)

        return on_node_erase

    def get_node_replace_hook(self) -> Callable[[Node, str, Node], None]:
        """What is called for each user of a node that another one replaces."""

        def on_node_replace(old: Node, new: str, user: Node) -> None:
            node = self.name_to_node.get(new)
            if node is None:
                return
            sources: list[NodeSource] = node.meta.get("from_node", [])
            if any(source.name == old.name for source in sources):  # noted for another user
                return
            created = [NodeSourceAction.CREATE]
            kept = [one for one in sources if (one.pass_name, one.action) != (self.passname, created)]
            actions = [NodeSourceAction.REPLACE, *(created if node.name in self.created_nodes else ())]
            node.meta["from_node"] = [*kept, NodeSource(old, self.passname, actions)]

        return on_node_replace

    def get_deepcopy_hook(self) -> Callable[[GraphModule], None]:
        """What is called with each copy of the module."""

        def on_deepcopy(gm: GraphModule) -> None:
            self.copied_gms.append(gm)

        return on_deepcopy
