"""Keeps what every node writes, and not only what the last one writes."""

from __future__ import annotations

from glasstorch.jit.ir import Node
from glasstorch.jit.passes.fuse_pointwise import _Behind, _touches, _writes
from glasstorch.jit.side_effects import has_side_effects

FILE = "jit/passes/fuse_pointwise.py"
LINE = 86


def mended(self: _Behind, node: Node) -> None:
    """Take a node into the set, with what it touches, writes, and lets others see."""
    self.nodes.append(node)
    self._set.add(node)
    self._touched |= _touches(node, self._aliases)
    self._written |= _writes(node, self._aliases)
    self._seen_from_outside |= has_side_effects(node)
