"""How does a function of scipy.special become a loop?

Mirrors: nothing in PyTorch, which has its special functions in aten/src/ATen/native/Math.h
Differs: SciPy's ufuncs compute them, in float64; most derive from the Cephes library, as PyTorch's do.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.iterator import Loop


@cache
def ufunc(name: str) -> np.ufunc:
    """A function of scipy.special, imported at the first call: the import takes as long as that of the whole library.

    It is never given `where=`: with that SciPy 1.17 writes beyond its buffers under NumPy 2.4.
    """
    return getattr(import_module("scipy.special"), name)  # type: ignore[no-any-return]


@slot
def evaluate(name: str, *inputs: Array, out: Array | None = None) -> Array:
    """The values of a function of scipy.special, computed in float64, and rounded once where written to `out`."""
    return ufunc(name)(*inputs, out=out, dtype=np.float64)  # type: ignore[no-any-return]


def by_scipy(name: str) -> Loop:
    """The loop that is one function of scipy.special."""
    return lambda out, *inputs: evaluate.run(name, *inputs, out=out)
