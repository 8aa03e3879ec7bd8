"""Are the arguments of a call written as PyTorch writes them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.profiler.programs import profile_of

Require = Callable[[str], Any]
CALLS: dict[str, Callable[[Any], Any]] = {
    "tensors": lambda torch: torch.addmm(torch.ones(4), torch.ones(3, 2), torch.ones(2, 4)),
    "a number": lambda torch: torch.ones(2, 3) * 2.5,
    "a scalar": lambda torch: torch.add(torch.ones(2), torch.ones(2), alpha=3),
    "a list of tensors": lambda torch: torch.cat([torch.ones(2, 1), torch.ones(2, 3)], 1),
    "a list of numbers": lambda torch: torch.ones(2, 6).view(3, 4),
    "strides": lambda torch: torch.ones(2, 3).t().relu(),
    "truth values": lambda torch: torch.ones(2, 3).sum(1, keepdim=True),
    "a dtype": lambda torch: torch.ones(2, dtype=torch.int64).sum(dtype=torch.float64),
    "a text": lambda torch: torch.div(torch.ones(2), torch.ones(2), rounding_mode="floor"),
    "dtypes": lambda torch: [torch.ones(1, dtype=getattr(torch, name)).abs() for name in DTYPES],
}
DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_arguments_are_pytorchs(require: Require, call: Callable[[Any], Any]) -> None:
    def noted(library: Any) -> list[Any]:
        """Of the calls of the program itself, without those that make the arguments."""
        events = profile_of(library, lambda: call(library), record_shapes=True).events()
        return [
            (e.name, e.input_shapes, e.structured_input_shapes, e.structured_input_strides, e.input_dtypes)
            + ((e.concrete_inputs,) if not e.name.startswith("aten::sum") else ())
            for e in events
            if e.cpu_parent is None and e.name not in ("aten::ones", "aten::t")
        ]

    assert noted(glasstorch) == noted(require("torch"))


def test_events_are_grouped_by_shapes_on_request(torch: Any) -> None:
    def program() -> None:
        for size in (2, 3, 2):
            torch.ones(size).neg()

    profile = profile_of(torch, program, record_shapes=True)
    rows = {str(row.input_shapes): row.count for row in profile.key_averages(True) if row.key == "aten::neg"}
    assert rows == {"[[2]]": 2, "[[3]]": 1}
    assert [row.count for row in profile.key_averages() if row.key == "aten::neg"] == [3]
    assert "Input Shapes" in profile.key_averages(group_by_input_shape=True).table()
    assert "Input Shapes" not in profile.key_averages().table()


def test_no_tensor_is_kept() -> None:
    import weakref

    x = glasstorch.ones(2)
    reference = weakref.ref(x)
    profile = glasstorch.profiler.profile(record_shapes=True)
    with profile:
        x.neg()
        del x
        assert reference() is None


def test_without_shapes_nothing_is_noted(torch: Any) -> None:
    (event,) = (e for e in profile_of(torch, lambda: torch.ones(2).neg()).events() if e.name == "aten::neg")
    assert event.input_shapes == []
    assert event.concrete_inputs == []
