"""Is a function replaced by its linear approximation, whose tangents are checked?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quiet")


def test_tangents_of_a_tree(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    value, push = torch.func.linearize(lambda x, y: {"a": x * y["k"], "b": (x + 1,)}, x, {"k": x})
    assert (value["a"].tolist(), value["b"][0].tolist()) == ([1, 4], [2, 3])
    tangents = push(x, {"k": x})
    assert (tangents["a"].tolist(), tangents["b"][0].tolist()) == ([2, 8], [1, 2])


def test_all_columns_at_once(torch: Any) -> None:
    _, push = torch.func.linearize(lambda x: x * x, torch.tensor([1.0, 2.0]))
    assert torch.func.vmap(push)(torch.eye(2)).tolist() == [[2, 0], [0, 4]]


def test_the_function_is_not_called_again(torch: Any) -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(x)
        return x * x

    _, push = torch.func.linearize(f, torch.tensor(3.0))
    before = len(calls)
    assert [push(torch.tensor(t)).item() for t in (1.0, 2.0)] == [6, 12]
    assert len(calls) == before


def test_tangents_unlike_the_primals_are_refused(torch: Any, refused: Callable[[Any], str]) -> None:
    x = torch.ones(2)
    _, push = torch.func.linearize(torch.sin, x)
    assert "tangent:0 with shape torch.Size([3]) in flattened pytree" in refused(lambda: push(torch.ones(3)))
    assert "tangent:0 with dtype" in refused(lambda: push(torch.ones(2, dtype=torch.float64)))
    assert "to have the same argspec as the primals" in refused(lambda: push(x, x))


def test_what_is_no_tensor_is_returned_as_it_is(torch: Any) -> None:
    value, push = torch.func.linearize(lambda x: {"a": x * 2, "b": [x > 0, 3, None, "c"]}, torch.ones(2))
    for found, first, second in ((value, [2, 2], [True, True]), (push(torch.ones(2)), [2, 2], [False, False])):
        assert (found["a"].tolist(), found["b"][0].tolist(), found["b"][1:]) == (first, second, [3, None, "c"])
    value, push = torch.func.linearize(lambda x: 1, torch.ones(2))
    assert (value, push(torch.ones(2))) == (1, 1)
