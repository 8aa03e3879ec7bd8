"""Which keyword arguments does `factory_kwargs` take, and refuse?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same

GIVEN: list[Any] = [
    None,
    {},
    {"device": "cpu"},
    {"device": "cpu", "factory_kwargs": {"dtype": 1}},
    {"x": 1},
    {"device": 1, "factory_kwargs": {"device": 2}},
    {"memory_format": 1},
    {"factory_kwargs": {"z": 1}},
]


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_factory_kwargs_are_pytorchs(given: Any) -> None:
    torch = pytest.importorskip("torch")
    assert_same(lambda torch: torch.nn.factory_kwargs(given), torch)


@pytest.mark.parametrize("name", ["intrinsic", "qat", "quantizable", "quantized"])
def test_quantized_layers_are_left_out_by_name(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name} is left out of glasstorch, because there are no quantized"):
        getattr(glasstorch.nn, name)
