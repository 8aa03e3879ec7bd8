"""Does pdist refuse what PyTorch's refuses, in its words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.refusals import same_refusal


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.pdist(t.ones(3)),
        lambda t: t.pdist(t.ones(2, 3, 4)),
        lambda t: t.pdist(t.ones(2, 3, dtype=t.int64)),
        lambda t: t.pdist(t.ones(2, 3), -1.0),
        lambda t: t.pdist(t.ones(2, 3), float("nan")),
        lambda t: t.pdist(t.ones(2, 3, dtype=t.float16)),
    ],
)
def test_a_refusal_has_pytorchs_class_and_words(require: Callable[[str], Any], call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call, more=True)  # ours names the dtype too
