"""Which element-wise functions are there?

Mirrors: nothing in torch; the standard's element-wise functions
"""

from __future__ import annotations

from glasstorch.array_api._scalars import Array, binary, number_like, unary
from glasstorch.core.dtype import INTEGRAL, Number, float64, promote_types
from glasstorch.core.type_info import iinfo
from glasstorch.operators.generated import functions as f


def _sign(x: Array) -> Array:
    """`sgn`, but NaN for NaN, where torch gives 0."""
    return f.where(f.isnan(x), x, f.sgn(x)) if x.dtype.is_floating_point else f.sgn(x)


abs = unary("abs", f.abs, "The absolute value of each element.")
acos = unary("acos", f.acos, "The angle whose cosine each element is.")
acosh = unary("acosh", f.acosh, "The number whose hyperbolic cosine each element is.")
asin = unary("asin", f.asin, "The angle whose sine each element is.")
asinh = unary("asinh", f.asinh, "The number whose hyperbolic sine each element is.")
atan = unary("atan", f.atan, "The angle whose tangent each element is.")
atanh = unary("atanh", f.atanh, "The number whose hyperbolic tangent each element is.")
bitwise_invert = unary("bitwise_invert", f.bitwise_not, "All bits flipped; on bool, logical not.")
ceil = unary("ceil", f.ceil, "The smallest integer that is not below each element.")
conj = unary("conj", lambda x: f.conj(x).resolve_conj(), "The complex conjugate of each element.")
cos = unary("cos", f.cos, "The cosine of each element.")
cosh = unary("cosh", f.cosh, "The hyperbolic cosine of each element.")
exp = unary("exp", f.exp, "e to the power of each element.")
expm1 = unary("expm1", f.expm1, "`exp(x) - 1`, accurate for small elements too.")
floor = unary("floor", f.floor, "The largest integer that is not above each element.")
imag = unary("imag", f.imag, "The imaginary parts of complex numbers, as a view.")
isfinite = unary("isfinite", f.isfinite, "Whether each element is neither infinite nor NaN.")
isinf = unary("isinf", f.isinf, "Whether each element is an infinity.")
isnan = unary("isnan", f.isnan, "Whether each element is not a number.")
log = unary("log", f.log, "The natural logarithm of each element.")
log10 = unary("log10", f.log10, "The logarithm of each element to the base 10.")
log1p = unary("log1p", f.log1p, "`log(1 + x)`, accurate for small elements too.")
log2 = unary("log2", f.log2, "The logarithm of each element to the base 2.")
logical_not = unary("logical_not", f.logical_not, "Whether each element is false.")
negative = unary("negative", f.neg, "The negative of each element.")
positive = unary("positive", f.positive, "The array itself.")
real = unary("real", f.real, "The real parts of complex numbers, as a view.")
reciprocal = unary("reciprocal", f.reciprocal, "1 divided by each element.")
sign = unary(
    "sign",
    _sign,
    "-1, 0 or 1 with the sign of each element, NaN for NaN; a complex number over its absolute value.",
)
signbit = unary("signbit", f.signbit, "Whether the sign bit of each element is set.")
sin = unary("sin", f.sin, "The sine of each element.")
sinh = unary("sinh", f.sinh, "The hyperbolic sine of each element.")
sqrt = unary("sqrt", f.sqrt, "The square root of each element.")
square = unary("square", f.square, "Each element times itself.")
tan = unary("tan", f.tan, "The tangent of each element.")
tanh = unary("tanh", f.tanh, "The hyperbolic tangent of each element.")
trunc = unary("trunc", f.trunc, "Each element rounded towards 0.")

add = binary("add", f.add, "The sum of two elements.")
atan2 = binary("atan2", f.atan2, "The angle between the x axis and the point (x2, x1).")
bitwise_and = binary("bitwise_and", f.bitwise_and, "The bits set in both elements.")
bitwise_left_shift = binary("bitwise_left_shift", f.bitwise_left_shift, "The bits of x1 shifted left by x2.")
bitwise_or = binary("bitwise_or", f.bitwise_or, "The bits set in at least one of the elements.")
bitwise_right_shift = binary("bitwise_right_shift", f.bitwise_right_shift, "The bits of x1 shifted right by x2.")
bitwise_xor = binary("bitwise_xor", f.bitwise_xor, "The bits set in exactly one of the elements.")
copysign = binary("copysign", f.copysign, "The magnitude of x1 with the sign of x2.")
divide = binary("divide", f.div, "x1 divided by x2.")
equal = binary("equal", f.eq, "Whether two elements are equal.")
floor_divide = binary("floor_divide", f.floor_divide, "The quotient rounded down.")
greater = binary("greater", f.gt, "Whether x1 is greater than x2.")
greater_equal = binary("greater_equal", f.ge, "Whether x1 is at least x2.")
hypot = binary("hypot", f.hypot, "The hypotenuse of a right triangle with sides x1 and x2.")
less = binary("less", f.lt, "Whether x1 is less than x2.")
less_equal = binary("less_equal", f.le, "Whether x1 is at most x2.")
logaddexp = binary("logaddexp", f.logaddexp, "`log(exp(x1) + exp(x2))`, without intermediate overflow.")
logical_and = binary("logical_and", f.logical_and, "Whether both elements are true.")
logical_or = binary("logical_or", f.logical_or, "Whether at least one of the elements is true.")
logical_xor = binary("logical_xor", f.logical_xor, "Whether exactly one of the elements is true.")
maximum = binary("maximum", f.maximum, "The larger of two elements.")
minimum = binary("minimum", f.minimum, "The smaller of two elements.")
multiply = binary("multiply", f.mul, "The product of two elements.")
nextafter = binary("nextafter", f.nextafter, "The representable number next to x1 in the direction of x2.")
not_equal = binary("not_equal", f.ne, "Whether two elements differ.")
pow = binary("pow", f.pow, "x1 to the power of x2.")
remainder = binary("remainder", f.remainder, "The remainder of floor division; it has the sign of x2.")
subtract = binary("subtract", f.sub, "x1 minus x2.")


def round(x: Array, /) -> Array:
    """The integer nearest to each element, ties to even. Both parts of a complex number are rounded."""
    if x.dtype.is_complex:
        return f.view_as_complex(f.round(f.view_as_real(f.resolve_conj(x))))
    return f.round(x)


def clip(x: Array, /, min: Array | Number | None = None, max: Array | Number | None = None) -> Array:
    """Each element limited to the bounds; the dtype stays that of `x`.

    A bound out of range for an integer dtype counts as the nearest one in range.
    """
    if min is None and max is None:
        return x.clone()
    return f.clamp(x, *(None if bound is None else _bound(bound, x) for bound in (min, max)))


def _bound(bound: Array | Number, x: Array) -> Array:
    """A bound in the dtype of `x`."""
    if isinstance(bound, complex):
        raise TypeError(f"clip: expected an array or a real number as a bound, got {bound!r}; complex has no order")
    if x.dtype.category == INTEGRAL:
        lowest, highest = iinfo(x.dtype).min, iinfo(x.dtype).max
        if isinstance(bound, int | float):
            bound = lowest if bound < lowest else highest if bound > highest else int(bound)
        elif bound.dtype is not x.dtype:
            wide = float64 if bound.dtype.is_floating_point else promote_types(bound.dtype, x.dtype)
            bound = f.clamp(bound.to(wide), lowest, highest)
    return (bound if isinstance(bound, Array) else number_like(bound, x)).to(x.dtype)
