"""Is a diagonal written to a given tensor as PyTorch writes it?"""

from __future__ import annotations

from typing import Any

import pytest


def test_diag_into_a_tensor(torch: Any) -> None:
    out = torch.empty(0)
    assert torch.diag(torch.tensor([1.0, 2.0]), out=out) is out
    assert out.tolist() == [[1, 0], [0, 2]]
    row = torch.zeros(2)
    assert torch.diag(out, out=row).tolist() == [1, 2]
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        torch.diag(out, 1, out=row)
    assert row.tolist() == [0]


def test_the_dtype_is_not_cast(torch: Any) -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="diag: result type Float can't be cast to the desired out= type Long"):
        torch.diag(x, out=torch.empty(0, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        torch.diag(x, out=torch.empty(0, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.diag(torch.ones(2, 2), out=torch.zeros(1).expand(2))
