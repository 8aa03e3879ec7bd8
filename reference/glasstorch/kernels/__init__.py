"""How is it computed?

Reading order: `structured` (one kernel, three forms), `delegated` (a device that has only the third form),
`made_of_others` (a backend that has none of them), `iterator`
(shapes, dtypes and layouts of pointwise kernels), `quiet`, `halves`, `number_operands`, `loading`; then what serves all
backends, by family: `creation/`, `random`, `pointwise/`, `indexing`, `views`, `copies`, `complex_numbers`, `fft`,
`filling`, `with_number`, `math_bits`, `backend_select`, `cpu_fallback`; `out/` (out= forms without a kernel of their
own); then `cpu/`, `meta/`, `sparse/` and `cuda/`.

Mirrors: aten/src/ATen/native, aten/src/ATen/TensorIterator.h
Differs: NumPy's loops do the arithmetic on the CPU.
"""

from importlib.util import find_spec

from glasstorch.dispatch.fast import PLAIN
from glasstorch.kernels import cuda as cuda
from glasstorch.kernels.loading import import_modules
from glasstorch.kernels.meta.decomposed import register_decomposed

CUDA, FAST = f"{__name__}.cuda", f"{__name__}.cpu.fast"


def register_kernels() -> None:
    """Import every module of kernels but those of `cuda`, which are loaded on first use of CUDA.

    The fast kernels come last, over the plain ones. With GLASSTORCH_PLAIN=1, or where their folder is missing, the
    plain ones serve alone: Note [Plain and fast] (dispatch/fast.py).
    """
    import_modules(__name__, aside=(CUDA, FAST))
    register_decomposed()
    if not PLAIN and find_spec(FAST):
        import_modules(FAST)
