"""How is it computed?

Reading order: `structured` (one kernel, three forms), `iterator` (shapes, dtypes and layouts of pointwise kernels),
`quiet`, `views` (no computing at all), `creation`, `copies`, `joining`, `out_forms`, `backend_select`, then `cpu/` and
`meta/`.

Mirrors: aten/src/ATen/native, aten/src/ATen/TensorIterator.h
Differs: NumPy's loops do the arithmetic on the CPU.
"""

from importlib import import_module
from pkgutil import walk_packages


def register_kernels() -> None:
    """Import every module of kernels; each registers its own."""
    for module in walk_packages(__path__, __name__ + "."):
        import_module(module.name)
