"""Which picture in README.md shows what the project is? The path of one addition.

python -m workbook.hero
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from workbook.book.figures.kit import Figure
from workbook.book.project import project_root, shown

FILE = Path("chapters") / "assets" / "figures" / "one-addition.svg"
WIDTH, MARGIN = 760, 20
PROGRAM = (
    "import glasstorch as torch",
    "a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])",
    "c = a + b",
)
RESULT = "tensor([4., 6.], grad_fn=<AddBackward0>)"


class Hop(NamedTuple):
    """One stop of the call: its name, what happens there, our file, and PyTorch's."""

    name: str
    what: str
    file: str
    counterpart: str


HOPS = (
    Hop("Tensor.__add__", "which operator is meant?", "operators/generated/methods.py", "python_variable_methods.cpp"),
    Hop("dispatch", "which kernel runs, for these two tensors?", "dispatch/operator.py", "Dispatcher.h"),
    Hop("AutogradCPU", "how does a gradient come back?", "autograd/generated/autograd_kernels.py", "VariableType.cpp"),
    Hop("CPU", "what are the numbers?", "kernels/cpu/pointwise/loops.py", "templates/UfuncCPU.cpp"),
)
CODE, ROW, GAP = 92, 58, 12
FILE_AT = 356  # where the file names begin


def draw() -> Figure:
    """The picture."""
    top = MARGIN + CODE + 18
    height = top + len(HOPS) * (ROW + GAP) + 46 + MARGIN
    told = "; ".join(f"{hop.name} in {hop.file}, in PyTorch {hop.counterpart}: {hop.what}" for hop in HOPS)
    figure = Figure("one-addition", "The way of one addition", f"a + b passes through: {told}.", WIDTH, height)
    figure.box(0, 0, WIDTH, height, kind="pane", radius=8)
    for line, text in enumerate(PROGRAM):
        figure.text(MARGIN + 14, MARGIN + 26 + line * 24, text, size=15, mono=True, bold=text == PROGRAM[-1])
    figure.text(FILE_AT, MARGIN + CODE - 12, "in glasstorch", size=12, colour="glass", bold=True)
    figure.text(FILE_AT, MARGIN + CODE + 4, "in PyTorch", size=12, colour="torch", bold=True)
    for number, hop in enumerate(HOPS):
        y = top + number * (ROW + GAP)
        with figure.stands_for(hop.file):
            figure.box(MARGIN, y, WIDTH - 2 * MARGIN, ROW, kind="glass", radius=6)
            figure.text(MARGIN + 14, y + 25, hop.name, size=15, mono=True, bold=True, room=FILE_AT - MARGIN - 20)
            figure.text(MARGIN + 14, y + 45, hop.what, size=13, colour="soft", room=FILE_AT - MARGIN - 20)
            figure.text(FILE_AT, y + 25, hop.file, size=12.5, colour="glass", mono=True, room=WIDTH - FILE_AT - MARGIN)
            figure.text(FILE_AT, y + 45, hop.counterpart, size=12.5, colour="torch", mono=True)
        figure.arrow([(MARGIN + 28, y - GAP), (MARGIN + 28, y)], colour="glass")
    bottom = top + len(HOPS) * (ROW + GAP)
    figure.arrow([(MARGIN + 28, bottom - GAP), (MARGIN + 28, bottom + 8)], colour="glass")
    figure.text(MARGIN + 14, bottom + 30, RESULT, size=15, mono=True, bold=True)
    return figure


def main() -> int:
    """Write the picture."""
    path = project_root() / FILE
    path.write_text(draw().svg(), encoding="utf-8", newline="\n")
    print(f"drawn  {shown(path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
