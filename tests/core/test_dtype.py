"""Do dtypes promote, cast and print as PyTorch's?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from glasstorch.core import dtype as dtypes
from glasstorch.core.dtype import (
    DTYPES,
    bfloat16,
    bool_,
    can_cast,
    check_can_cast,
    dtype,
    dtype_of_number,
    float16,
    float32,
    float64,
    from_numpy_dtype,
    get_default_dtype,
    int32,
    int64,
    promote_types,
    set_default_dtype,
    uint8,
)
from glasstorch.core.errors import DtypeError

Require = Callable[[str], Any]


@pytest.fixture
def default_dtype():
    """Puts the default dtype back after a test that sets it."""
    before = get_default_dtype()
    yield
    set_default_dtype(before)


def test_any_float_beats_any_integer() -> None:
    assert promote_types(int64, float16) is float16
    assert promote_types(bool_, uint8) is uint8


def test_the_two_half_types_meet_in_float32() -> None:
    assert promote_types(float16, bfloat16) is float32
    assert promote_types(bfloat16, float16) is float32


def test_promotion_does_not_depend_on_the_order_and_absorbs() -> None:
    for a, b in product(DTYPES, DTYPES):
        joined = promote_types(a, b)
        assert joined is promote_types(b, a)
        assert promote_types(joined, a) is joined


def test_a_result_is_never_cast_to_a_lower_category() -> None:
    assert can_cast(float64, float16)
    assert can_cast(bool_, uint8)
    assert not can_cast(float32, int64)
    assert not can_cast(uint8, bool_)
    with pytest.raises(DtypeError, match="result type Float can't be cast to the desired output type Long"):
        check_can_cast(float32, int64)
    check_can_cast(int32, float16)


def test_every_dtype_says_what_it_is() -> None:
    facts = {d.name: (d.itemsize, d.is_floating_point, d.is_signed, d.is_complex) for d in DTYPES}
    assert facts == {
        "bool": (1, False, False, False),
        "uint8": (1, False, False, False),
        "int32": (4, False, True, False),
        "int64": (8, False, True, False),
        "float16": (2, True, True, False),
        "bfloat16": (2, True, True, False),
        "float32": (4, True, True, False),
        "float64": (8, True, True, False),
    }


@pytest.mark.parametrize("d", DTYPES, ids=repr)
def test_a_dtype_survives_pickling_as_the_same_object(d: dtype) -> None:
    assert pickle.loads(pickle.dumps(d)) is d


@pytest.mark.parametrize("d", DTYPES, ids=repr)
def test_numpy_dtypes_map_both_ways(d: dtype) -> None:
    assert from_numpy_dtype(d.numpy) is d


@pytest.mark.parametrize("name", ["complex64", "U3", "datetime64[s]", ">f4"])
def test_a_numpy_dtype_without_counterpart_is_refused_with_the_list(name: str) -> None:
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type .*only supported types are: bool, uint8"):
        from_numpy_dtype(np.dtype(name))


def test_python_numbers_have_the_dtype_of_their_kind(default_dtype: None) -> None:
    assert [dtype_of_number(n) for n in (True, 1, 1.0)] == [bool_, int64, float32]
    set_default_dtype(float64)
    assert dtype_of_number(1.0) is float64


def test_the_default_dtype_must_be_a_floating_point_dtype(default_dtype: None) -> None:
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        set_default_dtype(int64)
    with pytest.raises(TypeError, match="invalid dtype object"):
        set_default_dtype("float32")  # type: ignore[arg-type]
    assert get_default_dtype() is float32


# Against PyTorch ------------------------------------------------------------------------------------------------


def test_promotion_and_casting_are_pytorchs(require: Require) -> None:
    torch = require("torch")
    for a, b in product(DTYPES, DTYPES):
        theirs = torch.promote_types(getattr(torch, a.name), getattr(torch, b.name))
        assert repr(promote_types(a, b)) == repr(theirs)
        assert can_cast(a, b) == torch.can_cast(getattr(torch, a.name), getattr(torch, b.name)), (a, b)


def test_every_public_fact_of_a_dtype_is_pytorchs(require: Require) -> None:
    torch = require("torch")
    for d in DTYPES:
        theirs = getattr(torch, d.name)
        for fact in ("itemsize", "is_floating_point", "is_complex", "is_signed"):
            assert getattr(d, fact) == getattr(theirs, fact), (d, fact)
        assert repr(d) == repr(theirs)
        name = torch.tensor([], dtype=theirs).type().removeprefix("torch.").removesuffix("Tensor")
        assert d.scalar_name == name


def test_the_module_offers_every_dtype_by_name() -> None:
    assert all(getattr(dtypes, d.name if d is not bool_ else "bool_") is d for d in DTYPES)
