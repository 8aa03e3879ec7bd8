"""Which Python functions and modules does a profile show around the operators?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.profiler.programs import profile_of, profiler_of


def model_of(torch: Any) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2), torch.nn.ReLU())


def parents(event: Any) -> list[str]:
    names = []
    while (event := event.cpu_parent) is not None:
        names.append(event.name)
    return names


def test_modules_have_a_row_each_around_the_operators_that_they_call(torch: Any) -> None:
    """With all functions, as in PyTorch; see the next test for modules alone."""
    model, x = model_of(torch), torch.ones(4, 2)
    profile = profile_of(torch, lambda: (model(x), model[1](torch.ones(1, 3))), with_stack=True)
    rows = {row.key: row.count for row in profile.key_averages() if row.key.startswith("nn.Module")}
    assert rows == {
        "nn.Module: Sequential_0": 1,
        "nn.Module: Linear_0": 1,
        "nn.Module: Linear_1": 2,
        "nn.Module: ReLU_0": 1,
    }
    for event in profile.events():
        if event.name in ("aten::linear", "aten::relu"):
            around = [name for name in parents(event) if name.startswith("nn.Module")]
            assert (
                around[0].partition("_")[0]
                == {"aten::linear": "nn.Module: Linear", "aten::relu": "nn.Module: ReLU"}[event.name]
            )


def test_modules_alone_are_recorded_with_modules() -> None:
    import glasstorch

    model, x = model_of(glasstorch), glasstorch.ones(4, 2)
    profile = profile_of(glasstorch, lambda: model(x), with_modules=True)
    assert [e.name for e in profile.events() if e.is_python_function] == [
        "nn.Module: Sequential_0",
        "nn.Module: Linear_0",
        "nn.Module: Linear_1",
        "nn.Module: ReLU_0",
    ]
    (relu,) = (e for e in profile.events() if e.name == "aten::relu")
    assert parents(relu) == ["nn.Module: ReLU_0", "nn.Module: Sequential_0"]


def test_a_trace_says_in_which_modules_an_operator_was_called(tmp_path: Path) -> None:
    import json

    import glasstorch

    model, x = model_of(glasstorch), glasstorch.ones(4, 2)
    profile_of(glasstorch, lambda: model(x), with_modules=True).export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (relu,) = (event for event in events if event["name"] == "aten::relu")
    assert relu["args"]["Module Hierarchy"] == "Sequential_0.ReLU_0"


def work(torch: Any) -> Any:
    return deeper(torch.ones(2))


def deeper(x: Any) -> Any:
    return x.neg()


def test_the_functions_of_the_program_are_rows_around_the_operators(torch: Any) -> None:
    profile = profile_of(torch, lambda: work(torch), with_stack=True)
    (neg,) = (e for e in profile.events() if e.name == "aten::neg")
    around = [name.partition(": ")[2] for name in parents(neg) if "test_python_calls" in name]
    assert around[:2] == ["deeper", "work"]


def test_each_event_has_the_calls_around_it_on_request(torch: Any, tmp_path: Path) -> None:
    profiler = profiler_of(torch)
    verbose = profiler._ExperimentalConfig(verbose=True)
    profile = profile_of(torch, lambda: work(torch), with_stack=True, experimental_config=verbose)
    (neg,) = (e for e in profile.events() if e.name == "aten::neg")
    assert [entry.partition(": ")[2] for entry in neg.stack if "test_python_calls" in entry][:2] == ["deeper", "work"]
    profile.export_stacks(str(tmp_path / "stacks"))
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert any(line.partition("deeper")[0].endswith(":_") and "work;" in line for line in lines)
    text = profile.key_averages(group_by_stack_n=2).table(row_limit=-1)
    assert "Source Location" in text
    assert "Source Location" not in profile.key_averages().table()


def test_stacks_need_to_be_recorded(torch: Any, tmp_path: Path) -> None:
    profile = profile_of(torch, lambda: work(torch))
    with pytest.raises(AssertionError, match=r"export_stacks\(\) requires with_stack=True"):
        profile.export_stacks(str(tmp_path / "stacks"))


def test_what_is_cpp_in_pytorch_is_left_out() -> None:
    import glasstorch

    x = glasstorch.ones(2, 2, requires_grad=True)
    profile = profile_of(glasstorch, lambda: (x @ x).sum().backward(), with_stack=True)
    shown = [e.name for e in profile.events() if e.is_python_function]
    assert [name for name in shown if "test_python_calls" not in name] == []
    assert len(shown) == 1  # the lambda


def test_a_function_that_autograd_calls_is_shown_with_what_it_calls() -> None:
    import glasstorch

    class Doubled(glasstorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return deeper(grad)

    y = Doubled.apply(glasstorch.ones(2, requires_grad=True)).sum()
    profile = profile_of(glasstorch, y.backward, with_stack=True)
    (neg,) = (e for e in profile.events() if e.name == "aten::neg")
    assert [name.rpartition(": ")[2] for name in parents(neg)] == [
        "deeper",
        "backward",
        "DoubledBackward",
        "DoubledBackward",
    ]


def test_a_profile_function_that_was_set_before_is_set_again() -> None:
    import glasstorch

    def mine(frame: object, event: str, argument: object) -> None:
        return None

    before = sys.getprofile()
    sys.setprofile(mine)
    try:
        profile_of(glasstorch, lambda: work(glasstorch), with_stack=True)
        assert sys.getprofile() is mine
    finally:
        sys.setprofile(before)
