"""Does what is put together by the threads of a block reach a training run unharmed?

The exercises of chapter 05 run these tests with a reader's header in the place of the library's: few kernels, float32.
"""

from __future__ import annotations

import pytest

import glasstorch as torch
from tests.devices.devices import Devices


def numbers(*shape: int) -> torch.Tensor:
    """Whole numbers in no order, so that sums are exact."""
    torch.manual_seed(3)
    return torch.randint(-50, 50, shape).float()


@pytest.mark.parametrize("shape", [(3, 5), (40, 70), (2, 3000)])
def test_rows_are_summed(cuda: Devices, shape: tuple[int, int]) -> None:
    x = numbers(*shape)
    assert x.to(cuda.device).sum(1).tolist() == x.sum(1).tolist()


@pytest.mark.parametrize("shape", [(5, 3), (70, 40), (3000, 2)])
def test_columns_are_summed(cuda: Devices, shape: tuple[int, int]) -> None:
    x = numbers(*shape)
    assert x.to(cuda.device).sum(0).tolist() == x.sum(0).tolist()


def test_the_largest_of_rows_and_columns_are_found_with_their_places(cuda: Devices) -> None:
    x = torch.randperm(3 * 400).view(3, 400).float()
    for dim in (0, 1):
        values, places = x.to(cuda.device).max(dim)
        assert (values.tolist(), places.tolist()) == (x.max(dim).values.tolist(), x.max(dim).indices.tolist())


def test_a_step_of_training_goes_the_same_way(cuda: Devices) -> None:
    x, target = numbers(12, 9) / 50, torch.arange(12) % 4

    def step(device: torch.device) -> list[float]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(9, 40), torch.nn.ReLU(), torch.nn.Linear(40, 4)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x.to(device)), target.to(device))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    assert step(cuda.device) == pytest.approx(step(torch.device("cpu")), rel=1e-4)
