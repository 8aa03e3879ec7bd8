"""Are sparse tensors on meta made, moved, computed with and refused as in PyTorch?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.kernels.sparse.on_meta_programs import OPERATIONS, WAYS_TO_MAKE, told

Require = Callable[[str], Any]


@pytest.mark.parametrize("way", WAYS_TO_MAKE)
def test_what_is_done_with_a_sparse_tensor_on_meta_gives_what_pytorchs_gives(way: str, require: Require) -> None:
    import glasstorch

    torch = require("torch")
    for name, operation in {"made": lambda t, x: x, "copied": lambda t, x: copy.deepcopy(x), **OPERATIONS}.items():
        expected, found = (told(library, way, operation) for library in (torch, glasstorch))
        assert found == expected, name


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
def test_a_tensor_on_meta_is_not_copied_to_the_cpu(torch: Any, layout: str) -> None:
    x = torch.ones(2, 2).to_sparse(layout=getattr(torch, layout), **({"blocksize": (1, 1)} if "bs" in layout else {}))
    on_meta = x.to("meta")
    assert (on_meta.is_meta, on_meta.layout, on_meta.shape) == (True, x.layout, x.shape)
    assert on_meta._nnz() == 0
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        on_meta.cpu()
