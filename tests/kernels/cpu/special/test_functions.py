"""What do the special functions answer at their edges, for large tensors, and where do they refuse?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import glasstorch

INF, NAN = math.inf, math.nan

# function -> what it answers at 0, -0, 1, -1, inf, -inf and NaN, in PyTorch too
EDGES: dict[str, list[float]] = {
    "erf": [0.0, -0.0, math.erf(1), math.erf(-1), 1, -1, NAN],
    "erfinv": [0.0, -0.0, INF, -INF, NAN, NAN, NAN],
    "lgamma": [INF, INF, 0, INF, INF, INF, NAN],
    "digamma": [-INF, INF, -0.5772156649015329, NAN, INF, NAN, NAN],
    "sinc": [1, 1, 0, 0, NAN, NAN, NAN],
    "logit": [-INF, -INF, INF, NAN, NAN, NAN, NAN],
    "special.entr": [0, 0, 0, -INF, -INF, -INF, NAN],
    "special.ndtri": [-INF, -INF, INF, NAN, NAN, NAN, NAN],
    "special.log_ndtr": [math.log(0.5), math.log(0.5), -0.1727537790234499, -1.8410216450092636, 0, -INF, NAN],
    "special.airy_ai": [0.3550280538878172, 0.3550280538878172, 0.1352924163128814, 0.5355608832923521, NAN, NAN, NAN],
    "special.spherical_bessel_j0": [1, 1, math.sin(1), math.sin(1), 0, 0, NAN],
    "special.modified_bessel_k0": [INF, INF, 0.42102443824070834, NAN, 0, NAN, NAN],
}
POINTS = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]


def find(torch: Any, name: str) -> Callable[..., Any]:
    for part in name.split("."):
        torch = getattr(torch, part)
    return torch  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_at_the_edges(torch: Any, name: str, dtype: str) -> None:
    found = find(torch, name)(torch.tensor(POINTS, dtype=getattr(torch, dtype))).tolist()
    np.testing.assert_allclose(found, EDGES[name], rtol=1e-6, atol=2e-7)


@pytest.mark.parametrize(
    ("name", "x", "y", "answer"),
    [
        ("xlogy", 0, 0, 0), ("xlogy", 0, INF, 0), ("xlogy", 0, NAN, NAN), ("xlogy", 1, -1, NAN),
        ("special.xlog1py", 0, -1, 0), ("special.xlog1py", 2, -1, -INF), ("special.zeta", 1, 2, INF),
        ("special.zeta", 0.5, 2, NAN), ("special.zeta", 2, 0, INF), ("special.zeta", 2.5, -0.5, NAN),
        ("special.zeta", 2, INF, NAN), ("igamma", 0, 1, 1), ("igamma", 0, 0, NAN), ("igamma", 1, 0, 0),
        ("igamma", -1, 1, NAN), ("igamma", INF, 1, 0), ("igamma", 1, INF, 1), ("igamma", INF, INF, NAN),
        ("igamma", NAN, 0, 0), ("igamma", INF, NAN, 0), ("igamma", NAN, INF, 1), ("igamma", NAN, 1, NAN),
        ("igammac", 0, 1, 0), ("igammac", 1, 0, 1), ("igammac", NAN, 0, 1), ("igammac", NAN, INF, 0),
    ],
)  # fmt: skip
def test_values_of_two_numbers_at_the_edges(torch: Any, name: str, x: float, y: float, answer: float) -> None:
    found = find(torch, name)(torch.tensor([x], dtype=torch.float64), torch.tensor([y], dtype=torch.float64))
    np.testing.assert_array_equal(found.tolist(), [answer])


def test_bounds_of_logit_may_cross(torch: Any) -> None:
    """An element below the lower bound becomes that, one above the upper one that; NaN stays."""
    x = torch.tensor([0.1, 0.5, 2.0, -1.0, NAN])
    low = math.log(0.7 / 0.3)
    np.testing.assert_allclose(torch.logit(x, 0.7).tolist(), [low, low, -low, low, NAN], rtol=1e-6)
    np.testing.assert_allclose(torch.logit(x, -1.0)[:2].tolist(), [math.log(1 / 9), 0], rtol=1e-6)


# Polynomials ----------------------------------------------------------------------------------------------------------

KINDS = [f"chebyshev_polynomial_{kind}" for kind in "tuvw"]
SHIFTED = [f"shifted_{kind}" for kind in KINDS]
OTHERS = ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]


@pytest.mark.parametrize("name", [*KINDS, *SHIFTED, *OTHERS])
def test_degrees_that_are_none_give_0_and_degree_0_gives_1(torch: Any, name: str) -> None:
    polynomial = getattr(torch.special, name)
    n = torch.tensor([-1.0, -7.0, 0.0, 0.9])
    assert polynomial(torch.full((4,), 0.3), n).tolist() == [0, 0, 1, 1]
    assert polynomial(torch.full((0,), 0.3), n[:1]).shape == (0,)


@pytest.mark.parametrize(
    ("name", "right", "left"),
    [("t", 1, -1), ("u", 8, -8), ("v", 1, -15), ("w", 15, -1)],
)
def test_chebyshev_polynomials_of_degree_7_at_the_ends(torch: Any, name: str, right: int, left: int) -> None:
    plain = getattr(torch.special, f"chebyshev_polynomial_{name}")
    shifted = getattr(torch.special, f"shifted_chebyshev_polynomial_{name}")
    assert plain(torch.tensor([1.0, -1.0]), 7).tolist() == [right, left]
    assert shifted(torch.tensor([1.0, 0.0]), 7).tolist() == [right, left]


@pytest.mark.parametrize("name", [*KINDS, *SHIFTED])
def test_a_chebyshev_polynomial_is_the_same_by_angle_and_by_recurrence(name: str) -> None:
    """Degree 9 comes from the angle; the recurrence from degrees 2 and 3 must arrive there too."""
    x = glasstorch.linspace(0.05, 0.95, 19, dtype=glasstorch.float64)
    polynomial = getattr(glasstorch.special, name)
    point = 2 * x - 1 if name.startswith("shifted") else x
    below, here = polynomial(x, 2), polynomial(x, 3)
    for _ in range(4, 10):
        below, here = here, 2 * point * here - below
    np.testing.assert_allclose(polynomial(x, 9).tolist(), here.tolist(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "x"),
    [("chebyshev_polynomial_v", 2**-24 - 1), ("chebyshev_polynomial_w", 1 - 2**-24),
     ("shifted_chebyshev_polynomial_v", 2**-24), ("shifted_chebyshev_polynomial_w", 1 - 2**-24)],
)  # fmt: skip
@pytest.mark.parametrize("degree", [3000, 12001])
def test_chebyshev_polynomials_of_large_degrees_are_waves_next_to_the_ends_too(
    name: str, x: float, degree: int
) -> None:
    distance = 2 * np.arcsin(
        np.sqrt((1 - abs(2 * x - 1 if "shifted" in name else x)) / 2)
    )  # of the angle from the end's
    sign = -1 if x < 0.5 and degree % 2 else 1
    expected = sign * np.sin((degree + 0.5) * distance) / np.sin(distance / 2)
    assert getattr(glasstorch.special, name)(glasstorch.tensor([x]), degree).item() == pytest.approx(expected, rel=3e-3)


def test_degrees_beyond_which_hermite_polynomials_have_no_value(torch: Any) -> None:
    for dtype, last in ((torch.float32, 128), (torch.float64, 512)):
        n = torch.tensor([last, last + 1], dtype=torch.float64)
        found = torch.special.hermite_polynomial_he(torch.zeros(1, dtype=dtype), n.to(dtype))
        assert found.isnan().tolist()[1]


def test_one_tensor_may_hold_all_degrees_and_points(torch: Any) -> None:
    x = torch.tensor([[0.5], [-1.0], [2.0]], dtype=torch.float64)
    found = torch.special.legendre_polynomial_p(x, torch.arange(4))
    wanted = [[special.eval_legendre(n, value) for n in range(4)] for value in (0.5, -1.0, 2.0)]
    np.testing.assert_allclose(found.tolist(), wanted, rtol=1e-14)


def test_a_climb_that_overflows_ends_at_nan(torch: Any) -> None:
    found = torch.special.chebyshev_polynomial_t(torch.tensor([3.0, 0.5]), torch.tensor([100000, 3]))
    assert math.isnan(found[0].item())
    assert found[1].item() == -1


# Where PyTorch's numbers are not the best ones ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "exact"), [("bessel_j0", special.j0), ("bessel_j1", special.j1), ("bessel_y0", special.y0)]
)
def test_bessel_functions_of_float64_are_as_exact_as_scipys(name: str, exact: Any, require: Any) -> None:
    torch, x = require("torch"), np.linspace(1, 30, 200)
    found = np.array(getattr(glasstorch.special, name)(glasstorch.from_numpy(x)).tolist())
    np.testing.assert_allclose(found, exact(x), rtol=1e-14, atol=1e-15)
    theirs = getattr(torch.special, name)(torch.from_numpy(x)).numpy()
    assert 1e-14 < np.abs(theirs - found).max() < 1e-6


def test_erf_of_float32_is_right_to_three_units_in_the_last_place() -> None:
    x = np.concatenate([np.linspace(-6, 6, 100_001), np.geomspace(1e-30, 1e30, 1001), [INF, -INF]]).astype(np.float32)
    found, exact = np.array(glasstorch.erf(glasstorch.from_numpy(x)).tolist()), special.erf(x.astype(np.float64))
    np.testing.assert_allclose(found, exact, rtol=3 * 2**-23)
    assert np.abs(found).max() == 1


def test_trigamma_of_float64_is_exact_and_pytorchs_is_near(require: Any) -> None:
    torch, x = require("torch"), np.concatenate([np.linspace(0.1, 20, 200), [-0.5, -3.25]])
    found = np.array(glasstorch.polygamma(1, glasstorch.from_numpy(x)).tolist())
    np.testing.assert_allclose(found, special.polygamma(1, x), rtol=1e-13)
    theirs = torch.polygamma(1, torch.from_numpy(x)).numpy()
    assert 1e-12 < np.abs(theirs / found - 1).max() < 1e-8


def test_the_airy_function_far_out() -> None:
    """SciPy has no value there: on the right it is 0, on the left a wave that shrinks slowly."""
    edge = 1e5
    x = glasstorch.tensor([-edge * 1.01, 200.0, 1e8, -1e8], dtype=glasstorch.float64)
    near, *right, far = glasstorch.special.airy_ai(x).tolist()
    assert near == pytest.approx(special.airy(-edge * 1.01)[0], rel=1e-6)
    assert right == [0, 0]
    assert 0 < abs(far) < 1e8**-0.25


# Many numbers ------------------------------------------------------------------------------------------------------

RANDOM = np.random.default_rng(0)
BITS = RANDOM.integers(0, 1 << 32, 30_000, dtype=np.uint32).view(np.float32)
BITS = BITS[np.isfinite(BITS)]
INPUTS = {
    "erfc": np.concatenate([np.linspace(-6, 9.2, 60_000), BITS]),
    "erfinv": np.concatenate([np.linspace(-1, 1, 60_000)[1:-1], 1 - np.arange(1, 2_000) * 2.0**-24]),
    "i0": np.linspace(-92, 92, 60_000),
    "i0e": np.concatenate([np.linspace(-40, 40, 60_000), BITS]),
    "i1": np.linspace(-92, 92, 60_000),
    "i1e": np.concatenate([np.linspace(-40, 40, 60_000), BITS]),
}
FAR = np.array([0, -0.0, 1, -1, 2, -2, 95, -95, 3e38, 1e-40, -1e-40, np.inf, -np.inf, np.nan], np.float32)
COPIES = 100


def special_function(name: str, x: np.ndarray) -> np.ndarray:
    return getattr(glasstorch.special, name)(glasstorch.from_numpy(x)).numpy()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", INPUTS)
def test_many_numbers_are_right_to_the_last_place(name: str) -> None:
    x = INPUTS[name].astype(np.float32)
    with np.errstate(all="ignore"):
        true = getattr(special, name)(x.astype(np.float64))
        off = np.abs(special_function(name, x) - true) / np.spacing(np.abs(true).astype(np.float32))
    normal = (np.abs(true) > 1.2e-38) & (np.abs(true) < 3.4e38)
    assert normal.sum() > 50_000
    assert off[normal].max() < 0.8


@pytest.mark.parametrize("name", INPUTS)
def test_a_large_tensor_has_the_edges_of_a_small_one(name: str) -> None:
    few, many = special_function(name, FAR), special_function(name, np.tile(FAR, COPIES))
    np.testing.assert_allclose(many, np.tile(few, COPIES), rtol=2e-7)
    number = ~np.isnan(many)
    np.testing.assert_array_equal(np.signbit(many[number]), np.signbit(np.tile(few, COPIES)[number]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_erfinv_of_a_negative_zero_is_one(dtype: str) -> None:
    zeros = glasstorch.tensor([0.0, -0.0], dtype=getattr(glasstorch, dtype))
    assert zeros.erfinv().signbit().tolist() == zeros.erfinv_().signbit().tolist() == [False, True]


@pytest.mark.parametrize("name", INPUTS)
def test_the_edges_of_a_large_tensor_are_pytorchs(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    x = np.tile(FAR, COPIES)
    found, wanted = special_function(name, x), getattr(torch.special, name)(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=2e-6)
    number = ~np.isnan(found)
    np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(wanted[number]))


def test_a_function_may_write_over_what_it_reads() -> None:
    x = RANDOM.uniform(-1, 1, 3_000).astype(np.float32)
    written = glasstorch.from_numpy(x.copy()).erfinv_().numpy()
    np.testing.assert_array_equal(written, special_function("erfinv", x))


# Forms and sizes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lgamma", "sinc", "special.erfcx", "special.airy_ai"])
def test_blocks_and_gaps_change_nothing(name: str) -> None:
    function = find(glasstorch, name)
    x = glasstorch.rand(8_195, 10, dtype=glasstorch.float64) + 0.5
    wanted = np.array([function(piece.contiguous()).tolist() for piece in x.t()[::2]])
    np.testing.assert_array_equal(np.array(function(x.t()[::2]).tolist()), wanted)


def test_what_has_another_name_writes_where_it_is_told(torch: Any) -> None:
    x, n = torch.tensor([1.0, 2.0]), torch.tensor([2, 3])
    for name, arguments in (
        ("expit", (x,)), ("gammainc", (x, x)), ("multigammaln", (x + 3, 2)), ("polygamma", (1, x)),
        ("ndtr", (x,)), ("logsumexp", (x, 0)), ("xlogy", (2, x)), ("xlog1py", (x, 2)), ("zeta", (2, x)),
        ("hermite_polynomial_h", (1.5, n)), ("legendre_polynomial_p", (x, 2)),
    ):  # fmt: skip
        function = getattr(torch.special, name)
        wanted = function(*arguments)
        out = torch.empty(0, dtype=torch.float64)
        assert function(*arguments, out=out) is out
        np.testing.assert_allclose(out.tolist(), wanted.tolist(), rtol=1e-6, err_msg=name)
        refused = torch.zeros(2, dtype=torch.int64)
        with pytest.raises(RuntimeError, match=r"can't be cast|Expected floating point type"):
            function(*arguments, out=refused)
        assert refused.tolist() == [0, 0]


def test_in_place_forms_write_what_the_functions_answer(torch: Any) -> None:
    for name, arguments in (("polygamma_", (2,)), ("mvlgamma_", (2,)), ("logit_", (0.2,)), ("xlogy_", (2.0,))):
        x = torch.tensor([2.5, 3.5])
        wanted = getattr(x, name[:-1])(*arguments).tolist()
        assert getattr(x, name)(*arguments) is x
        assert x.tolist() == wanted
        whole = torch.tensor([3, 4])
        with pytest.raises(RuntimeError, match="can't be cast"):
            getattr(whole, name)(*arguments)
        assert whole.tolist() == [3, 4]


# Refusals -------------------------------------------------------------------------------------------------------------


def test_what_is_refused(torch: Any) -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"polygamma\(n, x\) does not support negative n"):
        torch.polygamma(-1, x)
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1"):
        torch.mvlgamma(x, 0)
    with pytest.raises(RuntimeError, match="The input tensor may not be a boolean tensor"):
        torch.mvlgamma(x.bool(), 1)
    for name, dtype, label in (
        ("special.bessel_j0", "float16", "bessel_j0_cpu"), ("special.zeta", "bfloat16", "zeta_cpu"),
        ("igamma", "int64", "igamma_cpu"), ("erf", "complex64", "erf_vml_cpu"), ("digamma", "complex64", "digamma"),
        ("special.legendre_polynomial_p", "float16", "legendre_polynomial_p_cpu"),
    ):  # fmt: skip
        values = x.to(getattr(torch, dtype))
        with pytest.raises(NotImplementedError, match=f'"{label}" not implemented for'):
            find(torch, name)(*[values] * (2 if name in ("igamma", "special.zeta") or "poly" in name else 1))


def test_gradients_that_nobody_knows_are_refused_when_they_are_wanted(torch: Any) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    for result, name in (
        (torch.special.zeta(x, 2), "zeta"),
        (torch.igamma(x, torch.ones(1)), "igamma: input"),
        (torch.igammac(x, torch.ones(1)), "igammac: input"),
    ):
        with pytest.raises(NotImplementedError, match=f"the derivative for '{name}' is not implemented"):
            result.sum().backward()
    assert not torch.special.bessel_j0(x).requires_grad
