"""How is it computed?

Reading order: `structured` (one kernel, three forms), `iterator` (shapes, dtypes and layouts of pointwise kernels),
`quiet`, `threads`, `halves`, `loading`, `views` (no computing at all), `creation`, `copies`, `joining`, `random`,
`indexing`, `number_operands`, `math_bits`; what writes to out=: `out_forms`, `copied_out`, `composed_out`, `diagonals`,
`filling`, `special_forms`; `backend_select`; then `cpu/`, `meta/` and `cuda/`.

Mirrors: aten/src/ATen/native, aten/src/ATen/TensorIterator.h
Differs: NumPy's loops do the arithmetic on the CPU.
"""

from glasstorch.kernels import cuda as cuda
from glasstorch.kernels.loading import import_modules


def register_kernels() -> None:
    """Import every module of kernels but those of `cuda`, which are loaded when CUDA is first asked for."""
    import_modules(__name__, aside=("cuda",))
