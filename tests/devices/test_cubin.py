"""Are a kernel's parameters and bounds read from its code?"""

from __future__ import annotations

from types import ModuleType

import pytest

from glasstorch.devices.cubin import Slot, max_threads, parameters
from tests.devices.compiler import compiler as compiler

SOURCE = """
struct Pair { int first; long long rest[3]; };

extern "C" __global__ void __launch_bounds__(96)
mixed(const float* a, int n, double d, Pair pair, bool flag, float* out) {
    if (n > 0) out[0] = a[0] + n + d + pair.rest[1] + flag;
}

extern "C" __global__ void empty() {}
"""


@pytest.fixture(params=["sm_80", "sm_90"])
def cubin(compiler: ModuleType, request: pytest.FixtureRequest) -> bytes:
    code: bytes = compiler.compile(SOURCE, "mixed.cu", request.param).cubin
    return code


def test_each_parameter_has_its_place_and_size(cubin: bytes) -> None:
    expected = (Slot(0, 8), Slot(8, 4), Slot(16, 8), Slot(24, 32), Slot(56, 1), Slot(64, 8))
    assert parameters(cubin, "mixed") == expected


def test_a_kernel_may_have_no_parameters(cubin: bytes) -> None:
    assert parameters(cubin, "empty") == ()


def test_only_kernels_with_launch_bounds_are_bounded(cubin: bytes) -> None:
    assert max_threads(cubin) == {"mixed": 96}
