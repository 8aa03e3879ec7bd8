"""Has every pointwise operator a formula, and every formula a loop?"""

from __future__ import annotations

from glasstorch.jit.codegen.formulas import COMPOSITES, FUSIBLE, LOWERINGS
from glasstorch.jit.codegen.numpy_loop import LOOPS
from glasstorch.operators.generated.registry import OPERATORS
from tests.agreement.table import ROWS
from tests.jit.codegen.groups import calls_of, fused_words

# Pointwise operators that no group takes in: no step of theirs is in jit/codegen/cpp_loop.py or numpy_loop.py.
UNFUSED = frozenset(
    [
        "_conj_physical", "acos", "acosh", "angle", "asin", "asinh", "atan", "atan2", "atanh",
        "bitwise_and.Scalar_Tensor", "bitwise_or.Scalar_Tensor", "bitwise_xor.Scalar_Tensor",
        "bitwise_left_shift.Scalar_Tensor", "bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar",
        "bitwise_right_shift.Scalar_Tensor", "bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar",
        "ceil", "clamp_max", "clamp_max.Tensor", "clamp_min", "clamp_min.Tensor", "copysign.Scalar",
        "copysign.Tensor", "cosh", "digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "floor", "fmax", "fmin",
        "fmod.Scalar", "fmod.Tensor", "frac", "frexp.Tensor", "gcd", "heaviside", "hypot", "i0", "igamma", "igammac",
        "isneginf", "isposinf", "lcm", "ldexp.Tensor", "lerp.Tensor", "lgamma", "log10", "log1p", "log2", "logaddexp",
        "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "nan_to_num", "nextafter",
        "polygamma", "remainder.Scalar_Tensor",
        "round", "round.decimals", "sign", "signbit", "sinc", "sinh", "special_airy_ai",
        "special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1",
        "special_chebyshev_polynomial_t", "special_chebyshev_polynomial_u", "special_chebyshev_polynomial_v",
        "special_chebyshev_polynomial_w", "special_entr", "special_erfcx", "special_hermite_polynomial_h",
        "special_hermite_polynomial_he", "special_i0e", "special_i1", "special_i1e", "special_laguerre_polynomial_l",
        "special_legendre_polynomial_p", "special_log_ndtr", "special_modified_bessel_i0",
        "special_modified_bessel_i1", "special_modified_bessel_k0", "special_modified_bessel_k1", "special_ndtri",
        "special_scaled_modified_bessel_k0", "special_scaled_modified_bessel_k1",
        "special_shifted_chebyshev_polynomial_t", "special_shifted_chebyshev_polynomial_u",
        "special_shifted_chebyshev_polynomial_v", "special_shifted_chebyshev_polynomial_w",
        "special_spherical_bessel_j0", "special_xlog1py", "special_zeta", "tan", "trunc", "xlogy.Tensor",
    ]
)  # fmt: skip


def test_every_pointwise_operator_can_be_fused_or_is_listed() -> None:
    pointwise = {
        row.name for row in OPERATORS if "pointwise" in row.tags and row.functional is None and row.shape is not None
    }
    assert pointwise
    assert pointwise - FUSIBLE == UNFUSED


def test_an_operator_made_of_another_names_one_that_is_not() -> None:
    assert {target for target, _ in COMPOSITES.values()} <= LOWERINGS.keys()
    assert not COMPOSITES.keys() & LOWERINGS.keys()


def test_every_formula_that_is_used_has_a_loop_and_every_loop_is_used() -> None:
    used = set()
    for row in ROWS:
        if row.op in FUSIBLE:
            for _, group, tensors in calls_of(row):
                plan = group.plan(*tensors)
                if plan is not None:
                    used |= {step.formula for loop in plan.program.loops for step in loop.steps}
    assert used == {*fused_words(), "cast", "copy"}
    assert used <= LOOPS.keys()
