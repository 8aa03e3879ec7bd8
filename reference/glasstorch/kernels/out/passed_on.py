"""How does a composite operator pass out= on to the last operator that it calls?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (matmul_out), Linear.cpp (linear_out), SoftMax.cpp (softmax_out,
    log_softmax_out), UnaryOps.cpp (square_out, deg2rad_out, rad2deg_out, special_ndtr_out, mvlgamma_), Pow.cpp
    (float_power_out), BinaryOps.cpp (xlogy_), TensorShape.cpp (stack_out, hstack_out, vstack_out, dstack_out,
    column_stack_out), RangeFactories.cpp (linspace_out, logspace_out)
Differs: these functions are kernels and not composites, because only kernels resize `out`.

# Note [The ways to write to out=]
The field `out` in an operator's row says how its out= form is written:
1. By a kernel of its own, if the field is empty (`structured.py`); autograd refuses gradients before it runs
   (`autograd/out_forms.py`).
2. "passed on": a composite operator passes out= on to the last operator that it calls, as in PyTorch. It refuses what
   that operator refuses.
3. "copied" or "composed": the result is computed and then copied, as PyTorch's generator writes it (`copied.py`) or as
   PyTorch wrote it by hand; some of the latter cast (`composed.py`). A few keep the gradient in out=; the others refuse
   it.
Autograd records the operators that a composed form calls, or one that is passed on by hand; for those marked "leaf" it
records the form itself.
`rows.py` registers these forms; those that are marked "by hand" are written in this folder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, check_can_cast, dtype
from glasstorch.core.geometry import view_strides
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import resize_output
from glasstorch.operators.composite.creation import ends
from glasstorch.operators.composite.joining.stacks import (
    parts_of_column_stack,
    parts_of_dstack,
    parts_of_hstack,
    parts_of_vstack,
    stacked_dim,
)
from glasstorch.operators.composite.matmul import plan
from glasstorch.operators.composite.pointwise import (
    DEGREE,
    check_power_dtype,
    in_double,
    power_dtype,
    refuse_complex,
)
from glasstorch.operators.composite.with_number import with_number
from glasstorch.operators.generated.functions import (
    _log_softmax,
    _softmax,
    addmm,
    erf,
    linear,
    linspace,
    logspace,
    matmul,
    mul,
    mvlgamma,
    pow,
)
from glasstorch.operators.generated.functions import cat as cat_operator

# Autograd sees the operators that these call, and refuses them if an input requires a gradient.
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)
EXPLICIT = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)


@IMPLICIT.impl("matmul.out")
def matmul_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    """The product, computed directly in `out` if that can be viewed with the sizes of the operator's result."""
    product = plan(self, other, has_out=True)
    resize_output(out, product.shape)
    wanted = tuple(product.result_shape)
    if view_strides(out._shape, out.strides(), wanted) is not None:
        product.operator(product.left, product.right, out=out.view(wanted))
        return out
    apart = product.operator(product.left, product.right, out=out.new_empty(wanted))
    return out.copy_(apart.view(product.shape))


@IMPLICIT.impl("linear.out")
def linear_out(input: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor) -> Tensor:
    """`input @ weight.T + bias`."""
    if bias is not None and len(input._shape) == 2:
        return addmm(bias, input, weight.t(), out=out)
    if bias is None:
        return matmul(input, weight.t(), out=out)
    return mul(linear(input, weight, bias), 1, out=out)  # one write, of exactly what the functional form gives


@EXPLICIT.impl("softmax.int_out")
def softmax_out(self: Tensor, dim: int, dtype: dtype | None, out: Tensor) -> Tensor:
    """softmax of the input, converted first where a dtype is given."""
    return _softmax(self if dtype is None else self.to(dtype), dim, False, out=out)


@EXPLICIT.impl("log_softmax.int_out")
def log_softmax_out(self: Tensor, dim: int, dtype: dtype | None, out: Tensor) -> Tensor:
    """log_softmax of the input, converted first where a dtype is given."""
    return _log_softmax(self if dtype is None else self.to(dtype), dim, False, out=out)


@IMPLICIT.impl("square.out")
def square_out(self: Tensor, out: Tensor) -> Tensor:
    """Each element times itself."""
    return pow(self, 2, out=out)


# Pointwise ------------------------------------------------------------------------------------------------------


def register_product(name: str, factor: float) -> None:
    """Register the out= and in-place forms of an operator that multiplies by a number."""

    @EXPLICIT.impl(f"{name}.out")
    def with_out(self: Tensor, out: Tensor) -> Tensor:
        return mul(refuse_complex(name, self), factor, out=out)

    @EXPLICIT.impl(f"{name}_")
    def inplace(self: Tensor) -> Tensor:
        return with_out(self, self)


for _name, _factor in {"deg2rad": DEGREE, "rad2deg": 1 / DEGREE}.items():
    register_product(_name, _factor)


def float_power_out(self: Any, exponent: Any, out: Tensor) -> Tensor:
    """A power, computed in double precision, which `out` must have."""
    check_power_dtype("output given to float_power", out, power_dtype(self, exponent))
    return pow(in_double(self, exponent), in_double(exponent, self), out=out)


for _form in ("Tensor_Tensor_out", "Scalar_out", "Tensor_Scalar_out"):
    IMPLICIT.add(f"float_power.{_form}", float_power_out)


# Joining ----------------------------------------------------------------------------------------------------------


@EXPLICIT.impl("stack.out")
def stack_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    """As `stack`: by joining along the next dimension if `out` can be viewed so, else from unsqueezed tensors."""
    dim = stacked_dim(tensors, dim)
    shape = tensors[0]._shape
    if dim < len(shape):
        resize_output(out, (*shape[:dim], len(tensors), *shape[dim:]))
        joined = (*shape[:dim], len(tensors) * shape[dim], *shape[dim + 1 :])
        if view_strides(out._shape, out.strides(), joined) is not None:
            cat_operator(list(tensors), dim, out=out.view(joined))
            return out
    return cat_operator([tensor.unsqueeze(dim) for tensor in tensors], dim, out=out)


@IMPLICIT.impl("hstack.out")
def hstack_out(tensors: Sequence[Tensor], out: Tensor) -> Tensor:
    """The tensors joined horizontally."""
    return cat_operator(*parts_of_hstack(tensors), out=out)


@IMPLICIT.impl("vstack.out")
def vstack_out(tensors: Sequence[Tensor], out: Tensor) -> Tensor:
    """The tensors joined vertically."""
    return cat_operator(*parts_of_vstack(tensors), out=out)


@IMPLICIT.impl("dstack.out")
def dstack_out(tensors: Sequence[Tensor], out: Tensor) -> Tensor:
    """The tensors joined along the third dimension."""
    return cat_operator(*parts_of_dstack(tensors), out=out)


@IMPLICIT.impl("column_stack.out")
def column_stack_out(tensors: Sequence[Tensor], out: Tensor) -> Tensor:
    """The tensors joined horizontally, with vectors as columns."""
    return cat_operator(*parts_of_column_stack(tensors), out=out)


# A start or end that is a tensor is read as a number, through which no gradient flows --------------------------------


@EXPLICIT.impl("linspace.Tensor_Tensor_out")
@EXPLICIT.impl("linspace.Tensor_Scalar_out")
@EXPLICIT.impl("linspace.Scalar_Tensor_out")
def linspace_tensors_out(start: Tensor | Number, end: Tensor | Number, steps: int, out: Tensor) -> Tensor:
    """As `linspace.out`."""
    return linspace(*ends("linspace", start, end, out.is_meta), steps, out=out)


@EXPLICIT.impl("logspace.Tensor_Tensor_out")
@EXPLICIT.impl("logspace.Tensor_Scalar_out")
@EXPLICIT.impl("logspace.Scalar_Tensor_out")
def logspace_tensors_out(start: Tensor | Number, end: Tensor | Number, steps: int, base: float, out: Tensor) -> Tensor:
    """As `logspace.out`."""
    return logspace(*ends("logspace", start, end, out.is_meta), steps, base, out=out)


# Special functions --------------------------------------------------------------------------------------------------


@IMPLICIT.impl("special_ndtr.out")
def ndtr_out(self: Tensor, out: Tensor) -> Tensor:
    """The cumulative distribution function of the standard normal distribution."""
    return mul(1 + erf(self * math.sqrt(0.5)), 0.5, out=out)


EXPLICIT.add("xlogy_.Scalar_Other", with_number("xlogy_.Tensor"))


@EXPLICIT.impl("mvlgamma_")
def mvlgamma_(self: Tensor, p: int) -> Tensor:
    """`mvlgamma` in place."""
    result = mvlgamma(self, p)
    check_can_cast(result.dtype, self.dtype)
    return self.copy_(result)
