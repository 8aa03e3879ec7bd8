"""How is what a stage made printed?

Mirrors: torch/_dynamo/utils.py (lazy_format_graph_code, format_bytecode), torch/_inductor/scheduler.py (fusion_log)
"""

from __future__ import annotations

import dis
import io
import linecache
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, Final

from glasstorch.compiler.log_state import is_on, tell
from glasstorch.compiler.reports.graphs import Row, shape_of
from glasstorch.compiler.reports.loops import LoopRows
from glasstorch.compiler.reports.recording import Loops
from glasstorch.compiler.reports.steps import shown_stack


def printed(stage: str, facts: dict[str, Any]) -> None:
    """Print what is chosen of a stage."""
    if stage in TEXTS:
        TEXTS[stage](**facts)


def _begun(code: CodeType) -> None:
    _line_before[:] = []
    if is_on("bytecode"):
        text = io.StringIO()
        dis.dis(code, file=text, depth=0)
        head = f"ORIGINAL BYTECODE {code.co_name} {code.co_filename} line {code.co_firstlineno}"
        tell("bytecode", f"{head}\n{text.getvalue()}")


_line_before: list[Any] = []  # the place that was told last


def _step(frame: Any, instruction: Any) -> None:
    code = frame.code
    place = code, instruction.line, frame.depth
    if is_on("trace_source") and _line_before != [place]:
        _line_before[:] = [place]
        depth = f" (inline depth: {frame.depth})" if frame.depth else ""
        line = linecache.getline(code.co_filename, instruction.line).rstrip()
        where = f"{code.co_filename}:{instruction.line} in {code.co_name}{depth}"
        tell("trace_source", f"TRACE starts_line {where}\n    {line}")
    if is_on("trace_bytecode"):
        value = getattr(instruction.value, "co_name", instruction.value)
        tell("trace_bytecode", f"TRACE {instruction.name} {value} {shown_stack(frame.stack)}")


def _graph(module: Any) -> None:
    if is_on("graph"):
        rows = [f"{n.op}  {n.name}  {n.target}  {n.args}  {n.kwargs}" for n in module.graph.nodes]
        tell("graph", "TRACED GRAPH\n" + "\n".join(["opcode  name  target  args  kwargs", *rows]))
    if is_on("graph_sizes"):
        sizes = ((node.name, shape_of(node.meta.get("example_value"))) for node in module.graph.nodes)
        tell(
            "graph_sizes", "TRACED GRAPH TENSOR SIZES\n" + "\n".join(f"{name}: {text}" for name, text in sizes if text)
        )


def _readable(artifact: str, title: str, module: Any) -> None:
    if is_on(artifact):
        tell(artifact, f"TRACED GRAPH\n ===== {title} =====\n{module.print_readable(print_output=False)}")


def _joint(module: Any) -> None:
    _readable("aot_joint_graph", "Joint graph", module)


def _forward(module: Any) -> None:
    _readable("aot_graphs", "Forward graph", module)


def _partition(forward: Any, backward: Any, results: int) -> None:
    _readable("aot_graphs", "Forward graph", forward)
    _readable("aot_graphs", "Backward graph", backward)


def _loops(module: Any, **facts: Any) -> None:
    rows = LoopRows(Loops(module, **facts))
    compiled = facts["compiled"]
    _readable("post_grad_graphs", "AFTER POST GRAD", module)
    if is_on("ir_pre_fusion"):
        tell("ir_pre_fusion", _text(rows.loops_rows()))
    if is_on("ir_post_fusion"):
        tell("ir_post_fusion", _text(rows.order_rows()))
    if is_on("schedule"):
        tell("schedule", _text(rows.order_rows()))
    if is_on("fusion"):
        tell("fusion", _text(rows.fusion_rows()))
    tell("output_code", f"Output code:\n{compiled.source_code}\n{compiled.cpp_code}")
    tell("kernel_code", compiled.cpp_code)
    for reason in facts["lowered"].why:
        tell("perf_hints", f"the library's own kernel computes {reason}")


def _text(rows: Iterable[Row]) -> str:
    return "\n".join(row.text for row in rows)


def _hint(text: str, module: Any = None) -> None:
    tell("perf_hints", text)


TEXTS: Final[dict[str, Callable[..., None]]] = {
    "begun": _begun, "step": _step, "graph": _graph, "joint": _joint, "forward": _forward, "partition": _partition,
    "loops": _loops, "hint": _hint,
}  # fmt: skip
