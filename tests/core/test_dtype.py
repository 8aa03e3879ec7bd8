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
    FLOAT8,
    FLOATING,
    PROMOTE,
    bfloat16,
    bool_,
    can_cast,
    check_can_cast,
    complex64,
    complex128,
    dtype,
    dtype_of_number,
    float8_e5m2,
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
    uint16,
    uint32,
    uint64,
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
    for a, b in PROMOTE:
        joined = promote_types(a, b)
        assert joined is promote_types(b, a)
        assert promote_types(joined, a) is joined


def test_what_is_only_stored_promotes_with_little_else() -> None:
    assert promote_types(uint16, float32) is float32
    assert promote_types(float8_e5m2, float8_e5m2) is float8_e5m2
    for a, b in ((uint16, int32), (uint16, uint32), (uint64, complex64), (float8_e5m2, float32)):
        with pytest.raises(DtypeError, match=f"attempted to promote {a.scalar_name} and {b.scalar_name}"):
            promote_types(a, b)


def test_a_complex_dtype_and_that_of_its_parts() -> None:
    assert (complex64.to_real(), complex128.to_real(), int64.to_real()) == (float32, float64, int64)
    assert (float32.to_complex(), float64.to_complex(), complex64.to_complex()) == (complex64, complex128, complex64)
    with pytest.raises(DtypeError, match="Unknown Complex ScalarType for Long"):
        int64.to_complex()
    with pytest.raises(DtypeError, match=r"complex32 .* use complex64"):
        float16.to_complex()


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
        "uint16": (2, False, False, False),
        "uint32": (4, False, False, False),
        "uint64": (8, False, False, False),
        "int8": (1, False, True, False),
        "int16": (2, False, True, False),
        "int32": (4, False, True, False),
        "int64": (8, False, True, False),
        "float8_e4m3fn": (1, True, True, False),
        "float8_e5m2": (1, True, True, False),
        "float16": (2, True, True, False),
        "bfloat16": (2, True, True, False),
        "float32": (4, True, True, False),
        "float64": (8, True, True, False),
        "complex64": (8, False, True, True),
        "complex128": (16, False, True, True),
    }


@pytest.mark.parametrize("d", DTYPES, ids=repr)
def test_a_dtype_survives_pickling_as_the_same_object(d: dtype) -> None:
    assert pickle.loads(pickle.dumps(d)) is d


@pytest.mark.parametrize("d", DTYPES, ids=repr)
def test_numpy_dtypes_map_both_ways(d: dtype) -> None:
    assert from_numpy_dtype(d.numpy) is d


@pytest.mark.parametrize("name", ["clongdouble", "U3", "datetime64[s]", ">f4"])
def test_a_numpy_dtype_without_counterpart_is_refused_with_the_list(name: str) -> None:
    with pytest.raises(
        TypeError,
        match=r"can't convert np.ndarray of type .*only supported types are: float64, float32, .*, uint8, and bool",
    ):
        from_numpy_dtype(np.dtype(name))


def test_python_numbers_have_the_dtype_of_their_kind(default_dtype: None) -> None:
    assert [dtype_of_number(n) for n in (True, 1, 1.0, 1j)] == [bool_, int64, float32, complex64]
    set_default_dtype(float64)
    assert [dtype_of_number(n) for n in (1.0, 1j)] == [float64, complex128]


def test_the_default_dtype_must_be_a_floating_point_dtype(default_dtype: None) -> None:
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        set_default_dtype(int64)
    with pytest.raises(TypeError, match="only floating-point types are supported"):
        set_default_dtype(complex64)
    with pytest.raises(TypeError, match="nothing computes in it"):
        set_default_dtype(float8_e5m2)
    with pytest.raises(TypeError, match="invalid dtype object"):
        set_default_dtype("float32")  # type: ignore[arg-type]
    assert get_default_dtype() is float32


# Against PyTorch ------------------------------------------------------------------------------------------------


def test_promotion_and_casting_are_pytorchs(require: Require) -> None:
    torch = require("torch")
    for a, b in product(DTYPES, DTYPES):
        theirs = outcome(lambda a=a, b=b: torch.promote_types(getattr(torch, a.name), getattr(torch, b.name)))
        assert outcome(lambda a=a, b=b: promote_types(a, b)) == theirs
        assert can_cast(a, b) == torch.can_cast(getattr(torch, a.name), getattr(torch, b.name)), (a, b)


def outcome(compute: Callable[[], Any]) -> str:
    """What is answered, or the message of the refusal."""
    try:
        return repr(compute())
    except RuntimeError as error:
        return str(error)


def test_every_public_fact_of_a_dtype_is_pytorchs(require: Require) -> None:
    torch = require("torch")
    for d in DTYPES:
        theirs = getattr(torch, d.name)
        for fact in ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr"):
            assert getattr(d, fact) == getattr(theirs, fact), (d, fact)
        assert repr(d) == repr(theirs)
        if d is not float16:  # whose complex type is not here
            assert outcome(d.to_complex) == outcome(theirs.to_complex)
        if d.category >= FLOATING and d not in FLOAT8:
            assert repr(d.to_real()) == repr(theirs.to_real())
        name = torch.tensor([], dtype=theirs).type().removeprefix("torch.").removesuffix("Tensor")
        assert d.scalar_name == name


def test_the_module_offers_every_dtype_by_name() -> None:
    assert all(getattr(dtypes, d.name if d is not bool_ else "bool_") is d for d in DTYPES)


def test_nobody_makes_another_dtype(torch: Any) -> None:
    with pytest.raises(TypeError, match=r"cannot create 'torch.dtype' instances"):
        torch.dtype("float32")


def test_a_type_of_python_stands_for_a_dtype(torch: Any) -> None:
    assert torch.promote_types(float, int) is torch.float64
    assert torch.promote_types(bool, torch.int8) is torch.int8
    assert not torch.can_cast(torch.float32, int)
    assert torch.can_cast(int, complex)


def test_what_is_no_dtype_is_refused_by_its_place(torch: Any) -> None:
    for function, names in (("promote_types", ("type1", "type2")), ("can_cast", ("from_", "to"))):
        for place, name in enumerate(names):
            for given in (torch.ones(1), "float32", None, [1]):
                pair = [torch.int8, torch.int8]
                pair[place] = given
                message = rf"{function}\(\): argument '{name}' \(position {place + 1}\) must be torch.dtype, not "
                with pytest.raises(TypeError, match=message + type(given).__name__):
                    getattr(torch, function)(*pair)
