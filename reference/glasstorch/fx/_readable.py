"""How is a graph printed for a reader?

Mirrors: torch/fx/graph_module.py (_print_readable)
"""

from __future__ import annotations

from typing import Any

from glasstorch.fx.graph import Graph
from glasstorch.nn.modules.module import Module


def _indented(text: str) -> str:
    """The text with all lines but the first four columns to the right; empty ones stay empty."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"    {line}" if line.strip() else "" for line in rest)])


def readable(module: Module, name: str, **shown: Any) -> str:
    """The source of a class with the verbose code of a module's graph, and of those of its children."""
    graph = getattr(module, "graph", None)
    if not isinstance(graph, Graph):
        raise AssertionError("print_readable must be used on a module with a graph")
    code = graph.python_code(root_module="self", verbose=True, **shown).src.lstrip("\n")
    text = _indented(f"class {name}(torch.nn.Module):\n{code}")
    shown = {**shown, "expanded_def": False}
    children = [
        readable(child, child_name, **shown)
        for child_name, child in module.named_children()
        if isinstance(getattr(child, "graph", None), Graph)
    ]
    return text + _indented("\n".join(["", *children]))
