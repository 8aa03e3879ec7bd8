"""Which pooling layers are there?

Mirrors: torch/nn/modules/pooling.py
"""

from __future__ import annotations

from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.nn import functional
from glasstorch.nn.functions.tuples import for_each
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.utils import _pair as _pair
from glasstorch.nn.modules.utils import _single as _single
from glasstorch.nn.modules.utils import _triple as _triple

Ints = int | tuple[int, ...]

# Maxima ---------------------------------------------------------------------------------------------------------


class _MaxPoolNd(Module):
    """The largest element of each window; with `return_indices` also where it was."""

    __constants__: ClassVar[list[str]] = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _windows(self) -> dict[str, Any]:
        """What the function of this layer is called with besides the input."""
        return {name: getattr(self, name) for name in self.__constants__}

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Any:
        return functional.max_pool1d(input, **self._windows())


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Any:
        return functional.max_pool2d(input, **self._windows())


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Any:
        return functional.max_pool3d(input, **self._windows())


class _MaxUnpoolNd(Module):
    """Zeros, and elements at the places that pooling found them at."""

    dims: int

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        super().__init__()
        self.kernel_size = for_each(self.dims, kernel_size)
        self.stride = for_each(self.dims, kernel_size if stride is None else stride)
        self.padding = for_each(self.dims, padding)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """What `MaxPool1d` took, put back: the other elements of (N, C, L) or (C, L) are 0."""

    dims = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        return functional.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """What `MaxPool2d` took, put back: the other elements of (N, C, H, W) or (C, H, W) are 0."""

    dims = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        return functional.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """What `MaxPool3d` took, put back: the other elements of (N, C, D, H, W) or (C, D, H, W) are 0."""

    dims = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        return functional.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


# Averages -------------------------------------------------------------------------------------------------------


class _AvgPoolNd(Module):
    __constants__: ClassVar[list[str]] = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The average of each window of (N, C, L) or (C, L)."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = for_each(1, kernel_size)
        self.stride = for_each(1, kernel_size if stride is None else stride)
        self.padding = for_each(1, padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class AvgPool2d(_AvgPoolNd):
    """The average of each window of (N, C, H, W) or (C, H, W)."""

    __constants__: ClassVar[list[str]] = [*_AvgPoolNd.__constants__, "divisor_override"]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return functional.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(_AvgPoolNd):
    """The average of each window of (N, C, D, H, W) or (C, D, H, W)."""

    __constants__: ClassVar[list[str]] = [*_AvgPoolNd.__constants__, "divisor_override"]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return functional.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Layers of PyTorch's early versions have none of these settings."""
        super().__setstate__({"padding": 0, "ceil_mode": False, "count_include_pad": True, **state})


class _LPPoolNd(Module):
    __constants__: ClassVar[list[str]] = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(
        self, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of (N, C, L) or (C, L), without absolute values."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of (N, C, H, W) or (C, H, W), without absolute values."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of (N, C, D, H, W) or (C, D, H, W), without absolute values."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


# Windows at random places, and spread over the input --------------------------------------------------------------


class _FractionalMaxPoolNd(Module):
    """Windows at places that random numbers decide, of which there are `output_size`, or a part `output_ratio`."""

    __constants__: ClassVar[list[str]] = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    dims: int

    def __init__(
        self,
        kernel_size: Ints,
        output_size: Ints | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = for_each(self.dims, kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else for_each(self.dims, output_size)
        self.output_ratio = None if output_ratio is None else for_each(self.dims, output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _windows(self) -> tuple[Any, ...]:
        """What the function of this layer is called with besides the input."""
        return self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of (N, C, H, W) or (C, H, W)."""

    dims = 2

    def forward(self, input: Tensor) -> Any:
        return functional.fractional_max_pool2d(input, *self._windows())


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows at random places of (N, C, D, H, W) or (C, D, H, W)."""

    dims = 3

    def __init__(
        self,
        kernel_size: Ints,
        output_size: Ints | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        if min(for_each(3, kernel_size)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input: Tensor) -> Any:
        return functional.fractional_max_pool3d(input, *self._windows())


class _AdaptiveMaxPoolNd(Module):
    __constants__: ClassVar[list[str]] = ["output_size", "return_indices"]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows of (N, C, L) or (C, L) as asked for."""

    def forward(self, input: Tensor) -> Any:
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows of (N, C, H, W) or (C, H, W) as asked for."""

    def forward(self, input: Tensor) -> Any:
        return functional.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for."""

    def forward(self, input: Tensor) -> Any:
        return functional.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    __constants__: ClassVar[list[str]] = ["output_size"]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The averages of as many windows of (N, C, L) or (C, L) as asked for."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The averages of as many windows of (N, C, H, W) or (C, H, W) as asked for."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The averages of as many windows of (N, C, D, H, W) or (C, D, H, W) as asked for."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.adaptive_avg_pool3d(input, self.output_size)
