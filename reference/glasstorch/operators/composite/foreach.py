"""How does an operator work on each tensor of a list?

`_foreach_add_.ScalarList` calls `add_` for each tensor, with the number that stands at the same place of its list. One
maker reads from a schema which arguments are lists and so go along with the tensors.

Mirrors: aten/src/ATen/native/ForeachOpsKernels.cpp, ForeachUtils.h (check_foreach_api_restrictions,
    convert_tensor_to_scalar_list), AmpKernels.h (the CPU and CUDA kernels below it)
Differs: PyTorch's operators have derivatives of their own, written from those of the operators that they repeat; here
    autograd sees the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import float32, float64, int32
from glasstorch.core.errors import ArgumentError, ShapeError, not_implemented_for
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.promotion import result_type

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# Arguments that an operator takes by name; the number of each tensor is the `value` of addcmul and addcdiv.
NAMED = ("alpha", "value", "memory_format", "dtype", "non_blocking")
WITH_VALUES = ("addcmul", "addcdiv")


def each(schema: FunctionSchema) -> Callable[..., Any]:
    """The kernel of a foreach operator: it returns a tuple, or the list that an in-place one has written to."""
    name = schema.name.removeprefix("_foreach_")
    base = name.removesuffix("_")
    function = OWN[name] if name in OWN else getattr(f, name)
    types = {argument.name: argument.type for argument in schema.arguments}
    packed = schema.overload == "Tensor" and base in WITH_VALUES
    along = {n for n, type_ in types.items() if type_.is_list or (packed and n == "scalars")}
    keywords = {argument: argument for argument in types if argument in NAMED}
    if base in WITH_VALUES and "scalars" in types:
        keywords["scalars"] = "value"
    if base in ("maximum", "minimum") and schema.overload != "List":
        function = extreme(base, schema.is_inplace)

    adds_a_number = (schema.name, schema.overload) == ("_foreach_add_", "Scalar")

    def kernel(*arguments: Any) -> Any:
        if adds_a_number and arguments[0]:
            add_number.run(*arguments)
            return arguments[0]
        given = dict(zip(types, arguments, strict=True))
        count = len(next(given[n] for n, type_ in types.items() if type_.is_list and type_.base == "Tensor"))
        if packed:
            given["scalars"] = numbers(given["scalars"], count)
        elif schema.overload == "Tensor":
            check_number(given["other"])
        check_lengths(schema, given, count)
        results = []
        for i in range(count):
            own = {n: value[i] if n in along else value for n, value in given.items()}
            results.append(
                function(
                    *(value for n, value in own.items() if n not in keywords),
                    **{keywords[n]: value for n, value in own.items() if n in keywords},
                )
            )
        return arguments[0] if schema.is_inplace else tuple(results)

    return kernel


@slot
def add_number(self: Sequence[Tensor], scalar: Any) -> None:
    """Add a number to each tensor, in place; so optimizers count their steps."""
    for tensor in self:
        f.add_(tensor, scalar)


def check_lengths(schema: FunctionSchema, given: dict[str, Any], count: int) -> None:
    """Lists have one entry for each tensor, and there is a tensor."""
    if count == 0:
        raise ArgumentError("Tensor list must have at least one tensor.")
    for argument in schema.arguments:
        if not argument.type.is_list or len(given[argument.name]) == count:
            continue
        if schema.name == "_foreach_mm":
            raise ArgumentError("_foreach_mm: self and mat2 must have the same number of tensors")
        if argument.type.base == "Tensor":
            raise ArgumentError(
                f"Tensor lists must have the same number of tensors, got {count} and {len(given[argument.name])}"
            )
        raise ArgumentError("Tensor list must have same number of elements as scalar list.")


def check_number(other: Tensor) -> None:
    """A tensor that stands for a number has one element and no dimension."""
    if other._shape:
        raise ShapeError(
            f"scalar tensor expected to be 0 dim but it has {len(other._shape)} dimensions and "
            f"{other.numel()} elements."
        )


def numbers(scalars: Tensor, count: int) -> list[Any]:
    """The numbers that a tensor packs, one for each tensor of the lists."""
    if len(scalars._shape) != 1:
        raise ShapeError(f"Expected packed scalar Tensor to be of dimension 1. Got {len(scalars._shape)} instead.")
    if scalars._shape[0] != count:
        raise ShapeError(
            f"Expected length of scalars to match input of length {count} but got {scalars._shape[0]} instead."
        )
    if not scalars.is_contiguous():
        raise ArgumentError("Expected scalars to be contiguous.")
    return scalars.tolist()  # type: ignore[no-any-return]


# Scaled gradients -----------------------------------------------------------------------------------------------


def unscale(self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiply each tensor by `inv_scale`, in place; `found_inf` becomes 1 if an element was infinite or NaN."""
    check_float_number("inv_scale", inv_scale)
    check_float_number("found_inf", found_inf)
    for tensor in self:
        if not tensor.is_floating_point():
            raise not_implemented_for(f"_amp_foreach_non_finite_check_and_unscale_{tensor.device.type}", tensor.dtype)
        found_inf.masked_fill_(~f.isfinite(tensor).all(), 1.0)
        f.mul_(tensor, inv_scale.reshape(()))


def update_scale(
    self: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    """Set a loss scale, and the count of steps since it last changed, for the next step.

    Nothing reads an element, so a CUDA device is not waited for. Growth that would overflow leaves the scale as it is.
    """
    if growth_tracker.numel() != 1:
        raise ArgumentError("growth_tracker must be a 1-element tensor.")
    check_float_number("current_scale", self)
    check_float_number("found_inf", found_inf)
    if growth_tracker.dtype is not int32:
        raise ArgumentError("growth_tracker must be an int tensor.")
    failed = found_inf != 0
    steps = growth_tracker + 1
    due = steps == growth_interval
    lowered, raised = (
        (self.to(float64) * factor).to(float32) for factor in (scale_backoff_factor, scale_growth_factor)
    )
    grown = f.where(due & f.isfinite(raised), raised, self)
    self.copy_(f.where(failed, lowered, grown))
    growth_tracker.copy_(steps.masked_fill(failed | due, 0))
    return self


def check_float_number(name: str, tensor: Tensor) -> None:
    """A scale, or the mark that it was too large, is one number in float32."""
    if tensor.numel() != 1:
        raise ArgumentError(f"{name} must be a 1-element tensor.")
    if tensor.dtype is not float32:
        raise ArgumentError(f"{name} must be a float tensor.")


# What is not another operator under its own name ----------------------------------------------------------------


def extreme(name: str, writes: bool) -> Callable[..., Tensor]:
    """The larger or the smaller of a tensor and a number, whose gradient is halved where both are equal."""
    clamp = getattr(f, ("clamp_min" if name == "maximum" else "clamp_max") + "_" * writes)
    differentiable = getattr(f, name)

    def with_number(self: Tensor, scalar: Any) -> Tensor:
        if not self.requires_grad:
            clamped: Tensor = clamp(self, scalar)
            return clamped
        result: Tensor = differentiable(self, f.full((), scalar, dtype=result_type(self, scalar), device=self.device))
        return self.copy_(result) if writes else result

    return with_number


def extreme_of_two(name: str, writes: bool = False) -> Callable[..., Tensor]:
    """`maximum` or `minimum` of two tensors; both lack an in-place form."""
    function = getattr(f, name)

    def of_two(self: Tensor, other: Tensor) -> Tensor:
        if self.is_complex():
            raise not_implemented_for(f"{name}_cpu", self.dtype)
        result: Tensor = function(self, other)
        return self.copy_(result) if writes else result

    return of_two


def maximal(self: Tensor) -> Tensor:
    """The largest element."""
    if not self.numel():
        raise ArgumentError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    return f.max(self)


def powsum(self: Tensor, ord: Any, *, dtype: Any) -> Tensor:
    """The sum of absolute values to a power."""
    return f.sum(f.pow(f.abs(self), ord), dtype=dtype)


def copied(self: Tensor, src: Tensor, *, non_blocking: bool) -> Tensor:
    """A copy of `src` with the dtype and device of `self`."""
    return f.empty_like(self).copy_(src, non_blocking)


OWN: dict[str, Callable[..., Any]] = {
    "max": maximal,
    "maximum": extreme_of_two("maximum"),
    "maximum_": extreme_of_two("maximum", writes=True),
    "minimum": extreme_of_two("minimum"),
    "minimum_": extreme_of_two("minimum", writes=True),
    "norm": lambda self, ord, *, dtype: f.linalg_vector_norm(self, ord, dtype=dtype),
    "powsum": powsum,
    "copy": copied,
    "copy_": lambda self, src, *, non_blocking: self.copy_(src, non_blocking),
}
