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


def register_kernels() -> None:
    """Import every module of CUDA kernels; each registers its own. A driver is imported by who chooses it."""
    for module in iter_modules(__path__, f"{__name__}."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("driver_"):
            import_module(module.name)
