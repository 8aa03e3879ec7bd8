"""How does an operator that is made of others hand the tensor given as out= on to the last of them?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (matmul_out), Linear.cpp (linear_out), SoftMax.cpp (softmax_out,
    log_softmax_out), UnaryOps.cpp (square_out, deg2rad_out, rad2deg_out), Pow.cpp (float_power_out)
Differs: nothing in substance. They stand here and not among the composites because resizing is a kernel's business.

# Note [The ways to write to out=]
1. An operator with a kernel of its own writes there itself (`structured.py`); autograd refuses gradients before
   (`autograd/out_forms.py`).
2. One that is made of others hands out= on to the last of them, here, where PyTorch's does so: what that one refuses is
   refused.
3. One that has neither computes its result, which is copied: `copied.py` has the rule, and the operators to which
   PyTorch's generator gives it; `composed.py` has those that PyTorch wrote so by hand, some of which cast. Of
   these autograd sees the parts: few keep a gradient in out=, and the others refuse it.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import view_strides
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import resize_output
from glasstorch.operators.composite.matmul import plan
from glasstorch.operators.composite.pointwise import (
    DEGREE,
    check_power_dtype,
    in_double,
    power_dtype,
    refuse_complex,
)
from glasstorch.operators.generated.functions import (
    _log_softmax,
    _softmax,
    addmm,
    linear,
    matmul,
    mul,
    pow,
)

# Autograd sees the parts of these, and refuses them where a gradient is wanted.
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)
EXPLICIT = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)


@IMPLICIT.impl("matmul.out")
def matmul_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    """The product, computed in `out` itself where that can be seen under the sizes of the operator's result."""
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
    """Register the forms of an operator that multiplies by a number."""

    @EXPLICIT.impl(f"{name}.out")
    def with_out(self: Tensor, out: Tensor) -> Tensor:
        return mul(refuse_complex(name, self), factor, out=out)

    @EXPLICIT.impl(f"{name}_")
    def inplace(self: Tensor) -> Tensor:
        return with_out(self, self)


for _name, _factor in {"deg2rad": DEGREE, "rad2deg": 1 / DEGREE}.items():
    register_product(_name, _factor)


def float_power_out(self: Any, exponent: Any, out: Tensor) -> Tensor:
    """A power, computed in the dtype that `out` must have."""
    check_power_dtype("output given to float_power", out, power_dtype(self, exponent))
    return pow(in_double(self, exponent), in_double(exponent, self), out=out)


for _form in ("Tensor_Tensor_out", "Scalar_out", "Tensor_Scalar_out"):
    IMPLICIT.add(f"float_power.{_form}", float_power_out)
