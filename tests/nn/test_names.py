"""Are PyTorch's names of networks and optimizers there, with PyTorch's parameters?

What is missing is left out by name (`core/left_out.py`), so that a program that asks for it is told why.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from glasstorch.core.left_out import LEFT_OUT

Require = Callable[[str], Any]

SPACES = [
    *("nn", "nn.functional", "nn.init", "nn.parameter", "nn.attention", "nn.attention.bias", "nn.parallel"),
    *("nn.utils", "nn.utils.parametrizations", "nn.utils.parametrize", "nn.utils.prune", "nn.utils.rnn"),
    *("nn.utils.stateless", "optim", "optim.lr_scheduler", "optim.swa_utils", "testing"),
]
REFUSED = {  # whose constructors say what there is not: sparse layouts, groups of processes
    *("optim.SparseAdam", "nn.parallel.DistributedDataParallel"),
}


def public(space: ModuleType) -> list[str]:
    """The names that a program may rely on."""
    if hasattr(space, "__all__"):
        return sorted(space.__all__)
    return sorted(
        name
        for name, value in vars(space).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType | bool)  # TYPE_CHECKING
        and str(getattr(value, "__module__", "torch")).startswith("torch")
    )


def parameters(value: Any) -> list[tuple[str, bool]] | None:
    """The names of the parameters, and which have defaults; None where Python cannot tell."""
    try:
        signature = inspect.signature(value.__init__ if isinstance(value, type) else value)
    except (TypeError, ValueError):
        return None
    return [
        (p.name, p.default is not p.empty)
        for p in signature.parameters.values()
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]


@pytest.mark.parametrize("space", SPACES)
def test_what_is_missing_is_left_out_by_name(space: str, require: Require) -> None:
    require("torch")
    theirs, ours = import_module(f"torch.{space}"), import_module(f"glasstorch.{space}")
    missing = [name for name in public(theirs) if not hasattr(ours, name)]
    assert [name for name in missing if f"torch.{space}.{name}" not in LEFT_OUT] == []


@pytest.mark.parametrize("space", SPACES)
def test_parameters_are_pytorchs(space: str, require: Require) -> None:
    require("torch")
    theirs, ours = import_module(f"torch.{space}"), import_module(f"glasstorch.{space}")
    for name in public(theirs):
        expected = parameters(getattr(theirs, name))
        if expected is not None and hasattr(ours, name) and f"{space}.{name}" not in REFUSED:
            assert parameters(getattr(ours, name)) == expected, name


@pytest.mark.parametrize("path", [path for path in LEFT_OUT if path.startswith("torch.nn")])
def test_what_is_left_out_is_missing(path: str) -> None:
    space, _, name = path.removeprefix("torch").rpartition(".")
    with pytest.raises(AttributeError, match=f"{name} is left out of glasstorch, because"):
        getattr(import_module(f"glasstorch{space}"), name)
