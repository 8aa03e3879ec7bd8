"""How does a function of scipy.special become a loop?

Mirrors: nothing in PyTorch, which has its special functions in aten/src/ATen/native/Math.h
Differs: SciPy's ufuncs compute them; most derive from the Cephes library, as PyTorch's do.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.iterator import Loop


@cache
def ufunc(name: str) -> np.ufunc:
    """A function of scipy.special, imported at the first call: the import takes as long as that of the whole library.

    It is never given `where=`: with that SciPy 1.17 writes beyond its buffers under NumPy 2.4.
    """
    return getattr(import_module("scipy.special"), name)  # type: ignore[no-any-return]


def by_scipy(name: str) -> Loop:
    """The loop that is one function of scipy.special."""

    def loop(out: Array, *inputs: Array) -> None:
        ufunc(name)(*inputs, out=out)

    return loop
