"""How are loops, the decisions to join them, and their code written with the lines that they come from?

Mirrors: torch/_inductor/debug.py (DebugFormatter.ir_pre_fusion, output_code)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from glasstorch.compiler.loops.ir import Extern, Loop
from glasstorch.compiler.reports.graphs import Row
from glasstorch.compiler.reports.places import NOWHERE, Places, of_nodes
from glasstorch.compiler.reports.recording import Loops
from glasstorch.jit.codegen.program import Constant

BUFFER: Final = re.compile(r"\bbuf\d+\b")
COMMENT: Final = re.compile(r"^\s*// (buf\d+): ")
HELD: Final = re.compile(r"\b[a-z]_(buf\d+)\b|^\s*(buf\d+)\[")
CALLED: Final = re.compile(r"^\s*(kernel\d+)\(")
GIVEN: Final = re.compile(r"^\s*(\w+) = ")
LONGEST: Final = 160  # characters of one loop


class LoopRows:
    """Writes the stages of one graph that the library's own compiler has compiled."""

    def __init__(self, found: Loops) -> None:
        self.found = found
        self.loops = {item.write.buffer.name: item for item in found.lowered.items if isinstance(item, Loop)}
        self.nodes = {node.name: node for node in found.module.graph.nodes}

    def of_buffers(self, names: Iterable[str]) -> Places:
        """The lines from which the loops that write these buffers come."""
        return of_nodes(self.loops[name].node for name in names if name in self.loops)

    def loops_rows(self) -> list[Row]:
        """Each loop, and each operator that stays one, in order."""
        rows = [Row("loops, before any are joined", is_head=True)]
        for item in self.found.lowered.items:
            text = loop_text(item) if isinstance(item, Loop) else f"{item.node.name} = {item.node.target}(...)"
            rows.append(Row(f"    {text}", of_nodes([item.node])))
        why = self.found.lowered.why
        if why:
            rows.append(Row("operators that the library's own kernels compute", is_head=True))
            rows += [Row(f"    {text}", of_nodes([self.nodes.get(text.partition(":")[0])])) for text in why]
        return rows

    def fusion_rows(self) -> list[Row]:
        """What the scheduler tried, with the bytes that each step would save."""
        tried = self.found.compiled.fusion
        rows = [Row(f"{len(tried)} attempts to join two; the score is the memory that both use", is_head=True)]
        rows += [Row(f"    {text}", self.of_buffers(BUFFER.findall(text.partition(" with ")[0]))) for text in tried]
        return rows

    def order_rows(self) -> list[Row]:
        """What runs, in order: operators, and the loops that run as one."""
        rows = [Row("what runs, in order", is_head=True)]
        for item in self.found.order:
            if isinstance(item, Extern):
                rows.append(Row(f"    {item.node.name} = {item.node.target}(...)", of_nodes([item.node])))
                continue
            rows.append(Row(f"    one nest of {list(item.dims.sizes)}, {item.kind}:"))
            for member, phase in zip(item.members, item.phases, strict=True):
                text = f"        phase {phase}: {loop_text(member.loop)}"
                rows.append(Row(text, of_nodes([member.loop.node])))
        return rows

    def wrapper_rows(self) -> list[Row]:
        """The Python that runs kernels and operators."""
        kernels = {
            kernel.name: self.of_buffers(m.write.buffer.name for group in kernel.groups for m in group.members)
            for kernel in self.found.compiled.kernels
        }
        rows = []
        for line in self.found.compiled.source_code.rstrip().splitlines():
            called, given = CALLED.match(line), GIVEN.match(line)
            places = NOWHERE
            if called:
                places = kernels.get(called[1], NOWHERE)
            elif given:
                places = self.of_buffers([given[1]]) or of_nodes([self.nodes.get(given[1])])
            rows.append(Row(line, places))
        return rows

    def cpp_rows(self) -> list[Row]:
        """The C++ of the kernels. A line belongs to the loop whose comment stands above it, a `for` to all inside."""
        lines = self.found.compiled.cpp_code.strip("\n").splitlines()
        places: list[Places] = []
        opened: list[tuple[int, Places]] = []  # blocks that are open: the line that opened each, and what is inside
        current = NOWHERE
        for i, line in enumerate(lines):
            comment, held = COMMENT.match(line), HELD.search(line)
            if comment:
                current = self.of_buffers([comment[1]])
            elif line.strip() == "}" or line.rstrip().endswith("{"):
                current = NOWHERE
            here = current or (self.of_buffers([held[1] or held[2]]) if held else NOWHERE)
            places.append(here)
            if opened:
                opened[-1] = (opened[-1][0], opened[-1][1] | here)
            if line.rstrip().endswith("{"):
                opened.append((i, NOWHERE))
            elif line.strip() == "}" and opened:
                start, inside = opened.pop()
                if lines[start].strip().startswith("for"):
                    places[start] = inside
                if opened:
                    opened[-1] = (opened[-1][0], opened[-1][1] | inside)
        return [Row(line, place) for line, place in zip(lines, places, strict=True)]


def loop_text(loop: Loop) -> str:
    """A loop in one line: what it writes, over which elements, and the expression.

    Operands that are read stand as their buffers.
    """
    names = [f"{read.buffer.name}" for read in loop.reads]
    for step in loop.steps:
        names.append(f"{step.formula}({', '.join(_operand(names, one) for one in step.operands)})")
    value = _operand(names, loop.result)
    written = loop.write.buffer
    if loop.reduction is not None:
        gone = [dim for dim, is_gone in enumerate(loop.reduced) if is_gone]
        value = f"{loop.reduction} over {gone} of {value}"
    value = value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…"
    dtype = str(written.dtype).removeprefix("torch.")
    return f"{written.name}: {dtype}{list(written.sizes)} = {value}   for {list(loop.sizes)}"


def _operand(names: list[str], operand: Any) -> str:
    return f"{operand.value:g}" if isinstance(operand, Constant) and _is_real(operand.value) else (
        str(operand.value) if isinstance(operand, Constant) else names[operand]
    )  # fmt: skip


def _is_real(value: Any) -> bool:
    return isinstance(value, float)
