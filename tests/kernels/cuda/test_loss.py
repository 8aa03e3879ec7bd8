"""Are losses and their gradients on a CUDA device those of the CPU, and is a class that does not exist an error?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch._tensor import Tensor
from glasstorch.core.errors import AcceleratorError, DeviceError, ShapeError
from glasstorch.devices import runtime
from glasstorch.devices.codes import Code
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.kernels.cuda import loss
from glasstorch.nn.functional import mse_loss, nll_loss
from glasstorch.operators.generated import functions
from tests.devices.devices import Devices

FLOATS = ("float16", "bfloat16", "float32", "float64")
CHECKED = ("float16", "float32")  # check mode compiles anew, and what it finds is the same for all dtypes
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-13}
CLASSES = 4
PLACES = [(), (3,), (300,), (2, 5), (2, 3, 4), (3, 20, 11)]  # sizes of targets
WEIGHT = (0.5, 1.0, 2.0, 0.25)
REDUCTIONS = ("none", "mean", "sum")


def check(found: Tensor, wanted: Tensor) -> None:
    """Equal dtypes and sizes, values as near as the dtype can say, NaN included."""
    assert found.is_cuda
    assert found.dtype is wanted.dtype
    assert found.shape == wanted.shape
    close = TOLERANCE[wanted.dtype.name]
    np.testing.assert_allclose(
        found.detach().cpu().double().numpy(), wanted.detach().double().numpy(), rtol=close, atol=close
    )


def scores(places: tuple[int, ...], dtype: str = "float32") -> Tensor:
    """Log probabilities of sizes (N, CLASSES, ...)."""
    numbers = np.random.default_rng(0).standard_normal((*places[:1], CLASSES, *places[1:])) - 3
    return glasstorch.from_numpy(np.asarray(numbers)).to(getattr(glasstorch, dtype))


def targets(places: tuple[int, ...]) -> Tensor:
    """Classes; the first is 0 and the last 1, so that ignoring 0 leaves some."""
    numbers = np.asarray(np.random.default_rng(1).integers(0, CLASSES, places))
    numbers.reshape(-1)[0] = 0
    numbers.reshape(-1)[-1] = 1
    return glasstorch.from_numpy(numbers)


def loss_and_gradient(x: Tensor, function: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """What a function gives at a leaf, and the gradient there for gradients 2, 3, 4 ... of the result."""
    x = x.detach().requires_grad_()
    result = function(x)
    result.backward(glasstorch.arange(2, 2 + result.numel()).reshape(result.shape).to(result))
    assert x.grad is not None
    return result, x.grad


def agree(cuda: Devices, function: Callable[..., Tensor], x: Tensor, *others: Any) -> None:
    """Check a function's value and gradient on the device against those on the CPU."""
    moved = [other.to(cuda.device) if isinstance(other, Tensor) else other for other in others]
    found = loss_and_gradient(x.to(cuda.device), lambda x: function(x, *moved))
    for on_cuda, on_cpu in zip(found, loss_and_gradient(x, lambda x: function(x, *others)), strict=True):
        check(on_cuda, on_cpu)


@pytest.mark.parametrize("places", PLACES)
def test_nll_loss_and_its_gradient(cuda: Devices, places: tuple[int, ...]) -> None:
    for weight in (None, glasstorch.tensor(WEIGHT)):
        for ignored in (-100, 0):
            for reduction in REDUCTIONS:

                def value(x: Tensor, t: Tensor, w: Any, i: int = ignored, r: str = reduction) -> Tensor:
                    return nll_loss(x, t, w, ignore_index=i, reduction=r)

                agree(cuda, value, scores(places), targets(places), weight)


@pytest.mark.parametrize("dtype", FLOATS)
def test_losses_have_the_dtype_of_the_scores(cuda: Devices, dtype: str) -> None:
    if cuda.name == "check" and dtype not in CHECKED:
        return
    weight = glasstorch.tensor(WEIGHT).to(getattr(glasstorch, dtype))
    for reduction in REDUCTIONS:
        agree(
            cuda,
            lambda x, t, w, r=reduction: nll_loss(x, t, w, reduction=r),
            scores((40,), dtype),
            targets((40,)),
            weight,
        )
    x = glasstorch.full((64, 2), -256.0).to(getattr(glasstorch, dtype)).to(cuda.device)
    value, gradient = loss_and_gradient(x, lambda x: nll_loss(x, glasstorch.zeros(64, device=cuda.device).long()))
    assert value.item() == 256  # the sum alone would be infinite in float16
    assert gradient[:, 0].tolist() == [-2 / 64] * 64


def test_many_targets_are_added_by_many_blocks(cuda: Devices) -> None:
    count = 20_000 if cuda.name != "check" else 2_500
    x, t = scores((count,)), targets((count,))
    agree(cuda, nll_loss, x, t, glasstorch.tensor(WEIGHT))


def test_the_total_weight_is_returned(cuda: Devices) -> None:
    x, t = scores((3,)).to(cuda.device), glasstorch.tensor([0, 2, 3], device=cuda.device)
    w = glasstorch.tensor(WEIGHT, device=cuda.device)
    forward = functions.nll_loss_forward
    assert [forward(x, t, w, reduction, 2)[1].item() for reduction in (0, 1, 2)] == [0.0, 0.75, 0.75]
    assert [forward(x, t, None, reduction, -100)[1].item() for reduction in (0, 1, 2)] == [0.0, 3.0, 3.0]
    assert forward(x[0], t[1], w, 0, -100)[1].item() == 2.0


def test_nothing_to_average_gives_nan(cuda: Devices) -> None:
    x, t = glasstorch.zeros(2, 3, device=cuda.device), glasstorch.tensor([1, 1], device=cuda.device)
    assert math.isnan(nll_loss(x, t, ignore_index=1).item())
    assert nll_loss(x, t, ignore_index=1, reduction="sum").item() == 0
    assert math.isnan(nll_loss(x[:0], t[:0]).item())
    assert nll_loss(x[:0], t[:0], reduction="none").shape == (0,)
    image = glasstorch.zeros(0, 3, 2, 2, device=cuda.device)
    assert math.isnan(nll_loss(image, glasstorch.zeros(0, 2, 2, device=cuda.device).long()).item())
    _, gradient = loss_and_gradient(x, lambda x: nll_loss(x, t, ignore_index=1))
    assert gradient.tolist() == [[0.0] * 3] * 2


def test_an_ignored_class_need_not_exist(cuda: Devices) -> None:
    x = glasstorch.zeros(2, 3)
    x[0, 2] = -1.5
    x = x.to(cuda.device)
    for number in (-100, 7):
        target = glasstorch.tensor([2, number], device=cuda.device)
        assert nll_loss(x, target, ignore_index=number).item() == 1.5
    assert nll_loss(x, glasstorch.tensor([2, 7], device=cuda.device).to(glasstorch.uint8), ignore_index=7).item() == 1.5


def test_scores_and_targets_of_any_layout(cuda: Devices) -> None:
    def each(x: Tensor, t: Tensor) -> Tensor:
        return nll_loss(x.transpose(0, 1), t[::2], reduction="none")

    agree(cuda, each, scores((CLASSES,)), targets((2 * CLASSES,)))
    agree(cuda, each, scores((CLASSES, 3, 5)), targets((2 * CLASSES, 3, 5)))


def test_losses_are_computed_on_the_device_of_the_scores(cuda: Devices) -> None:
    if cuda.driver.device_count() == 1:
        pytest.skip("there is only one device")
    x, t = scores((40,)), targets((40,))
    value, gradient = loss_and_gradient(x.to("cuda:1"), lambda x: nll_loss(x, t.to("cuda:1")))
    assert value.device.index == gradient.device.index == 1
    for found, wanted in zip((value, gradient), loss_and_gradient(x, lambda x: nll_loss(x, t)), strict=True):
        check(found, wanted)


def test_a_gradient_of_any_layout_is_read(cuda: Devices) -> None:
    x, t = scores((40,)).to(cuda.device), targets((40,)).to(cuda.device)
    every_second = glasstorch.arange(80.0, device=cuda.device)[::2]
    one = glasstorch.ones((), device=cuda.device)
    for grad in (every_second, one.expand(40)):
        found = functions.nll_loss_backward(grad, x, t, None, 0, -100, one)
        check(found, functions.nll_loss_backward(grad.cpu(), x.cpu(), t.cpu(), None, 0, -100, one.cpu()))


# A class that does not exist ------------------------------------------------------------------------------------


@pytest.fixture
def simulator() -> Iterator[SimDriver]:
    """Fresh devices, which may fail."""
    yield glasstorch.cuda.use_simulator()
    runtime.use_driver(None)


@pytest.mark.parametrize("number", [3, -1, 2**62])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_class_that_does_not_exist_is_an_error_of_the_device(
    simulator: SimDriver, reduction: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in PyTorch it is an assertion of the kernel, with which the device answers from then on; the text names it."""
    x, t = glasstorch.zeros(2, 3, device="cuda"), glasstorch.tensor([1, number], device="cuda")
    result = nll_loss(x, t, reduction=reduction)
    for _ in range(2):
        with pytest.raises(AcceleratorError, match="device-side assert triggered") as caught:
            simulator.synchronize()
        assert caught.value.code == Code.ASSERT
    assert "loss.cu" in str(caught.value)
    assert f"Target {number} is out of bounds: there are 3 classes." in capsys.readouterr().out
    with pytest.raises(AcceleratorError, match="device-side assert triggered"):
        result.tolist()


@pytest.mark.usefixtures("simulator")
def test_the_gradient_refuses_a_class_that_does_not_exist() -> None:
    x, t = glasstorch.zeros(1, 3, device="cuda"), glasstorch.tensor([5], device="cuda")
    one = glasstorch.ones((), device="cuda")
    with pytest.raises(AcceleratorError, match="device-side assert triggered"):
        functions.nll_loss_backward(one, x, t, None, 1, -100, one).tolist()


# mse_loss -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_mse_loss_and_its_gradient(cuda: Devices, dtype: str, reduction: str) -> None:
    if cuda.name == "check" and dtype not in CHECKED:
        return
    x, other = scores((30,), dtype), scores((31,), dtype)[1:]
    agree(cuda, lambda x, other: mse_loss(x, other, reduction=reduction), x, other)


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_mse_loss_broadcasts_and_promotes(cuda: Devices) -> None:
    x, other = scores((6,)), scores((1,), "float64")
    agree(cuda, lambda x, other: mse_loss(x, other), x, other)
    empty = glasstorch.zeros(0, device=cuda.device)
    assert math.isnan(mse_loss(empty, empty).item())
    assert mse_loss(empty, empty, reduction="sum").item() == 0


def test_losses_are_written_where_they_are_wanted(cuda: Devices) -> None:
    x, other = scores((6,)), scores((7,))[1:]
    a, b = x.to(cuda.device), other.to(cuda.device)
    for reduction, shape in ((0, (6, 4)), (1, ()), (2, ())):
        for dtype in (glasstorch.float32, glasstorch.float64):
            out = glasstorch.zeros(shape, dtype=dtype, device=cuda.device)
            assert glasstorch.ops.aten.mse_loss.out(a, b, reduction, out=out) is out
            np.testing.assert_allclose(out.cpu().numpy(), functions.mse_loss(x, other, reduction).numpy(), rtol=2e-6)


# What is refused ------------------------------------------------------------------------------------------------


def test_losses_refuse_tensors_of_two_devices(cuda: Devices) -> None:
    x, t = scores((3,)), targets((3,))
    for refused in (
        lambda: nll_loss(x.to(cuda.device), t),
        lambda: nll_loss(x.to(cuda.device), t.to(cuda.device), glasstorch.tensor(WEIGHT)),
        lambda: mse_loss(x, x.to(cuda.device)),
    ):
        with pytest.raises(DeviceError, match="Expected all tensors to be on the same device"):
            refused()
    with pytest.raises(ShapeError, match="weight tensor should be defined either for all 4 classes"):
        nll_loss(x.to(cuda.device), t.to(cuda.device), glasstorch.ones(3, device=cuda.device))


def test_every_instance_is_named_once() -> None:
    named = list(loss.instantiations())
    assert len(named) == len(set(named)) == 4 * 4
