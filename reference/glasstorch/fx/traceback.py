"""What does a tracer note about where a node came from?

Mirrors: torch/fx/traceback.py
Differs: metadata of compiled regions and of profiler files are not kept; what is noted belongs to a thread.

While `preserve_node_meta` is on, a tracer copies what `get_current_meta` holds into each node that it makes: an
interpreter puts the node there that it is running, so the nodes of a second graph remember those of the first.
"""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import wraps
from threading import local
from typing import Any, Final

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node

__all__ = [
    "NodeSource",
    "NodeSourceAction",
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "get_current_replay_node",
    "get_graph_provenance_json",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "reset_grad_fn_seq_nr",
    "set_current_meta",
    "set_current_replay_node",
    "set_grad_fn_seq_nr",
    "set_stack_trace",
]


class _Noted(local):
    """What is noted in this thread: two threads may trace at once."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}  # what new nodes get
        self.is_preserved = False  # whether they get it
        self.replayed: Node | None = None


noted: Final = _Noted()


class NodeSourceAction(Enum):
    """What a pass did to a node."""

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """From which node of which graph, and by which pass, another node was made.

    `from_node` holds the sources of that node in turn, so a source is the root of a history.
    """

    def __init__(
        self, node: Node | None, pass_name: str = "", action: NodeSourceAction | list[NodeSourceAction] | None = None
    ) -> None:
        self.pass_name = pass_name
        self.action = [action] if isinstance(action, NodeSourceAction) else list(action or [])
        self.node_info = None if node is None else (node.name, str(node.target), id(node.graph))
        self.from_node: list[NodeSource] = [] if node is None else copy.deepcopy(node.meta.get("from_node", []))

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.node_info[0] if self.node_info else ""

    @property
    def target(self) -> str:
        """What the node calls, as text."""
        return self.node_info[1] if self.node_info else ""

    @property
    def graph_id(self) -> int:
        """A number that is the same for nodes of one graph; -1 for no node."""
        return self.node_info[2] if self.node_info else -1

    def to_dict(self) -> dict[str, Any]:
        """The history as plain values, for JSON."""
        return {
            "name": self.name,
            "target": self.target,
            "graph_id": self.graph_id,
            "pass_name": self.pass_name,
            "action": "+".join(action.name.lower() for action in self.action),
            "from_node": [source.to_dict() for source in self.from_node],
        }

    def print_readable(self, indent: int = 0) -> str:
        """The history as lines, each source indented below what was made of it."""
        action = "+".join(action.name.lower() for action in self.action)
        line = f"{' ' * indent * 4}(name={self.name}, pass_name={self.pass_name}, action={action}, "
        line += f"graph_id={self.graph_id})\n"
        return line + "".join(source.print_readable(indent + 1) for source in self.from_node)

    def __repr__(self) -> str:
        return self.print_readable()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.pass_name, self.node_info))


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """While this is on, new nodes get the current metadata."""
    saved = noted.is_preserved, noted.meta
    noted.is_preserved, noted.meta = enable, noted.meta.copy()
    try:
        yield
    finally:
        noted.is_preserved, noted.meta = saved


def has_preserved_node_meta() -> bool:
    """Whether new nodes get the current metadata."""
    return noted.is_preserved


def set_stack_trace(stack: list[str]) -> None:
    """Let new nodes have a stack, given as formatted frames, while metadata is preserved."""
    if noted.is_preserved and stack:
        noted.meta["stack_trace"] = "".join(stack)


def format_stack() -> list[str]:
    """The stack that new nodes get, or that of the caller while metadata is not preserved."""
    if noted.is_preserved:
        return [noted.meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """While a node runs in an interpreter, let new nodes have its metadata and name it as where they come from."""
    if not noted.is_preserved or not node.meta:
        yield
        return
    saved = noted.meta
    try:
        noted.meta = {**node.meta, "from_node": [NodeSource(node, pass_name, NodeSourceAction.CREATE)]}
        yield
    finally:
        noted.meta = saved


def get_current_meta() -> dict[str, Any]:
    """The metadata that new nodes get."""
    return noted.meta


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Let new nodes have these values in `meta["custom"]`, while metadata is preserved."""
    had, before = "custom" in noted.meta, copy.copy(noted.meta.get("custom", {}))
    try:
        noted.meta.setdefault("custom", {}).update(annotation_dict)
        yield
    finally:
        if had:
            noted.meta["custom"] = before
        else:
            del noted.meta["custom"]


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: while the function runs, nodes are annotated as `annotate` does it."""

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def annotated(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return annotated

    return decorator


def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Let new nodes belong to the autograd node of this number, until `reset_grad_fn_seq_nr`."""
    if noted.is_preserved:
        noted.meta["grad_fn_seq_nr"] = [*noted.meta.get("grad_fn_seq_nr", []), seq_nr]
        noted.meta["in_grad_fn"] = noted.meta.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr() -> None:
    """Take back the last `set_grad_fn_seq_nr`."""
    if not noted.is_preserved:
        return
    level = noted.meta.get("in_grad_fn", 0)
    if level <= 0:
        raise AssertionError(f"Expected current_level > 0, got {level}")
    if level == 1:
        del noted.meta["in_grad_fn"], noted.meta["grad_fn_seq_nr"]
    else:
        noted.meta["in_grad_fn"] = level - 1
        noted.meta["grad_fn_seq_nr"] = noted.meta["grad_fn_seq_nr"][:-1]


@contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """Note which node's work is being done again."""
    saved, noted.replayed = noted.replayed, node
    try:
        yield
    finally:
        noted.replayed = saved


def get_current_replay_node() -> Node | None:
    """The node whose work is being done again."""
    return noted.replayed


def get_graph_provenance_json(graph: Graph) -> dict[str, Any]:
    """Where each call of a function comes from, as plain values."""
    return {
        node.name: [source.to_dict() for source in node.meta.get("from_node", [])]
        for node in graph.nodes
        if node.op == "call_function"
    }


__getattr__ = refuse_unknown_names(__name__)
