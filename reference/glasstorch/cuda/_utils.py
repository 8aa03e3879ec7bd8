"""How does a program compile and launch a CUDA kernel of its own?

Mirrors: torch/cuda/_utils.py (_CudaKernel), torch/cuda/__init__.py (_compile_kernel)
Differs: a number is converted to the type of the kernel's parameter, and arguments that do not fit are refused; torch
    passes an int as a C int and a float as a double, whatever the parameter is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, DeviceError
from glasstorch.devices.driver import Argument, Kernel, Parameter
from glasstorch.devices.launch import launch
from glasstorch.devices.runtime import driver
from glasstorch.devices.stream import Stream, StreamContext

INCLUDE = "-I"


class _CudaKernel:
    """A compiled kernel that is called with a grid, a block and arguments."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __call__(
        self,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (1, 1, 1),
        args: Sequence[Tensor | float] | None = None,
        shared_mem: int = 0,
        stream: Stream | None = None,
    ) -> None:
        """Launch the kernel on a stream, by default the current one.

        `grid` counts blocks, `block` threads, each in x, y and z. A tensor among `args` stands for the address of its
        first element. `shared_mem` is the dynamic shared memory in bytes.
        """
        signature = self.kernel.signature
        given = tuple(args or ())
        wanted = signature if signature is not None and len(signature) == len(given) else (None,) * len(given)
        taken = [
            argument if isinstance(argument, Tensor) else number_for(self.kernel.name, position, argument, parameter)
            for position, (argument, parameter) in enumerate(zip(given, wanted, strict=True))
        ]
        context = StreamContext(stream)
        if stream is not None:
            self._check_devices(stream, given)
        with context:
            launch(self.kernel, grid, block, taken, shared_mem)

    def _check_devices(self, stream: Stream, arguments: Sequence[Tensor | float]) -> None:
        """DeviceError where a tensor is on another CUDA device than the stream that the kernel is to run on."""
        for position, argument in enumerate(arguments):
            if isinstance(argument, Tensor) and argument.device.type == "cuda" and argument.device != stream.device:
                raise DeviceError(
                    f"{self.kernel.name}: the stream is of {stream.device}, argument {position} is a tensor on "
                    f"{argument.device}"
                )

    def __repr__(self) -> str:
        return f"<CUDA kernel {self.kernel.name}>"


def number_for(name: str, position: int, number: object, parameter: Parameter | None) -> Argument:
    """A number in the type of a parameter; with an unknown parameter, an int is a C int and a float a double."""
    if isinstance(number, np.generic):
        return number
    if not isinstance(number, int | float):
        raise ArgumentTypeError(
            f"{name}: argument {position} is a {type(number).__name__}; expected a tensor on a CUDA device or a number"
        )
    if parameter is None:
        return np.int32(number) if isinstance(number, int) else np.float64(number)
    if parameter.pointer or parameter.kind == "V" or (isinstance(number, float) and parameter.kind != "f"):
        raise ArgumentTypeError(f"{name}: argument {position} is {number!r}, the parameter is {parameter}")
    kind = np.dtype(f"{parameter.kind}{parameter.size}")
    try:
        with np.errstate(over="ignore"):
            scalar: np.generic = kind.type(number)
        fits = not np.isinf(scalar) or np.isinf(number)
    except OverflowError:  # an int out of range for the integer type, or for float64
        fits = False
    if not fits:
        raise ArgumentValueError(
            f"{name}: argument {position} is {number}, which a parameter of {parameter} cannot hold"
        )
    return scalar


def _compile_kernel(
    kernel_source: str,
    kernel_name: str,
    compute_capability: str | None = None,
    cuda_include_dirs: Sequence[str] | None = None,
    nvcc_options: Sequence[str] | None = None,
) -> _CudaKernel:
    """Compile CUDA C++ for the current device and return its kernel `kernel_name`, which can be called with tensors.

    The kernel is declared `extern "C"`, or is an instance of a template, "scale<float>". Source that does not compile
    raises RuntimeError with the compiler's output.

        add = _compile_kernel(source, "add")
        add(grid=(4, 1, 1), block=(256, 1, 1), args=[a, b, out, out.numel()])
    """
    options = [*(f"{INCLUDE}{folder}" for folder in cuda_include_dirs or ()), *(nvcc_options or ())]
    if compute_capability is not None and not driver().simulated:
        options.append(f"-arch=sm_{compute_capability}")
    expressions = () if kernel_name.isidentifier() else (kernel_name,)
    module = driver().load(kernel_source, "kernel.cu", expressions, options)
    return _CudaKernel(module.kernel(kernel_name))
