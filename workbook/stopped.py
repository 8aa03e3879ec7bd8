"""How does a command say that Ctrl-C ended it?"""

from __future__ import annotations

import os
import sys

STOPPED = 130  # the exit code of a command that was ended by Ctrl-C
WATCHED = "WORKBOOK_WATCHED"  # set for a check that `workbook watch` starts and ends, and that says nothing of it


def say_stopped() -> int:
    """Print one line after Ctrl-C. Returns the exit code."""
    if not os.environ.get(WATCHED):
        print("\nStopped.", file=sys.stderr)
    return STOPPED
