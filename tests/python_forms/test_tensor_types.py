"""Are the types with names of their own those of PyTorch?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glasstorch.core.dtype import DTYPES

NAMED = {
    "BFloat16Tensor": "bfloat16", "BoolTensor": "bool", "ByteTensor": "uint8", "CharTensor": "int8",
    "DoubleTensor": "float64", "FloatTensor": "float32", "HalfTensor": "float16", "IntTensor": "int32",
    "LongTensor": "int64", "ShortTensor": "int16",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_a_type_makes_tensors_of_its_dtype_and_knows_them(torch: Any, name: str) -> None:
    kind = getattr(torch, name)
    made = kind([1, 0])
    assert (repr(made.dtype), made.tolist()) == (f"torch.{NAMED[name]}", [1, 0])
    assert tuple(kind(2, 3).shape) == (2, 3)
    assert isinstance(made, kind)
    assert not isinstance(made.to("meta"), kind)
    assert not isinstance([1], kind)
    assert [other for other in NAMED if isinstance(made, getattr(torch, other))] == [name]
    assert (repr(kind), kind.dtype) == (f"<class 'torch.{name}'>", made.dtype)
    assert made.type() == f"torch.{name}"


def test_a_type_takes_arrays_sizes_and_its_own_tensors(torch: Any) -> None:
    assert torch.LongTensor(np.array([1.5])).tolist() == [1]
    assert tuple(torch.FloatTensor(torch.Size([2])).shape) == (2,)
    own = torch.ones(1)
    assert torch.FloatTensor(own).data_ptr() == own.data_ptr()
    with pytest.raises(TypeError, match="expected"):
        torch.FloatTensor(torch.ones(1, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: meta"):
        torch.FloatTensor(2, device="meta")
    with pytest.raises(TypeError, match="data must be a sequence"):
        torch.FloatTensor(1.5)


def test_every_dtype_has_a_name() -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    for dtype in DTYPES:
        for device in ("cpu", "meta"):
            said = [t.zeros(1, dtype=getattr(t, dtype.name), device=device).type() for t in (ours, theirs)]
            assert said[0] == said[1]


def test_type_converts(torch: Any) -> None:
    x = torch.ones(1)
    for asked in (torch.int64, "torch.LongTensor", torch.LongTensor):
        assert x.type(asked).dtype is torch.int64
    assert x.type(torch.float32) is x
    assert x.type(dtype="torch.ComplexFloatTensor").tolist() == [1 + 0j]
    assert torch.ones(1, dtype=torch.int8).type(torch.Tensor).dtype is torch.float32


def test_the_name_of_what_something_is() -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    def names(torch: Any) -> list[str]:
        x = torch.ones(2, dtype=torch.int16)
        linear = torch.nn.Linear(1, 2)
        things = [x, linear.weight, linear, torch.nn.Linear, linear.forward, 3, [], None, len, str.join, int, any]
        return [torch.typename(thing).replace("glasstorch.", "torch.") for thing in things]

    assert names(ours) == names(theirs)
    assert ours.typename(names) == f"{__name__}.{names.__qualname__}"


def test_what_is_no_type_is_refused(torch: Any) -> None:
    x = torch.ones(1)
    for wrong in ("float", "torch.meta.FloatTensor", float):
        with pytest.raises(ValueError, match="invalid type: '"):
            x.type(wrong)
    with pytest.raises(TypeError, match="dtype must be a type, str, or dtype object"):
        x.type(3)
