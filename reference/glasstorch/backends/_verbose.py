"""How is the level of output of a library accepted that is not here?

Mirrors: torch/backends/mkl/__init__.py, torch/backends/mkldnn/__init__.py (verbose)
Differs: there is nothing that could print.
"""

from __future__ import annotations

from types import TracebackType
from typing import ClassVar, Self


class Verbose:
    """A `with` block in which a library of this level would print what it does."""

    levels: ClassVar[tuple[int, ...]]

    def __init__(self, level: int) -> None:
        if level not in self.levels:
            raise ValueError(f"verbose: level {level!r}; expected one of {', '.join(map(str, self.levels))}")
        self.level = level

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was changed."""
