"""Does nonzero answer in rows, or in a vector for each dimension?"""

from __future__ import annotations

from typing import Any

import pytest


def test_rows_or_vectors(torch: Any) -> None:
    x = torch.tensor([[0, 1], [2, 0]])
    assert torch.nonzero(x).tolist() == torch.nonzero(x, as_tuple=False).tolist() == [[0, 1], [1, 0]]
    rows, columns = x.nonzero(as_tuple=True)
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [1, 0])
    assert x[torch.nonzero(x, as_tuple=True)].tolist() == [1, 2]
    assert torch.argwhere(x).tolist() == x.argwhere().tolist() == [[0, 1], [1, 0]]


def test_a_number_has_one_dimension_as_a_tuple(torch: Any) -> None:
    assert [i.tolist() for i in torch.tensor(3).nonzero(as_tuple=True)] == [[0]]
    assert [i.tolist() for i in torch.tensor(0).nonzero(as_tuple=True)] == [[]]
    assert tuple(torch.tensor(3).nonzero().shape) == (1, 0)


def test_out_is_for_rows(torch: Any) -> None:
    x, out = torch.tensor([0, 1]), torch.empty(0, dtype=torch.int64)
    assert torch.nonzero(x, out=out, as_tuple=False) is out
    with pytest.raises(RuntimeError, match="nonzero does not support the out kwarg when as_tuple is True"):
        torch.nonzero(x, out=out, as_tuple=True)
    with pytest.raises(TypeError, match="argument 'as_tuple' must be bool, not int"):
        torch.nonzero(x, as_tuple=1)


def test_the_answer_can_be_resized(torch: Any) -> None:
    mask = torch.tensor([True, False])
    assert tuple(torch.nonzero(mask).resize_(5, 1).shape) == (5, 1)
    assert tuple(torch.argwhere(mask).resize_(5, 1).shape) == (5, 1)
    assert tuple(torch.where(mask)[0].resize_(9).shape) == (9,)
    lazy = torch.nonzero(mask)
    assert torch._C._is_cow_tensor(lazy._lazy_clone())


@pytest.mark.parametrize("elements", [[0.0], [0.0, 0.0], [[0.0, 0.0]], [[]], [1.0, 0.0], [[1.0, 2.0]], 0.0, 1.0])
def test_columns_are_contiguous(torch: Any, elements: Any) -> None:
    rows = torch.nonzero(torch.tensor(elements))
    count, width = rows.shape
    assert rows.stride() == (1, max(count, 1) if count else 0)
    assert width == torch.tensor(elements).dim()
