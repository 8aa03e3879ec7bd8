"""Can a value be given a type while it is traced?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


def test_a_traced_value_gets_a_type_once(torch: Any) -> None:
    annotate = import_module(f"{torch.__name__}.fx.annotate").annotate

    module = torch.fx.symbolic_trace(lambda x: annotate(x + 1, torch.Tensor).neg())
    assert [node.type for node in module.graph.nodes] == [None, torch.Tensor, None, None]
    assert module(torch.tensor(2)).item() == -3
    assert annotate(3, int) == 3
    with pytest.raises(RuntimeError, match="Tried to annotate a value that already had a type on it!"):
        torch.fx.symbolic_trace(lambda x: annotate(annotate(x + 1, int), float))
