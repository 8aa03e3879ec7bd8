"""Does an item get the type that its container's type says?"""

from __future__ import annotations

import typing
from importlib import import_module
from operator import getitem
from typing import Any

import pytest


class Pair(typing.NamedTuple):
    first: int
    second: str


@pytest.fixture
def annotate(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.annotate_getitem_nodes").annotate_getitem_nodes


def item(torch: Any, kind: Any, index: int) -> Any:
    graph = torch.fx.Graph()
    return graph.call_function(getitem, (graph.placeholder("x", type_expr=kind), index))


def test_an_item_gets_the_type_that_its_container_says(torch: Any, annotate: Any) -> None:
    cases = [
        (tuple[int, str], str),
        (tuple[int, ...], int),
        (typing.Tuple[int, str], str),  # noqa: UP006  # the older way to write it
        (typing.Tuple[int, ...], int),  # noqa: UP006
        (list[float], float),
        (typing.List[float], float),  # noqa: UP006
        (dict[str, int], None),
        (torch.Tensor, None),
        (None, None),
    ]
    for kind, expected in cases:
        node = item(torch, kind, 1)
        annotate(node.graph)
        assert node.type is expected, kind
    node = item(torch, Pair, 0)
    annotate(node.graph)
    assert node.type == Pair.__annotations__["first"]


def test_an_item_that_no_tuple_has_is_refused(torch: Any, annotate: Any) -> None:
    with pytest.raises(AssertionError, match=r"Index 2 out of range for parameterized_types \(len=2\)"):
        annotate(item(torch, tuple[int, str], 2).graph)
