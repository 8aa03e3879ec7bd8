"""How do backends that can write `cat` into a tensor get the other ways of joining?

Mirrors: aten/src/ATen/native/TensorShape.cpp (stack_out, hstack_out, vstack_out, dstack_out, column_stack_out), build/
    aten/src/ATen/RegisterCompositeExplicitAutogradNonFunctional.cpp (cat)
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor, empty
from glasstorch.core.geometry import view_strides
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import resize_output
from glasstorch.operators.composite.joining.stacks import (
    parts_of_column_stack,
    parts_of_dstack,
    parts_of_hstack,
    parts_of_vstack,
    stacked_dim,
)
from glasstorch.operators.generated.functions import cat as cat_operator
from glasstorch.operators.shapes.joining import cat as cat_shape

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)


@COMPOSED.impl("stack.out")
def stack_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    """As `stack`, written to a tensor: where it can be seen so, by joining along the dimension that follows."""
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
    """Side by side."""
    return cat_operator(*parts_of_hstack(tensors), out=out)


@IMPLICIT.impl("vstack.out")
def vstack_out(tensors: Sequence[Tensor], out: Tensor) -> Tensor:
    """One below the other."""
    return cat_operator(*parts_of_vstack(tensors), out=out)


@IMPLICIT.impl("dstack.out")
def dstack_out(tensors: Sequence[Tensor], out: Tensor) -> Tensor:
    """One behind the other."""
    return cat_operator(*parts_of_dstack(tensors), out=out)


@IMPLICIT.impl("column_stack.out")
def column_stack_out(tensors: Sequence[Tensor], out: Tensor) -> Tensor:
    """Side by side, vectors as columns."""
    return cat_operator(*parts_of_column_stack(tensors), out=out)


@KernelTable("CompositeExplicitAutogradNonFunctional", calls_operators=True, takes_keys=False).impl("cat")
def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """`cat` by way of its out= form. An empty list has no keys and ends here too, to be refused."""
    result = cat_shape(tensors, dim)
    return cat_operator(list(tensors), dim, out=empty(result.shape, result.dtype, tensors[0].device))
