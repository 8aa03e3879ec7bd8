"""Which artifacts are printed now?

Mirrors: torch/_logging/_internal.py (LogState, getArtifactLogger)
"""

from __future__ import annotations

import sys
from typing import Final

on: Final[set[str]] = set()


def is_on(artifact: str) -> bool:
    """Whether something is printed."""
    return artifact in on


def tell(artifact: str, text: str) -> None:
    """Print a text if it is chosen."""
    if artifact in on:
        print("\n".join(f"[{artifact}] {line}" for line in text.splitlines()), file=sys.stderr)
