"""What do the devices need from the kernels, a layer above them?

Mirrors: torch/csrc/cuda/Module.cpp (registers what c10/cuda cannot know), the fatbinaries that nvcc links in
Differs: a Protocol, filled in once when the folder of the CUDA kernels is imported.
"""

from __future__ import annotations

from typing import Any, Protocol

from glasstorch.core.tensor_impl import Array


class KernelRoom(Protocol):
    """The interface that the folder of CUDA kernels provides."""

    def register_kernels(self) -> None:
        """Import every module of CUDA kernels; called on first use of CUDA."""

    def read(self, file: str) -> str:
        """The text of a `.cu` or `.cuh` file. FileNotFoundError if there is no such file."""

    def elements_on_host(self, tensor: Any) -> Array:
        """The elements of a CUDA tensor, of any strides, as a NumPy array of its own."""


class _NoKernels:
    """The placeholder until the kernels are imported."""

    def register_kernels(self) -> None:
        raise AssertionError("glasstorch.kernels.cuda is not loaded; `import glasstorch` loads it")

    def read(self, file: str) -> str:
        raise FileNotFoundError(f"there is no {file}: glasstorch.kernels.cuda is not loaded")

    def elements_on_host(self, tensor: Any) -> Array:
        raise AssertionError("glasstorch.kernels.cuda is not loaded; `import glasstorch` loads it")


kernel_room: KernelRoom = _NoKernels()


def set_kernel_room(room: KernelRoom) -> None:
    """Called once by the folder of the CUDA kernels when it is imported."""
    global kernel_room
    kernel_room = room
