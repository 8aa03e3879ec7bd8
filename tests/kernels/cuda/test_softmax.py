"""Are softmax, log_softmax and their gradients on a CUDA device those of the CPU, along any dimension?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._tensor import Tensor
from glasstorch.core.errors import DeviceError, DtypeError, ShapeError
from glasstorch.kernels.cuda import softmax
from glasstorch.operators.generated import functions
from tests.devices.devices import Devices

FLOATS = ("float16", "bfloat16", "float32", "float64")
CHECKED = ("float16", "float32")  # check mode compiles anew, and what it finds is the same for all dtypes
TOLERANCE = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-12}
FUNCTIONS = ("softmax", "log_softmax")
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (2, 1, 3, 2), (3, 300), (2, 300, 3), (70, 2), (2, 70), (3, 0), (0, 3)]


def tensor(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> Tensor:
    """Numbers some of whose exponentials are far apart."""
    numbers = np.random.default_rng(seed).standard_normal(shape) * 4
    return glasstorch.from_numpy(np.asarray(numbers)).to(getattr(glasstorch, dtype))


def check(found: Tensor, wanted: Tensor) -> None:
    """Equal dtypes and sizes, values as near as the dtype can say."""
    assert found.is_cuda
    assert found.dtype is wanted.dtype
    assert found.shape == wanted.shape
    close = TOLERANCE[wanted.dtype.name]
    np.testing.assert_allclose(found.cpu().double().numpy(), wanted.double().numpy(), rtol=close, atol=close)


def forward(name: str, x: Tensor, dim: int) -> Any:
    return getattr(functions, f"_{name}")(x, dim, False)


def backward(name: str, grad: Tensor, y: Tensor, dim: int) -> Any:
    return getattr(functions, f"_{name}_backward_data")(grad, y, dim, y.dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_dimension_of_every_shape(cuda: Devices, name: str, shape: tuple[int, ...]) -> None:
    x, grad = tensor(shape), tensor(shape, seed=1)
    for dim in range(-max(len(shape), 1), max(len(shape), 1)):
        y = forward(name, x, dim)
        check(forward(name, x.to(cuda.device), dim), y)
        check(backward(name, grad.to(cuda.device), y.to(cuda.device), dim), backward(name, grad, y, dim))


def test_neighbours_in_memory_are_read_by_neighbouring_threads(cuda: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[str] = []
    launch = softmax.launch

    def noted(kernel: Any, *arguments: Any) -> None:
        launched.append(kernel.name)
        launch(kernel, *arguments)

    monkeypatch.setattr(softmax, "launch", noted)
    x = tensor((4, 6)).to(cuda.device)
    for dim in (1, 0):
        backward("softmax", x, forward("softmax", x, dim), dim)
    assert launched == ["softmax_rows", "softmax_gradient_rows", "softmax_columns", "softmax_gradient_columns"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_halves_are_computed_in_float32(cuda: Devices, name: str, dtype: str) -> None:
    if cuda.name == "check" and dtype not in CHECKED:
        return
    x, grad = tensor((5, 40), dtype), tensor((5, 40), dtype, seed=1)
    for dim in (0, 1):
        y = forward(name, x, dim)
        check(forward(name, x.to(cuda.device), dim), y)
        check(backward(name, grad.to(cuda.device), y.to(cuda.device), dim), backward(name, grad, y, dim))
    equal = glasstorch.zeros(3000).to(x.dtype).to(cuda.device)  # their sum is more than a half can hold exactly
    wanted = 1 / 3000 if name == "softmax" else -math.log(3000)
    check(forward(name, equal, 0), glasstorch.full((3000,), wanted, dtype=x.dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_half_to_float_is_not_rounded(cuda: Devices, name: str) -> None:
    x = tensor((3, 50), "float16")
    on_cuda = x.to(cuda.device).requires_grad_()
    result = getattr(glasstorch, name)(on_cuda, 1, dtype=glasstorch.float32)
    check(result.detach(), getattr(glasstorch, name)(x.float(), 1))
    (result * result).sum().backward()
    wide = x.float().requires_grad_()
    wanted = getattr(glasstorch, name)(wide, 1)
    (wanted * wanted).sum().backward()
    assert on_cuda.grad is not None
    assert wide.grad is not None
    check(on_cuda.grad, wide.grad.half())
    with pytest.raises(DtypeError, match="conversion is supported for Half type only"):
        getattr(functions, f"_{name}")(on_cuda.detach().float(), 1, True)


def test_any_layout_is_read(cuda: Devices) -> None:
    x = tensor((4, 6, 5))
    for view in (lambda t: t.permute(2, 0, 1), lambda t: t[:, ::2], lambda t: t[0].expand(4, 6, 5)):
        result = forward("softmax", view(x.to(cuda.device)), 1)
        assert result.is_contiguous()
        check(result, forward("softmax", view(x), 1))
        grad = backward("log_softmax", view(x.to(cuda.device)), view(x.to(cuda.device)), 1)
        check(grad, backward("log_softmax", view(x), view(x), 1))


@pytest.mark.parametrize("dim", [0, 1])
def test_large_numbers_do_not_overflow(cuda: Devices, dim: int) -> None:
    for count in (3, 200):
        heights = glasstorch.tensor([1e4, -1e4, -1e30, 1e30]).unsqueeze(1).expand(4, count)
        x = (heights if dim == 1 else heights.t()).contiguous().to(cuda.device)
        np.testing.assert_allclose(glasstorch.softmax(x, dim).cpu().numpy(), 1 / count, rtol=1e-6)
        np.testing.assert_allclose(glasstorch.log_softmax(x, dim).cpu().numpy(), -math.log(count), rtol=1e-6)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_infinity_and_nan_stay_in_their_lines(cuda: Devices, name: str, dim: int) -> None:
    for count in (3, 200):
        x = glasstorch.zeros(5, count)
        x[0, 0], x[1, 0], x[2, count - 1], x[3] = math.inf, math.nan, -math.inf, -math.inf
        x = x if dim == 1 else x.t().contiguous()
        found, wanted = forward(name, x.to(cuda.device), dim).cpu().numpy(), forward(name, x, dim).numpy()
        np.testing.assert_allclose(found, wanted, rtol=2e-6)
        assert np.isnan(found if dim == 1 else found.T)[[0, 1, 3]].all()


def test_results_are_written_where_they_are_wanted(cuda: Devices) -> None:
    x = tensor((4, 6))
    out = glasstorch.zeros(6, 4, device=cuda.device).t()
    assert glasstorch.ops.aten._log_softmax.out(x.to(cuda.device), 1, False, out=out) is out
    check(out, forward("log_softmax", x, 1))
    on_cuda = x.to(cuda.device)
    glasstorch.ops.aten._softmax.out(on_cuda, 0, False, out=on_cuda)
    check(on_cuda, forward("softmax", x, 0))


def test_the_inputs_of_a_gradient_belong_together(cuda: Devices) -> None:
    x = tensor((4, 6))
    with pytest.raises(DeviceError, match="Expected all tensors to be on the same device"):
        backward("softmax", x.to(cuda.device), x, 1)
    with pytest.raises(ShapeError, match="to have same size"):
        backward("softmax", x.to(cuda.device), x[:3].to(cuda.device), 1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_flow(cuda: Devices, name: str) -> None:
    x, weight = tensor((5, 7)), tensor((5, 7), seed=1)

    def gradient(x: Any, weight: Tensor) -> Tensor:
        x = x.detach().requires_grad_()
        (getattr(glasstorch, name)(x, 1) * weight).sum().backward()
        assert x.grad is not None
        return x.grad  # type: ignore[no-any-return]

    check(gradient(x.to(cuda.device), weight.to(cuda.device)), gradient(x, weight))


def test_every_instance_is_named_once() -> None:
    named = list(softmax.instantiations())
    assert len(named) == len(set(named)) == 2 * 2 * 2 * (len(softmax.SAME) + 1)
