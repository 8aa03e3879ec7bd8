"""What does each program print that is run by a copy of one process in which glasstorch is loaded?

    python forked.py script.py ...

Each program prints into the file beside it that ends in `.printed`. A copy does what `python -m glasstorch script.py`
does after its imports, and ends as any Python does.
"""

from __future__ import annotations

import os
import signal
import sys

from glasstorch import __main__ as runner

LIMIT = 60  # seconds for a program


def take_place(path: str) -> None:
    """Make this copy the process of one program: its output, its time, and no frame of this file in its errors."""
    signal.alarm(LIMIT)
    output = os.open(f"{path}.printed", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    runner.OUR_FRAMES = (*runner.OUR_FRAMES, __file__)  # type: ignore[assignment]


if __name__ == "__main__":
    for path in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            take_place(path)
            sys.exit(runner.main([path]))
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            sys.exit(f"{path} was still running after {LIMIT} seconds")
