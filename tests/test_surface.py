"""Is every name of these spaces of PyTorch here, or left out with a reason?

The names of a space are its `__all__`, else what is public there and no module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

import glasstorch
from glasstorch.core.left_out import reason_for
from glasstorch.utils import _python_dispatch, _pytree

Require = Callable[[str], Any]
SPACES = (
    "library",
    "overrides",
    "utils._python_dispatch",
    "utils._pytree",
    "sparse",
    "types",
    "__future__",
    "fx",
    "compiler",
)
ELSEWHERE = ("typing", "typing_extensions", "builtins", "collections", "functools", "dataclasses", "contextlib")
IMPORTED = (_python_dispatch, _pytree)  # so that they are reached by their paths


def public(space: Any) -> set[str]:
    if hasattr(space, "__all__"):
        return set(space.__all__)
    return {name for name in dir(space) if not name.startswith("_") and is_own(name, getattr(space, name))}


def is_own(name: str, value: object) -> bool:
    home = str(getattr(value, "__module__", "")).partition(".")[0]
    return not inspect.ismodule(value) and home not in ELSEWHERE and name not in ("TYPE_CHECKING", "annotations")


@pytest.mark.parametrize("path", SPACES)
def test_a_name_is_here_or_left_out_with_a_reason(path: str, require: Require) -> None:
    __import__(f"torch.{path}")
    theirs, ours = attrgetter(path)(require("torch")), attrgetter(path)(glasstorch)
    missing = {name for name in public(theirs) if not hasattr(ours, name)}
    unexplained = {name for name in missing if reason_for(f"torch.{path}.{name}") is None}
    assert not unexplained


def test_of_the_names_of_a_tensor_few_are_missing_and_each_is_explained(require: Require) -> None:
    theirs = require("torch").Tensor
    names = {
        name
        for name in dir(theirs)
        if (not name.startswith("_") or (name.startswith("__") and name not in dir(object)))
        and is_own(name, getattr(theirs, name, None))
    }
    missing = {name for name in names if not hasattr(glasstorch.Tensor, name)}
    assert len(missing) <= 0.03 * len(names)
    assert {name for name in missing if reason_for(f"torch.Tensor.{name}") is None} == set()
