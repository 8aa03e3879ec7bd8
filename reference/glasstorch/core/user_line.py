"""Which line of the user's program does a warning name?

Mirrors: warn in c10/util/Exception.h, which PythonWarningHandler (torch/csrc/Exceptions.cpp) gives at the running line
    of Python
Differs: operators are Python code here, so lines inside the library are skipped: the first one outside is named.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

LIBRARY = os.path.dirname(os.path.dirname(__file__)) + os.sep  # the prefix of the file names of its code objects


def user_frame(skipped: tuple[str, ...] = ()) -> FrameType | None:
    """The innermost frame outside the library, and outside the folders that are skipped."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((LIBRARY, *skipped)):
        frame = frame.f_back
    return frame


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line outside the library whose call led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
