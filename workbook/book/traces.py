"""What does a profile write for a viewer of traces? Its events, read again, for a cell to look into."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasstorch.profiler import profile


def trace_file(prof: profile) -> list[dict[str, Any]]:
    """The events of the file that `prof.export_chrome_trace` writes, in the file's order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        prof.export_chrome_trace(str(path))
        events: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return events
