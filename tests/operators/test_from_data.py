"""Do the older ways to make a tensor read their arguments as PyTorch does?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def seen(tensor: Any) -> tuple[str, tuple[int, ...]]:
    return repr(tensor.dtype), tuple(tensor.shape)


def test_the_constructor_takes_sizes_or_values(torch: Any) -> None:
    assert seen(torch.Tensor(2, 3)) == ("torch.float32", (2, 3))
    assert seen(torch.Tensor(torch.Size([2]))) == ("torch.float32", (2,))
    assert seen(torch.Tensor()) == ("torch.float32", (0,))
    assert torch.Tensor([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert torch.Tensor(range(3)).tolist() == [0.0, 1.0, 2.0]
    assert torch.Tensor(np.array([1, 2])).tolist() == [1.0, 2.0]
    assert torch.Tensor([1], device="cpu").tolist() == [1.0]


def test_the_constructor_shares_a_tensor_s_storage(torch: Any) -> None:
    x = torch.tensor([1, 2])
    y = torch.Tensor(x)
    y[0] = 5
    assert (repr(y.dtype), x.tolist(), y.is_leaf) == ("torch.int64", [5, 2], True)


def test_new_is_of_the_tensor_s_dtype(torch: Any) -> None:
    x = torch.zeros(2, dtype=torch.int16)
    assert seen(x.new(2, 3)) == ("torch.int16", (2, 3))
    assert seen(x.new()) == ("torch.int16", (0,))
    assert seen(x.new([1, 2])) == ("torch.int16", (2,))
    assert x.new([1, 2]).tolist() == [1, 2]


def test_new_tensor_copies_data_to_the_tensor_s_dtype_and_device(torch: Any) -> None:
    x = torch.zeros(2, dtype=torch.float64)
    assert (seen(x.new_tensor([[1]])), x.new_tensor([[1]]).tolist()) == (("torch.float64", (1, 1)), [[1.0]])
    assert torch.zeros(1, dtype=torch.int64).new_tensor([1.5]).tolist() == [1]
    assert repr(x.new_tensor([1], dtype=torch.int8).dtype) == "torch.int8"
    assert repr(x.new_tensor([1], dtype=int).dtype) == "torch.int64"
    assert x.new_tensor([1.0], requires_grad=True).requires_grad
    assert torch.zeros(1, device="meta").new_tensor([1, 2]).is_meta
    source = np.ones(2)
    made = x.new_tensor(source)
    made[0] = 3
    assert source.tolist() == [1, 1]
    with pytest.warns(UserWarning, match=r"rather than tensor.new_tensor\(sourceTensor\)"):
        copied = x.new_tensor(torch.ones(2, requires_grad=True))
    assert (copied.requires_grad, seen(copied)) == (False, ("torch.float64", (2,)))


def test_what_is_neither_sizes_nor_values_is_refused(torch: Any) -> None:
    with pytest.raises(TypeError, match=r"data must be a sequence \(got float\)"):
        torch.Tensor(1.5)
    with pytest.raises(TypeError, match="invalid data type 'str'"):
        torch.Tensor("a")
    with pytest.raises(TypeError, match="argument 'dtype'"):
        torch.ones(1).new_tensor([1], dtype="float32")
