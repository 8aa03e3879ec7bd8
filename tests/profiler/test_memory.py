"""Is memory that operators take and give back counted, and in PyTorch's rows?"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.allocator import LARGE
from tests.profiler.programs import profile_of

Require = Callable[[str], Any]


def kept(torch: Any) -> Any:
    return torch.ones(100).neg()


def chain(torch: Any) -> Any:
    return torch.ones(100).neg().exp()


def replaced(torch: Any) -> Any:
    x = torch.ones(100)
    x = x.neg()
    return x.add_(1).view(10, 10)[2:]


def results(torch: Any) -> Any:
    return torch.ones(100).max(dim=0), torch.ones(10, 10).split(2)


def large(torch: Any) -> Any:
    return torch.ones(LARGE).neg()


PROGRAMS = (kept, chain, replaced, results, large)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_each_event_has_the_memory_that_it_has_in_pytorch(require: Require, program: Callable[[Any], Any]) -> None:
    def usage(library: Any) -> list[Any]:
        held: list[Any] = []
        with glasstorch.no_grad():
            program(library)  # what is made once is made before
        gc.disable()
        try:
            profile = profile_of(library, lambda: held.append(program(library)), profile_memory=True)
        finally:
            gc.enable()
        return [
            (e.name, e.cpu_memory_usage)
            for e in profile.events()
            if e.name == "[memory]" or (e.cpu_parent is None and e.cpu_memory_usage)
        ]

    def sums(events: list[Any]) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, nbytes in events:
            found[name] = found.get(name, 0) + nbytes
        return found

    assert sums(usage(glasstorch)) == sums(usage(require("torch")))


def test_the_columns_show_what_children_took_too(torch: Any) -> None:
    x, weight, bias = torch.ones(8, 16), torch.ones(32, 16), torch.ones(32)
    held: list[Any] = []

    def program() -> None:
        held.append(torch.nn.functional.linear(x, weight, bias))

    rows = {row.key: row for row in profile_of(torch, program, profile_memory=True).key_averages()}
    assert rows["aten::linear"].cpu_memory_usage == 1024
    assert rows["aten::linear"].self_cpu_memory_usage == 0
    assert rows["aten::addmm"].self_cpu_memory_usage == 1024
    text = profile_of(torch, program, profile_memory=True).key_averages().table(sort_by="self_cpu_memory_usage")
    assert text.splitlines()[3].split()[0] == "aten::addmm"
    assert [part.strip() for part in text.splitlines()[1].split("  ") if "Mem" in part] == ["CPU Mem", "Self CPU Mem"]


def test_memory_that_somebody_else_owns_is_not_taken_by_an_operator() -> None:
    import numpy as np

    array = np.ones(100, np.float32)
    x = glasstorch.from_numpy(array)
    profile = profile_of(glasstorch, lambda: x.view(10, 10).t().detach(), profile_memory=True)
    assert [e.cpu_memory_usage for e in profile.events()] == [0, 0, 0]


def test_memory_from_before_the_profile_that_is_given_back_inside_counts() -> None:
    held = [glasstorch.ones(100)]

    def program() -> None:
        held[0].neg()
        held.clear()

    events = profile_of(glasstorch, program, profile_memory=True).events()
    assert [(e.name, e.cpu_memory_usage) for e in events] == [
        ("aten::neg", 400),
        ("[memory]", -400),
        ("[memory]", -400),
    ]


def test_what_ends_after_the_profile_is_not_in_it() -> None:
    held: list[Any] = []
    profile = profile_of(glasstorch, lambda: held.append(glasstorch.ones(100)), profile_memory=True)
    held.clear()
    assert [e.cpu_memory_usage for e in profile.events()] == [400]
