"""How does a test run a program with glasstorch in torch's place?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """`python -m glasstorch` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "glasstorch", *map(str, arguments)],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), "PYTHONWARNINGS": "error"},
        timeout=600,
    )
