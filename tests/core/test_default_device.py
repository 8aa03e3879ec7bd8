"""Where is a tensor made that is made without saying where?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch


@pytest.fixture
def torch_again(torch: Any) -> Iterator[Any]:
    """The library under test, whose default device is put back."""
    yield torch
    torch.set_default_device(None)


FOLLOW: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda torch: torch.zeros(2, dtype=torch.int64),
    "empty": lambda torch: torch.empty(2),
    "full": lambda torch: torch.full((2,), 1.0),
    "eye": lambda torch: torch.eye(2),
    "arange": lambda torch: torch.arange(3),
    "linspace": lambda torch: torch.linspace(0, 1, 3),
    "logspace": lambda torch: torch.logspace(0, 1, 3),
    "rand": lambda torch: torch.rand(2),
    "randn": lambda torch: torch.randn(2),
    "randint": lambda torch: torch.randint(3, (2,)),
    "randperm": lambda torch: torch.randperm(3),
    "hann_window": lambda torch: torch.hann_window(3),
    "tril_indices": lambda torch: torch.tril_indices(2, 2),
    "fftfreq": lambda torch: torch.fft.fftfreq(3),
    "empty_strided": lambda torch: torch.empty_strided((2,), (1,)),
    "scalar_tensor": lambda torch: torch.scalar_tensor(2.0),
    "tensor": lambda torch: torch.tensor([1.0]),
    "tensor of a tensor": lambda torch: torch.as_tensor(torch.ones(2, device="cpu")),
    "as_tensor": lambda torch: torch.as_tensor([1.0]),
    "as_tensor of an array": lambda torch: torch.as_tensor(np.ones(2)),
    "asarray": lambda torch: torch.asarray([1.0]),
    "Linear": lambda torch: torch.nn.Linear(2, 1).weight,
    "BatchNorm2d": lambda torch: torch.nn.BatchNorm2d(3).running_mean,
    "LSTM": lambda torch: torch.nn.LSTM(2, 3).weight_ih_l0,
    "MultiheadAttention": lambda torch: torch.nn.MultiheadAttention(4, 2).in_proj_weight,
}
STAY: dict[str, Callable[[Any], Any]] = {
    "a device is given": lambda torch: torch.ones(2, device="cpu"),
    "ones_like": lambda torch: torch.ones_like(torch.ones(2, device="cpu")),
    "new_zeros": lambda torch: torch.ones(2, device="cpu").new_zeros(2),
    "from_numpy": lambda torch: torch.from_numpy(np.ones(2)),
    "Tensor": lambda torch: torch.Tensor(2),
    "FloatTensor": lambda torch: torch.FloatTensor(2),
    "one_hot": lambda torch: torch.nn.functional.one_hot(torch.ones(2, dtype=torch.int64, device="cpu"), 3),
    "where": lambda torch: torch.where(torch.ones(2, dtype=torch.bool, device="cpu"), 1.0, 0.0),
    "index": lambda torch: torch.ones(2, device="cpu")[[0, 1]],
    "dropout": lambda torch: torch.nn.Dropout()(torch.ones(3, device="cpu")),
    "inv": lambda torch: torch.linalg.inv(torch.eye(2, device="cpu")),
    "stft": lambda torch: torch.stft(torch.ones(400, device="cpu"), 20, return_complex=True, window=None),
    "interpolate": lambda torch: torch.nn.functional.interpolate(torch.ones(1, 1, 4, 4, device="cpu"), scale_factor=2),
    "searchsorted": lambda torch: torch.searchsorted(torch.ones(3, device="cpu"), 2.0),
    "multinomial": lambda torch: torch.multinomial(torch.ones(3, device="cpu"), 2),
}


@pytest.mark.parametrize("name", FOLLOW)
def test_what_is_made_from_nothing_is_made_on_the_default_device(name: str, torch_again: Any) -> None:
    torch_again.set_default_device("meta")
    assert FOLLOW[name](torch_again).device.type == "meta"
    torch_again.set_default_device(None)
    assert FOLLOW[name](torch_again).device.type == "cpu"


@pytest.mark.filterwarnings("ignore:stft with return_complex")
@pytest.mark.filterwarnings("ignore:A window was not provided")
@pytest.mark.parametrize("name", STAY)
def test_what_is_made_from_a_tensor_stays_with_it(name: str, torch_again: Any) -> None:
    torch_again.set_default_device("meta")
    assert STAY[name](torch_again).device.type == "cpu"


def test_a_with_block_holds_inside_and_the_innermost_wins(torch_again: Any) -> None:
    torch = torch_again
    where = lambda: (torch.ones(1).device.type, torch.get_default_device().type)  # noqa: E731
    assert where() == ("cpu", "cpu")
    with torch.device("meta") as on:
        assert on == torch.device("meta")
        assert where() == ("meta", "meta")
        with torch.device("cpu"):
            assert where() == ("cpu", "cpu")
        assert where() == ("meta", "meta")
        with pytest.raises(KeyError), torch.device("cpu"):
            raise KeyError
        assert where() == ("meta", "meta")
    assert where() == ("cpu", "cpu")
    torch.set_default_device("meta")
    with torch.device("cpu"):
        assert where() == ("cpu", "cpu")
    assert where() == ("meta", "meta")


def test_another_thread_has_a_default_device_of_its_own(torch_again: Any) -> None:
    torch_again.set_default_device("meta")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch_again.ones(1).device.type))
    thread.start()
    thread.join()
    assert seen == ["cpu"]


def test_a_default_device_that_is_not_there_is_refused_when_a_tensor_is_made(torch_again: Any) -> None:
    torch_again.set_default_device("cuda")
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        torch_again.ones(1)
    assert torch_again.ones(1, device="cpu").device.type == "cpu"
    with pytest.raises(RuntimeError, match=r"[Dd]evice"):
        torch_again.set_default_device("nowhere")


def test_modules_made_on_meta_can_be_filled_later() -> None:
    with glasstorch.device("meta"):
        layer = glasstorch.nn.Linear(3, 2)
    assert layer.weight.is_meta
    filled = layer.to_empty(device="cpu")
    glasstorch.nn.init.ones_(filled.weight), glasstorch.nn.init.zeros_(filled.bias)
    assert filled(glasstorch.ones(3)).tolist() == [3.0, 3.0]
