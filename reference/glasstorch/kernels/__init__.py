"""How is it computed?

Reading order: `structured` (one kernel, three forms), `iterator` (shapes, dtypes and layouts of pointwise kernels),
`quiet`, `threads`, `views` (no computing at all), `creation`, `ranges`, `windows`, `copies`, `joining`,
`indexing`, `filling`, `math_bits`, `backend_select`, `out/` (no kernel writes to out= itself), then `cpu/`, `meta/` and
`cuda/`.

Mirrors: aten/src/ATen/native, aten/src/ATen/TensorIterator.h
Differs: NumPy's loops do the arithmetic on the CPU.
"""

from importlib import import_module
from pkgutil import iter_modules

from glasstorch.kernels import cpu, meta, out


def register_kernels() -> None:
    """Import every module of kernels but those of `cuda`, which are loaded when CUDA is first asked for."""
    for package in (__name__, out.__name__, cpu.__name__, meta.__name__):
        for module in iter_modules(import_module(package).__path__, f"{package}."):
            if not module.ispkg:
                import_module(module.name)
