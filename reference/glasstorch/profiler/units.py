"""How are times, sizes and shares written?

Mirrors: torch/autograd/profiler_util.py (_format_time, _format_time_share, _format_memory)
"""

from __future__ import annotations

from typing import Final

TIME_UNITS: Final = {"s": 1_000_000.0, "ms": 1_000.0, "us": 1.0}  # microseconds in one
MEMORY_UNITS: Final = {"GB": 1 << 30, "MB": 1 << 20, "KB": 1 << 10}  # bytes in one


def format_time(microseconds: float, unit: str | None = None) -> str:
    """A time in the largest unit of which it is at least one, or in the unit that is given.

    >>> format_time(1234.5)
    '1.234ms'
    """
    if unit not in TIME_UNITS:
        unit = next((name for name, size in TIME_UNITS.items() if microseconds >= size), "us")
    return f"{microseconds / TIME_UNITS[unit]:.3f}{unit}"


def format_share(part: float, whole: float) -> str:
    """A part in percent; NaN where the whole is 0."""
    if not whole:
        assert not part, f"{part} is no part of nothing"
        return "NaN"
    return f"{part * 100.0 / whole:.2f}%"


def format_memory(nbytes: int) -> str:
    """Bytes in the largest unit of which they are at least one.

    >>> format_memory(-2048)
    '-2.00 KB'
    """
    for unit, size in MEMORY_UNITS.items():
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"
