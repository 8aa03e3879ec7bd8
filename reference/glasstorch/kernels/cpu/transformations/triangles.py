"""How are tril and triu computed on the CPU?

Mirrors: aten/src/ATen/native/TriangularOps.cpp (tril_cpu, triu_cpu, apply_triu_tril)
Differs: NumPy's mask selects the elements that are copied.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glasstorch._tensor import Tensor, empty
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import shape_function, structured

CPU = KernelTable("CPU")
Triangle = Callable[[Array, int], Array]  # np.tril or np.triu


@slot
def keep(triangle: Triangle, source: Array, diagonal: int, target: Array) -> None:
    """Copy the elements of the triangle, and zeros elsewhere."""
    target[...] = triangle(source, diagonal)


def register_triangle(name: str, triangle: Triangle) -> None:
    """Register the elements on and below a diagonal, or on and above it; the others are 0."""
    shape = shape_function(name)

    def kept(keys: int, self: Tensor, diagonal: int, out: Tensor | None = None) -> Tensor:
        shape(self, diagonal)
        rows, columns = self._shape[-2:]
        diagonal = max(-rows - 1, min(diagonal, columns + 1))  # beyond that nothing changes, and NumPy counts in int64
        result = empty(self._shape, self.dtype) if out is None else out
        keep.run(triangle, self.array(), diagonal, result.array())
        return result

    structured(CPU, name, kept)


register_triangle("tril", np.tril)
register_triangle("triu", np.triu)
