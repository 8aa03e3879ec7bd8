"""How do the operators compute on a CUDA device?

Reading order: `driver`, `codes`, `runtime`, `stream`, `allocator`, `modules`, `launch`; then the operators, in files
named as those of `kernels/cpu`. The CUDA C++ is in `.cu` files beside them. The two drivers are `driver_cupy` and
`driver_sim`, whose header says what the second one is made of.

Mirrors: aten/src/ATen/native/cuda, c10/cuda
Differs: the driver is chosen at run time: a card (CuPy) or the simulator. The kernels are loaded when CUDA is first
    asked for.
"""

from importlib import import_module
from pkgutil import iter_modules

from glasstorch.core.tensor_impl import Array, TensorImpl
from glasstorch.kernels.cuda.kernel_room import set_kernel_room


def register_kernels() -> None:
    """Import every module of CUDA kernels; each registers its own. A driver is imported by who chooses it."""
    for module in iter_modules(__path__, f"{__name__}."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("driver_"):
            import_module(module.name)


class _Room:
    """Fills kernel_room.KernelRoom."""

    def register_kernels(self) -> None:
        register_kernels()

    def read(self, file: str) -> str:
        from importlib.resources import files

        place = files(__name__).joinpath(file)
        if not place.is_file():
            raise FileNotFoundError(f"there is no {file} among the CUDA kernels")
        return place.read_text(encoding="utf-8")

    def elements_on_host(self, tensor: TensorImpl) -> Array:
        from glasstorch.kernels.cuda.copies import elements_on_host

        return elements_on_host(tensor)


set_kernel_room(_Room())
