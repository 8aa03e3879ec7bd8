"""What do distributions share: broadcast parameters, probabilities and logits, lazy properties, triangles as vectors?

Mirrors: torch/distributions/utils.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Final, Generic, TypeVar, overload

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import enable_grad
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import get_default_dtype
from glasstorch.core.type_info import finfo
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import tensor

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant: Final = 0.57721566490153286060  # Euler-Mascheroni
Parameter = Tensor | float
Sizes = Sequence[int]

# Parameters --------------------------------------------------------------------------------------------------------


def is_number(value: object) -> bool:
    """Whether a parameter is a Python number, which adds no batch dimensions."""
    return isinstance(value, int | float)


def is_tensor_like(value: object) -> bool:
    """Whether a parameter is a tensor, or answers for operators as one."""
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """The parameters, broadcast to one shape.

    A number becomes a tensor of the dtype and on the device of the first tensor; of the default dtype if there is none.
    """
    if not all(is_tensor_like(value) or is_number(value) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__; "
            f"got {', '.join(type(value).__name__ for value in values)}"
        )
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype, device = (get_default_dtype(), None) if first is None else (first.dtype, first.device)
    tensors = [v if is_tensor_like(v) else tensor(v, dtype=dtype, device=device) for v in values]
    return tuple(f.broadcast_tensors(tensors))


def standard_normal(shape: Sizes, dtype: Dtype, device: Device) -> Tensor:
    """Independent normal numbers with mean 0 and standard deviation 1."""
    return f.empty(shape, dtype=dtype, device=device).normal_()


def uniform_like(parameter: Tensor, shape: Sizes) -> Tensor:
    """Uniform numbers in [0, 1), of the dtype and on the device of a parameter."""
    return f.rand(shape, dtype=parameter.dtype, device=parameter.device)


def sum_rightmost(value: Any, count: int) -> Any:
    """The sum over the last `count` dimensions."""
    return value if count == 0 else value.reshape((*value.shape[:-count], -1)).sum(-1)


def all_values(distribution: Any, values: Tensor, expand: bool) -> Tensor:
    """The values of a discrete distribution along a new first dimension, before its batch dimensions."""
    batch_shape = distribution.batch_shape
    values = values.view((-1, *[1] * len(batch_shape)))
    return values.expand((-1, *batch_shape)) if expand else values


# What other packages import by PyTorch's private names.
_standard_normal = standard_normal
_sum_rightmost = sum_rightmost

# Probabilities and logits ------------------------------------------------------------------------------------------


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from log-odds (binary), or from logarithms of weights along the last dimension."""
    return f.sigmoid(logits) if is_binary else f.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept one rounding error away from 0 and from 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds (binary), or logarithms, of clamped probabilities."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


# Properties computed once ------------------------------------------------------------------------------------------

T_contra = TypeVar("T_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


class lazy_property(Generic[T_contra, R_co]):
    """A property computed at the first access, with gradients recorded, and kept as an attribute of the instance.

    Of the class it is an ordinary property, so that documentation tools see one.
    """

    def __init__(self, wrapped: Callable[[T_contra], R_co]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, obj_type: Any = None) -> _LazyAndProperty[T_contra, R_co]: ...

    @overload
    def __get__(self, instance: T_contra, obj_type: Any = None) -> R_co: ...

    def __get__(self, instance: T_contra | None, obj_type: Any = None) -> R_co | _LazyAndProperty[T_contra, R_co]:
        if instance is None:
            return _LazyAndProperty(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyAndProperty(lazy_property[T_contra, R_co], property):
    """What a lazy property is as an attribute of the class."""

    def __init__(self, wrapped: Callable[[T_contra], R_co]) -> None:
        property.__init__(self, wrapped)


# Triangles ---------------------------------------------------------------------------------------------------------


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements on and below a diagonal of (..., n, n) matrices, row by row, as vectors."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _lower(n, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrices whose elements on and below a diagonal are these vectors, and zero above."""
    length = vec.shape[-1]
    # length = n (n + 1) / 2 for the whole triangle; the positive root for any diagonal:
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * length + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if abs(round(n) - n) > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    mat = vec.new_zeros((*vec.shape[:-1], round(n), round(n)))
    mat[..., _lower(round(n), diag, vec.device)] = vec
    return mat


def _lower(n: int, diag: int, device: Device) -> Tensor:
    place = f.arange(n, device=device)
    return place < place.view(-1, 1) + (diag + 1)
