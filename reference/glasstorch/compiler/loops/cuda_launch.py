"""How does the CUDA C++ of a kernel become a function of tensors?

Mirrors: torch/_inductor/runtime/triton_heuristics.py (CachingAutotuner.run)
Differs: sizes of blocks are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from glasstorch.compiler.loops.cuda_text import THREADS
from glasstorch.compiler.loops.wrapper import Kernel
from glasstorch.devices.driver import Driver, Module
from glasstorch.devices.launch import launch
from glasstorch.devices.runtime import driver

FILE: Final = "compiled_graph.cu"  # in the messages of compilers and checks


class Loaded:
    """The module that a source is compiled to, for the driver that is used now."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.owner: Driver | None = None
        self.module: Module | None = None

    def kernel(self, name: str) -> Any:
        """A kernel of the module."""
        on = driver()
        if self.module is None or self.owner is not on:
            self.owner, self.module = on, on.load(self.source, FILE)
        return self.module.kernel(name)


def cuda_kernel(kernel: Kernel, loaded: Loaded) -> Callable[..., None]:
    """A function that launches a kernel on tensors."""
    blocks = kernel.cuda_text().grid()

    def run(*tensors: Any) -> None:
        launch(loaded.kernel(kernel.name), blocks, THREADS, tensors)

    return run
