"""Which nodes are dead?

Mirrors: torch/csrc/jit/passes/dead_code_elimination.cpp
Differs: a draw of random numbers is kept (side_effects.py). A value that a loop carries only to compute itself is
    removed; in PyTorch every loop-carried value is alive.

# Note [Alive]
The analysis walks the program backwards. A node is needed if its omission would be visible: it has a side effect, one
of its outputs is alive, or it writes to memory of a value that is alive, which at this point of the walk means: read
later. The inputs of a needed node are alive. Memory from outside the graph is always alive. In a loop, a read at the
start of the body follows the end of the previous iteration, so the body is walked until nothing new is found (a fixed
point).
"""

from __future__ import annotations

from glasstorch.jit.alias_analysis import OUTSIDE, AliasAnalysis, Place
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.side_effects import has_side_effects


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove the nodes that are not needed, and the unused outputs and carried values of an If or a Loop."""
    liveness = _Liveness(AliasAnalysis(graph))
    for value in graph.outputs:
        liveness.mark_alive(value)
    liveness.mark_block(graph.block)
    changed = _sweep(graph.block, liveness)
    graph.lint()
    return changed


class _Liveness:
    """The values and nodes found alive so far; the sets only grow. See Note [Alive]."""

    def __init__(self, analysis: AliasAnalysis) -> None:
        self.analysis = analysis
        self.nodes: set[Node] = set()
        self.values: set[Value] = set()
        self._places: set[Place] = {OUTSIDE}

    def mark_alive(self, value: Value) -> None:
        self.values.add(value)
        self._places |= self.analysis.places(value)

    def mark_block(self, block: Block) -> None:
        for node in reversed(block.nodes):
            if node.kind == "prim::If":
                self._mark_if(node)
            elif node.kind == "prim::Loop":
                self._mark_loop(node)
            else:
                for inner in node.blocks:  # of an unknown kind: all its results count as used
                    self._mark_outputs(inner, range(len(inner.outputs)))
                    self.mark_block(inner)
            if self._is_needed(node):
                self._mark_node(node)

    def _mark_node(self, node: Node) -> None:
        self.nodes.add(node)
        carried = node.kind == "prim::Loop"
        for i, value in enumerate(node.inputs):
            if not carried or i < 2 or self.carries(node, i - 2):
                self.mark_alive(value)

    def _is_needed(self, node: Node) -> bool:
        return (
            node in self.nodes
            or has_side_effects(node)
            or any(output in self.values for output in node.outputs)
            or not self.analysis.writes(node).isdisjoint(self._places)
            or any(inner in self.nodes for block in node.blocks for inner in block.nodes)
        )

    def _mark_if(self, node: Node) -> None:
        alive = [i for i, output in enumerate(node.outputs) if output in self.values]
        for block in node.blocks:
            self._mark_outputs(block, alive)
            self.mark_block(block)

    def _mark_loop(self, node: Node) -> None:
        (body,) = node.blocks
        before = None
        while before != (before := (len(self.nodes), len(self.values))):
            alive = [i + 1 for i in range(len(node.outputs)) if self.carries(node, i)]
            self.mark_block(body)
            if alive or any(inner in self.nodes for inner in body.nodes):
                self._mark_outputs(body, [0, *alive])

    def _mark_outputs(self, block: Block, which: range | list[int]) -> None:
        for i in which:
            self.mark_alive(block.outputs[i])

    def carries(self, loop: Node, i: int) -> bool:
        """Whether carried value `i` is read: after the loop, or in its body."""
        return loop.outputs[i] in self.values or loop.blocks[0].inputs[i + 1] in self.values


def _sweep(block: Block, liveness: _Liveness) -> bool:
    """Remove the nodes that were not marked, last first, so that a removed node has no uses left."""
    changed = False
    for node in reversed(block.nodes):
        if node not in liveness.nodes:
            node.destroy()
            changed = True
            continue
        if node.kind == "prim::If":
            changed |= _sweep_outputs(node, liveness)
        if node.kind == "prim::Loop":
            changed |= _sweep_carried(node, liveness)
        for inner in node.blocks:
            changed |= _sweep(inner, liveness)
    return changed


def _sweep_outputs(node: Node, liveness: _Liveness) -> bool:
    dead = [i for i, output in enumerate(node.outputs) if output not in liveness.values]
    for i in reversed(dead):
        node.erase_output(i)
        for block in node.blocks:
            block.erase_output(i)
    return bool(dead)


def _sweep_carried(node: Node, liveness: _Liveness) -> bool:
    (body,) = node.blocks
    dead = [i for i in range(len(node.outputs)) if not liveness.carries(node, i)]
    for i in reversed(dead):  # its only uses left in the body are in dead nodes
        node.erase_output(i)
        node.remove_input(i + 2)
        body.erase_output(i + 1)
    changed = bool(dead)
    if dead:
        _sweep(body, liveness)
    for i in reversed(dead):
        body.erase_input(i + 1)
    return changed
