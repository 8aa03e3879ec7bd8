"""What is left of reading the files of nvprof?

Mirrors: torch/autograd/profiler.py (load_nvprof, parse_nvprof_trace, EnforceUnique)
Differs: nvprof's files are refused by name. NVIDIA has not written them since CUDA 12.
"""

from __future__ import annotations

from typing import NoReturn

from glasstorch.core.errors import ArgumentError


class EnforceUnique:
    """Raises an error if a key is seen more than once."""

    def __init__(self) -> None:
        self.seen: set[tuple[object, ...]] = set()

    def see(self, *key: object) -> None:
        """Note a key; ArgumentError if it was noted before."""
        if key in self.seen:
            raise ArgumentError(f"duplicate key: {key}")
        self.seen.add(key)


def parse_nvprof_trace(path: str) -> NoReturn:
    """Refused: no file of nvprof can be made with today's CUDA."""
    raise NotImplementedError(
        f"parse_nvprof_trace({path!r}): files of nvprof are left out of glasstorch; torch.profiler.profile records a "
        "timeline, and export_chrome_trace writes it"
    )


def load_nvprof(path: str) -> NoReturn:
    """Refused: no file of nvprof can be made with today's CUDA."""
    parse_nvprof_trace(path)
