"""What is the sum, the mean, the extremum of a nested tensor over some of its dimensions?

Mirrors: torch/nested/_internal/ops.py (_apply_reduction, sum_dim_IntList, mean_dim, amax_default ...)
Differs: a mean over the ragged dimension keeps it until the end, as a sum does; torch's frame of arguments is left out.

Over the batch and the ragged dimension together, the values are reduced along the packed one. Over the ragged one
alone, each sequence is padded with what does not change the result. Over the batch alone nothing is defined: the
sequences are of several lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.type_info import finfo
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.nested._internal.nested_tensor import NestedTensor
from glasstorch.nested._internal.rules import inner, inner_dim, like, rule, run

SUM_OF_DIMS = registry.find("aten::sum.dim_IntList")


def lowest(x: Tensor) -> float:
    """The padding that is no maximum."""
    return finfo(x.dtype).min if x.dtype.is_floating_point else float("-inf")


def highest(x: Tensor) -> float:
    """The padding that is no minimum."""
    return finfo(x.dtype).max if x.dtype.is_floating_point else float("inf")


def reduced(operator: Operator, name: str, neutral: float, x: NestedTensor, dim: Any, keepdim: bool, *rest: Any) -> Any:
    """What an operator gives that takes a dimension, or a list of them, and `keepdim`."""
    at, ndim = x._ragged_idx, len(x._size)
    several = isinstance(dim, list | tuple)
    if dim is None or (several and not dim):
        found = run(operator, inner(x), dim, keepdim, *rest)
        return _each(found, lambda t: t.unsqueeze(at)) if keepdim else found
    dims = [wrap_dim(d, ndim) for d in (dim if several else [dim])]
    inside = [*dict.fromkeys(inner_dim(d, at) for d in dims)]
    of_values = inside if several else inside[0]
    if at in dims and x._lengths is not None:
        raise RuntimeError(
            f"{name}(): reducing across the ragged dimension is not supported for non-contiguous nested tensors with "
            "holes"
        )
    if at in dims and 0 in dims:
        found = run(operator, inner(x), of_values, keepdim, *rest)
        return _each(found, lambda t: t.unsqueeze(0)) if keepdim else found
    if at in dims:
        if len({*dims}) > 1:
            raise RuntimeError(
                f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested tensors"
            )
        return run(operator, x.to_padded_tensor(neutral), [at] if several else at, keepdim, *rest)
    if 0 in dims:
        raise RuntimeError(
            f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for nested "
            "tensors"
        )
    found = run(operator, inner(x), of_values, keepdim, *rest)
    before = 0 if keepdim else sum(d < at - 1 for d in inside)
    return _each(found, lambda t: like(x, t, ragged_idx=at - before))


def _each(found: Any, function: Any) -> Any:
    return type(found)(map(function, found)) if isinstance(found, tuple) else function(found)


@rule("sum mean prod all any max min", "self: jt_all, ...")
def of_all_elements(operator: Operator, x: NestedTensor, *rest: Any) -> Any:
    """A reduction to one number: of the values."""
    return run(operator, inner(x), *rest)


@rule("sum.dim_IntList", "self: jt_all, dim: any?, keepdim: any?, dtype: any?")
def sum_dim_IntList(operator: Operator, x: NestedTensor, *rest: Any) -> Any:
    return reduced(operator, "sum", 0, x, *rest)


@rule("prod.dim_int", "self: jt_all, dim: any, keepdim: any?, dtype: any?")
def prod_dim_int(operator: Operator, x: NestedTensor, *rest: Any) -> Any:
    return reduced(operator, "prod", 1, x, *rest)


@rule("mean.dim", "self: jt_all, dim: any?, keepdim: any?, dtype: any?")
def mean_dim(operator: Operator, x: NestedTensor, dim: Sequence[int] | None, keepdim: bool, dtype: Any) -> Any:
    """Over the ragged dimension, the sum of each sequence by its length."""
    at = x._ragged_idx
    if dim is None:
        raise AssertionError(f"_wrap_jagged_dims(): cannot iterate over dimensions of type {type(dim)}")
    dims = [wrap_dim(d, len(x._size)) for d in dim]
    if at not in dims or 0 in dims:
        return reduced(operator, "mean", 0.42, x, dim, keepdim, dtype)
    if len({*dims}) > 1:
        raise AssertionError("Cannot reduce on both ragged and non-batch dimensions without also reducing on batch")
    sums = reduced(SUM_OF_DIMS, "mean", 0, x, dim, True, dtype)
    lengths = x._offsets.diff().view(-1, *(1 for _ in range(sums.dim() - 1)))
    means = sums / lengths
    return means if keepdim else means.squeeze(at)


def padded_with(padding: Callable[[NestedTensor], Any], name: str, form: str) -> None:
    """Add the rule of a reduction to which padding with such an element adds nothing."""
    operation = name.partition(".")[0]

    @rule(name, form)
    def reduction(operator: Operator, x: NestedTensor, *rest: Any) -> Any:
        return reduced(operator, operation, padding(x), x, *rest)


OVER_DIM, OVER_DIMS = "self: jt_all, dim: any, keepdim: any?", "self: jt_all, dim: any?, keepdim: any?"
padded_with(lambda x: 0.0, "any.dim", OVER_DIM)
padded_with(lambda x: 0.0, "any.dims", OVER_DIMS)
padded_with(lambda x: 1.0, "all.dim", OVER_DIM)
padded_with(lambda x: 1.0, "all.dims", OVER_DIMS)
padded_with(lowest, "max.dim", OVER_DIM)
padded_with(highest, "min.dim", OVER_DIM)
padded_with(lowest, "amax", OVER_DIMS)
padded_with(highest, "amin", OVER_DIMS)
padded_with(lowest, "argmax", OVER_DIMS)
padded_with(highest, "argmin", OVER_DIMS)
