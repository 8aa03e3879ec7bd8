"""How does a graph become loops, at PyTorch's own path?

Reading order: `compile_fx` is all there is; the code is in compiler/loops.

Mirrors: torch/_inductor/__init__.py (compile, list_mode_options)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._inductor.compile_fx import compile_fx
from glasstorch.compiler.entry import MODES
from glasstorch.fx.graph_module import GraphModule


def compile(gm: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
    """A function like a graph's module that runs loops, given inputs like those that it will get."""
    return compile_fx(gm, example_inputs)


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The options that each mode of `torch.compile` stands for, or those of one mode."""
    if mode is None:
        return MODES
    if mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    return MODES[mode]
