"""How is a graph written with the lines that it comes from, and what was decided where a joint graph was cut?

Mirrors: torch/fx/graph_module.py (print_readable) in what it shows
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.compiler.joint import FORWARD, TAG
from glasstorch.compiler.reports.places import NOWHERE, Places, of_trace
from glasstorch.core.pytree import tree_leaves
from glasstorch.core.symbols import is_symbol

ASSIGNED: Final = re.compile(r"^\s+(\w+)(?:\s*:[^=]*)?\s*=")
FREED: Final = re.compile(r";  (?:\w+ = )+None$")


class Row(NamedTuple):
    """A line of a stage, and the lines of the program that it comes from."""

    text: str
    places: Places = NOWHERE
    is_head: bool = False


def code_rows(module: Any) -> list[Row]:
    """The code of a graph, each line followed by what it gives."""
    by_name = {node.name: node for node in module.graph.nodes}
    rows = []
    for line in module.code.strip("\n").rstrip().splitlines():
        line = FREED.sub("", line)
        found = ASSIGNED.match(line)
        node = by_name.get(found[1]) if found else None
        like = kind_of(node) if node is not None else ""
        rows.append(Row(f"{line}  # {like}" if like else line, of_trace(node.stack_trace) if node else NOWHERE))
    return rows


def kind_of(node: Any) -> str:
    """The dtype and sizes of what a node gives; empty if it is no tensor."""
    return shape_of(node.meta.get("val", node.meta.get("example_value")))


def shape_of(value: Any) -> str:
    """The dtype and sizes of a tensor; empty for anything else."""
    if not isinstance(value, Tensor):
        return ""
    return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"


def nbytes_of(node: Any) -> int:
    """The bytes of the tensors that a node gives; of one with a size that is a symbol it is not known, and 0."""
    values = [value for value in tree_leaves(node.meta.get("val")) if isinstance(value, Tensor)]
    sizes = [(value.numel(), value.element_size()) for value in values]
    return sum(count * size for count, size in sizes if not is_symbol(count))


def partition_rows(cut: dict[str, Any]) -> list[Row]:
    """What the forward pass keeps for the backward one, and what is computed again there."""
    forward, backward, count = cut["forward"], cut["backward"], cut["results"]
    saved = [node for node in tree_leaves(forward.graph.output_node().args[0])[count:] if hasattr(node, "op")]
    total = sum(map(nbytes_of, saved))
    rows = [Row(f"kept for the backward pass: {len(saved)} values, {total:,} bytes", is_head=True)]
    for node in saved:
        what = "an argument, which exists anyway" if node.op == "placeholder" else f"{nbytes_of(node):,} bytes"
        rows.append(Row(f"    {node.name}  # {kind_of(node) or 'a number'}; {what}", of_trace(node.stack_trace)))
    again = list(_computed_again(backward.graph.nodes))
    rows.append(Row(f"computed again in the backward pass: {len(again)} operators", is_head=True))
    rows += [Row(f"    {node.name} = {node.target}  # {kind_of(node)}", of_trace(node.stack_trace)) for node in again]
    return rows


def _computed_again(nodes: Iterable[Any]) -> Iterator[Any]:
    return (node for node in nodes if node.op == "call_function" and node.meta.get(TAG) == FORWARD)
