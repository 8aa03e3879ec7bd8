"""How does an operator that each device computes by itself run on a backend that has no kernel of it?

Mirrors: the kernels under CompositeExplicitAutograd in aten/src/ATen/native (BinaryOps.cpp, UnaryOps.cpp,
    ReduceOps.cpp, TensorAdvancedIndexing.cpp, LinearAlgebra.cpp, Sorting.cpp, TensorFactories.cpp)
Differs: the CPU and Meta have kernels of their own for all of these, and so never come here.

PyTorch makes these operators of others for every backend. A sparse tensor, or a device from outside, gets what the
others give it: the result where it has them all, and else the refusal of the first one that it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, bool_, dtype, int32, int64
from glasstorch.core.errors import ArgumentError, DtypeError, MissingKernelError, ShapeError
from glasstorch.core.geometry import wrap_dim, wrap_dims
from glasstorch.core.keys import runtime_keys
from glasstorch.core.layout import contiguous_format, memory_format, preserve_format
from glasstorch.core.return_types import named_result
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.dispatch.operator import keys_of
from glasstorch.dispatch.resolve import BACKEND_KEYS
from glasstorch.kernels.structured import FORMS, Kernel, shape_function
from glasstorch.operators.composite.sparse.coo import SAID
from glasstorch.operators.composite.with_number import with_number
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated import functions

EVERYWHERE = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)
# What lacks a part that is no operator here is refused of sparse tensors only: a device from outside may fall back on
# the CPU for the whole.
SPARSE_ONLY = tuple(KernelTable(key, calls_operators=True, takes_keys=False) for key in ("SparseCPU", "SparseCsrCPU"))


def without_part(name: str) -> Callable[[Kernel], Kernel]:
    """A decorator: the function below refuses an operator of sparse tensors."""

    def decorate(function: Kernel) -> Kernel:
        for table in SPARSE_ONLY:
            table.add(name, function, caller(1))
        return function

    return decorate


def missing(name: str, *tensors: Tensor) -> MissingKernelError:
    """The error of a part that only PyTorch has as an operator, and that it has for strided tensors only."""
    key = next(key for key in reversed(list(runtime_keys(keys_of(tensors)))) if key in BACKEND_KEYS)
    return MissingKernelError(f"Could not run 'aten::{name}' with arguments from the '{key.name}' backend.")


def like(tensor: Tensor, size: Sequence[int], dtype: dtype | None = None) -> Tensor:
    """An uninitialised tensor of other sizes in a tensor's layout."""
    made: Tensor = functions.empty(size, dtype=dtype or tensor.dtype, layout=tensor.layout, device=tensor.device)
    return made


# A number in place of a tensor ----------------------------------------------------------------------------------


def number_second(name: str, overload: str, out: str = "Tensor_out") -> None:
    """Let an operator of a tensor and a number, and its forms, be that of two tensors."""
    EVERYWHERE.add(f"{name}.{overload}", with_number(f"{name}.Tensor"))
    EVERYWHERE.add(f"{name}_.{overload}", with_number(f"{name}_.Tensor"))
    EVERYWHERE.add(f"{name}.{overload}_out", with_number(f"{name}.{out}"))


def number_first(name: str) -> None:
    """The same of a number and a tensor."""
    EVERYWHERE.add(f"{name}.Scalar_Tensor", with_number(f"{name}.Tensor"))


number_second("bitwise_and", "Scalar")
number_second("bitwise_or", "Scalar")
number_second("bitwise_xor", "Scalar")
number_second("bitwise_left_shift", "Tensor_Scalar")
number_second("bitwise_right_shift", "Tensor_Scalar")
number_second("copysign", "Scalar", "out")
number_second("fmod", "Scalar")
number_first("bitwise_and")
number_first("bitwise_or")
number_first("bitwise_xor")
number_first("bitwise_left_shift")
number_first("bitwise_right_shift")


# The out= form fills a new tensor -------------------------------------------------------------------------------


def filled(
    name: str, form: str, made: Callable[[Tensor], Tensor | tuple[Tensor, ...]] = lambda self: like(self, (0,))
) -> None:
    """Let an operator make its results, at first of no elements, and its out= form fill them."""
    fill = on_tensors(form)

    def function(self: Tensor, *arguments: Any) -> Any:
        result = made(self)
        if isinstance(result, Tensor):
            fill(self, *arguments, result)
            return result
        fill(self, *arguments, *result)
        return named_result(name, result)

    EVERYWHERE.add(name, function)


def with_positions(self: Tensor) -> tuple[Tensor, Tensor]:
    """What values and their positions are written to."""
    return like(self, (0,)), like(self, (0,), int64)


filled("nan_to_num", "nan_to_num.out", on_tensor("empty_like"))
filled("kthvalue", "kthvalue.values", with_positions)
filled("median.dim", "median.dim_values", with_positions)
filled("nanmedian.dim", "nanmedian.dim_values", with_positions)
filled(
    "frexp.Tensor",
    "frexp.Tensor_out",
    lambda self: (functions.empty_like(self), functions.empty_like(self, dtype=int32)),
)


def over_itself(name: str) -> None:
    """Let the out= form write to the first argument where the operator is in place."""
    operator = on_tensors(f"{name}.out")

    def inplace(self: Tensor, *arguments: Any) -> Tensor:
        operator(self, *arguments, self)
        return self

    EVERYWHERE.add(f"{name}_", inplace)


def logic(name: str) -> None:
    """Let an operator of truth values fill a tensor of these, or its first argument."""
    filled(name, f"{name}.out", lambda self: like(self, (0,), bool_))
    over_itself(name)


over_itself("nan_to_num")
logic("logical_not")
logic("logical_and")
logic("logical_or")
logic("logical_xor")


# The in-place form changes a copy -------------------------------------------------------------------------------


def changed_copy(name: str, form: str, order: memory_format | None = None) -> None:
    """Let an operator copy its first argument, and its in-place form change the copy."""
    change = on_tensors(form)

    def function(self: Tensor, *arguments: Any) -> Tensor:
        copy = functions.clone(self, memory_format=order)
        change(copy, *arguments)
        return copy

    EVERYWHERE.add(name, function)


changed_copy("put", "put_", preserve_format)
changed_copy("index_fill.int_Scalar", "index_fill_.int_Scalar", preserve_format)
changed_copy("index_put", "index_put_", preserve_format)
changed_copy("masked_scatter", "masked_scatter_", contiguous_format)
changed_copy("masked_fill.Scalar", "masked_fill_.Scalar", contiguous_format)
changed_copy("embedding_renorm", "embedding_renorm_")


# Parts that PyTorch has as operators of their own ---------------------------------------------------------------


@without_part("index_put_")
def index_put_(self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Tensor:
    """Refused: where elements are is a matter of the device."""
    raise missing("_index_put_impl_", self, values, *(one for one in indices if one is not None))


@without_part("logcumsumexp")
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """Refused, as is every scan."""
    raise missing("_logcumsumexp", self)


@without_part("logcumsumexp.out")
def logcumsumexp_out(self: Tensor, dim: int, out: Tensor) -> Tensor:
    """Refused, in the words of an out= of another dtype or layout where it has one."""
    check_same_kind(self, self.dtype, out)
    raise missing("_logcumsumexp.out", self, out)


def scan_with_positions(name: str, part: str) -> None:
    """Let a scan make its results, check them as its out= form does, and then refuse."""

    def check(self: Tensor, dim: int, values: Tensor, indices: Tensor) -> Any:
        check_same_kind(self, self.dtype, values)
        check_same_kind(self, int64, indices)
        like(self, (0,))  # where PyTorch puts what it computes; a tensor of a compressed layout has two sizes or more
        if self.dim() and self.numel():
            wrap_dim(dim, self.dim())
            raise missing(part, self, values, indices)
        values.resize_(self._shape)
        indices.resize_(self._shape)
        return named_result(name, (values, indices))

    @without_part(name)
    def scan(self: Tensor, dim: int) -> Any:
        return check(self, dim, like(self, self._shape), like(self, self._shape, int64))

    without_part(f"{name}.out")(check)


def check_same_kind(self: Tensor, wanted: dtype, out: Tensor) -> None:
    """Refuse an out= of another dtype than is wanted, or of another layout than a scan's argument."""
    if out.dtype is not wanted:
        raise DtypeError(f"expected scalar_type {wanted.scalar_name} but found {out.dtype.scalar_name}")
    if out.layout is not self.layout:
        raise ArgumentError(f"expected layout {SAID[self.layout.name]} but found {SAID[out.layout.name]}")


scan_with_positions("cummax", "_cummax_helper")
scan_with_positions("cummin", "_cummin_helper")


# Sums, products and a few more ----------------------------------------------------------------------------------


@EVERYWHERE.impl("mean")
def mean(self: Tensor, dtype: dtype | None) -> Tensor:
    """The mean over all dimensions, one after the other."""
    made: Tensor = functions.mean(self, (), False, dtype=dtype)
    return made


@EVERYWHERE.impl("mean.dtype_out")
def mean_out(self: Tensor, dtype: dtype | None, out: Tensor) -> Tensor:
    """The same, written to a tensor."""
    on_tensors("mean.out")(self, (), False, dtype, out)
    return out


def over_dims(name: str) -> None:
    """Let `all` or `any` reduce one dimension after the other."""
    whole, along = on_tensor(name), on_tensor(f"{name}.dim")

    def reduce(self: Tensor, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
        if dims is None:
            made = whole(self)
            return made.reshape((1,) * self.dim()) if keepdim else made
        result = self
        wrapped = sorted(wrap_dims(dims, self.dim()), reverse=not keepdim)
        for dim in wrapped:
            result = along(result, dim, keepdim)
        return result if wrapped else self.to(bool_)

    def reduce_out(self: Tensor, dims: Sequence[int] | None, keepdim: bool, out: Tensor) -> Tensor:
        result = reduce(self, dims, keepdim)
        return out.resize_(result._shape).copy_(result)

    EVERYWHERE.add(f"{name}.dims", reduce)
    EVERYWHERE.add(f"{name}.dims_out", reduce_out)


over_dims("all")
over_dims("any")


@EVERYWHERE.impl("mv")
def mv(self: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector, written to a new tensor."""
    out = like(vec, (self.size(0),))
    on_tensors("mv.out")(self, vec, out)
    return out


@EVERYWHERE.impl("mv.out")
def mv_out(self: Tensor, vec: Tensor, out: Tensor) -> Tensor:
    """A matrix times a vector, as what is added to nothing."""
    on_tensors("addmv.out")(like(vec, (self.size(0),)), self, vec, 0, 1, out)
    return out


@EVERYWHERE.impl("dot.out")
def dot_out(self: Tensor, tensor: Tensor, out: Tensor) -> Tensor:
    """The product of two vectors, copied."""
    return into_number(functions.dot, self, tensor, out)


@EVERYWHERE.impl("vdot.out")
def vdot_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    """The product of two vectors, the first one conjugated, copied."""
    return into_number(functions.vdot, self, other, out)


def into_number(product: Callable[..., Tensor], first: Tensor, second: Tensor, out: Tensor) -> Tensor:
    """The product of two vectors, written to a tensor that is resized to hold a number."""
    if out.dtype is not first.dtype:
        raise DtypeError(f"result dtype {out.dtype.scalar_name} does not match input dtype {first.dtype.scalar_name}")
    return out.resize_(()).fill_(product(first, second))


def outer_added(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Tensor:
    """`beta * self + alpha * vec1 vec2'`."""
    product = functions.outer(vec1, vec2)
    scaled = product if alpha == 1 else alpha * product
    if beta == 0:
        return scaled
    return scaled + (self if beta == 1 else beta * self)


EVERYWHERE.add("addr", outer_added)


@EVERYWHERE.impl("addr_")
def addr_(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Tensor:
    """The same in place."""
    return addr_out(self, vec1, vec2, beta, alpha, self)


@EVERYWHERE.impl("addr.out")
def addr_out(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number, out: Tensor) -> Tensor:
    """The same, copied to a tensor."""
    result = functions.addr(self, vec1, vec2, beta=beta, alpha=alpha)
    out.resize_(result._shape)
    return out.copy_(result)


@EVERYWHERE.impl("ldexp.Tensor")
def ldexp(self: Tensor, other: Tensor) -> Tensor:
    """A number times a power of two."""
    made: Tensor = functions.mul(self, functions.pow(2.0, other))
    return made


@EVERYWHERE.impl("ldexp_")
def ldexp_(self: Tensor, other: Tensor) -> Tensor:
    """The same in place."""
    return ldexp_out(self, other, self)


@EVERYWHERE.impl("ldexp.out")
def ldexp_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    """The same, written to a tensor."""
    made: Tensor = functions.mul(self, functions.pow(2.0, other), out=out)
    return made


def complex_of_two(name: str) -> None:
    """Let the out= form make complex numbers of two parts, or of two coordinates."""
    form = on_tensors(f"{name}.out")

    def of_two(first: Tensor, second: Tensor) -> Tensor:
        out = like(first, (0,), shape_function(name)(first, second).dtype)
        form(first, second, out)
        return out

    EVERYWHERE.add(name, of_two)


complex_of_two("complex")
complex_of_two("polar")


@EVERYWHERE.impl("embedding")
def embedding(weight: Tensor, indices: Tensor, *how: Any) -> Tensor:
    """Rows of a table by their numbers."""
    shape_function("embedding")(weight, indices, *how)  # refuses what is not a table, or no number of a row
    if indices.dim() == 1:
        return weight.index_select(0, indices)
    made: Tensor = weight.index_select(0, indices.reshape(-1)).view((*indices._shape, *weight._shape[1:]))
    return made


def loss_backward(name: str) -> None:
    """Let the form that writes to a tensor fill zeros."""
    fill = on_tensors(FORMS[name][0])

    def function(grad_output: Tensor, self: Tensor, *arguments: Any) -> Tensor:
        made: Tensor = functions.zeros_like(self, memory_format=contiguous_format)
        fill(grad_output, self, *arguments, made)
        return made

    EVERYWHERE.add(name, function)


loss_backward("smooth_l1_loss_backward")
loss_backward("huber_loss_backward")


@without_part("convolution")
def convolution(input: Tensor, weight: Tensor, *how: Any) -> Tensor:
    """Refused: the loops over positions are a matter of the device."""
    raise without_loops("_slow_conv2d_forward", input, weight)


@without_part("convolution_backward")
def convolution_backward(grad_output: Tensor, input: Tensor, weight: Tensor, *how: Any) -> Any:
    """Refused likewise."""
    raise without_loops("_slow_conv2d_backward.output_mask", grad_output, weight)


def without_loops(name: str, first: Tensor, weight: Tensor) -> Exception:
    """The error of a convolution: PyTorch looks at the kernel's rank before it looks for the loops."""
    if weight.dim() < 3:
        return ShapeError("weight should have at least three dimensions")
    return missing(name, first, weight)
