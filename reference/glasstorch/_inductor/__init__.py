"""How does a graph become loops, at PyTorch's own path?

Reading order: `compile_fx`, `config` (its settings), `compiler_bisector` (where it goes wrong); the
code is in compiler/loops.

Mirrors: torch/_inductor/__init__.py (compile, list_mode_options, list_options)
Differs: graphs are compiled in the process that runs them; what writes a library for another program is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._inductor import config as config
from glasstorch._inductor.compile_fx import compile_fx
from glasstorch.compiler.entry import MODES
from glasstorch.compiler.loops.settings import settings
from glasstorch.fx.graph_module import GraphModule

AHEAD = "glasstorch compiles a graph in the process that runs it; use torch.compile"


def compile(
    gm: GraphModule, example_inputs: Sequence[Any], options: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """A function like a graph's module that runs loops, given inputs like those that it will get."""
    return compile_fx(gm, example_inputs, options=options)


def list_options() -> list[str]:
    """The names of all settings, which are the options of `torch.compile` for this backend."""
    return list(settings.get_config_copy())


def cudagraph_mark_step_begin() -> None:
    """Mark where a step begins, for CUDA graphs, of which there are none."""


def aot_compile(*args: Any, **kwargs: Any) -> Any:
    """A library that other programs load: refused."""
    raise NotImplementedError(f"torch._inductor.aot_compile: {AHEAD}")


def aoti_compile_and_package(*args: Any, **kwargs: Any) -> Any:
    """A package that other programs load: refused."""
    raise NotImplementedError(f"torch._inductor.aoti_compile_and_package: {AHEAD}")


def aoti_load_package(*args: Any, **kwargs: Any) -> Any:
    """What such a package holds: refused."""
    raise NotImplementedError(f"torch._inductor.aoti_load_package: {AHEAD}")


def standalone_compile(*args: Any, **kwargs: Any) -> Any:
    """A compiled graph that can be saved: refused."""
    raise NotImplementedError(f"torch._inductor.standalone_compile: {AHEAD}")


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The options that each mode of `torch.compile` stands for, or those of one mode."""
    if mode is None:
        return MODES
    if mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    return MODES[mode]
