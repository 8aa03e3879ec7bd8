"""Do infinities and NaN pass through functions without a warning, as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

INF = float("inf")


def images(t: Any) -> Any:
    return t.tensor([1.0, INF, -INF, 2.0, float("nan"), 3.0, INF, 0.0, 1.0]).view(1, 1, 3, 3).requires_grad_()


def isfinite(result: Any) -> list[bool]:
    return [bool(part) for part in result.isfinite().reshape(-1)]


def resized(t: Any, **how: Any) -> list[list[bool]]:
    x = images(t)
    result = t.nn.functional.interpolate(x, size=(4, 5), **how)
    result.backward(t.full_like(result, INF))
    return [isfinite(result), isfinite(x.grad)]


def sampled(t: Any, mode: str) -> list[bool]:
    grid = t.tensor([0.0, INF, -INF, float("nan"), 0.5, 0.5, 3e38, -3e38]).view(1, 2, 2, 2)
    return isfinite(t.nn.functional.grid_sample(images(t), grid, mode=mode, align_corners=False))


def in_bags(t: Any, mode: str) -> list[bool]:
    table = t.tensor([[INF, 1.0], [-INF, 2.0], [0.0, float("nan")]])
    return isfinite(t.nn.functional.embedding_bag(t.tensor([0, 1, 2]), table, t.tensor([0, 2]), mode=mode))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "bilinear": lambda t: resized(t, mode="bilinear"),
    "bicubic": lambda t: resized(t, mode="bicubic"),
    # Here an infinity is multiplied by some weights of 0 that PyTorch leaves out.
    "antialiased": lambda t: len(resized(t, mode="bilinear", antialias=True)),
    "bilinear grid": lambda t: sampled(t, "bilinear"),
    "nearest grid": lambda t: sampled(t, "nearest"),
    "sum": lambda t: in_bags(t, "sum"),
    "mean": lambda t: in_bags(t, "mean"),
    "max": lambda t: in_bags(t, "max"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_warned_of(name: str, require: Callable[[str], Any]) -> None:
    assert_same(PROGRAMS[name], require("torch"))
