"""How do the operators compute on a CUDA device?

Reading order: `tensors`, `units` and `lines` (shared by the kernels); then the families: `creation`, `random`,
`pointwise/`, `reductions`, `indexing`, `joining`, `transformations`, `copies`, `complex_numbers`, `matmul`,
`activation`, `softmax`, `loss`, `nested`. The CUDA C++ of each is in the `.cu` file of its name; `fill.cu` serves
creation and copies. Headers: `geometry.cuh` (offsets of elements), `cast.cuh` and `elements.cuh` (elements of a type
known only at run time), `arithmetic.cuh` (what expressions call), `lines.cuh`, `rows.cuh` and `columns.cuh` (lines
shared out among threads). What launches kernels is in `devices/`.

Mirrors: aten/src/ATen/native/cuda
Differs: the kernels are loaded, and compiled, on first use.
"""

from importlib import import_module
from typing import Any

from glasstorch.core.tensor_impl import Array
from glasstorch.devices.kernel_room import set_kernel_room
from glasstorch.kernels.loading import import_modules


def register_kernels() -> None:
    """Import every module of CUDA kernels; each registers its own."""
    import_module("glasstorch.devices.device_memory")  # the core's interface to CUDA memory
    import_modules(__name__)


class _Room:
    """Fills kernel_room.KernelRoom."""

    def register_kernels(self) -> None:
        register_kernels()

    def read(self, file: str) -> str:
        from importlib.resources import files

        path = files(__name__).joinpath(file)
        if not path.is_file():
            raise FileNotFoundError(f"there is no {file} among the CUDA kernels")
        return path.read_text(encoding="utf-8")

    def elements_on_host(self, tensor: Any) -> Array:
        from glasstorch.kernels.cuda.copies import elements_on_host

        return elements_on_host(tensor)


set_kernel_room(_Room())
