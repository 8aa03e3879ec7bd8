"""How are new random tensors composed of `empty` and an in-place random operator?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (rand, randn, randint, randperm and what ends in _like, normal),
    aten/src/ATen/native/DistributionTemplates.h (normal_impl), aten/src/ATen/native/Distributions.cpp (bernoulli)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import int64
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.core.hooks import decides
from glasstorch.core.layout import contiguous_format
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.generator import Generator
from glasstorch.operators.composite.creation import empty
from glasstorch.operators.direct import factory, on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

uniform_ = on_tensor("uniform_")
normal_ = on_tensor("normal_")
random_ = on_tensor("random_.from")
bernoulli_with_ = on_tensor("bernoulli_.float")
bernoulli_with_each_ = on_tensors("bernoulli_.Tensor")
empty_like = on_tensor("empty_like")
permutation = factory("randperm.generator")
add_ = on_tensors("add_.Tensor")
mul_ = on_tensors("mul_.Tensor")

# Of a given size ---------------------------------------------------------------------------------------------------
# `options` are dtype, layout, device and pin_memory, in this order. Without a generator, the default one is used.


def rand(size: Sequence[int], *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return rand_generator(size, None, *options)


def rand_generator(size: Sequence[int], generator: Generator | None, *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return uniform_(empty(size, *options, None), 0.0, 1.0, generator)


def randn(size: Sequence[int], *options: Any) -> Tensor:
    """Normal numbers with mean 0 and standard deviation 1."""
    return normal_float_float(0.0, 1.0, size, None, *options)


def randn_generator(size: Sequence[int], generator: Generator | None, *options: Any) -> Tensor:
    """Normal numbers with mean 0 and standard deviation 1."""
    return normal_float_float(0.0, 1.0, size, generator, *options)


def normal_float_float(
    mean: float, std: float, size: Sequence[int], generator: Generator | None, *options: Any
) -> Tensor:
    """Normal numbers with one mean and one standard deviation."""
    return normal_(empty(size, *options, None), mean, std, generator)


def randint(high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return randint_low_generator(0, high, size, None, *options)


def randint_generator(high: int, size: Sequence[int], generator: Generator | None, *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return randint_low_generator(0, high, size, generator, *options)


def randint_low(low: int, high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [low, high)."""
    return randint_low_generator(low, high, size, None, *options)


def randint_low_generator(
    low: int, high: int, size: Sequence[int], generator: Generator | None, dtype: Dtype | None, *options: Any
) -> Tensor:
    """Integers drawn uniformly from [low, high), as int64 unless another dtype is given."""
    target = empty(size, int64 if dtype is None else dtype, *options, None)
    return random_(target, low, high, generator)


def randperm(n: int, *options: Any) -> Tensor:
    """The integers from 0 to n - 1 in random order."""
    return permutation(n, None, *options)


# Like another tensor -----------------------------------------------------------------------------------------------
# `options` are those of empty_like: dtype, layout, device, pin_memory and memory_format.


def rand_like(self: Tensor, *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return rand_like_generator(self, None, *options)


def rand_like_generator(self: Tensor, generator: Generator | None, *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return uniform_(empty_like(self, *options), 0.0, 1.0, generator)


def randn_like(self: Tensor, *options: Any) -> Tensor:
    """Normal numbers with mean 0 and standard deviation 1."""
    return randn_like_generator(self, None, *options)


def randn_like_generator(self: Tensor, generator: Generator | None, *options: Any) -> Tensor:
    """Normal numbers with mean 0 and standard deviation 1."""
    return normal_(empty_like(self, *options), 0.0, 1.0, generator)


def randint_like(self: Tensor, high: int, *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return randint_like_low_generator(self, 0, high, None, *options)


def randint_like_generator(self: Tensor, high: int, generator: Generator | None, *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return randint_like_low_generator(self, 0, high, generator, *options)


def randint_like_tensor(self: Tensor, high: Tensor, *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high), where `high` is a 0-dim tensor on the CPU."""
    return randint_like_tensor_generator(self, high, None, *options)


def randint_like_tensor_generator(self: Tensor, high: Tensor, generator: Generator | None, *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high), where `high` is a 0-dim tensor on the CPU."""
    if high._shape or high.device.type != "cpu":
        raise RandomNumberError(
            f"high must be a scalar tensor and on CPU, got sizes {list(high._shape)} on {high.device}"
        )
    return randint_like_low_generator(self, 0, int(high.host_array()), generator, *options)


def randint_like_low(self: Tensor, low: int, high: int, *options: Any) -> Tensor:
    """Integers drawn uniformly from [low, high)."""
    return randint_like_low_generator(self, low, high, None, *options)


def randint_like_low_generator(self: Tensor, low: int, high: int, generator: Generator | None, *options: Any) -> Tensor:
    """Integers drawn uniformly from [low, high)."""
    return random_(empty_like(self, *options), low, high, generator)


# With a parameter for each element ---------------------------------------------------------------------------------

ROW_MAJOR = (None, None, None, None, contiguous_format)  # options of empty_like


def check_deviation(std: float) -> None:
    """Refuse a negative standard deviation."""
    if not std >= 0:
        raise RandomNumberError(f"normal expects std >= 0.0, but found std {std:g}")


def check_deviations(std: Tensor) -> None:
    """Refuse standard deviations that are complex or negative. Those of a meta tensor have no values to check."""
    if std.dtype.is_complex:
        raise RandomNumberError("normal expects standard deviation to be non-complex")
    if std.numel() and decides(std) and not std.min().ge(0).item():
        raise RandomNumberError("normal expects all elements of std >= 0.0")


def normal_tensor_float(mean: Tensor, std: float, generator: Generator | None) -> Tensor:
    """Normal numbers, each with its own mean."""
    check_deviation(std)
    return add_(normal_(empty_like(mean, *ROW_MAJOR), 0.0, std, generator), mean, 1)


def normal_float_tensor(mean: float, std: Tensor, generator: Generator | None) -> Tensor:
    """Normal numbers, each with its own standard deviation."""
    check_deviations(std)
    standard = normal_(empty_like(std, *ROW_MAJOR), 0.0, 1.0, generator)
    return mul_(standard, std).add_(mean)


def normal_tensor_tensor(mean: Tensor, std: Tensor, generator: Generator | None) -> Tensor:
    """Normal numbers, each with its own mean and standard deviation, in the dtype of `mean`."""
    check_deviations(std)
    shape = broadcast_shapes(mean._shape, std._shape)
    standard = normal_(empty(shape, mean.dtype, None, mean.device, None, None), 0.0, 1.0, generator)
    return add_(mul_(standard, std), mean, 1)


def bernoulli(self: Tensor, generator: Generator | None) -> Tensor:
    """Ones with the probabilities given by the input, else zeros."""
    return bernoulli_with_each_(empty_like(self, *ROW_MAJOR), self, generator)


def bernoulli_p(self: Tensor, p: float, generator: Generator | None) -> Tensor:
    """Ones with probability p, else zeros, in a tensor like the input."""
    return bernoulli_with_(empty_like(self, *ROW_MAJOR), p, generator)
