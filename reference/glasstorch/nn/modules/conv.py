"""Which layers slide a learned kernel over their input?

Mirrors: torch/nn/modules/conv.py
Differs: the layers for one, two and three dimensions share the code of a base class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.layout import contiguous_format
from glasstorch.nn import functional, init
from glasstorch.nn.functions.convolution import Sizes
from glasstorch.nn.functions.tuples import for_each, on_both_sides
from glasstorch.nn.modules.lazy import LazyModuleMixin
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.utils import _pair as _pair
from glasstorch.nn.modules.utils import _reverse_repeat_tuple as _reverse_repeat_tuple
from glasstorch.nn.modules.utils import _single as _single
from glasstorch.nn.modules.utils import _triple as _triple
from glasstorch.nn.parameter import Parameter, UninitializedParameter
from glasstorch.operators.generated import functions as operators

PADDINGS = ("same", "valid")
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """A kernel with a weight for each of its elements and pair of channels, and its way of sliding."""

    __constants__: ClassVar = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: Any  # numbers, or the name of a padding
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Parameter
    bias: Parameter | None

    dims: ClassVar[int]
    function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _borders(kernel_size, dilation, padding)
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(operators.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(operators.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias again, in this order: uniform in +-1 / sqrt(inputs of one output)."""
        # With this slope, He's bound is the one above. A weight of any layout gets the values of a contiguous one.
        with no_grad():
            if self.weight.is_contiguous():
                init.kaiming_uniform_(self.weight, a=math.sqrt(5))
            else:
                drawn = operators.empty_like(self.weight, memory_format=contiguous_format)
                self.weight.copy_(init.kaiming_uniform_(drawn, a=math.sqrt(5)))
            if self.bias is not None:
                inputs = self.weight.shape[1] * math.prod(self.kernel_size)
                bound = 1 / math.sqrt(inputs) if inputs > 0 else 0
                init.uniform_(self.bias, -bound, bound)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Layers of PyTorch's early versions have no `padding_mode`."""
        super().__setstate__({"padding_mode": "zeros", **state})

    def extra_repr(self) -> str:
        shown = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}, stride={self.stride}",
        ]
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            value = getattr(self, name)
            if value != (usual,) * len(value):
                shown.append(f"{name}={value}")
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        if self.padding_mode != "zeros":
            shown.append(f"padding_mode={self.padding_mode}")
        return ", ".join(shown)


def _check(
    in_channels: int,
    out_channels: int,
    stride: tuple[int, ...],
    padding: str | tuple[int, ...],
    groups: int,
    padding_mode: str,
) -> None:
    """Refuse numbers of channels that the groups do not divide, and unknown kinds of padding."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in PADDINGS:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {set(PADDINGS)}")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"padding_mode must be one of {set(PADDING_MODES)}, but got padding_mode='{padding_mode}'")


def _borders(kernel_size: tuple[int, ...], dilation: tuple[int, ...], padding: str | tuple[int, ...]) -> Sequence[int]:
    """The padding as `functional.pad` takes it: before and behind, the last dimension first."""
    if not isinstance(padding, str):
        return on_both_sides(padding)
    borders = []
    for size, step in zip(reversed(kernel_size), reversed(dilation), strict=True):
        total = step * (size - 1) if padding == "same" else 0
        borders += [total // 2, total - total // 2]
    return borders


# Convolutions ---------------------------------------------------------------------------------------------------


class _Conv(_ConvNd):
    """`function(input, weight, bias)` of an input of `dims` dimensions after its channels."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            for_each(self.dims, kernel_size),
            for_each(self.dims, stride),
            padding if isinstance(padding, str) else for_each(self.dims, padding),
            for_each(self.dims, dilation),
            False,
            (0,) * self.dims,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.dims
        return type(self).function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """(N, in_channels, *sizes) gives (N, out_channels, *places); also without N."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """A convolution of signals: (N, in_channels, length), also without N. Conv2d says what the arguments mean."""

    dims = 1
    function = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """A convolution of images: (N, in_channels, height, width), also without N.

    The result has `out_channels`, and `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` places in
    each dimension. The weight is (out_channels, in_channels // groups, height, width of the kernel). One number stands
    for all dimensions. `padding` is also "valid" (none) or, in steps of 1, "same"; `padding_mode` says what lies there:
    "zeros", "reflect", "replicate" or "circular".
    """

    dims = 2
    function = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """A convolution of volumes: (N, in_channels, depth, height, width), also without N, as Conv2d."""

    dims = 3
    function = staticmethod(functional.conv3d)


# Transposed convolutions ----------------------------------------------------------------------------------------


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution with respect to its input: from small images to larger ones."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            for_each(self.dims, kernel_size),
            for_each(self.dims, stride),
            for_each(self.dims, padding),
            for_each(self.dims, dilation),
            True,
            for_each(self.dims, output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """(N, in_channels, *sizes) gives (N, out_channels, *larger sizes); also without N.

        `output_size` chooses among the sizes that the convolution would make as small as the input.
        """
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for {type(self).__name__}")
        more = self._output_padding(input, output_size)
        return type(self).function(
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> Sequence[int]:
        if output_size is None:
            return self.output_padding
        before = 2 if input.dim() == self.dims + 2 else 1
        wanted = output_size[before:] if len(output_size) == before + self.dims else output_size
        if len(wanted) != self.dims:
            raise ValueError(
                f"ConvTranspose{self.dims}D: for {input.dim()}D input, output_size must have {self.dims} or "
                f"{before + self.dims} elements (got {len(wanted)})"
            )
        spans = zip(input.shape[before:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(n - 1) * step - 2 * zeros + d * (k - 1) + 1 for n, step, zeros, d, k in spans]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})"
            )
        return [size - low for size, low in zip(wanted, least, strict=True)]


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution of signals: (N, in_channels, length), also without N."""

    dims = 1
    function = staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution of images: (N, in_channels, height, width), also without N."""

    dims = 2
    function = staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution of volumes: (N, in_channels, depth, height, width), also without N."""

    dims = 3
    function = staticmethod(functional.conv_transpose3d)


# Layers that take their number of channels from the first input -------------------------------------------------


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution without `in_channels`, convolving or transposed."""

    dims: ClassVar[int]
    groups: int
    transposed: bool
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    weight: Any
    bias: Any

    def _wait_for_channels(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        """As the ordinary layer's, once there are sizes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the sizes that fit this input, and draw their values."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        for name in ("weight", "bias"):
            parameter = getattr(self, name)
            if not isinstance(parameter, UninitializedParameter) and (name == "weight" or parameter is not None):
                raise AssertionError(f"self.{name} must be an UninitializedParameter")
        into, out = self.in_channels, self.out_channels
        channels = (into, out // self.groups) if self.transposed else (out, into // self.groups)
        self.weight.materialize((*channels, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((out,))
        self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        """The channels of an input with a batch or without."""
        alone = self._get_num_spatial_dims() + 1
        if input.dim() not in (alone, alone + 1):
            raise RuntimeError(
                f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to {type(self).__name__}, but got "
                f"input of size: {input.shape}"
            )
        return input.shape[input.dim() - alone]

    def _get_num_spatial_dims(self) -> int:
        return self.dims


class _LazyConv(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device=device, dtype=dtype
        )
        self._wait_for_channels(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that takes `in_channels` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that takes `in_channels` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that takes `in_channels` from its first input."""

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
            device=device,
            dtype=dtype,
        )
        self._wait_for_channels(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose3d
