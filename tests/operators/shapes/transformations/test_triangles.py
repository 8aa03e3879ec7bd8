"""Does a triangle keep the sizes of its matrix, row-major?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.operators.shapes.transformations.triangles import tril, triu


def test_a_triangle_is_row_major_whatever_the_matrix_is() -> None:
    x = glasstorch.zeros(2, 3).t()
    assert (tril(x, 0).shape, tril(x, 0).strides) == ((3, 2), None)
    with pytest.raises(RuntimeError, match="dtype float, but got double"):
        triu(x, 0).check_out(glasstorch.float32, glasstorch.float64)


def test_what_has_no_triangle() -> None:
    with pytest.raises(RuntimeError, match="triu: input tensor must have at least 2 dimensions"):
        triu(glasstorch.zeros(2), 0)
    with pytest.raises(NotImplementedError, match="\"tril\" not implemented for 'UInt16'"):
        tril(glasstorch.zeros(2, 2).to(glasstorch.uint16), 0)
