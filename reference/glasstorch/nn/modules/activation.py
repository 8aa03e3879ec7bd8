"""Which activation layers are there?

Each gives a result of the input's size, except GLU. `inplace` overwrites the input.

Mirrors: torch/nn/modules/activation.py
Differs: layers with the same parameter share a private base class.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentValueError
from glasstorch.nn import functional, init
from glasstorch.nn.modules.attention import MultiheadAttention as MultiheadAttention
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.generated.functions import empty

# Without parameters ---------------------------------------------------------------------------------------------------


class Sigmoid(Module):
    """`1 / (1 + exp(-input))`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanh(input)


class LogSigmoid(Module):
    """The logarithm of the sigmoid."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.logsigmoid(input)


class Softsign(Module):
    """`input / (1 + |input|)`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softsign(input)


class Tanhshrink(Module):
    """The input minus its hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanhshrink(input)


# That may overwrite their input ---------------------------------------------------------------------------------------


class _InPlace(Module):
    """A layer that is told whether to overwrite its input."""

    __constants__: ClassVar[list[str]] = ["inplace"]
    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _also_in_place(self) -> str:
        """What follows in `extra_repr` after other parameters."""
        return ", inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """The input where it is positive, else 0."""

    function = staticmethod(functional.relu)


class SiLU(_InPlace):
    """The input times its sigmoid."""

    function = staticmethod(functional.silu)


class Mish(_InPlace):
    """The input times the hyperbolic tangent of its softplus."""

    function = staticmethod(functional.mish)


class SELU(_InPlace):
    """The scaled `ELU` of which normal numbers keep mean 0 and variance 1."""

    function = staticmethod(functional.selu)


class Hardsigmoid(_InPlace):
    """`input / 6 + 1 / 2`, between 0 and 1."""

    function = staticmethod(functional.hardsigmoid)

    def extra_repr(self) -> str:
        return ""


class Hardswish(_InPlace):
    """The input times its `Hardsigmoid`."""

    function = staticmethod(functional.hardswish)

    def extra_repr(self) -> str:
        return ""


class Threshold(_InPlace):
    """The input where it is above the threshold, else a value."""

    __constants__: ClassVar[list[str]] = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return functional.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}{self._also_in_place()}"


class RReLU(_InPlace):
    """The input, multiplied where it is negative: in training by random slopes, else by the middle one."""

    __constants__: ClassVar[list[str]] = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}{self._also_in_place()}"


class LeakyReLU(_InPlace):
    """The input, multiplied by a slope where it is negative."""

    __constants__: ClassVar[list[str]] = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{self._also_in_place()}"


class ELU(_InPlace):
    """The input, or `alpha * (exp(input) - 1)` where it is negative."""

    __constants__: ClassVar[list[str]] = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{self._also_in_place()}"


class CELU(_InPlace):
    """The input, or `alpha * (exp(input / alpha) - 1)` where it is negative."""

    __constants__: ClassVar[list[str]] = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return functional.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{self._also_in_place()}"


class Hardtanh(_InPlace):
    """The input between two bounds; `min_value` and `max_value` are their deprecated names."""

    __constants__: ClassVar[list[str]] = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for old, new, given in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if given is not None:
                warnings.warn(
                    f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=2
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}{self._also_in_place()}"


class ReLU6(Hardtanh):
    """The input between 0 and 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


# With other parameters ------------------------------------------------------------------------------------------------


class GELU(Module):
    """The input times the probability of a smaller normal number; `approximate="tanh"` computes it by tanh."""

    __constants__: ClassVar[list[str]] = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The first half of a dimension times the sigmoid of the second."""

    __constants__: ClassVar[list[str]] = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _Shrink(Module):
    """A layer that brings small numbers to 0."""

    __constants__: ClassVar[list[str]] = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """The input, or 0 where it is as small as `lambd`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """The input moved towards 0 by `lambd`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softshrink(input, self.lambd)


class Softplus(Module):
    """`log(1 + exp(beta * input)) / beta`; the input itself where `beta * input` is above the threshold."""

    __constants__: ClassVar[list[str]] = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class PReLU(Module):
    """The input, multiplied where it is negative by a slope that is learned, one for all or one for each channel."""

    __constants__: ClassVar[list[str]] = ["num_parameters"]

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """All slopes as at the beginning."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, ...), where C is 1 or the number of parameters."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


# Along a dimension ----------------------------------------------------------------------------------------------------


class _AlongDim(Module):
    """A layer of numbers that belong together along a dimension."""

    __constants__: ClassVar[list[str]] = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Layers of PyTorch's early versions have no `dim`."""
        super().__setstate__({"dim": None, **state})

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """Positive numbers that sum to 1 along a dimension."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmax(input, self.dim, _stacklevel=5)


class Softmin(_AlongDim):
    """The `Softmax` of minus the input."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmin(input, self.dim, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """The logarithm of `Softmax`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """`Softmax` over the channels of (N, C, H, W) or (C, H, W), for each place."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ArgumentValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3, _stacklevel=5)
