"""How are single keys read without Enter, and how is the terminal restored afterwards?"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self, TextIO

TICK = 0.05  # seconds between two looks at the keyboard where one cannot wait for it


class NoKeys:
    """Stands in for `Keys` where keys cannot be read: none is ever pressed."""

    available = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was changed, nothing is restored."""

    def read(self, seconds: float) -> str:
        """Wait for the given time, without a key."""
        time.sleep(seconds)
        return ""

    def again(self) -> None:
        """Nothing has to be set again."""


if sys.platform == "win32":
    import msvcrt

    class Keys(NoKeys):
        """Keys of a Windows console, which reads single keys without being set up."""

        available = True

        def read(self, seconds: float) -> str:
            """The next key, or nothing after the given time."""
            end = time.monotonic() + seconds
            while not msvcrt.kbhit():
                if time.monotonic() >= end:
                    return ""
                time.sleep(TICK)
            key = msvcrt.getwch()
            if key in "\0\xe0":  # an arrow or function key: its second half says which
                msvcrt.getwch()
                return ""
            if key == "\x03":
                raise KeyboardInterrupt
            return key.lower()

    def open_keys(stream: TextIO) -> NoKeys:
        """The keys of this stream."""
        return Keys() if stream.isatty() else NoKeys()

else:
    import select
    import termios
    import tty

    class Keys(NoKeys):
        """Keys of a terminal: it hands them over one by one and does not print them, until the block ends."""

        available = True

        def __init__(self, descriptor: int) -> None:
            self.descriptor = descriptor
            self.before = termios.tcgetattr(descriptor)

        def __enter__(self) -> Self:
            self.again()
            return self

        def again(self) -> None:
            """Set up the terminal, also after the reader has returned from another job."""
            tty.setcbreak(self.descriptor, termios.TCSANOW)

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.before)

        def read(self, seconds: float) -> str:
            """The next key, or nothing after the given time; an escape sequence is one key without a meaning."""
            ready, _, _ = select.select([self.descriptor], [], [], seconds)
            if not ready:
                return ""
            pressed = os.read(self.descriptor, 64).decode("utf-8", "replace")
            if not pressed:
                raise EOFError("the terminal is gone")
            return "" if pressed.startswith("\x1b") else pressed[0].lower()

    def open_keys(stream: TextIO) -> NoKeys:
        """The keys of this stream, if it is a terminal with this process in the foreground."""
        try:
            descriptor = stream.fileno()
            if os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp():
                return Keys(descriptor)
        except (OSError, ValueError, termios.error):
            pass
        return NoKeys()
