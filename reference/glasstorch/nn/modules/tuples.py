"""How is one number for all dimensions written out?

Mirrors: torch/nn/modules/utils.py (_ntuple)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def per_dimension(given: Any, dims: int) -> tuple[Any, ...]:
    """A number for each dimension; several numbers stay as they are."""
    return tuple(given) if isinstance(given, Iterable) else (given,) * dims
