"""Do the private functions that programs take from torch._utils do what they do there?"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def test_tensors_are_flattened_into_a_copy_and_back_into_views(torch: Any) -> None:
    module = import_module(f"{torch.__name__}._utils")
    tensors = [torch.arange(6.0).reshape(2, 3).t(), torch.tensor(7.0), torch.empty(0, 2), torch.ones(1, 2)]
    flat = module._flatten_dense_tensors(tensors)
    assert flat.tolist() == [0, 3, 1, 4, 2, 5, 7, 1, 1]
    flat.mul_(2)
    assert tensors[1].item() == 7.0
    parts = module._unflatten_dense_tensors(flat, tensors)
    assert [tuple(part.shape) for part in parts] == [(3, 2), (), (0, 2), (1, 2)]
    assert parts[0].tolist() == [[0, 6], [2, 8], [4, 10]]
    parts[3].zero_()
    assert flat.tolist()[-2:] == [0, 0]
