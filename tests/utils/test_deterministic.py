"""Is the setting of torch.utils.deterministic read and set as PyTorch's is?"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same


def test_it_is_on_and_can_be_switched_off(require: Callable[[str], Any]) -> None:
    def program(t: Any) -> list[Any]:
        module = importlib.import_module(f"{t.__name__}.utils.deterministic")
        seen = [module.fill_uninitialized_memory, t._C._get_deterministic_fill_uninitialized_memory()]
        try:
            module.fill_uninitialized_memory = False
            seen += [module.fill_uninitialized_memory, t._C._get_deterministic_fill_uninitialized_memory()]
        finally:
            module.fill_uninitialized_memory = True
        return seen

    assert_same(program, require("torch"))


@pytest.mark.parametrize("value", [1, "on", None])
def test_what_is_no_bool_is_refused(require: Callable[[str], Any], value: Any) -> None:
    def program(t: Any) -> None:
        t.utils.deterministic.fill_uninitialized_memory = value

    assert_same(program, require("torch"))
