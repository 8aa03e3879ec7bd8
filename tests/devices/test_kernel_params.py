"""Does each argument of a launch stand where the kernel will read it?"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.devices.cubin import Slot
from glasstorch.devices.kernel_params import KernelParams

SLOTS = (Slot(0, 8), Slot(8, 4), Slot(16, 8), Slot(24, 12))
PAIR = np.dtype([("first", np.int32), ("rest", np.float32, 2)])


def arguments() -> list[int | np.generic]:
    return [0x7F0012345678, np.int32(-7), np.float64(2.5), np.array([(3, (0.5, 1.5))], PAIR)[0]]


def test_each_pointer_leads_to_its_value() -> None:
    packed = KernelParams("k", SLOTS, arguments())
    address, number, real, pair = (ctypes.c_void_p * 4).from_address(packed.address)
    assert ctypes.c_uint64.from_address(address).value == 0x7F0012345678
    assert ctypes.c_int32.from_address(number).value == -7
    assert ctypes.c_double.from_address(real).value == 2.5
    assert ctypes.string_at(pair, 12) == arguments()[3].tobytes()


def test_a_kernel_without_parameters_takes_no_arguments() -> None:
    KernelParams("k", (), [])
    with pytest.raises(ArgumentTypeError, match=r"k: 1 arguments were given, the kernel has 0 parameters"):
        KernelParams("k", (), [0])


@pytest.mark.parametrize(
    ("place", "given", "text"),
    [
        (1, 5, "argument 1 is an address (8 bytes), the parameter has 4 bytes"),
        (1, np.int64(5), "argument 1 is int64 (8 bytes), the parameter has 4 bytes"),
        (0, np.float32(1), "argument 0 is float32 (4 bytes), the parameter has 8 bytes"),
    ],
)
def test_an_argument_of_another_size_is_refused(place: int, given: int | np.generic, text: str) -> None:
    wrong = arguments()
    wrong[place] = given
    with pytest.raises(ArgumentTypeError) as caught:
        KernelParams("k", SLOTS, wrong)
    assert str(caught.value) == f"k: {text}"
