"""What does each pointwise operator compute, and in which dtypes?

One row for each operator that has one formula on the CPU, on CUDA and in fused loops. The CPU kernels
(`kernels/cpu/pointwise`), the CUDA kernels (`kernels/cuda/pointwise`) and the steps of fused loops
(`jit/codegen/formulas.py`) are written from it. Operators that only one of them has are in its own tables.

Mirrors: torch/_refs/__init__.py (_make_elementwise_unary_reference and its neighbours)
Differs: a row says what PyTorch's kernels do where they differ between CPU and CUDA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from glasstorch.core.dtype import FLOAT8, Number, bool_, dtype
from glasstorch.core.errors import not_implemented_for
from glasstorch.kernels.pointwise.dtypes import (
    ALL,
    EVERY,
    FLOATING_OR_COMPLEX,
    INTEGRAL_OR_BOOL,
    NOT_BOOL,
    WHOLE_NUMBERS,
    WITH_COMPLEX,
)
from glasstorch.kernels.pointwise.expression import NUMBERS, TENSORS, names, parse
from glasstorch.operators.shapes.promotion import float_result_type, result_type

NONE: Final[frozenset[int]] = frozenset()
FIRST: Final = frozenset((0,))
SECOND: Final = frozenset((1,))
THIRD: Final = frozenset((2,))
EITHER: Final = frozenset((0, 1))
ANY: Final = frozenset((0, 1, 2))


class Cuda(NamedTuple):
    """What a CUDA kernel has of its own.

    `label` is the kernel's name in the error for dtypes that it does not support. `numbers` are the operands, counted
    from 0, that may be numbers, and `exact` those of them that are not rounded:
    see Note [An operand that is one number].
    `accepts` adds dtypes to those that the CPU kernel supports. `expression` stands in place of the row's, where
    PyTorch's CUDA kernel rounds differently; a comment there says why. `own_kernel` as in `Formula`.
    """

    label: str
    numbers: frozenset[int] = NONE
    exact: frozenset[int] = NONE
    expression: str | None = None
    accepts: frozenset[dtype] = frozenset()
    own_kernel: bool = False


class Formula(NamedTuple):
    """One line of elements (see `expression`), and the dtypes in which it is computed.

    `accepts` are the dtypes that PyTorch's kernel supports; `label` is the kernel's name in the error for others.
    `common` gives the compute dtype. `produces` is the dtype of the result, where it differs from that.

    `on_complex` is the expression for complex numbers, and `numpy` the one that NumPy computes, where they differ.
    `exact_number`: see `iterator.operand`. `number_form` says that the overload `.Scalar` has kernels too, and
    `number_first` that `.Scalar_Tensor` has; others are composed. `own_kernel` says that the names of the expression
    are not just the arguments in their order, cast to the common dtype, so that a file of the backend's folder writes
    the kernel. Without `cuda` there is none for CUDA, and unless `fused` the operator is not part of fused loops.
    """

    expression: str
    accepts: frozenset[dtype]
    label: str = ""
    common: Callable[..., dtype] = result_type
    produces: dtype | None = None
    on_complex: str | None = None
    numpy: str | None = None
    exact_number: bool = False
    number_form: bool = False
    number_first: bool = False
    own_kernel: bool = False
    cuda: Cuda | None = None
    fused: bool = False

    @property
    def tensors(self) -> int:
        """How many tensors it reads."""
        return len(names(parse(self.expression)) & set(TENSORS))

    @property
    def numbers(self) -> int:
        """How many numbers it reads beside them."""
        return len(names(parse(self.expression)) & set(NUMBERS))

    def check(self, common: dtype, label: str = "", accepts: frozenset[dtype] | None = None) -> None:
        """Refuse a dtype that the kernel does not support; an overload may have its own label and dtypes."""
        if common not in (self.accepts if accepts is None else accepts):
            raise not_implemented_for(label or self.label, common)


def calculus(name: str, expression: str, label: str | None = None, on_complex: str | None = None) -> Formula:
    """A function of one float; integers are converted to the default float."""
    return Formula(
        expression, FLOATING_OR_COMPLEX, label or f"{name}_vml_cpu", float_result_type, on_complex=on_complex,
        cuda=Cuda(f"{name}_cuda"), fused=True,
    )  # fmt: skip


def comparison(name: str, expression: str, accepts: frozenset[dtype]) -> Formula:
    """A comparison of two tensors, either of which may be a number."""
    return Formula(
        expression,
        accepts,
        f"{name}_cpu",
        produces=bool_,
        number_form=True,
        cuda=Cuda("compare_cuda", EITHER),
        fused=True,
    )


def of_bits(name: str, expression: str) -> Formula:
    """An operator of two integers or bools."""
    return Formula(
        expression, WHOLE_NUMBERS, f"{name}_cpu", number_form=True, cuda=Cuda(f"{name}_cuda", EITHER), fused=True
    )


FORMULAS: Final[dict[str, Formula]] = {
    # of one tensor
    "neg": Formula("-a", WITH_COMPLEX - {bool_}, "neg_cpu", cuda=Cuda("neg_cuda"), fused=True),
    # as in PyTorch, CUDA has the absolute value of bool
    "abs": Formula(
        "abs(a)", NOT_BOOL | FLOAT8, "abs_cpu",
        own_kernel=True, cuda=Cuda("abs_cuda", accepts=ALL), fused=True,
    ),
    "sgn": Formula(
        "sgn(a)", WITH_COMPLEX, "sign_cpu", on_complex="direction(a)", cuda=Cuda("sign_cuda"), fused=True
    ),
    # CUDA computes bool as an integer, in which not only the last bit would be inverted: p is 1 for bool, else -1
    "bitwise_not": Formula(
        "~a", INTEGRAL_OR_BOOL, "bitwise_not_cpu",
        cuda=Cuda("bitwise_not_cuda", expression="a ^ p", own_kernel=True), fused=True,
    ),
    # PyTorch's CUDA kernel leaves -0 as it is
    "relu": Formula(
        "maximum(a, 0)", NOT_BOOL, "clamp_min_scalar_cpu",
        cuda=Cuda("clamp_cuda", expression="where(a < 0, 0, a)"), fused=True,
    ),
    "exp": calculus("exp", "rounded_exp(a)"),
    "log": calculus("log", "log(a)"),
    "sqrt": calculus("sqrt", "sqrt(a)"),
    "rsqrt": calculus("rsqrt", "rsqrt(a)", "rsqrt_cpu"),
    "reciprocal": calculus("reciprocal", "reciprocal(a)", "reciprocal_cpu", on_complex="1 / a"),  # 1 / 0 is infinity
    "sin": calculus("sin", "sin(a)"),
    "cos": calculus("cos", "cos(a)"),
    "tanh": calculus("tanh", "rounded_tanh(a)"),
    "sigmoid": calculus("sigmoid", "1 / (1 + exp(-a))", "sigmoid_cpu_reduced_float"),  # where exp overflows, it is 0
    # of two tensors; p is alpha
    "add.Tensor": Formula(
        "a + p * b", WITH_COMPLEX, "add_stub", cuda=Cuda("add_cuda", EITHER, EITHER), fused=True
    ),
    "sub.Tensor": Formula(
        "a - p * b", WITH_COMPLEX - {bool_}, "add_stub", cuda=Cuda("sub_cuda", EITHER, EITHER), fused=True
    ),
    "mul.Tensor": Formula("a * b", EVERY, exact_number=True, cuda=Cuda("mul_cuda", EITHER, EITHER), fused=True),
    # CUDA's quotients by one number multiply by its inverse p, which is 0 where there is more than one
    "div.Tensor": Formula(
        "a / b", FLOATING_OR_COMPLEX, "div_cpu", float_result_type, exact_number=True,
        cuda=Cuda("div_true_cuda", EITHER, SECOND, "a * p if p != 0 else a / b", own_kernel=True), fused=True,
    ),
    "floor_divide": Formula(
        "floor_divide(a, b)", NOT_BOOL, "div_floor_cpu", exact_number=True,
        cuda=Cuda("div_floor_cuda", EITHER, SECOND, "floor_quotient(a, b, p)", own_kernel=True), fused=True,
    ),
    "remainder.Tensor": Formula(
        "remainder(a, b)",
        NOT_BOOL,
        "remainder_cpu",
        number_first=True,
        cuda=Cuda("remainder_cuda", EITHER),
        fused=True,
    ),
    "maximum": Formula("maximum(a, b)", ALL, "maximum_cpu", cuda=Cuda("max_elementwise_cuda", EITHER), fused=True),
    "minimum": Formula("minimum(a, b)", ALL, "minimum_cpu", cuda=Cuda("min_elementwise_cuda", EITHER), fused=True),
    "bitwise_and.Tensor": of_bits("bitwise_and", "a & b"),
    "bitwise_or.Tensor": of_bits("bitwise_or", "a | b"),
    "bitwise_xor.Tensor": of_bits("bitwise_xor", "a ^ b"),
    "tanh_backward": Formula(
        "a * (1 - b * b)", FLOATING_OR_COMPLEX, "tanh_backward_cpu", on_complex="a * conj(1 - b * b)",
        cuda=Cuda("tanh_backward_cuda"), fused=True,
    ),
    # PyTorch's CUDA kernel multiplies from the left
    "sigmoid_backward": Formula(
        "a * ((1 - b) * b)", FLOATING_OR_COMPLEX, "sigmoid_backward_cpu", on_complex="a * conj((1 - b) * b)",
        cuda=Cuda("sigmoid_backward_cuda", expression="a * (1 - b) * b"), fused=True,
    ),
    "pow.Tensor_Tensor": Formula(
        "power(a, b)", WITH_COMPLEX - {bool_}, "pow", on_complex="complex_power(a, b)",
        cuda=Cuda("pow_cuda", EITHER, own_kernel=True), fused=True,
    ),
    "eq.Tensor": comparison("eq", "a == b", EVERY),
    "ne.Tensor": comparison("ne", "a != b", EVERY),
    "lt.Tensor": comparison("lt", "a < b", ALL),
    "gt.Tensor": comparison("gt", "a > b", ALL),
    "le.Tensor": comparison("le", "a <= b", ALL),
    "ge.Tensor": comparison("ge", "a >= b", ALL),
    # of tensors and numbers
    "where.self": Formula(
        "where(a, b, c)", EVERY,
        own_kernel=True, cuda=Cuda("where_cuda", ANY, own_kernel=True), fused=True,
    ),
    "masked_fill.Scalar": Formula(
        "where(b, p, a)", WITH_COMPLEX, "masked_fill",
        own_kernel=True, cuda=Cuda("masked_fill", own_kernel=True), fused=True,
    ),
    "threshold_backward": Formula(
        "where(b <= p, 0, a)", NOT_BOOL, "threshold_cpu", cuda=Cuda("threshold_cuda", own_kernel=True), fused=True
    ),
    # PyTorch's CUDA kernels form the product or quotient first
    "addcmul": Formula(
        "a + p * b * c", WITH_COMPLEX - {bool_}, "addcmul_cpu_out",
        cuda=Cuda("addcmul_cuda", THIRD, THIRD, "a + p * (b * c)"), fused=True,
    ),
    "addcdiv": Formula(
        "a + p * b / c", FLOATING_OR_COMPLEX, "addcdiv_cpu_out",
        cuda=Cuda("addcdiv_cuda", expression="a + p * (b / c)"), fused=True,
    ),
    # for accuracy, computed from the nearer end
    "lerp.Scalar": Formula(
        "a + p * (b - a) if fabs(p) < 0.5 else b - (b - a) * (1 - p)", FLOATING_OR_COMPLEX, "lerp_kernel_scalar",
        cuda=Cuda("lerp_cuda"), fused=True,
    ),
    # NumPy's clip is one pass, and leaves -0 where a bound is 0; on CUDA, as in PyTorch, one bound alone that is NaN
    # has no effect
    "clamp": Formula(
        "minimum(maximum(a, p), q)", NOT_BOOL, "clamp_scalar_cpu", numpy="clip(a, p, q)",
        own_kernel=True, fused=True,
        cuda=Cuda("clamp_scalar_cuda", expression="between_numbers(a, p, q)", own_kernel=True),
    ),
    "clamp.Tensor": Formula(
        "between(a, b, c)", NOT_BOOL, "clamp_cpu",
        own_kernel=True, cuda=Cuda("clamp_cuda", own_kernel=True), fused=True,
    ),
}  # fmt: skip

# The quotient rounded towards 0, which `div.Tensor_mode` has beside those of `div.Tensor` and `floor_divide`
TRUNC_DIVIDE: Final = Formula(
    "trunc_divide(a, b)", NOT_BOOL, "div_trunc_cpu",
    cuda=Cuda("div_trunc_cuda", EITHER, SECOND, "trunc_quotient(a, b, p)"), fused=True,
)  # fmt: skip

# Powers that need no logarithm: of all dtypes, then of floats
EXPONENTS: Final[dict[Number, str]] = {0: "1", 1: "a", 2: "square(a)", 3: "a * a * a"}
FLOAT_EXPONENTS: Final[dict[Number, str]] = EXPONENTS | {
    0.5: "sqrt(a)",
    -0.5: "rsqrt(a)",
    -1: "reciprocal(a)",
    -2: "reciprocal(a * a)",
}
# Of complex numbers, whose division by 0 must not be that of `reciprocal`
COMPLEX_EXPONENTS: Final[dict[Number, str]] = FLOAT_EXPONENTS | {-1: "1 / a", -2: "1 / (a * a)"}
