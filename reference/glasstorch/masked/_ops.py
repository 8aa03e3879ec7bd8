"""How is a tensor reduced or normalised without the elements that a mask excludes?

A masked-out element is replaced by the neutral element of the operation: 0 in a sum, -inf in a maximum. A mask is True
where an element counts, and broadcasts to the tensor's shape.

Mirrors: torch/masked/_ops.py
Differs: sparse tensors are reduced in `_sparse.py`; see `masked/__init__.py` for MaskedTensor.

>>> import glasstorch as torch
>>> torch.masked.sum(torch.tensor([1.0, 2.0, 4.0]), mask=torch.tensor([True, False, True]))
tensor(5.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BOOL, FLOATING, INTEGRAL, Number, bool_, dtype, float32, int64
from glasstorch.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    DimensionError,
    DtypeError,
    DtypeNotImplementedError,
)
from glasstorch.core.layout import sparse_csr, strided
from glasstorch.masked import _sparse
from glasstorch.operators.generated import functions
from glasstorch.operators.generated.functions import maximum, where
from glasstorch.operators.shapes.reductions.sums import reduced_shape
from glasstorch.operators.shapes.scalars import LARGEST
from glasstorch.outside_data.creation import tensor

Dims = int | Sequence[int] | None

# Masked-out elements --------------------------------------------------------------------------------------------


def nothing_larger(made: dtype) -> Number:
    """A lower bound of all elements: the neutral element of a maximum."""
    return -math.inf if made.category >= FLOATING else -int(largest(made)) - 1 if made.is_signed else 0


def nothing_smaller(made: dtype) -> Number:
    """An upper bound of all elements: the neutral element of a minimum."""
    return math.inf if made.category >= FLOATING else int(largest(made))


def largest(made: dtype) -> Any:
    """The largest integer of a dtype."""
    assert made.category == INTEGRAL
    return LARGEST[made]


class Neutral(NamedTuple):
    """The neutral element of an operator, and whether bool and the complex dtypes have it."""

    number: Callable[[dtype], Number]
    of_bool: bool = True
    of_complex: bool = True


# The neutral element of each operator, by name. Complex numbers have no order, bool has no smallest number.
NEUTRAL: Final = {
    "sum": Neutral(lambda made: 0),
    "prod": Neutral(lambda made: 1),
    "norm": Neutral(lambda made: 0),
    "median": Neutral(lambda made: math.nan),
    "amax": Neutral(nothing_larger, of_bool=False, of_complex=False),
    "amin": Neutral(nothing_smaller, of_bool=False, of_complex=False),
    "argmax": Neutral(nothing_larger, of_bool=False, of_complex=False),
    "argmin": Neutral(nothing_smaller, of_bool=False, of_complex=False),
    "logaddexp": Neutral(nothing_larger, of_bool=False, of_complex=False),
    "logsumexp": Neutral(nothing_larger, of_bool=False),
}


def neutral(name: str, made: dtype) -> Number:
    """The value that replaces masked-out elements; refused if the operator has no neutral element in the dtype."""
    row = NEUTRAL[name]
    if (made.category == BOOL and not row.of_bool) or (made.is_complex and not row.of_complex):
        raise DtypeNotImplementedError(f"identity of {name} on {made} input")
    return row.number(made)


def without(input: Tensor, mask: Tensor | None, neutral: Number) -> Tensor:
    """The tensor with the neutral element where the mask is False; the tensor itself without a mask."""
    if mask is None:
        return input
    return where(canonical(input, mask), input, tensor(neutral, dtype=input.dtype, device=input.device))


def canonical(input: Tensor, mask: Tensor) -> Tensor:
    """The mask as bool, expanded to the tensor's shape."""
    if not isinstance(mask, Tensor):
        raise ArgumentTypeError(f"a mask must be a bool Tensor that can be broadcast to the input, got {mask!r}")
    if mask.dim() > input.dim():
        raise DimensionError(
            f"_input_mask expected broadcastable mask (got mask dimensionality higher than of the input): a mask of "
            f"{list(mask.shape)} does not fit {list(input.shape)}"
        )
    whole = mask if mask.layout is strided else mask.to_dense()
    return whole.expand(input.shape).to(bool_)


def canonical_dims(dim: Dims, ndim: int) -> list[int]:
    """The dimensions to reduce over, counted from the front and sorted: all of them for None and ()."""
    if dim is None or dim == ():
        return list(range(ndim))
    found: list[int] = []
    count = max(ndim, 1)
    given = (dim,) if isinstance(dim, int) else dim
    for d in given:
        if d in found:
            raise ArgumentError(f"dim={d} appears multiple times in the list of dims")
        if not -count <= d < count:
            raise DimensionError(
                f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {d})"
            )
        found.append(d % count)
    return sorted(found)


def summed_dtype(input: Tensor, wanted: dtype | None) -> dtype:
    """The dtype of a sum or product: int64 for integers and bool, unless one is given."""
    return wanted or (input.dtype if input.dtype.category >= FLOATING else int64)


# Reductions -----------------------------------------------------------------------------------------------------


def sum(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The sum of the unmasked elements; 0 if there are none."""
    made = summed_dtype(input, dtype)
    dims = canonical_dims(dim, input.dim())
    if input.layout is not strided:
        return _sparse.reduced("sum", input, dims, bool(keepdim), made, mask, 0)
    return functions.sum(without(input, mask, 0), dims, bool(keepdim), dtype=made)


def prod(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The product of the unmasked elements; 1 if there are none."""
    made = summed_dtype(input, dtype)
    if input.layout is not strided:
        return _sparse.reduced("prod", input, canonical_dims(dim, input.dim()), bool(keepdim), made, mask, 1)
    result = without(input, mask, 1).to(made)
    for d in reversed(canonical_dims(dim, input.dim())):
        result = functions.prod(result, d, bool(keepdim))
    return result


def extremum(name: str, doc: str) -> Callable[..., Tensor]:
    """`amax` or `amin`."""
    over = getattr(functions, name)

    def reduce(
        input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: dtype | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        dims, start = canonical_dims(dim, input.dim()), None if mask is None else neutral(name, input.dtype)
        if input.layout is not strided:
            return _sparse.reduced(name, input, dims, bool(keepdim), dtype or input.dtype, mask, start)
        kept = input if start is None else without(input, mask, start)
        found: Tensor = over(kept, dims, bool(keepdim))
        return found.to(dtype or input.dtype)

    return named(reduce, name, doc)


def place(name: str, doc: str) -> Callable[..., Tensor]:
    """`argmax` or `argmin`."""
    over = getattr(functions, name)

    def search(
        input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        kept = input if mask is None else without(input, mask, neutral(name, input.dtype))
        found: Tensor = over(kept, dim, bool(keepdim))
        return found.to(dtype or input.dtype)

    return named(search, name, doc)


def named(function: Callable[..., Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    """A function made from a row of a table, as if it had been written out."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


amax = extremum("amax", "The largest unmasked element; the smallest number of the dtype if there are none.")
amin = extremum("amin", "The smallest unmasked element; the largest number of the dtype if there are none.")
argmax = place("argmax", "The index of the largest unmasked element, in the input's dtype unless one is given.")
argmin = place("argmin", "The index of the smallest unmasked element, in the input's dtype unless one is given.")


def counted(input: Tensor, dim: Dims, keepdim: bool, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """The number of unmasked elements, and the mask in its canonical form."""
    if mask is not None:
        kept = canonical(input, mask)
        return sum(kept, dim, keepdim=keepdim), kept
    dims = tuple(canonical_dims(dim, input.dim()))
    count = math.prod(input.shape[d] for d in dims) if input.dim() else 1  # a 0-dim tensor counts as one element
    shape = reduced_shape(input.shape, dims, keepdim)
    return functions.full(shape, count, dtype=int64, device=input.device), None


def mean(
    input: Tensor, dim: Dims = None, *, keepdim: bool | None = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The mean of the unmasked elements; NaN if there are none."""
    made = dtype or input.dtype
    if made.category < FLOATING:
        source = "Input" if dtype is None else "Optional"
        raise ArgumentValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. "
            f"Got: {made}"
        )
    if input.layout is not strided:
        if input.layout is not sparse_csr:
            raise ArgumentValueError(f"masked mean expects strided or sparse_csr tensor (got {input.layout} tensor)")
        return _sparse.reduced("mean", input, canonical_dims(dim, input.dim()), bool(keepdim), made, mask, math.nan)
    count, kept = counted(input, dim, bool(keepdim), mask)
    return sum(input, dim, keepdim=keepdim, dtype=made, mask=kept) / count


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The lower median of the unmasked elements; NaN if there are none, which is refused for integers."""
    is_float = input.dtype.is_floating_point
    values = input if is_float else input.to(float32)
    along = canonical_dims(dim, input.dim())[0]
    found: Tensor = without(values, mask, math.nan).nanmedian(along, keepdim)[0]
    if is_float:
        return found
    if bool(functions.isnan(found).any()):
        raise ArgumentValueError(
            f"masked median expects no fully masked out rows if dtype is not floating point, got {input.dtype}"
        )
    return found.to(dtype or input.dtype)


def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of the sum of the exponentials of the unmasked elements."""
    kept = input if mask is None else without(input, mask, neutral("logsumexp", input.dtype))
    return functions.logsumexp(kept, canonical_dims(dim, input.dim()), keepdim).to(dtype or input.dtype)


def norm(
    input: Tensor, ord: float | None = 2.0, dim: Dims = None, *, keepdim: bool | None = False,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The vector norm of the unmasked elements."""
    order = 2.0 if ord is None else ord
    if mask is not None and order == -math.inf and not input.dtype.is_floating_point:
        raise DtypeError(f"input must be floating point where ord is -inf, got {input.dtype}")
    kept = without(input, mask, math.inf if order == -math.inf else 0)
    dims = canonical_dims(dim, input.dim())
    return functions.linalg_vector_norm(kept, order, dims, bool(keepdim), dtype=dtype or input.dtype)


def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The variance of the unmasked elements; NaN if there are too few."""
    if unbiased is not None and correction is not None:
        raise ArgumentError("Only one of unbiased and correction may be given")
    freedom = float(correction) if correction is not None else 1.0 if unbiased is None or unbiased else 0.0
    made = dtype or (input.dtype if input.dtype.category >= FLOATING else float32)
    computed = made if made.category >= FLOATING else float32
    count, kept = counted(input, dim, True, mask)
    away = input - sum(input, dim, keepdim=True, dtype=made, mask=kept) / count
    total = sum(away * away.conj(), dim, keepdim=keepdim, dtype=computed, mask=kept)
    if not keepdim:
        count = count.reshape(total.shape)
    if freedom != 0:
        count = count.to(computed.to_real()) - freedom
        count = maximum(count, count.new_zeros([]))
    return (total / count).to(made)


def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The square root of `var`."""
    spread = var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask)
    return functions.sqrt(spread)


# Along a dimension ----------------------------------------------------------------------------------------------


def along(
    name: str, operator: Callable[[Tensor, int, dtype], Tensor], neutral_in: str, doc: str
) -> Callable[..., Tensor]:
    """An operator along one dimension, whose result has the shape of its input.

    `neutral_in` names the reduction whose neutral element replaces masked-out elements.
    """

    def normalised(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
        d = canonical_dims(dim, input.dim())[0]
        kept = input if mask is None else without(input, mask, neutral(neutral_in, input.dtype))
        return operator(kept, d, dtype or input.dtype)

    return named(normalised, name, doc)


cumsum = along(
    "cumsum", lambda x, d, made: functions.cumsum(x, d, dtype=made).to(made), "sum",
    "The cumulative sums of the unmasked elements.",
)  # fmt: skip
cumprod = along(
    "cumprod", lambda x, d, made: functions.cumprod(x, d, dtype=made).to(made), "prod",
    "The cumulative products of the unmasked elements.",
)  # fmt: skip
softmax = along("softmax", functions.softmax, "amax", "softmax over the unmasked elements; 0 at masked-out ones.")
log_softmax = along(
    "log_softmax", functions.log_softmax, "amax", "The logarithm of `softmax`; -inf at masked-out elements."
)
softmin = along(
    "softmin", lambda x, d, made: functions.softmax(-x, d, made), "amin",
    "softmax of the negated unmasked elements; 0 at masked-out ones.",
)  # fmt: skip


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The elements divided by the norm of the unmasked ones, or by `eps` if that is larger; 0 at masked-out ones."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return without(input, mask, 0) / maximum(size, size.new_full([], eps))


# Two tensors ----------------------------------------------------------------------------------------------------


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: dtype | None = None, input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`log(exp(input) + exp(other))`, each with a mask of its own; -inf where both are masked out."""
    left, right = (
        one if mask is None else without(one, mask, neutral("logaddexp", one.dtype))
        for one, mask in ((input, input_mask), (other, other_mask))
    )
    return functions.logaddexp(left, right).to(dtype or input.dtype)
