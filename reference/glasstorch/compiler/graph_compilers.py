"""Which compilers leave a graph as it is, and only look at it?

Mirrors: torch/_functorch/compilers.py
Differs: `memory_efficient_fusion` runs the graphs as they are, where PyTorch's hands them to TorchScript.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.compiler.aot import aot_function, aot_module
from glasstorch.compiler.boxed import make_boxed_compiler
from glasstorch.compiler.min_cut import min_cut_rematerialization_partition
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Interpreter
from glasstorch.nn.modules.module import Module


@make_boxed_compiler
def nop(fx_g: GraphModule, _: Any) -> GraphModule:
    """The module itself."""
    return fx_g


@make_boxed_compiler
def print_compile(fx_g: GraphModule, _: Any) -> GraphModule:
    """The module itself, whose code is printed."""
    print(fx_g.code)
    return fx_g


@make_boxed_compiler
def debug_nop(fx_g: GraphModule, _: Any) -> Callable[..., Any]:
    """The module run node by node; a result whose sizes, strides or dtype are not those of the trace is an error."""
    return _Checked(fx_g).run


class _Checked(Interpreter):
    def run_node(self, n: Any) -> Any:
        found, wanted = super().run_node(n), n.meta.get("val")
        if hasattr(found, "stride") and hasattr(wanted, "stride"):
            ours, theirs = ((tuple(one.shape), one.stride(), one.dtype) for one in (found, wanted))
            if ours != theirs:
                raise AssertionError(f"{n.format_node()}: gave sizes, strides and dtype {ours}, traced with {theirs}")
        return found


def memory_efficient_fusion(fn: Any, **kwargs: Any) -> Any:
    """A function or module whose backward pass computes again what is cheap; the arguments are `aot_function`'s."""
    options = {"fw_compiler": nop, "bw_compiler": nop, "partition_fn": min_cut_rematerialization_partition, **kwargs}
    return aot_module(fn, **options) if isinstance(fn, Module) else aot_function(fn, **options)
