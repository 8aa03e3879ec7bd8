"""Do the bytes that a kernel is given stand for the arguments of its launch?"""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.devices.arguments import pack
from glasstorch.devices.driver import Parameter

POINTER = Parameter(True, False, "f", 4)
INT = Parameter(False, False, "i", 4)
DOUBLE = Parameter(False, False, "f", 8)
WIDE = Parameter(False, False, "V", 20)
BYTE = Parameter(False, False, "u", 1)
BFLOAT = Parameter(False, False, "V", 2)


def test_each_argument_lies_at_its_offset() -> None:
    wide = np.void(bytes(range(20)))
    values, offsets = pack("f", (POINTER, INT, WIDE, DOUBLE), (1 << 40, np.int32(-2), wide, np.float64(0.5)))
    assert list((ctypes.c_uint32 * 4).from_address(offsets)) == [0, 16, 32, 64]
    assert np.frombuffer(values, np.int64, 1, 0) == 1 << 40
    assert np.frombuffer(values, np.int32, 1, 16) == -2
    assert values[32:52] == bytes(range(20))
    assert np.frombuffer(values, np.float64, 1, 64) == 0.5


def test_numbers_of_the_same_kind_and_size_are_taken() -> None:
    int64 = Parameter(False, False, "i", 8)
    for number in (np.int64(7), np.longlong(7)):
        assert np.frombuffer(pack("f", (int64,), (number,)).values, np.int64, 1) == 7
    assert pack("f", (BFLOAT,), (ml_dtypes.bfloat16(1),)).values[:2] == b"\x80\x3f"


def test_no_arguments() -> None:
    assert pack("f", (), ()).values == b""


@pytest.mark.parametrize(
    ("parameter", "argument", "words"),
    [
        (INT, np.float64(1), "argument 1 is float64, the parameter is int32; expected numpy.int32"),
        (INT, np.int64(1), "argument 1 is int64, the parameter is int32; expected numpy.int32"),
        (INT, np.uint32(1), "argument 1 is uint32, the parameter is int32"),
        (INT, 3, "argument 1 is a Python int, the parameter is int32; expected numpy.int32"),
        (DOUBLE, 3.0, "argument 1 is a Python float, the parameter is float64; expected numpy.float64"),
        (BYTE, True, "argument 1 is a Python bool, the parameter is uint8; expected numpy.uint8"),
        (POINTER, np.int64(8), r"argument 1 is int64, the parameter is float32\*; expected an address \(int\)"),
        (POINTER, None, r"argument 1 is a Python NoneType, the parameter is float32\*"),
        (
            WIDE,
            np.void(bytes(16)),
            "argument 1 is |V16, the parameter is 20 bytes; expected a NumPy scalar of 20 bytes",
        ),
    ],
)
def test_an_argument_of_another_type_is_refused(parameter: Parameter, argument: Any, words: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"scale: {words}".replace("|", r"\|")):
        pack("scale", (POINTER, parameter), (0, argument))


def test_another_number_of_arguments_is_refused() -> None:
    words = r"scale: 1 arguments were given, the kernel has 2 parameters \(float32\*, int32\)"
    with pytest.raises(ArgumentTypeError, match=words):
        pack("scale", (POINTER, INT), (0,))
    with pytest.raises(ArgumentTypeError, match="3 arguments were given"):
        pack("scale", (POINTER, INT), (0, np.int32(1), np.int32(1)))
