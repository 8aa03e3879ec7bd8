"""The elementary functions of compiled loops: errors in the last place, NaN, infinities, tiny and far numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import glasstorch as torch
from glasstorch.compiler.loops.backend import CompiledFxGraph
from glasstorch.compiler.loops.machine_code import THREADS, prelude
from glasstorch.devices.cpp_compiler import library
from glasstorch.fx.experimental.proxy_tensor import make_fx
from glasstorch.jit.codegen.cpp_loop import options

Array = np.ndarray[Any, Any]

# function -> what it must give, in float64, and by how many units in the last place it may be off
FUNCTIONS: dict[str, tuple[Callable[..., Array], float]] = {
    "expf": (np.exp, 1.5),
    "expm1f": (np.expm1, 2),
    "tanhf": (np.tanh, 3),
    "logf": (np.log, 1.5),
    "log1pf": (np.log1p, 2),
    "erff": (special.erf, 1.5),
    "sinf": (np.sin, 2.5),
    "cosf": (np.cos, 3),
}


@pytest.fixture(scope="module")
def functions() -> ctypes.CDLL:
    loops = "".join(
        f'extern "C" void of_{name}(const float* x, float* y, int64_t n) {{\n#pragma omp simd\n'
        f"    for (int64_t i = 0; i < n; ++i) y[i] = elementary::{name}(x[i]);\n}}\n"
        for name in FUNCTIONS
    )
    return ctypes.CDLL(str(library(prelude() + loops, (*options(), *THREADS), "tests")))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_floats_of_all_sizes(name: str, functions: ctypes.CDLL) -> None:
    exact, most = FUNCTIONS[name]
    bits = np.arange(0, 2**32, 6007, dtype=np.uint64).astype(np.uint32)
    special_ones = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.0**-149, 88.722839, 88.73], np.float32)
    x = np.concatenate([bits.view(np.float32), special_ones])
    if name in ("sinf", "cosf"):
        x = x[~(np.abs(x) > 2.0**20)]  # what is further away is not theirs
    found = np.empty_like(x)
    getattr(functions, f"of_{name}")(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(found.ctypes.data), x.size)
    with np.errstate(all="ignore"):
        wanted = exact(x.astype(np.float64))
        rounded = wanted.astype(np.float32)
        finite = np.isfinite(rounded)
        unit = np.maximum(np.spacing(np.abs(rounded[finite])), np.float32(2**-149)).astype(np.float64)
        assert np.max(np.abs(found[finite] - wanted[finite]) / unit) <= most
    np.testing.assert_array_equal(found[~finite], rounded[~finite])  # infinities, and NaN
    signed = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(found[signed]), np.signbit(rounded[signed]))


@pytest.mark.parametrize("far", [3e6, 1e20, 3.4e38, np.inf, np.nan])
def test_sines_of_far_numbers(far: float) -> None:
    x = torch.linspace(-3, 3, 1000)
    x[123] = far

    def f(x: Any) -> Any:
        return x.sin() * 2, x.cos().sum(), (x.view(10, 100).sin() + x.view(10, 100).cos()).softmax(1)

    compiled = CompiledFxGraph(make_fx(f, tracing_mode="fake")(x))
    torch.testing.assert_close(compiled([x]), list(f(x)), rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("of", ["half", "bfloat16"])
def test_half_precision_is_rounded_as_eager_mode_rounds(of: str) -> None:
    bits = torch.arange(0, 2**16, dtype=torch.int32)
    x = (bits.numpy().astype(np.uint32) << 16 | 0x1234).view(np.float32)  # floats of all exponents
    floats = torch.tensor(x)

    def f(x: Any) -> Any:
        narrow = getattr(x, of)()
        return narrow, narrow.float(), narrow * 1.5

    compiled = CompiledFxGraph(make_fx(f, tracing_mode="fake")(floats))
    for found, wanted in zip(compiled([floats]), f(floats), strict=True):
        assert found.dtype is wanted.dtype
        torch.testing.assert_close(found.float(), wanted.float(), rtol=0.0, atol=0.0, equal_nan=True)
