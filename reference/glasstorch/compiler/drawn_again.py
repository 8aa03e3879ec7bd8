"""Which random numbers does a checkpoint draw again, so that a graph must draw them once only?

Mirrors: torch/_functorch/partitioners.py (functionalize_rng_ops)
Differs: what draws in the forward pass gives its result to the backward pass; PyTorch draws again from the state of the
    generator.

In eager mode a checkpoint draws the same numbers when it runs its function again, as it sets the generator back. In a
graph there is no generator to set back, so what its function drew first is used again.
"""

from __future__ import annotations

from typing import Any

from glasstorch.dispatch.tags import Tag
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node


def is_random(node: Node) -> bool:
    """Whether it draws random numbers, which would be others the next time."""
    schema = getattr(node.target, "schema", None)
    return schema is not None and Tag.nondeterministic_seeded in node.target.tags


class Runs:
    """The runs of checkpointed functions in a graph that is being traced, and which nodes each has made."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.first: dict[Any, list[Node]] = {}  # by the checkpoint: what draws numbers
        self.later: list[tuple[Any, list[Node]]] = []

    def here(self) -> int:
        """A place in the graph."""
        return len(self.graph.nodes)

    def ended(self, checkpoint: Any, is_first: bool, start: int) -> None:
        """A checkpoint's function has run, from a place on."""
        drawing = [node for node in list(self.graph.nodes)[start:] if is_random(node)]
        if is_first:
            self.first[checkpoint] = drawing
        else:
            self.later.append((checkpoint, drawing))

    def draw_once(self) -> None:
        """Use what the first run drew in those after it."""
        for checkpoint, drawing in self.later:
            for before, again in zip(self.first[checkpoint], drawing, strict=False):  # the later one may stop early
                if before.target is not again.target:
                    raise NotImplementedError(
                        f"a checkpoint whose function draws by {before.target} first and by {again.target} when "
                        "it runs again cannot be compiled in glasstorch"
                    )
                again.replace_all_uses_with(before)
