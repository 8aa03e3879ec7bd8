"""What was a call captured as, and where did the capture end early?

Mirrors: torch/_dynamo/eval_frame.py (explain), torch/_dynamo/backends/debugging.py (ExplainOutput)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from glasstorch.compiler.bytecode.capture import ITSELF
from glasstorch.compiler.captured import Entry, Optimized
from glasstorch.compiler.compilation import Break
from glasstorch.compiler.guards import Guard
from glasstorch.compiler.optimize import optimize
from glasstorch.compiler.reasons import hints_of
from glasstorch.fx.graph_module import GraphModule


@dataclass
class ExplainOutput:
    """What a call was captured as."""

    graphs: list[GraphModule]
    graph_count: int
    graph_break_count: int
    break_reasons: list[Break]
    op_count: int
    ops_per_graph: list[list[Any]]
    out_guards: list[Any]

    def __str__(self) -> str:
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}"]
        lines += [f"Op Count: {self.op_count}", "Break Reasons:"]
        for i, reason in enumerate(self.break_reasons, 1):
            lines += [
                f"  Break Reason {i}:",
                f"    Reason: {reason.reason}",
                *(f"    Hint: {hint}" for hint in hints_of(reason.reason)),
                "    User Stack:",
                *(f"      {frame}" for frame in reason.user_stack),
            ]
        lines.append("Ops per Graph:")
        for i, ops in enumerate(self.ops_per_graph, 1):
            lines += [f"  Ops {i}:", *(f"    {op}" for op in ops)]
        lines.append("Out Guards:")
        for i, guard in enumerate(self.out_guards, 1):
            lines += [f"  Guard {i}:", f"    {guard}"]
        return "\n".join(lines) + "\n"


# Guards that come after one of the class, and what PyTorch calls both.
WITH_CLASS: Final = {
    "EQUALS_MATCH": "CONSTANT_MATCH", "SEQUENCE_LENGTH": "SEQUENCE_LENGTH", "DICT_KEYS_MATCH": "DICT_KEYS_MATCH",
}  # fmt: skip
CLOSURE: Final = re.compile(r"^(.*?)\.__closure__\[(\d+)\]\.cell_contents")


def shown(entry: Entry, of: Optimized) -> list[Guard]:
    """The guards of a graph as PyTorch names them; those of a function's part that computes nothing are left out.

    There a constant, or a container, has one guard for its class and its value. A variable of an outer function is
    called by its name.
    """
    if not any(node.op.startswith("call") for node in entry.captured.module.graph.nodes):
        return []  # there is no graph
    found: list[Guard] = []
    places = [f"L[{name!r}]" for name in of.fn.__code__.co_freevars]
    itself = (f"L[{ITSELF!r}]", entry.captured.guards.name_of(of.fn))
    for guard in entry.captured.guards.all:
        source = guard.source
        for match in CLOSURE.finditer(source):
            if match[1] in itself:
                source = places[int(match[2])] + source[match.end() :]
        kind, last = guard.kind, found[-1] if found else None
        if last is not None and last.kind == "TYPE_MATCH" and last.source == source and kind in WITH_CLASS:
            found.pop()
            found.append(Guard(WITH_CLASS[kind], source, f"{last.expression} and {guard.expression}"))
        else:
            found.append(Guard(kind, source, guard.expression))
    return found


def explain(fn: Callable[..., Any]) -> Callable[..., ExplainOutput]:
    """A function that takes what `fn` takes, captures the call, runs it, and says what the capture gave."""

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        graphs: list[GraphModule] = []

        def backend(module: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
            graphs.append(module)
            return module.forward

        compiled = optimize(backend)(fn)
        compiled(*args, **kwargs)
        ops = [[node.target for node in g.graph.nodes if node.op == "call_function"] for g in graphs]  # as in PyTorch
        of = compiled._optimized.of
        guards = [guard for one in of.functions for entry in one.entries for guard in shown(entry, one)]
        breaks = max(len(graphs) - 1, 0)
        return ExplainOutput(graphs, len(graphs), breaks, of.breaks, sum(map(len, ops)), ops, guards)

    return explained
