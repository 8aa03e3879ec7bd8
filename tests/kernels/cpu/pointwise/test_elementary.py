"""Are logarithms and powers right where they are easily lost: near 1, and where they overflow?"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import glasstorch

Require = Callable[[str], Any]
POINTS = [
    *(1e-5 + 0j, 1e-8j, 1e-20 + 1e-20j, -0.5 + 0.8660254j, -2 + 1e-10j, 0.5 + 0j, 0.3 - 0.4j, 3 - 4j),
    *(0j, complex(-0.0, -0.0), -1 + 0j, complex(-1, -0.0), complex(-2, -0.0), 1e30 + 1e30j, 3e38 + 3e38j),
    *(complex(inf, 1), complex(1, inf), complex(-inf, 0), complex(nan, 1), complex(0, nan)),
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_logarithm_of_nearly_1_keeps_its_digits(require: Require, dtype: str) -> None:
    ours, theirs = (
        library.log1p(library.tensor(POINTS, dtype=getattr(library, dtype)))
        for library in (glasstorch, require("torch"))
    )
    rtol = 1e-6 if dtype == "complex64" else 1e-13
    for part in ("real", "imag"):
        found, wanted = (getattr(result, part).numpy() for result in (ours, theirs))
        np.testing.assert_allclose(found, wanted, rtol=rtol)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize(
    ("dtype", "base", "exponent", "answer"),
    [
        ("complex64", 1e30 + 0j, -2, 0j),
        ("complex64", 1e30 + 0j, -3, 0j),
        ("complex64", 1000 + 0j, 16, complex(inf, 0)),
        ("complex64", 1e-30 + 0j, -3, complex(inf, -0.0)),
        ("complex64", 2 - 3j, 99, complex(-inf, -inf)),
        ("complex128", 1e30 + 0j, 16, complex(inf, 0)),
        ("complex128", 1e10 + 1e-30j, 99, complex(inf, inf)),
        ("complex64", 2 - 3j, 3, -46 - 9j),
    ],
)
def test_a_complex_power_that_overflows_has_the_parts_of_its_polar_form(
    torch: Any, dtype: str, base: complex, exponent: int, answer: complex
) -> None:
    x = torch.tensor([base] * 3, dtype=getattr(torch, dtype))
    for found in (x ** torch.full_like(x, exponent), x.clone().pow_(torch.tensor(exponent + 0j))):
        np.testing.assert_allclose(found.real.numpy(), [answer.real] * 3, rtol=1e-5)
        np.testing.assert_allclose(found.imag.numpy(), [answer.imag] * 3, rtol=1e-5)


def test_the_inverse_of_a_complex_square_that_is_0_is_infinite(torch: Any) -> None:
    found = torch.tensor([1e-30 + 0j, 0j, 2j], dtype=torch.complex64) ** -2
    np.testing.assert_array_equal(found.real.numpy(), [inf, inf, -0.25])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_sums_of_powers_are_pytorchs_at_infinities_and_far_apart(require: Require, name: str, dtype: str) -> None:
    values = (inf, -inf, nan, 0.0, -0.0, 1.0, -1.5, 88.0, -1e4, 3e4, 1e-4)
    x, y = np.array([(a, b) for a in values for b in values], dtype).T
    ours, theirs = (
        getattr(library, name)(library.from_numpy(x), library.from_numpy(y)).numpy()
        for library in (glasstorch, require("torch"))
    )
    np.testing.assert_allclose(ours, theirs, rtol={"float64": 1e-14, "float32": 1e-6, "float16": 1e-3}[dtype])
