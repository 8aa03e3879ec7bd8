"""Does a function that PyTorch has taken away name the one to call instead?"""

from __future__ import annotations

from typing import Any

import pytest

from glasstorch.operators.removed import INSTEAD


@pytest.mark.parametrize("name", INSTEAD)
def test_a_removed_function_is_refused_with_what_to_call(torch: Any, name: str) -> None:
    x = torch.ones(2, 2)
    calls = [getattr(torch, name), *([getattr(torch.Tensor, name)] if name != "matrix_rank" else [])]
    for call in calls:
        arguments = (x, x) if name in ("lstsq", "solve") else (x,)
        with pytest.raises(RuntimeError, match=r"deprecated since version 1.9 and is now removed(.|\n)*torch\.linalg"):
            call(*arguments)
