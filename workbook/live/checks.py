"""How does a check that a page has begun run, and how does it end with its page, or with the server?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from workbook.exercises.process import OWN_GROUP, interrupt

GRACE = 20  # seconds in which an interrupted check puts away what it has begun, before it is killed


class Checks:
    """The checks of all pages."""

    def __init__(self) -> None:
        self.running: set[asyncio.subprocess.Process] = set()

    async def begin(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> asyncio.subprocess.Process:
        """Start one; what it says is read by `said_by`."""
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, cwd=folder, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, creationflags=OWN_GROUP,
        )  # fmt: skip
        self.running.add(process)
        return process

    async def said_by(self, process: asyncio.subprocess.Process) -> AsyncIterator[bytes]:
        """What a check says, as it says it; last its exit code."""
        assert process.stdout is not None, "it is a pipe"
        try:
            while piece := await process.stdout.read(1 << 16):
                yield piece
            yield f"\nexit {await process.wait()}".encode()
        finally:
            if process.returncode is not None:
                self.running.discard(process)

    async def end(self) -> None:
        """Interrupt those that are running, and wait for them."""
        for process in self.running:
            interrupt(process)
        for process in [*self.running]:
            try:
                await asyncio.wait_for(process.wait(), GRACE)
            except TimeoutError:
                process.kill()
                await process.wait()
