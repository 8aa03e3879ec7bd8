"""Which functions take any number of tensors as separate arguments?

Mirrors: torch/functional.py
"""

from __future__ import annotations

from typing import Any

from glasstorch._lowrank import pca_lowrank as pca_lowrank
from glasstorch._lowrank import svd_lowrank as svd_lowrank
from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import (
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
    has_torch_function_variadic,
)
from glasstorch.core.errors import ArgumentError, ArgumentValueError, ShapeError
from glasstorch.core.geometry import Size
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.operators.generated import functions
from glasstorch.python_forms.contraction import contraction_path
from glasstorch.python_forms.lu import lu as lu
from glasstorch.python_forms.norm import norm as norm
from glasstorch.python_forms.stft import stft as stft
from glasstorch.python_forms.unique import unique as unique
from glasstorch.python_forms.unique import unique_consecutive as unique_consecutive
from glasstorch.python_forms.unravel import unravel_index as unravel_index

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "lu",
    "cdist",
    "chain_matmul",
    "einsum",
    "meshgrid",
    "norm",
    "pca_lowrank",
    "split",
    "svd_lowrank",
    "stft",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]


def atleast_1d(*tensors: Any) -> Any:
    """Each tensor with at least one dimension: a 0-dim one is viewed as (1,), others are returned themselves."""
    if has_torch_function(tensors):
        return handle_torch_function(atleast_1d, tensors, *tensors)
    return functions.atleast_1d(tensors[0] if len(tensors) == 1 else tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Each tensor with at least two dimensions: (n,) is viewed as (1, n), more dimensions are returned as they are."""
    if has_torch_function(tensors):
        return handle_torch_function(atleast_2d, tensors, *tensors)
    return functions.atleast_2d(tensors[0] if len(tensors) == 1 else tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Each tensor with at least three dimensions: (n,) is viewed as (1, n, 1), and (m, n) as (m, n, 1)."""
    if has_torch_function(tensors):
        return handle_torch_function(atleast_3d, tensors, *tensors)
    return functions.atleast_3d(tensors[0] if len(tensors) == 1 else tensors)


def block_diag(*tensors: Tensor) -> Tensor:
    """A new block-diagonal matrix: the given matrices along its diagonal, and zeros elsewhere.

    A vector counts as a row, a 0-dim tensor as a (1, 1) matrix. The dtype is the one that all dtypes promote to.

    >>> import glasstorch as torch
    >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    if has_torch_function(tensors):
        return handle_torch_function(block_diag, tensors, *tensors)
    return functions.block_diag(tensors)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors, expanded to the shape that they broadcast to."""
    if has_torch_function(tensors):
        return handle_torch_function(broadcast_tensors, tensors, *tensors)
    return functions.broadcast_tensors(tensors)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that all shapes broadcast to; an int stands for a shape of one dimension.

    >>> broadcast_shapes((2, 1), 3)
    torch.Size([2, 3])
    """
    given = [(shape,) if isinstance(shape, int) else shape for shape in shapes if shape is not None]
    for shape in given:
        if not isinstance(shape, list | tuple):
            raise ShapeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    common = [1] * max((len(shape) for shape in given), default=0)
    for number, shape in enumerate(given):
        for dim in range(-1, -1 - len(shape), -1):
            size = shape[dim]
            if size not in (1, common[dim]):
                if common[dim] != 1:
                    raise ShapeError(
                        f"Attempting to broadcast a dimension of length {size} at {dim}! Mismatching argument at index "
                        f"{number} had {shape}; but expected shape should be broadcastable to {common}"
                    )
                if size < 0:
                    raise ArgumentValueError("Attempting to broadcast a dimension with negative length!")
                common[dim] = size
    return Size(common)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """The Cartesian product of vectors: a row for each combination of elements; a single vector is returned itself.

    >>> import glasstorch as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([5, 6])).tolist()
    [[1, 5], [1, 6], [2, 5], [2, 6]]
    """
    if has_torch_function(tensors):
        return handle_torch_function(cartesian_prod, tensors, *tensors)
    return functions.cartesian_prod(tensors)


# `cdist`'s names of its modes -> the values that its operator takes.
_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distance between each row of `x1` and each row of `x2`.

    Shapes (..., n, k) and (..., m, k) give (..., n, m); batch dimensions broadcast. Euclidean distances are computed by
    matrix multiplication if an input has more than 25 rows, or as `compute_mode` says: always with
    "use_mm_for_euclid_dist", never with "donot_use_mm_for_euclid_dist".

    >>> import glasstorch as torch
    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    if has_torch_function_variadic(x1, x2):
        return handle_torch_function(cdist, (x1, x2), x1, x2, p=p, compute_mode=compute_mode)
    if compute_mode not in _MODES:
        raise ArgumentValueError(f"{compute_mode} is not a valid value for compute_mode")
    return functions.cdist(x1, x2, p, _MODES[compute_mode])


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of any number of matrices, in the order with the fewest multiplications; a single one is copied."""
    if has_torch_function(matrices):
        return handle_torch_function(chain_matmul, matrices, *matrices)
    return functions.chain_matmul(matrices, out=out)


def einsum(*args: Any) -> Tensor:
    """Sums of products of tensors, with the dimensions labelled by an equation such as "ij,jk->ik".

    Dimensions with the same label are multiplied together; a label missing from the result is summed over. `...` stands
    for all further dimensions, which broadcast. Instead of an equation, each tensor may be followed by a list of its
    labels, numbers below 52, and a last list may give those of the result.

    >>> import glasstorch as torch
    >>> x, y = torch.tensor([[1, 2], [3, 4]]), torch.tensor([10, 1])
    >>> torch.einsum("ij,j->i", x, y), torch.einsum(x, [0, 0])
    (tensor([12, 34]), tensor(5))
    """
    if len(args) > 1:
        one_list = len(args) == 2 and isinstance(args[1], list | tuple)
        relevant = args[1] if one_list else args
        if has_torch_function(relevant):
            return handle_torch_function(einsum, relevant, args[0], *(relevant if one_list else args[1:]))
    if len(args) < 2:
        raise ArgumentValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):
        operands: Any = args[: len(args) // 2 * 2 : 2]
        equation = ",".join("".join(map(_einsum_label, names)) for names in args[1::2])
        if len(args) % 2:
            equation += "->" + "".join(map(_einsum_label, args[-1]))
    else:
        equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        return einsum(equation, *operands[0])
    return functions.einsum(equation, operands, path=contraction_path(equation, operands))


def _einsum_label(number: Any) -> str:
    """The letter in an equation for a numeric label: 0 to 25 are upper case letters, 26 to 51 lower case ones."""
    if number is Ellipsis:
        return "..."
    if 0 <= number < 26:
        return chr(ord("A") + number)
    if 26 <= number < 52:
        return chr(ord("a") + number - 26)
    raise ArgumentValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinate grids: each vector expanded, as a view, to the shape of all their sizes, along its own dimension.

    With `indexing="ij"` vector i varies along dimension i; with "xy" the first two dimensions are swapped.
    The vectors may be given as one list.
    """
    if has_torch_function(tensors):
        return handle_torch_function(meshgrid, tensors, *tensors, indexing=indexing)
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    return functions.meshgrid(tensors) if indexing is None else functions.meshgrid(tensors, indexing=indexing)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive chunks along a dimension, as views: all of one size except the last, or of the sizes in a list."""
    if type(tensor) not in PLAIN and has_torch_function_unary(tensor):
        return handle_torch_function(split, (tensor,), tensor, split_size_or_sections, dim=dim)
    return functions.split(tensor, split_size_or_sections, dim)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The contraction of two tensors: the sums of products over dimensions of both.

    `dims` is how many of the last dimensions of `a` and the first of `b` are summed over, or two lists of dimensions,
    or a tensor with these as its two rows.
    """
    if has_torch_function_variadic(a, b):
        return handle_torch_function(tensordot, (a, b), a, b, dims=dims, out=out)
    if isinstance(dims, Tensor):
        if dims.numel() > 1 and dims.shape[0] != 2:
            raise ArgumentError(f"dims tensor must have size 2 in first dimension, got {dims.shape[0]}")
        dims = dims.tolist() if dims.numel() > 1 else dims.__int__()
    if isinstance(dims, int):
        if dims < 0:
            raise ArgumentError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise ArgumentError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        ours, theirs = list(range(-dims, 0)), list(range(dims))
    else:
        if not isinstance(dims, list | tuple) or len(dims) != 2:
            refusal = ArgumentValueError if isinstance(dims, list | tuple) else ArgumentError
            raise refusal(
                f"tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two "
                f"lists, but got dims={dims}"
            )
        ours, theirs = ([d] if isinstance(d, int) else list(d) for d in dims)
    return functions.tensordot(a, b, ours, theirs, out=out)


__getattr__ = _refuse_unknown_names(__name__)
