"""Do `x.char()`, `x.cfloat()` and their like give what PyTorch's give?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.core.dtype import DTYPES

METHODS = {
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_for_each_dtype(torch: Any, method: str) -> None:
    x = torch.tensor([[0.0, 2.0], [3.0, 1.0]]).t()
    found = getattr(x, method)()
    assert found.dtype is getattr(torch, METHODS[method])
    assert found.stride() == (1, 2)
    assert found.tolist() == [[bool(e) if method == "bool" else e for e in row] for row in x.tolist()]
    assert getattr(found, method)() is found
    if method != "float":  # of what need not be copied, the order stays
        assert getattr(x, method)(memory_format=torch.contiguous_format).stride() == (2, 1)


def test_complex_numbers_of_two_bytes_a_part_are_refused() -> None:
    import glasstorch

    with pytest.raises(RuntimeError, match=r"complex32 .* is not in glasstorch: .* use complex64"):
        glasstorch.zeros(2).chalf()
    assert not hasattr(glasstorch, "complex32")


def test_python_types_stand_for_dtypes(torch: Any) -> None:
    x = torch.zeros(2)
    found = [x.to(kind).dtype for kind in (bool, int, float, complex)]
    assert found == [torch.bool, torch.int64, torch.float64, torch.complex128]


def test_the_aliases_of_dtypes_are_pytorchs(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    import glasstorch

    names = [name for name, value in vars(torch).items() if isinstance(value, torch.dtype)]
    held = {repr(dtype) for dtype in DTYPES}
    for name in names:
        if repr(getattr(torch, name)) in held:
            assert repr(getattr(glasstorch, name)) == repr(getattr(torch, name))
