"""Are complex numbers made on a CUDA device as they are made on the CPU?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from tests.devices.devices import Devices


@pytest.mark.parametrize("name", ["complex", "polar"])
@pytest.mark.parametrize(
    "parts",
    [
        lambda t, d: (t.linspace(0.5, 3, 6, device=d), t.linspace(-1, 1, 6, device=d)),
        lambda t, d: (t.ones(2, 1, dtype=t.float64, device=d), t.arange(3.0, dtype=t.float64, device=d)),
        lambda t, d: (t.ones(3, 2, device=d).t(), t.eye(3, 2, device=d).t()),
        lambda t, d: (t.ones(2, device=d), t.tensor(0.5)),
        lambda t, d: (t.ones(0, 3, device=d), t.ones(1, device=d)),
    ],
)
def test_they_are_those_of_the_cpu(cuda: Devices, name: str, parts: Any) -> None:
    make = getattr(glasstorch, name)
    found, expected = (make(*parts(glasstorch, device)) for device in (cuda.device, "cpu"))
    assert found.is_cuda
    assert (found.dtype, found.stride()) == (expected.dtype, expected.stride())
    assert glasstorch.allclose(found.cpu().real, expected.real, rtol=1e-6)
    assert glasstorch.allclose(found.cpu().imag, expected.imag, rtol=1e-6)


def test_they_can_be_written_to_a_given_tensor(cuda: Devices) -> None:
    x = glasstorch.tensor([1.0, 2.0], device=cuda.device)
    out = glasstorch.zeros(2, 3, dtype=glasstorch.complex64, device=cuda.device)[:, 1]
    assert glasstorch.complex(x, x, out=out) is out
    assert out.tolist() == [1 + 1j, 2 + 2j]


def test_parts_of_two_devices_are_refused(cuda: Devices) -> None:
    with pytest.raises(RuntimeError, match="same device"):
        glasstorch.complex(glasstorch.ones(2, device=cuda.device), glasstorch.ones(2))
