"""How does a simulated kernel fail?

Mirrors: cudaError_t; compute-sanitizer (memcheck, racecheck, initcheck, synccheck)
Differs: a fault names the line of the source, the thread and the block.
"""

from __future__ import annotations

from glasstorch.devices.cpp_compiler import CompileError as CompileError
from glasstorch.devices.driver import Dim


class SimFault(RuntimeError):
    """A kernel that could not start, or was aborted.

    `code` is CUDA's number; `what` describes the fault; `file` and `line` refer to the kernel's source ("" and 0 if
    unknown); `thread` and `block` are None before the first thread ran.
    """

    def __init__(
        self, code: int, what: str, file: str = "", line: int = 0, thread: Dim | None = None, block: Dim | None = None
    ) -> None:
        self.code = code
        self.what = what
        self.file = file
        self.line = line
        self.thread = thread
        self.block = block
        super().__init__(code, what, file, line, thread, block)

    def __str__(self) -> str:
        location = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        who = f" (thread {self.thread}, block {self.block})" if self.thread is not None else ""
        return f"{location}{self.what}{who}"
