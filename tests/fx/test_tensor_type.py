"""Does a type of tensors say which sizes agree?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def types(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.tensor_type")


def test_a_type_prints_its_sizes_and_equals_one_of_the_same(types: Any) -> None:
    assert str(types.TensorType[1, 2, types.Dyn]) == "TensorType[(1, 2, Dyn)]"
    assert types.TensorType((1, 2)) == types.TensorType[1, 2]
    assert types.TensorType((1, 2)) != types.TensorType((1, 3))


def test_sizes_agree_where_one_is_not_known(types: Any) -> None:
    known, partly = types.TensorType((1, 2, 3)), types.TensorType((1, types.Dyn, 3))
    assert types.is_consistent(partly, known)
    assert types.is_consistent(known, partly)
    assert not types.is_consistent(known, types.TensorType((1, 2)))
    assert not types.is_consistent(known, types.TensorType((1, 4, 3)))
    assert types.is_more_precise(known, partly)
    assert not types.is_more_precise(partly, known)
    assert types.is_more_precise(int, types.Dyn)
    assert not types.is_more_precise(types.Dyn, int)


def test_a_parameter_of_a_traced_function_keeps_its_type(torch: Any, types: Any) -> None:
    def function(x):  # type: ignore[no-untyped-def]
        return x + 1

    function.__annotations__ = {"x": types.TensorType((1, 2, types.Dyn))}
    assert next(iter(torch.fx.symbolic_trace(function).graph.nodes)).type == types.TensorType((1, 2, types.Dyn))
