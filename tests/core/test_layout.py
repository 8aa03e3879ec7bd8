"""Are layouts and memory formats the names that PyTorch prints?"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from glasstorch.core import layout

NAMES = [
    "strided",
    "sparse_coo",
    "sparse_csr",
    "sparse_csc",
    "sparse_bsr",
    "sparse_bsc",
    "contiguous_format",
    "preserve_format",
    "channels_last",
    "channels_last_3d",
]


@pytest.mark.parametrize("name", NAMES)
def test_it_prints_as_in_pytorch_and_stays_one_object(name: str) -> None:
    value = getattr(layout, name)
    assert repr(value) == f"torch.{name}"
    assert pickle.loads(pickle.dumps(value)) is value
    assert copy.deepcopy(value) is value


@pytest.mark.parametrize("kind", ["layout", "memory_format"])
def test_nobody_makes_another(torch: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=rf"cannot create 'torch.{kind}' instances"):
        getattr(torch, kind)("sparse")
