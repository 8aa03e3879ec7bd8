"""What do CUDA kernels need to know about their tensors?

Mirrors: aten/src/ATen/TensorIterator.cpp (compute_types), c10/core/ScalarType.h,
    aten/src/ATen/cuda/detail/OffsetCalculator.cuh
Differs: separate functions instead of a TensorIterator; its loop is in the `.cu` files.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeVar

import numpy as np

from glasstorch._tensor import Tensor, empty, empty_strided
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import (
    bfloat16,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint8,
)
from glasstorch.core.errors import DeviceError, DtypeNotImplementedError, ShapeError
from glasstorch.core.geometry import Shape, coalesce_dimensions, expand_strides, memory_order
from glasstorch.operators.shapes.result import Result

# Element types --------------------------------------------------------------------------------------------------

T = TypeVar("T")


class ByDtype(dict[dtype, T]):
    """A value for each dtype that kernels compute in; other dtypes are refused."""

    def refusing_others(self, asked: dtype) -> dtype:
        """The dtype itself if it has a value; otherwise an error."""
        self[asked]
        return asked

    def __missing__(self, missing: dtype) -> T:
        raise DtypeNotImplementedError(
            f"\"cuda\" not implemented for '{missing.scalar_name}': the kernels for CUDA devices compute in "
            f"{', '.join(known.name for known in self)}"
        )


# The CUDA C++ type of a dtype.
CUDA_TYPE: Final = ByDtype(
    {
        bool_: "bool",
        uint8: "unsigned char",
        int32: "int",
        int64: "long long",
        float16: "__half",
        bfloat16: "__nv_bfloat16",
        float32: "float",
        float64: "double",
    }
)

COMPUTED: Final = tuple(CUDA_TYPE)  # the dtypes that kernels compute in; tensors and copies support every dtype

# The code of a dtype in kernels; cast.cuh has these numbers of c10::ScalarType.
CODE: Final = ByDtype({d: d.scalar_type for d in COMPUTED})

# Results --------------------------------------------------------------------------------------------------------


def output(result: Result, on: device) -> Tensor:
    """An uninitialised tensor on a device for the result of a shape function."""
    if result.strides is None:
        return empty(result.shape, result.dtype, on)
    return empty_strided(result.shape, result.strides, result.dtype, on)


# Devices --------------------------------------------------------------------------------------------------------


def common_device(*tensors: Tensor | None, numbers: bool = True) -> device:
    """The device that all tensors are on; others are refused.

    With `numbers` a 0-dim tensor may be on the CPU: the kernel gets its value. None stands for no tensor.
    """
    given = [tensor for tensor in tensors if tensor is not None]
    common = next((tensor.device for tensor in given if tensor.device is not CPU), CPU)
    for tensor in given:
        if tensor.device is not common and not (numbers and is_number(tensor)):
            raise DeviceError(
                f"Expected all tensors to be on the same device, but found at least two devices, {common} and "
                f"{tensor.device}!"
            )
    return common


def is_number(tensor: Tensor) -> bool:
    """Whether a kernel can get the tensor's element by value: the tensor is 0-dim and on the CPU."""
    return not tensor._shape and tensor.device is CPU


# Geometry -------------------------------------------------------------------------------------------------------

MAX_DIMS, MAX_OPERANDS = 25, 4  # as in geometry.cuh
GEOMETRY: Final = np.dtype(  # struct Geometry of geometry.cuh
    [("ndim", np.int32), ("sizes", np.int64, (MAX_DIMS,)), ("strides", np.int64, (MAX_OPERANDS, MAX_DIMS))], align=True
)


def geometry(shape: Shape, *strides: Shape, any_order: bool = False) -> Any:
    """A `struct Geometry` as a NumPy scalar, for a row-major traversal of tensors of one shape; strides in elements.

    `any_order` allows the memory order of the operands (the first decides), for a kernel that treats every element
    alike. The scalar is shared: do not write to it.
    """
    return _geometry(*collapsed(shape, strides, any_order))


def operands(shape: Shape, *tensors: Tensor, any_order: bool = True) -> Any:
    """The geometry of tensors that are broadcast to a shape."""
    return geometry(shape, *(broadcast_strides(tensor, shape) for tensor in tensors), any_order=any_order)


def broadcast_strides(tensor: Tensor, shape: Shape) -> Shape:
    """The strides, in elements, of a tensor broadcast to a shape."""
    if tensor._shape == shape:
        return tensor.strides()
    return expand_strides(tensor._shape, tensor.strides(), shape)


def is_flat(shape: Shape, *tensors: Tensor) -> bool:
    """Whether all tensors are dense in one common order of dimensions, so that they can be traversed as flat memory."""
    if all(tensor._strides is None and tensor._shape == shape for tensor in tensors):
        return True
    sizes, strides = collapsed(shape, tuple(broadcast_strides(tensor, shape) for tensor in tensors), True)
    return len(sizes) <= 1 and all(step in ((), (1,)) for step in strides)


@lru_cache(maxsize=4096)
def collapsed(shape: Shape, strides: tuple[Shape, ...], any_order: bool = False) -> tuple[Shape, tuple[Shape, ...]]:
    """The same traversal in the fewest dimensions, row-major or in the memory order of the operands.

    >>> collapsed((2, 3, 4), ((12, 4, 1), (0, 4, 1)))
    ((2, 12), ((12, 1), (0, 1)))
    >>> collapsed((2, 3), ((1, 2), (1, 2)), any_order=True)
    ((6,), ((1,), (1,)))
    """
    if any_order and strides:
        order = memory_order(strides, shape)[::-1]
        shape, strides = tuple(shape[dim] for dim in order), tuple(tuple(own[dim] for dim in order) for own in strides)
    return coalesce_dimensions(shape, strides)


@lru_cache(maxsize=4096)
def _geometry(sizes: Shape, strides: tuple[Shape, ...]) -> Any:
    ndim = len(sizes)
    if ndim > MAX_DIMS:
        raise ShapeError(f"tensor has too many (>{MAX_DIMS}) dims: {ndim} that no two of which can be walked as one")
    assert len(strides) <= MAX_OPERANDS, f"{len(strides)} operands; geometry.cuh has room for {MAX_OPERANDS}"
    made = np.zeros((), GEOMETRY)
    made["ndim"] = ndim
    made["sizes"][:ndim] = sizes
    for i, steps in enumerate(strides):
        made["strides"][i, :ndim] = steps
    return made[()]
