"""Does a sparse tensor hold its parts, and does what stands for its storage refuse?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.core.sparse_parts import CooParts, no_storage


def test_a_strided_tensor_has_no_parts() -> None:
    assert not hasattr(glasstorch.ones(2), "_parts")


def test_the_parts_say_how_many_dimensions_and_elements_there_are() -> None:
    held = glasstorch.ones(2, 3, 4).to_sparse(2)._parts
    assert isinstance(held, CooParts)
    assert (held.sparse_dim, held.dense_dim, held.nnz, held.coalesced) == (2, 1, 6, True)


def test_all_tensors_on_a_device_share_what_stands_for_their_storage() -> None:
    a, b = glasstorch.eye(2).to_sparse(), glasstorch.eye(3).to_sparse()
    assert a._storage is b._storage is no_storage(a.device, "Sparse")


def test_a_view_kernel_is_refused_in_pytorchs_words() -> None:
    with pytest.raises(
        NotImplementedError, match="Could not run 'aten::as_strided' with arguments from the 'SparseCPU'"
    ):
        glasstorch.eye(2).to_sparse().squeeze()
