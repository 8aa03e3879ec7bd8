"""Are modules made without initialising their parameters, as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import Program, assert_same


def skip(torch: Any, *args: Any, **kwargs: Any) -> Any:
    made = torch.nn.utils.skip_init(*args, **kwargs)
    tensors = [*made.named_parameters(), *made.named_buffers()]
    return repr(made), [(n, list(t.shape), str(t.dtype), str(t.device), t.requires_grad) for n, t in tensors]


def several_modules(torch: Any) -> Any:
    nn = torch.nn
    return [
        skip(torch, nn.Linear, 5, 1),
        skip(torch, nn.Linear, in_features=6, out_features=1, bias=False),
        skip(torch, nn.Conv2d, 2, 3, 2, dtype=torch.float64),
        skip(torch, nn.LSTM, 2, 3, num_layers=2),
        skip(torch, nn.BatchNorm1d, 3),
        skip(torch, nn.Linear, 2, 2, device="cpu"),
        skip(torch, nn.Linear, 2, 2, device="meta"),
    ]


def no_random_numbers_are_drawn(torch: Any) -> Any:
    torch.manual_seed(0)
    torch.nn.utils.skip_init(torch.nn.Linear, 5, 1)
    return torch.rand(2).tolist()


def a_class_that_takes_a_device(torch: Any) -> Any:
    class Own(torch.nn.Module):
        def __init__(self, size: int, device: Any = None) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(size, device=device))
            torch.nn.init.uniform_(self.weight)

    return skip(torch, Own, 3)[1]


def a_class_that_takes_no_device(torch: Any) -> Any:
    torch.nn.utils.skip_init(torch.nn.ReLU)


def a_class_that_is_no_module(torch: Any) -> Any:
    torch.nn.utils.skip_init(dict)


def a_module_that_is_no_class(torch: Any) -> Any:
    torch.nn.utils.skip_init(torch.nn.Linear(1, 1))


def a_device_by_position(torch: Any) -> Any:
    torch.nn.utils.skip_init(torch.nn.Linear, 2, 2, True, "cpu")


def unknown_arguments(torch: Any) -> Any:
    torch.nn.utils.skip_init(torch.nn.Linear, 2, 2, size=3)


PROGRAMS = [
    several_modules, no_random_numbers_are_drawn, a_class_that_takes_a_device, a_class_that_takes_no_device,
    a_class_that_is_no_module, a_module_that_is_no_class, a_device_by_position, unknown_arguments,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_in_torch(program: Program, require: Callable[[str], Any]) -> None:
    assert_same(program, require("torch"))
