"""Are numbers taken apart, and what is not finite replaced, as PyTorch does it, at the edges too?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
EDGES = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 0.5, 1.5, -0.75, -3.7, 6e4, -6e4, 1e-6, 3e38]
FLOATS = ["float64", "float32", "float16", "bfloat16"]
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "angle": lambda t, x: t.angle(x),
    "frac": lambda t, x: t.frac(x),
    "mantissa": lambda t, x: t.frexp(x).mantissa,
    "exponent": lambda t, x: t.frexp(x)[1],
    "nan_to_num": lambda t, x: t.nan_to_num(x),
    "nan_to_num with all": lambda t, x: t.nan_to_num(x, 1e5, 7.0, -1e300),
    "nan_to_num_": lambda t, x: x.nan_to_num_(posinf=2.0),
    "deg2rad": lambda t, x: t.deg2rad(x),
    "rad2deg_": lambda t, x: x.rad2deg_(),
    "isreal": lambda t, x: t.isreal(x),
    "heaviside": lambda t, x: t.heaviside(x, t.full_like(x, 0.25)),
    "fmax": lambda t, x: t.fmax(x, x.flip(0)),
    "fmin": lambda t, x: t.fmin(x, x.flip(0)),
    "clamp_max": lambda t, x: t.clamp_max(x, 0.5),
    "clamp_min_": lambda t, x: x.clamp_min_(-0.5),
    "clamp_max of NaN": lambda t, x: t.clamp_max(x, float("nan")),
    "ldexp": lambda t, x: t.ldexp(x, t.tensor(3)),
    "ldexp by a float": lambda t, x: t.ldexp(x, t.full_like(x, -2)),
    "lerp": lambda t, x: t.lerp(x, x.flip(0), t.full_like(x, 0.75)),
    "lerp near the start": lambda t, x: t.lerp(x, x.flip(0), t.tensor(0.25)),
    "isclose": lambda t, x: t.isclose(x, x + 1e-7, equal_nan=True),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CALLS)
def test_the_edges_are_pytorchs(require: Require, name: str, dtype: str) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        result = CALLS[name](library, library.tensor(EDGES, dtype=getattr(library, dtype)))
        found.append((repr(result.dtype), result.to(library.float64).numpy()))
    (ours, values), (theirs, wanted) = found
    assert ours == theirs
    np.testing.assert_allclose(values, wanted, rtol={"bfloat16": 8e-3, "float16": 1e-3}.get(dtype, 2e-7))


def test_complex_numbers_are_cleaned_part_by_part(torch: Any) -> None:
    x = torch.tensor([complex(float("nan"), float("inf")), 1 - 2j], dtype=torch.complex128)
    assert torch.nan_to_num(x, 1.0, 2.0).tolist() == [1 + 2j, 1 - 2j]
    assert torch.isreal(x * 0 + 1).tolist() == [False, True]


def test_the_angle_of_a_complex_number_is_that_of_the_line_from_the_origin(torch: Any) -> None:
    x = torch.tensor([1 + 1j, -1 + 0j, -2j, 0j])
    np.testing.assert_allclose(torch.angle(x).numpy(), [np.pi / 4, np.pi, -np.pi / 2, 0], rtol=1e-6)


def test_the_angle_of_zero_has_no_gradient(torch: Any) -> None:
    x = torch.tensor([0j, 3j], requires_grad=True)
    torch.angle(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0, -1 / 3], rtol=1e-6)


def test_two_to_a_large_integer_may_not_fit_where_the_product_does(torch: Any) -> None:
    x = torch.tensor([1e-30])
    assert torch.ldexp(x, torch.tensor([130])).item() == pytest.approx(1.3611294676837538e9)
    assert torch.ldexp(x, torch.tensor([130.0])).item() == float("inf")


def test_the_gradient_of_ldexp_knows_negative_integers() -> None:
    x = glasstorch.ones(3, requires_grad=True)
    glasstorch.ldexp(x, glasstorch.tensor([-1, 2, -2])).sum().backward()
    assert x.grad.tolist() == [0.5, 4, 0.25]


REFUSED: dict[str, Callable[[Any], Any]] = {
    "frac of integers": lambda t: t.frac(t.ones(2, dtype=t.int64)),
    "frac into another dtype": lambda t: t.frac(t.ones(2), out=t.empty(2, dtype=t.float64)),
    "nan_to_num into another dtype": lambda t: t.nan_to_num(t.ones(2), out=t.empty(2, dtype=t.float64)),
    "frexp into another mantissa": lambda t: t.frexp(
        t.ones(2), out=(t.empty(2, dtype=t.float64), t.empty(2, dtype=t.int32))
    ),
    "frexp into another exponent": lambda t: t.frexp(t.ones(2), out=(t.empty(2), t.empty(2, dtype=t.int64))),
    "fmax of complex": lambda t: t.fmax(t.ones(2) * 1j, t.ones(2)),
    "heaviside of complex": lambda t: t.heaviside(t.ones(2) * 1j, t.ones(2)),
    "gcd of floats": lambda t: t.gcd(t.ones(2), t.ones(2)),
    "lcm of bool": lambda t: t.lcm(t.ones(2) > 0, t.ones(2) > 0),
    "clamp_max of complex": lambda t: t.clamp_max(t.ones(2) * 1j, 1.0),
    "clamp_min of bool": lambda t: t.clamp_min(t.ones(2) > 0, False),
    "clamp_max too large": lambda t: t.clamp_max(t.ones(2, dtype=t.uint8), 300),
    "lerp to another dtype": lambda t: t.lerp(t.ones(2), t.ones(2, dtype=t.float64), t.ones(2)),
    "lerp by another dtype": lambda t: t.lerp(t.ones(2), t.ones(2), t.ones(2, dtype=t.float64)),
    "lerp of integers": lambda t: t.lerp(*(t.ones(2, dtype=t.int64) for _ in range(3))),
    "deg2rad of complex": lambda t: t.deg2rad(t.ones(2) * 1j),
    "rad2deg_ of integers": lambda t: t.ones(2, dtype=t.int64).rad2deg_(),
    "isclose of two dtypes": lambda t: t.isclose(t.ones(2), t.ones(2, dtype=t.float64)),
    "isclose within less than nothing": lambda t: t.isclose(t.ones(2), t.ones(2), rtol=-1.0),
    "float_power_ of float32": lambda t: t.ones(2).float_power_(2),
    "float_power into float32": lambda t: t.float_power(t.ones(2), 2, out=t.empty(2)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_computed_is_refused_in_pytorchs_words(require: Require, case: str) -> None:
    same_refusal(require("torch"), REFUSED[case])


def test_an_exponent_of_the_wrong_dtype_leaves_the_mantissa_as_it_was(torch: Any) -> None:
    mantissa = torch.full((3,), 7.0)
    with pytest.raises(RuntimeError, match="expects exponent to have int dtype but got long int"):
        torch.frexp(torch.tensor([0.1, 0.6]), out=(mantissa, torch.empty(2, dtype=torch.int64)))
    assert (mantissa.tolist(), mantissa._version) == ([7.0, 7.0, 7.0], 0)


def test_heaviside_of_two_dtypes_is_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="not yet implemented for tensors with different dtypes"):
        torch.heaviside(torch.ones(2), torch.ones(2, dtype=torch.float64))


def test_the_parts_of_an_integer_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"torch.frexp\(\) only supports floating-point dtypes"):
        torch.frexp(torch.ones(2, dtype=torch.int64))


def test_the_gradient_of_heaviside_is_not_known(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    assert torch.heaviside(x, x).grad_fn.name().endswith("NotImplemented")


def test_a_bound_that_does_not_fit_leaves_integers_as_they_are(torch: Any) -> None:
    x = torch.tensor([1, 4])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        x.clamp_max_(2.5)
    assert x.tolist() == [1, 4]


def test_a_power_of_complex_zero_is_as_in_c(torch: Any) -> None:
    zero = torch.zeros(2, dtype=torch.complex128)
    assert np.isnan(torch.pow(zero, zero).numpy()).all()
    assert torch.pow(zero, 2.5).tolist() == [0, 0]
    assert np.isposinf(torch.pow(zero, -1.5).numpy().real).all()


def test_lerp_by_one_gives_the_end_itself(torch: Any) -> None:
    start, end = torch.tensor([1e8, -3.3]), torch.tensor([0.1, 1e-7])
    assert torch.lerp(start, end, torch.ones(2)).tolist() == end.tolist()
    large = torch.lerp(*(torch.full((70_000,), value) for value in (2.0, 4.0, 0.5)))
    assert large.tolist() == [3.0] * 70_000


def test_a_number_cannot_stand_on_both_sides_of_remainder(torch: Any) -> None:
    assert torch.remainder(5, torch.tensor(3)).item() == 2
    with pytest.raises(TypeError):
        torch.remainder(5, 3)


@pytest.mark.parametrize("name", ["__radd__", "__rmul__", "__rand__", "__ror__", "__rxor__"])
def test_a_reflected_operator_wants_a_tensor(torch: Any, name: str) -> None:
    with pytest.raises(TypeError, match="doesn't apply to a 'int' object"):
        getattr(torch.Tensor, name)(2, torch.tensor(1))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_a_common_multiple_that_is_too_large_wraps_around_as_pytorchs(require: Require, dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = [limits.max, limits.max - 1, limits.min + 1, 0, 1, 2, 3, 6, 8, 16, 100, 99, 127]  # torch dies of the least
    x, y = np.array([(a, b) for a in values for b in values], dtype).T
    ours, theirs = (t.lcm(t.from_numpy(x), t.from_numpy(y)).tolist() for t in (glasstorch, require("torch")))
    assert ours == theirs
