"""Are floating-point operations counted by PyTorch's formulas?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.profiler.flops import flops
from glasstorch.profiler.inputs import capture
from tests.profiler.programs import profile_of

Require = Callable[[str], Any]
CALLS: dict[str, Callable[[Any], Any]] = {
    "mm": lambda torch: torch.ones(3, 5) @ torch.ones(5, 7),
    "addmm": lambda torch: torch.addmm(torch.ones(7), torch.ones(3, 5), torch.ones(5, 7)),
    "bmm": lambda torch: torch.bmm(torch.ones(2, 3, 5), torch.ones(2, 5, 7)),
    "baddbmm": lambda torch: torch.baddbmm(torch.ones(2, 3, 7), torch.ones(2, 3, 5), torch.ones(2, 5, 7)),
    "linear of a batch": lambda torch: torch.nn.functional.linear(torch.ones(2, 3, 5), torch.ones(7, 5), torch.ones(7)),
    "conv2d": lambda torch: torch.conv2d(torch.ones(2, 4, 9, 8), torch.ones(6, 4, 3, 2)),
    "conv2d, all options": lambda torch: torch.conv2d(
        torch.ones(2, 4, 9, 8), torch.ones(6, 2, 3, 2), None, (2, 1), (1, 3), (2, 2), 2
    ),
    "conv2d, one number each": lambda torch: torch.conv2d(
        torch.ones(2, 4, 9, 8), torch.ones(6, 4, 3, 2), torch.ones(6), 2, 1, 1
    ),
    "add and mul": lambda torch: (torch.ones(3, 5) + torch.ones(5)) * torch.ones(3, 5),
    "a number of one dimension": lambda torch: torch.ones(3, 5) * 2,
    "others": lambda torch: torch.ones(3, 5).exp().sum(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_operations_are_counted_as_by_pytorch(require: Require, call: Callable[[Any], Any]) -> None:
    def counted(library: Any) -> dict[str, int]:
        rows = profile_of(library, lambda: call(library), with_flops=True).key_averages()
        return {row.key: row.flops for row in rows if row.flops}

    assert counted(glasstorch) == counted(require("torch"))


def test_the_column_has_the_unit_of_the_smallest_number(torch: Any) -> None:
    text = profile_of(torch, lambda: torch.ones(30, 30) @ torch.ones(30, 30), with_flops=True).key_averages().table()
    heading, row = (next(line for line in text.splitlines() if word in line) for word in ("Name", "aten::mm"))
    assert heading.split()[-2:] == ["Total", "KFLOPs"]
    assert row.split()[-1] == "54.000"
    assert "FLOPs" not in profile_of(torch, lambda: torch.ones(3).exp(), with_flops=True).key_averages().table()


def test_a_call_that_its_formula_is_not_about_counts_nothing() -> None:
    image, kernel = glasstorch.ones(2, 4, 9), glasstorch.ones(6, 4, 3)
    assert flops("aten::conv2d", capture((image, kernel, None, [1], [0], [1], 1))) == 0
    assert flops("aten::conv2d", capture((image, kernel, None, "valid", [0], [1], 1))) == 0
    assert flops("aten::mm", capture((2, 3))) == 0
    assert flops("aten::mm", []) == 0
