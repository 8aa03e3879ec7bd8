"""How are tril and triu computed on the CPU?

Mirrors: aten/src/ATen/native/TriangularOps.cpp (tril_cpu, triu_cpu, apply_triu_tril)
Differs: a mask selects the elements that are copied.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, empty
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.transformations import triangles as shapes

CPU = KernelTable("CPU")


def tril(keys: int, self: Tensor, diagonal: int, out: Tensor | None = None) -> Tensor:
    """The elements on and below a diagonal."""
    shapes.tril(self, diagonal)
    return _kept(self, diagonal, out, below=True)


def triu(keys: int, self: Tensor, diagonal: int, out: Tensor | None = None) -> Tensor:
    """The elements on and above a diagonal."""
    shapes.triu(self, diagonal)
    return _kept(self, diagonal - 1, out, below=False)


def _kept(self: Tensor, diagonal: int, out: Tensor | None, *, below: bool) -> Tensor:
    """Elements up to the diagonal (`below`) or beyond it; the others are 0."""
    rows, columns = self._shape[-2:]
    diagonal = max(-rows - 1, min(diagonal, columns + 1))  # beyond that nothing changes, and NumPy counts in int64
    at_or_below = np.tri(rows, columns, diagonal, dtype=np.bool_)
    result = empty(self._shape, self.dtype) if out is None else out
    array = result.array()
    if out is not self:
        array[...] = self.array()
    np.copyto(array, array.dtype.type(0), where=~at_or_below if below else at_or_below)
    return result


structured(CPU, "tril", tril)
structured(CPU, "triu", triu)
