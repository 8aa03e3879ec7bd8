"""Which stages does a graph go through, and what are their lines?

Mirrors: torch/_inductor/compile_fx.py, torch/_functorch/aot_autograd.py in the order of what they do
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from glasstorch.compiler.reports.graphs import Row, code_rows, partition_rows
from glasstorch.compiler.reports.loops import LoopRows
from glasstorch.compiler.reports.places import Place, of_trace
from glasstorch.compiler.reports.recording import Part, Recording


class Stage(NamedTuple):
    """One stage: its title, a sentence on what it is, its lines, and in which part of the compilation it is made."""

    title: str
    about: str
    rows: list[Row]
    timed: str = ""


BYTECODE: Final = (
    "Each instruction that was executed symbolically, with the stack before it. A tensor goes by the name of its node."
)
GUARDS: Final = "What must be true of a later call, so that the graph may be used again."
CAPTURED: Final = "The graph of the function's own calls, before gradients."
JOINT: Final = "The operators of the forward and the backward pass in one graph, which writes to nothing."
CUT: Final = "Where the joint graph is cut in two."
ONE_PASS: Final = "The operators of the graph that the backend gets."
LOOPS: Final = "Each value as a loop over its elements."
FUSION: Final = "Which loops run as one, and why others do not."
WRAPPER: Final = "The Python that runs the kernels and the operators between them."
CPP: Final = "The loops as C++, as they are compiled."


def stages_of(part: Part) -> list[Stage]:
    """All stages of one part of a program, in order; those that it did not reach are left out."""
    return [stage for stage in _stages_of(part) if stage.rows]


def _stages_of(part: Part) -> Iterator[Stage]:
    yield Stage("Bytecode, symbolically", BYTECODE, _step_rows(part), "capture")
    captured = part.captured
    if captured is not None:
        guards = captured.guards.all.items()
        yield Stage("Guards", GUARDS, [Row(str(guard), of_trace(lines)) for guard, lines in guards])
        yield Stage("Captured graph", CAPTURED, code_rows(captured.module))
    for joint in part.joints:
        yield Stage("Joint graph", JOINT, code_rows(joint), "joint graph")
    backwards = set()
    for cut in part.partitions:
        yield Stage("Partition", CUT, partition_rows(cut), "partition")
        yield Stage("Forward graph", ONE_PASS, code_rows(cut["forward"]))
        yield Stage("Backward graph", ONE_PASS, code_rows(cut["backward"]))
        backwards.add(id(cut["backward"]))
    for module in part.forwards:
        yield Stage("Graph of operators", ONE_PASS, code_rows(module), "forward graph")
    for found in part.loops:
        pass_ = "backward" if id(found.made_of) in backwards else "forward"
        rows = LoopRows(found)
        yield Stage(f"Loops, {pass_}", LOOPS, rows.loops_rows(), "loops")
        yield Stage(f"Fusion, {pass_}", FUSION, [*rows.fusion_rows(), *rows.order_rows()])
        yield Stage(f"Wrapper, {pass_}", WRAPPER, rows.wrapper_rows())
        yield Stage(f"C++, {pass_}", CPP, rows.cpp_rows() if found.compiled.kernels else [], "C++")
    yield Stage("Hints", "What keeps this graph from being faster.", [Row(text) for text in part.hints])


def _step_rows(part: Part) -> list[Row]:
    rows = []
    for step in part.steps:
        text = f"{'    ' * step.depth}{step.line:>4}  {step.text}"
        rows.append(Row(f"{text:<48}  {step.stack}", frozenset([Place(step.code.co_filename, step.line)])))
    if part.steps_left_out:
        rows.append(Row(f"… and {part.steps_left_out:,} more instructions", is_head=True))
    return rows


def seconds_of(recording: Recording) -> dict[str, float]:
    """How long each part of the compilation took, all graphs together; the backend's own rest is what is left of it."""
    total: dict[str, float] = {}
    for part in recording.parts:
        for name, seconds in part.seconds.items():
            total[name] = total.get(name, 0.0) + seconds
    return total
