"""Does CUDA C++ mean on the simulator what it means on a card?"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from tests.devices.simulator.simulated import run

HALVES = [("__half", "cuda_fp16.h", np.float16), ("__nv_bfloat16", "cuda_bf16.h", ml_dtypes.bfloat16)]
halves = pytest.mark.parametrize(("name", "header", "dtype"), HALVES)

MATHEMATICS: dict[str, Any] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "erf": special.erf,
    "erfc": special.erfc,
    "lgamma": lambda x: np.where(np.isneginf(x), np.inf, special.gammaln(x)),  # C says inf
    "tgamma": special.gamma,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "fabs": np.abs,
    "abs": np.abs,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
}
OF_TWO: dict[str, Any] = {
    "pow": np.power,
    "fmod": np.fmod,
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "max": np.fmax,
    "min": np.fmin,
    "nextafter": np.nextafter,
}
types = pytest.mark.parametrize(("type_name", "dtype"), [("float", np.float32), ("double", np.float64)])


def kernel(body: str, parameters: str, header: str = "") -> str:
    include = f"#include <{header}>\n" if header else ""
    return f'{include}extern "C" __global__ void f({parameters}) {{ int i = threadIdx.x; {body} }}'


@types
def test_functions_of_one_number(type_name: str, dtype: Any) -> None:
    x = np.array([0.5, -0.5, 0.0, -0.0, 0.99, 1e-3, np.nan, np.inf, -np.inf, 2.5, -3.5, 30.0], dtype)
    out = np.zeros((len(MATHEMATICS), len(x)), dtype)
    body = "".join(f"out[{n * len(x)} + i] = {name}(x[i]);" for n, name in enumerate(MATHEMATICS))
    run(kernel(body, f"const {type_name}* x, {type_name}* out"), [x, out], 1, len(x))
    with np.errstate(all="ignore"):
        for found, (name, oracle) in zip(out, MATHEMATICS.items(), strict=True):
            expected = oracle(x.astype(np.float64)).astype(dtype)
            np.testing.assert_allclose(found, expected, rtol=1e-14 if dtype == np.float64 else 2e-6, err_msg=name)


@types
def test_functions_of_two_numbers(type_name: str, dtype: Any) -> None:
    x = np.array([0.5, -2.5, 0.0, 7.0, np.nan, 3.0, np.inf], dtype)
    y = np.array([2.0, 2.0, -1.0, np.nan, 1.0, -0.5, 2.0], dtype)
    out = np.zeros((len(OF_TWO), len(x)), dtype)
    body = "".join(f"out[{n * len(x)} + i] = {name}(x[i], y[i]);" for n, name in enumerate(OF_TWO))
    parameters = f"const {type_name}* x, const {type_name}* y, {type_name}* out"
    run(kernel(body, parameters), [x, y, out], 1, len(x))
    with np.errstate(all="ignore"):
        for found, (name, oracle) in zip(out, OF_TWO.items(), strict=True):
            np.testing.assert_allclose(found, oracle(x, y), rtol=2e-6 if dtype == np.float32 else 1e-14, err_msg=name)


@halves
def test_every_16_bit_number_is_read_as_what_it_is(name: str, header: str, dtype: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    out = np.zeros(1 << 16, np.float32)
    source = kernel("i += blockIdx.x * blockDim.x; out[i] = (float)x[i];", f"const {name}* x, float* out", header)
    run(source, [x, out], 64, 1024)
    np.testing.assert_array_equal(out, x.astype(np.float32))


@halves
def test_floats_are_rounded_to_the_nearest_16_bit_number(name: str, header: str, dtype: Any) -> None:
    drawn = np.random.default_rng(0).integers(0, 1 << 32, 1 << 15, np.uint32).view(np.float32)
    exact = np.arange(1 << 16, dtype=np.uint16).view(dtype).astype(np.float32)
    with np.errstate(all="ignore"):
        between = (exact[1:] + exact[:-1]) / 2
        x = np.concatenate([drawn, between, between * np.float32(1.0001), exact])
        expected = x.astype(dtype)
    out = np.zeros(len(x), dtype)
    body = "i += blockIdx.x * blockDim.x; if (i < n) out[i] = x[i];"
    source = kernel(body, f"const float* x, {name}* out, int n", header)
    run(source, [x, out, np.int32(len(x))], -(-len(x) // 1024), 1024)
    nan = np.isnan(x)
    assert np.isnan(out[nan].astype(np.float32)).all()
    np.testing.assert_array_equal(out[~nan].view(np.uint16), expected[~nan].view(np.uint16))


@halves
def test_16_bit_arithmetic_is_rounded_to_16_bits(name: str, header: str, dtype: Any) -> None:
    x = np.linspace(-3, 4, 32).astype(dtype)
    y = np.linspace(5, 0.25, 32).astype(dtype)
    out = np.zeros((6, 32), dtype)
    body = """out[i] = x[i] + y[i]; out[32 + i] = x[i] - y[i]; out[64 + i] = x[i] * y[i]; out[96 + i] = x[i] / y[i];
      out[128 + i] = __hmax(x[i], -y[i]); out[160 + i] = x[i] < y[i] ? -x[i] : y[i];"""
    run(kernel(body, f"const {name}* x, const {name}* y, {name}* out", header), [x, y, out])
    expected = [x + y, x - y, x * y, x / y, np.maximum(x, -y), np.where(x < y, -x, y)]
    np.testing.assert_array_equal(out, np.stack(expected))


def test_pairs_of_halves_lie_side_by_side() -> None:
    x = np.linspace(-3, 4, 8).astype(np.float16)
    out = np.zeros(8, np.float32)
    source = kernel(
        "float2 pair = __half22float2(x[i]); out[2 * i] = pair.y; out[2 * i + 1] = pair.x;",
        "const __half2* x, float* out",
        "cuda_fp16.h",
    )
    run(source, [x, out], 1, 4)
    np.testing.assert_array_equal(out, x.reshape(4, 2)[:, ::-1].ravel())


def test_vectors_have_the_sizes_and_alignments_of_a_card() -> None:
    out = np.zeros(20, np.int32)
    sizes = ["char4", "float2", "float3", "float4", "double2", "int4", "longlong2", "uint3", "dim3"]
    body = "".join(
        f"out[{2 * n}] = sizeof({name}); out[{2 * n + 1}] = alignof({name});" for n, name in enumerate(sizes)
    )
    run(kernel(body, "int* out"), [out], 1, 1)
    assert list(out[:18]) == [4, 4, 8, 8, 12, 4, 16, 16, 16, 16, 16, 16, 16, 16, 12, 4, 12, 4]


def test_bits_keep_their_pattern() -> None:
    out = np.zeros(16, np.int64)
    body = """out[0] = __float_as_int(1.0f); out[1] = __int_as_float(0x40490fdb) * 1000;
      out[2] = __double_as_longlong(1.0); out[3] = __longlong_as_double(0x400921fb54442d18ll) * 1000;
      out[4] = __popc(0xf0f0u); out[5] = __popcll(-1ll); out[6] = __clz(1); out[7] = __clz(0); out[8] = __ffs(8);
      out[9] = __ffs(0); out[10] = __brev(1u); out[11] = __float2int_rn(2.5f); out[12] = __float2int_rz(-2.5f);
      out[13] = __float2int_rd(-2.5f); out[14] = __float2int_ru(2.1f); out[15] = __clzll(1ll);"""
    run(kernel(body, "long long* out"), [out], 1, 1)
    expected = [0x3F800000, 3141, 0x3FF << 52, 3141, 8, 64, 31, 32, 4, 0, 1 << 31, 2, -2, -3, 3, 63]
    assert list(out) == expected


def test_integers_wrap() -> None:
    out = np.zeros(3, np.int64)
    body = "out[0] = (int)n + 1; out[1] = abs((int)n); out[2] = (n + 1 > n);"
    run(kernel(body, "long long* out, int n"), [out, np.int32(2**31 - 1)], 1, 1)
    assert list(out) == [-(2**31), 2**31 - 1, 0]


def test_integer_extremes_compare_as_their_type() -> None:
    out = np.zeros(4, np.int64)
    body = "out[0] = max(-1, n); out[1] = min(-1ll, 3ll); out[2] = max(3u, 4u); out[3] = umin(7u, 9u);"
    run(kernel(body, "long long* out, int n"), [out, np.int32(3)], 1, 1)
    assert list(out) == [3, -1, 4, 7]
