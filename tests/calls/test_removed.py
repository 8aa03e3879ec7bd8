"""Does a function that PyTorch has taken away name the one to call instead?"""

from __future__ import annotations

import re
from typing import Any

import pytest

import glasstorch
from glasstorch.calls.removed import INSTEAD


@pytest.mark.parametrize("name", INSTEAD)
def test_a_removed_function_is_refused_with_what_to_call(torch: Any, name: str) -> None:
    x = torch.ones(2, 2)
    calls = [getattr(torch, name), *([getattr(torch.Tensor, name)] if name != "matrix_rank" else [])]
    for call in calls:
        arguments = (x, x) if name in ("lstsq", "solve") else (x,)
        with pytest.raises(RuntimeError, match=r"deprecated since version 1.9 and is now removed(.|\n)*torch\.linalg"):
            call(*arguments)


@pytest.mark.parametrize("instead", INSTEAD.values())
def test_the_functions_to_call_instead_exist(instead: str) -> None:
    names = re.findall(r"linalg\.(\w+)", instead)
    assert names
    assert all(callable(getattr(glasstorch.linalg, name)) for name in names)
