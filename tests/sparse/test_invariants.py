"""Does a program say whether parts are checked, for a block, a function or all that follows?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _as_it_was(torch: Any) -> Iterator[None]:
    before = torch.sparse.check_sparse_tensor_invariants.is_enabled()
    yield
    (
        torch.sparse.check_sparse_tensor_invariants.enable
        if before
        else torch.sparse.check_sparse_tensor_invariants.disable
    )()


def wrong(torch: Any) -> Any:
    """A tensor with an index outside its size."""
    return torch.sparse_coo_tensor(torch.tensor([[5]]), torch.ones(1), (2,))


def test_a_block_checks(torch: Any) -> None:
    with torch.sparse.check_sparse_tensor_invariants():
        assert torch.sparse.check_sparse_tensor_invariants.is_enabled()
        with pytest.raises(RuntimeError, match="found index 5"):
            wrong(torch)
        with torch.sparse.check_sparse_tensor_invariants(enable=False):
            assert wrong(torch)._nnz() == 1


def test_a_function_checks(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="found index 5"):
        torch.sparse.check_sparse_tensor_invariants()(wrong)(torch)


def test_all_that_follows_is_checked_until_it_is_switched_off(torch: Any) -> None:
    torch.sparse.check_sparse_tensor_invariants.enable()
    with pytest.raises(RuntimeError, match="found index 5"):
        wrong(torch)
    torch.sparse.check_sparse_tensor_invariants.disable()
    assert wrong(torch)._nnz() == 1


def test_a_call_decides_for_itself(torch: Any) -> None:
    torch.sparse.check_sparse_tensor_invariants.disable()
    with pytest.raises(RuntimeError, match="found index 5"):
        torch.sparse_coo_tensor(torch.tensor([[5]]), torch.ones(1), (2,), check_invariants=True)


def test_one_manager_is_entered_once_at_a_time(torch: Any) -> None:
    manager = torch.sparse.check_sparse_tensor_invariants()
    with manager, pytest.raises(RuntimeError, match="already activated"):
        manager.__enter__()
