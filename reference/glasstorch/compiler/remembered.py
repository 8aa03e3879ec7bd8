"""How do the nodes of a second graph remember the lines of the program from which those of the first were made?

Mirrors: torch/_functorch/_aot_autograd/graph_capture_wrappers.py (create_functional_call),
    torch/_functorch/_aot_autograd/logging_utils.py (setup_stacktrace_preservation_hooks)
Differs: a node of autograd is given its line after the operator has run, where PyTorch notes it in anomaly mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.pytree import tree_leaves
from glasstorch.fx import traceback as fx_traceback
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Interpreter
from glasstorch.fx.node import Node

TRACE: Final = "traceback_"  # where a node of autograd keeps its lines, as in PyTorch


class Remembering(Interpreter):
    """Runs a graph, and notes in the nodes of autograd which line of the program each was made for."""

    def run_node(self, n: Node) -> Any:
        found = super().run_node(n)
        if fx_traceback.has_preserved_node_meta() and n.stack_trace:
            for leaf in tree_leaves(found):
                if isinstance(leaf, Tensor) and leaf.grad_fn is not None:
                    for made in _without_lines(leaf.grad_fn):
                        made.metadata[TRACE] = [n.stack_trace]
        return found


def _without_lines(root: Any) -> Iterator[Any]:
    """The nodes of autograd that lead to one and have no line yet."""
    left = [root]
    while left:
        node = left.pop()
        if TRACE not in node.metadata:
            yield node
            left += [edge for edge, _ in node.next_functions if edge is not None and TRACE not in edge.metadata]


def remembering(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function like a module with a graph; while it is traced, new nodes get the lines of those that run."""
    if not isinstance(fn, GraphModule):
        return fn

    def run(*args: Any) -> Any:
        return Remembering(fn).run(*args)

    return run


def nodes_behind(results: Iterable[Tensor]) -> Iterator[Any]:
    """The nodes of autograd that lead to tensors, each once."""
    seen: set[Any] = set()
    left = [result.grad_fn for result in results]
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        left += [edge for edge, _ in node.next_functions]
        yield node


def remember_in_backward(results: Sequence[Any]) -> None:
    """Let the nodes that a backward pass makes have the lines of the operators whose gradients they compute."""
    for node in nodes_behind(result for result in results if isinstance(result, Tensor)):
        if lines := node.metadata.get(TRACE):
            node.register_prehook(_sets(lines))


def _sets(lines: list[str]) -> Callable[[Any], None]:
    return lambda gradients: fx_traceback.set_stack_trace(lines)
