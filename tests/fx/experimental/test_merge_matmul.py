"""Do products with the same right side become one?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def merging(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.experimental.merge_matmul")


def products(module: Any, torch: Any) -> int:
    return len(module.graph.find_nodes(op="call_function", target=torch.matmul))


def test_products_with_the_same_right_side_become_one(torch: Any, merging: Any) -> None:
    class Program(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(3, 2))

        def forward(self, a: Any, b: Any, c: Any) -> Any:
            return (
                torch.matmul(a, self.weight), torch.matmul(b, self.weight) + 1, torch.matmul(a, c),
                torch.matmul(torch.matmul(a, c).neg(), c),
            )  # fmt: skip

    program = Program()
    merged = merging.merge_matmul(program)
    assert products(merged, torch) == 4
    args = (torch.randn(4, 3), torch.randn(1, 3), torch.randn(3, 3))
    for one, other in zip(merged(*args), program(*args), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_products_that_depend_on_each_other_stay(torch: Any, merging: Any) -> None:
    merged = merging.merge_matmul(lambda a, c: torch.matmul(torch.matmul(a, c), c))
    assert products(merged, torch) == 2


def test_what_may_depend_is_found_some_steps_back(torch: Any, merging: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x, y: (x.neg().neg().neg().neg().neg().neg().neg(), y.neg()))
    nodes = {node.name: node for node in module.graph.nodes}
    assert merging.may_depend_on(nodes["neg_2"], nodes["neg"])
    assert not merging.may_depend_on(nodes["neg"], nodes["neg_2"])
    assert merging.may_depend_on(nodes["neg_6"], nodes["y"])  # too far to say
    assert not merging.may_depend_on(nodes["neg_6"], nodes["y"], search_depth=9)
    assert merging.are_nodes_independent([nodes["neg_2"], nodes["neg_7"]])
    assert not merging.are_nodes_independent([nodes["neg_2"], nodes["neg_7"], nodes["neg_3"]])


def test_rows_are_dealt_out_again(torch: Any, merging: Any) -> None:
    rows = merging.split_result_tensors(torch.arange(6).view(3, 2), [torch.zeros(1, 4), torch.zeros(2, 4)])
    assert [part.tolist() for part in rows] == [[[0, 1]], [[2, 3], [4, 5]]]
