"""Can a program bring a CUDA kernel of its own, as with torch.cuda?"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import glasstorch as torch
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, DeviceError
from glasstorch.cuda import _compile_kernel
from glasstorch.devices import runtime

SOURCE = """
extern "C" __global__ void scale(float* x, float factor, int n, unsigned char flag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = flag ? factor * x[i] : -1;
}
template <class T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }
"""


@pytest.fixture(autouse=True)
def simulator() -> Iterator[None]:
    torch.cuda.use_simulator(devices=2, memory=1 << 24)
    yield
    runtime.use_driver(None)


def test_a_kernel_is_called_with_tensors_and_numbers() -> None:
    x = torch.arange(300.0, device="cuda")
    kernel = _compile_kernel(SOURCE, "scale")
    kernel(grid=(2, 1, 1), block=(256, 1, 1), args=[x, 2, 299, True])
    assert x[298:].tolist() == [596, 299]
    kernel((1, 1, 1), (256, 1, 1), [x, 0.5, 1, 0])
    assert x[:2].tolist() == [-1, 2]


def test_an_instance_of_a_template_is_named_with_its_types() -> None:
    x = torch.zeros(4, dtype=torch.int64, device="cuda")
    _compile_kernel(SOURCE, "fill<long long>")((1, 1, 1), (4, 1, 1), [x, 1 << 40])
    assert x.tolist() == [1 << 40] * 4


def test_a_kernel_runs_on_the_stream_it_is_given() -> None:
    x = torch.ones(4, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    _compile_kernel(SOURCE, "scale")((1, 1, 1), (4, 1, 1), [x, 3.0, 4, 1], stream=stream)
    torch.cuda.current_stream().wait_stream(stream)
    assert x.tolist() == [3] * 4


def test_a_stream_of_another_device_than_a_tensor_is_refused() -> None:
    x, there = torch.ones(4, device="cuda:0"), torch.ones(4, device="cuda:1")
    stream, kernel = torch.cuda.Stream("cuda:1"), _compile_kernel(SOURCE, "scale")
    with pytest.raises(DeviceError, match="scale: the stream is of cuda:1, argument 0 is a tensor on cuda:0"):
        kernel((1, 1, 1), (4, 1, 1), [x, 3.0, 4, 1], stream=stream)
    stream.wait_stream(torch.cuda.current_stream("cuda:1"))
    kernel((1, 1, 1), (4, 1, 1), [there, 3.0, 4, 1], stream=stream)
    torch.cuda.synchronize("cuda:1")
    assert (x.tolist(), there.tolist()) == ([1] * 4, [3] * 4)


def test_options_and_folders_reach_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "given.h").write_text("#define VALUE 5\n", encoding="utf-8")
    source = '#include "given.h"\nextern "C" __global__ void f(float* x) { x[0] = VALUE + MORE; }'
    x = torch.zeros(1, device="cuda")
    _compile_kernel(source, "f", cuda_include_dirs=[str(tmp_path)], nvcc_options=["-DMORE=2"])(args=[x])
    assert x.item() == 7


def test_a_text_that_does_not_compile_is_refused_with_its_line() -> None:
    with pytest.raises(RuntimeError, match=r"kernel\.cu:2:\d+: error"):
        _compile_kernel('extern "C" __global__ void f(float* x) {\n  x[0] = y;\n}', "f")


@pytest.mark.parametrize(
    ("place", "value", "error", "words"),
    [
        (1, "two", ArgumentTypeError, "scale: argument 1 is a str; expected a tensor on a CUDA device or a number"),
        (2, 1.5, ArgumentTypeError, "scale: argument 2 is 1.5, the parameter is int32"),
        (2, 1 << 31, ArgumentValueError, "scale: argument 2 is 2147483648, which a parameter of int32 cannot hold"),
        (3, -1, ArgumentValueError, "scale: argument 3 is -1, which a parameter of uint8 cannot hold"),
        (1, 1e39, ArgumentValueError, "scale: argument 1 is 1e+39, which a parameter of float32 cannot hold"),
        (1, 10**400, ArgumentValueError, "which a parameter of float32 cannot hold"),
        (0, 4096, ArgumentTypeError, r"scale: argument 0 is 4096, the parameter is float32*"),
    ],
)
def test_a_number_that_does_not_fit_is_refused(place: int, value: Any, error: type[Exception], words: str) -> None:
    arguments: list[Any] = [torch.zeros(1, device="cuda"), 2.0, 1, 1]
    arguments[place] = value
    with pytest.raises(error, match=re.escape(words)):
        _compile_kernel(SOURCE, "scale")(args=arguments)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), 3.4028235e38, 10**30, 1e-50])
def test_a_float_that_fits_is_taken_and_so_are_infinities_and_nan(number: float) -> None:
    x = torch.ones(1, device="cuda")
    _compile_kernel(SOURCE, "scale")(args=[x, number, 1, 1])
    np.testing.assert_array_equal(x.cpu().numpy(), np.array([number], np.float64).astype(np.float32))


def test_it_is_called_as_torchs(require: Callable[[str], ModuleType]) -> None:
    require("torch")
    from torch.cuda import _compile_kernel as theirs
    from torch.cuda._utils import _CudaKernel as TheirKernel

    from glasstorch.cuda._utils import _CudaKernel

    assert list(inspect.signature(_compile_kernel).parameters) == list(inspect.signature(theirs).parameters)[:5]
    ours, torchs = inspect.signature(_CudaKernel.__call__), inspect.signature(TheirKernel.__call__)
    assert {name: p.default for name, p in ours.parameters.items()} == {
        name: p.default for name, p in torchs.parameters.items()
    }
