"""Does DebugMode print the tree that PyTorch's prints?"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.utils._debug_mode import DebugMode, get_active_debug_mode
from glasstorch.utils._dtype_abbrs import dtype_abbrs

Program = Callable[[Any, Any], Any]
ADDED = re.compile(r", (?:device=cpu|pin_memory=False)")  # by PyTorch's Python functions, where nobody gave them


def tree(program: Program, library: Any, **options: Any) -> str:
    """What is printed of a program."""
    module = import_module(f"{library.__name__}.utils._debug_mode")
    with module.DebugMode(**options) as mode:
        program(library, module.DebugMode)
    return ADDED.sub("", mode.debug_string())


def trains(t: Any, _: Any) -> None:
    x, w = t.ones(2, 3), t.ones(3, 2, requires_grad=True)
    (x @ w).relu().sum().backward()


def runs_modules(t: Any, _: Any) -> None:
    net = t.nn.Sequential(t.nn.Linear(3, 2), t.nn.Sequential(t.nn.ReLU(), t.nn.Flatten(0)))
    net(t.ones(2, 3))
    net(t.ones(2, 3))


def several(t: Any, _: Any) -> None:
    x = t.zeros(2, 3, dtype=t.float64)
    t.split(x, 1)
    x[0].add_(1)
    t.cat([x, x])
    x.sum(0, keepdim=True, dtype=t.float32)
    t.max(x, 0)


def annotates(t: Any, mode: Any) -> None:
    mode._annotate("first")
    x = t.ones(2)
    mode._annotate("second")
    x.exp()


def logs(t: Any, mode: Any) -> None:
    x = t.tensor([1.0, -2.0])
    with mode.log_tensor_hashes():
        x * 2
        x.max(0)
    with mode.log_tensor_hashes(lambda tensor: list(tensor.shape), hash_inputs=True):
        x.add_(1)
    with mode.dispatch_hooks(log_hook=lambda func, types, args, kwargs, result: {"args": len(args)}):
        x + x


def fakes(t: Any, _: Any) -> None:
    mode = import_module(f"{t.__name__}._subclasses.fake_tensor").FakeTensorMode()
    x = mode.from_tensor(t.ones(2))
    x + 1
    with mode:
        t.ones(2) * 2


CASES: dict[str, tuple[Program, dict[str, Any]]] = {
    "a training step": (trains, {}),
    "without results": (trains, {"record_output": False}),
    "modules": (runs_modules, {"record_nn_module": True}),
    "numbered": (several, {"record_ids": True}),
    "attributes": (several, {"record_tensor_attributes": ["requires_grad", "dtype", "missing"]}),
    "arguments kept": (several, {"store_original_args": True}),
    "no real tensors": (several, {"record_realtensor": False}),
    "annotated": (annotates, {}),
    "logged": (logs, {}),
    "fake tensors": (fakes, {"record_faketensor": True}),
    "no fake tensors": (fakes, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_tree_is_pytorchs(require: Callable[[str], Any], name: str) -> None:
    program, options = CASES[name]
    assert tree(program, glasstorch, **options) == tree(program, require("torch"), **options)
    assert active_keys.get() == BY_DEFAULT


def test_results_are_kept_where_asked_for(torch: Any) -> None:
    module = import_module(f"{torch.__name__}.utils._debug_mode")
    with module.DebugMode() as mode, module.DebugMode.record_outputs():
        torch.ones(2) + 1
    assert mode.logs[-1].record["output"].tolist() == [2, 2]
    assert next(iter(mode.logs[-1])) is torch.ops.aten.add.Tensor


def test_the_mode_that_is_on_is_found() -> None:
    with DebugMode() as mode:
        assert get_active_debug_mode() is mode
    assert get_active_debug_mode() is None


def test_short_names_are_pytorchs(require: Callable[[str], Any]) -> None:
    theirs = {str(kind): name for kind, name in import_module("torch.utils._dtype_abbrs").dtype_abbrs.items()}
    assert require("torch") is not None
    assert {str(kind): name for kind, name in dtype_abbrs.items()}.items() <= theirs.items()
    assert len(dtype_abbrs) > 10


@pytest.mark.parametrize("option", ["record_torchfunction", "record_stack_trace", "run_compile_with_interpreter"])
def test_what_is_missing_is_refused_by_name(option: str) -> None:
    with pytest.raises(NotImplementedError, match=option):
        DebugMode(**{option: True})
