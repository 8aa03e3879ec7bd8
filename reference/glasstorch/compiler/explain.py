"""What was a call captured as, and where did the capture end early?

Mirrors: torch/_dynamo/eval_frame.py (explain), torch/_dynamo/backends/debugging.py (ExplainOutput)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from glasstorch.compiler.captured import Break, Optimized
from glasstorch.compiler.optimize import optimize
from glasstorch.fx.graph_module import GraphModule


class ExplainOutput(NamedTuple):
    """What a call was captured as."""

    graphs: list[GraphModule]
    break_reasons: list[Break]
    op_count: int
    out_guards: list[Any]

    @property
    def graph_count(self) -> int:
        """The number of graphs."""
        return len(self.graphs)

    @property
    def graph_break_count(self) -> int:
        """The number of places where the capture ended early."""
        return len(self.break_reasons)

    def __str__(self) -> str:
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}"]
        lines.append(f"Op Count: {self.op_count}")
        lines.append("Break Reasons:")
        for i, reason in enumerate(self.break_reasons, 1):
            lines += [f"  Break Reason {i}:", f"    Reason: {reason.reason}", f"    User Stack: {reason.where}"]
        lines.append("Guards:")
        lines += [f"  {guard}" for guard in self.out_guards]
        return "\n".join(lines)


def explain(fn: Callable[..., Any]) -> Callable[..., ExplainOutput]:
    """A function that takes what `fn` takes, captures the call, runs it, and says what the capture gave."""

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        graphs: list[GraphModule] = []

        def backend(module: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
            graphs.append(module)
            return module.forward

        compiled = optimize(backend)(fn)
        compiled(*args, **kwargs)
        run: Optimized = compiled._optimized
        count = sum(node.op.startswith("call") for module in graphs for node in module.graph.nodes)
        guards = [guard for entry in run.entries for guard in entry.captured.guards.all]
        return ExplainOutput(graphs, run.breaks, count, guards)

    return explained
