"""Does the CPU make ranges and permutations as PyTorch's does?"""

from __future__ import annotations

from typing import Any

import pytest


def test_a_long_range_of_float32_is_rounded_once(torch: Any) -> None:
    x = torch.arange(0, 1000, 0.1)
    assert (x.shape[0], x.dtype) == (10000, torch.float32)
    for i in (1, 3, 9999):
        assert x[i].item() == torch.tensor(i * 0.1).item()


def test_a_range_of_each_dtype(torch: Any) -> None:
    for name in ("uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"):
        x = torch.arange(1, 8, 3, dtype=getattr(torch, name))
        assert x.dtype is getattr(torch, name)
        assert x.tolist() == [1, 4, 7]


def test_a_permutation_holds_every_number_once(torch: Any) -> None:
    x = torch.randperm(50)
    assert x.dtype is torch.int64
    assert sorted(x.tolist()) == list(range(50))
    assert torch.randperm(0).tolist() == []
    assert torch.randperm(3, dtype=torch.float32).dtype is torch.float32


def test_a_permutation_from_a_generator(torch: Any) -> None:
    draws = [torch.randperm(8, generator=torch.Generator().manual_seed(5)).tolist() for _ in range(2)]
    assert draws == [[3, 6, 0, 2, 1, 4, 5, 7]] * 2


def test_permutations_that_cannot_be(torch: Any) -> None:
    with pytest.raises(RuntimeError):
        torch.randperm(-1)
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        torch.randperm(2, dtype=torch.bool)
    with pytest.raises(RuntimeError):
        torch.randperm(300, dtype=torch.uint8)
