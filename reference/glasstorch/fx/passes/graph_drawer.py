"""How does a graph look as a picture?

Mirrors: torch/fx/passes/graph_drawer.py
Differs: no tensor is quantized. The package `pydot` is needed when a graph is drawn, not before.

The picture is a `pydot.Dot`, which Graphviz lays out: `drawer.get_dot_graph().write_svg(path)`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain
from types import ModuleType
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.fx._annotations import parse_stack_trace as parse_trace
from glasstorch.fx._names import format_argument, pretty_target, qualified_name
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node, Target
from glasstorch.fx.operator_schemas import normalize_function
from glasstorch.fx.passes._box_texts import LEFT, NEWLINE, escaped, listed_text, noted_text, shortened
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter
from glasstorch.python_forms.tensor_types import typename

__all__ = ["FxGraphDrawer"]

OF_A_KIND: Final = {
    "placeholder": '"AliceBlue"',
    "call_module": "LemonChiffon1",
    "get_param": "Yellow2",
    "get_attr": "LightGrey",
    "output": "PowderBlue",
}
OF_A_TARGET: Final = (  # one of them, always the same for a function
    "CadetBlue1", "Coral", "DarkOliveGreen1", "DarkSeaGreen1", "GhostWhite", "Khaki1", "LavenderBlush1", "LightSkyBlue",
    "MistyRose1", "MistyRose2", "PaleTurquoise2", "PeachPuff1", "Salmon", "Thistle1", "Thistle3", "Wheat1",
)  # fmt: skip
MOST_ITEMS: Final = 8  # of a container among the arguments


class FxGraphDrawer:
    """Draws a module's graph, and those of the submodules that have one.

    Each node is a box with its name, kind, target, plain arguments and what `ShapeProp` noted. Parameters and buffers
    of submodules are boxes too, unless `ignore_parameters_and_buffers`; `ignore_getattr` leaves out the nodes that
    fetch attributes. `parse_stack_trace` adds the line that recorded a node, `normalize_args` names the arguments.
    RuntimeError is raised if `pydot` is not installed.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        self._pydot = _pydot()
        self._name = name
        self.dot_graph_shape = dot_graph_shape or "record"
        self.normalize_args = normalize_args
        self._ignore_getattr = ignore_getattr
        self._ignore_parameters_and_buffers = ignore_parameters_and_buffers
        self._skip_node_names_in_args = skip_node_names_in_args
        self._parse_stack_trace = parse_stack_trace
        self._dot_graphs = {name: self._to_dot(graph_module, name)}
        for node in graph_module.graph.nodes:
            if node.op == "call_module" and isinstance(child := _found(graph_module, node), GraphModule):
                path = f"{name}_{node.target}"
                self._dot_graphs[path] = self._to_dot(child, path)

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """The picture of the module, or of one of its submodules."""
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> Any:
        """The picture of the module."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        """The picture of a submodule that has a graph, by the path that the graph calls it by."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Any]:
        """All pictures: the module's by its name, a submodule's with `_` and its path behind the name."""
        return self._dot_graphs

    def _to_dot(self, graph_module: GraphModule, name: str) -> Any:
        pydot = self._pydot
        picture = pydot.Dot(name, rankdir="TB")  # from top to bottom
        drawn = [node for node in graph_module.graph.nodes if not (self._ignore_getattr and node.op == "get_attr")]
        clusters: dict[str, Any] = {}  # nodes that a compiler has fused into one buffer stand in a frame
        for node in drawn:
            box = pydot.Node(node.name, label=self._get_node_label(graph_module, node), **self._get_node_style(node))
            buffer = node.meta.get("buf_meta")
            if buffer is None or buffer.n_origin <= 1:
                picture.add_node(box)
            else:
                if buffer.name not in clusters:
                    clusters[buffer.name] = pydot.Cluster(buffer.name, label=buffer.name)
                clusters[buffer.name].add_node(box)
            for weight, label in self._weights(graph_module, node):
                picture.add_node(pydot.Node(weight, label=label, **self._style("Salmon")))
                picture.add_edge(pydot.Edge(weight, node.name))
        for cluster in clusters.values():
            cluster.set("color", "royalblue")
            cluster.set("penwidth", "2")
            picture.add_subgraph(cluster)
        for node in drawn:
            for user in node.users:
                picture.add_edge(pydot.Edge(node.name, user.name))
        return picture

    def _weights(self, graph_module: GraphModule, node: Node) -> Iterator[tuple[str, str]]:
        """The names and labels of the tensors of the submodule that a node calls."""
        if self._ignore_parameters_and_buffers or node.op != "call_module":
            return
        called = _found(graph_module, node)
        if isinstance(called, GraphModule):
            return
        for path, tensor in chain(called.named_parameters(), called.named_buffers()):
            name = f"{node.name}.{path}"
            kind = f"{name}|op_code=get_parameter" if isinstance(tensor, Parameter) else rf"buffer{LEFT}"
            yield name, "{" + kind + self._get_tensor_label(tensor) + "}"

    # A box -------------------------------------------------------------------------------------------------------

    def _style(self, color: str) -> dict[str, str]:
        return {
            "shape": self.dot_graph_shape, "fillcolor": color, "style": '"filled,rounded"', "fontcolor": "#000000",
        }  # fmt: skip

    def _get_node_style(self, node: Node) -> dict[str, str]:
        """How a node's box looks: its color is that of its kind, or else one that its target's name chooses."""
        if node.op in OF_A_KIND:
            return self._style(OF_A_KIND[node.op])
        digest = hashlib.md5(pretty_target(node.target).encode(), usedforsecurity=False).hexdigest()
        return self._style(OF_A_TARGET[int(digest[:8], 16) % len(OF_A_TARGET)])

    def _get_node_label(self, module: GraphModule, node: Node) -> str:
        """What stands in a node's box: fields between bars."""
        label = f"{{name=%{node.name}|op_code={node.op}\n"
        if node.op == "call_module":
            called = _found(module, node)
            constants = [f"{name}: {getattr(called, name)}" for name in getattr(called, "__constants__", ())]
            label += NEWLINE + self._typename(called) + rf"{NEWLINE}|" + NEWLINE.join(constants) + NEWLINE
        else:
            args, kwargs = self._arguments(node)
            label += f"|target={self._typename(node.target)}{NEWLINE}"
            label += listed_text("|args=(", self._wanted(format_argument(arg, MOST_ITEMS) for arg in args), ")")
            named = self._wanted(f"{name}: {format_argument(arg, MOST_ITEMS)}" for name, arg in kwargs.items())
            label += listed_text("|kwargs={", named, "}")
            label += f"|num_users={len(node.users)}{NEWLINE}"
        label += self._tensor_meta_to_label(node.meta.get("tensor_meta"))
        if (buffer := node.meta.get("buf_meta")) is not None:
            label += f"|buf={buffer.name}{NEWLINE}|n_origin={buffer.n_origin}{NEWLINE}"
        if self._parse_stack_trace and node.stack_trace is not None:
            frame = parse_trace(node.stack_trace)
            if frame is not None:
                label += f"|file={shortened(frame.file)}:{frame.lineno} {frame.code}{NEWLINE}"
        return label + "}"

    def _arguments(self, node: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self.normalize_args and node.op == "call_function":
            try:
                found = normalize_function(node.target, node.args, node.kwargs, normalize_to_only_use_kwargs=True)
            except Exception:  # noqa: BLE001  # some functions cannot say which overload is called: drawn as they are
                found = None
            if found is not None:
                return found
        return node.args, node.kwargs

    def _wanted(self, arguments: Iterable[str]) -> list[str]:
        """The arguments that are shown: names of nodes are left out if that is wanted."""
        return [argument for argument in arguments if not (self._skip_node_names_in_args and "%" in argument)]

    def _typename(self, target: Target | Module) -> str:
        if isinstance(target, str):
            return escaped(target)
        return escaped(typename(target) if isinstance(target, Module) else qualified_name(target))

    def _tensor_meta_to_label(self, noted: object) -> str:
        return noted_text(noted)

    def _get_tensor_label(self, t: Tensor) -> str:
        return f"{t.dtype}{list(t.shape)}{NEWLINE}"


def _pydot() -> ModuleType:
    try:
        import pydot  # type: ignore[import-not-found]  # optional: nothing else needs it
    except ModuleNotFoundError:
        raise RuntimeError(
            "FXGraphDrawer requires the pydot package to be installed. Please install "
            "pydot through your favorite Python package manager."
        ) from None
    return pydot  # type: ignore[no-any-return]


def _found(module: Module, node: Node) -> Module:
    """The submodule that a node calls."""
    found: Any = module
    for name in node.target.split("."):
        if not hasattr(found, name):
            raise RuntimeError(f"{found} does not have attribute {name}!")
        found = getattr(found, name)
    return found  # type: ignore[no-any-return]
