"""On which devices do the tests of CUDA run?

One fixture for all of them: the simulated device in every order of threads and streams and in check mode, and a card.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

from glasstorch.core.device import device
from glasstorch.core.errors import AcceleratorError
from glasstorch.devices import runtime
from glasstorch.devices.driver import Driver

SIMULATORS: dict[str, dict[str, Any]] = {
    "forward": {"order": "forward"},
    "reverse": {"order": "reverse"},
    "random-1": {"order": "random", "seed": 1},
    "random-2": {"order": "random", "seed": 2},
    "random-3": {"order": "random", "seed": 3},
    "check": {"order": "random", "seed": 4, "check": True},
}
GPU = "gpu"
CUDA_0 = device("cuda:0")


@dataclass
class Devices:
    """What a test runs on. `name` is a key of SIMULATORS, or "gpu"."""

    name: str
    driver: Driver
    device: device = CUDA_0


def made(name: str) -> Driver:
    """A driver with fresh devices."""
    if name == GPU:
        return card()
    from glasstorch.devices.driver_sim import SimDriver

    return SimDriver(devices=2, memory=1 << 28, **SIMULATORS[name])


def card() -> Driver:
    """A card; the test is skipped where CuPy reaches none."""
    if find_spec("cupy") is not None:
        from glasstorch.devices.driver_cupy import CupyDriver

        driver: Driver = CupyDriver()
        if driver.device_count():
            return driver
    pytest.skip("no card that CuPy can reach")


@pytest.fixture(scope="module", params=[*SIMULATORS, pytest.param(GPU, marks=pytest.mark.gpu)])
def cuda_of_module(request: pytest.FixtureRequest) -> Devices:
    """The devices that all tests of a module share."""
    return Devices(request.param, made(request.param))


@pytest.fixture
def cuda(cuda_of_module: Devices) -> Iterator[Devices]:
    """Devices that are on during the test. What was queued is run at its end, so that a fault shows in its own test."""
    devices = cuda_of_module
    runtime.use_driver(devices.driver)
    try:
        yield devices
        runtime.use_driver(devices.driver)
        devices.driver.synchronize()
    except AcceleratorError:
        devices.driver = made(devices.name)
        raise
    finally:
        runtime.use_driver(None)
