"""Which line of the user's program made this call?

Mirrors: torch/utils/_traceback.py, c10::GatheredContext of torch/csrc/profiler/python/combined_traceback.h
Differs: one line, the innermost outside the library.
"""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from typing import NamedTuple

PACKAGE = f"{Path(__file__).parents[2]}"
CELL = re.compile(r"ipykernel_\d+[/\\]\d+\.py$")  # the file that a notebook's kernel makes up for a cell


class Line(NamedTuple):
    """A line of a Python file; prints as `train.py:12: y = x * 2`, in a notebook as `line 2 of a cell: ...`."""

    file: str
    number: int

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.number).strip()
        location = f"line {self.number} of a cell" if CELL.search(self.file) else f"{self.file}:{self.number}"
        return f"{location}: {text}" if text else location


def calling_line() -> Line:  # hot path: benchmarks/gpu.py
    """The innermost line outside the library that the calling thread is running; without one, the outermost line."""
    frame = sys._getframe(1)
    while (code := frame.f_code).co_filename.startswith(PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return Line(code.co_filename, frame.f_lineno)
