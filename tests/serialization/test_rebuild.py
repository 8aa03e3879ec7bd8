"""Is what a file hands to the functions that make tensors checked?"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import glasstorch
from glasstorch.core.typed_storage import typed
from glasstorch.serialization import rebuild


def storage(numbers: int = 4) -> Any:
    """A storage of floats."""
    return typed(glasstorch.arange(float(numbers)).untyped_storage(), glasstorch.float32)


def test_a_tensor_is_made_on_its_storage() -> None:
    held = storage()
    made = rebuild.tensor_v2(held, 1, (3,), (1,), True, OrderedDict())
    assert (made.tolist(), made.requires_grad, made.is_leaf) == ([1, 2, 3], True, True)
    assert made.untyped_storage() is held.untyped()
    assert rebuild.tensor(held, 0, (2, 2), (1, 2)).tolist() == [[0, 2], [1, 3]]
    assert rebuild.tensor(held, 9, (0, 5), (5, 1)).shape == (0, 5)
    assert rebuild.tensor_v3(held, 0, (2,), (4,), False, None, glasstorch.uint8).tolist() == [0, 0]


@pytest.mark.parametrize("offset", [True, 1.0, None, "1"])
def test_an_offset_is_an_int(offset: Any) -> None:
    with pytest.raises(RuntimeError, match="a storage_offset must be an int of 0 or more"):
        rebuild.tensor(storage(), offset, (1,), (1,))


@pytest.mark.parametrize("size", [3, (1.0,), (True,), ("1",), {1: 1}])
def test_sizes_are_ints(size: Any) -> None:
    with pytest.raises(RuntimeError, match="sizes and strides must be tuples of up to 64 ints"):
        rebuild.tensor(storage(), 0, size, (1,))


def test_sizes_that_no_integer_counts_are_refused() -> None:
    with pytest.raises(RuntimeError, match="exceed what a tensor can have"):
        rebuild.tensor(storage(), 0, (1 << 40, 1 << 40), (0, 0))
    with pytest.raises(RuntimeError, match="exceed the largest storage"):
        rebuild.meta_tensor(glasstorch.float64, (1 << 61,), (1,), False)


@pytest.mark.parametrize("metadata", [{"conj": True}, {"zero": True}, ["neg"]])
def test_bits_are_those_a_tensor_can_have(metadata: Any) -> None:
    with pytest.raises((RuntimeError, TypeError), match="metadata"):
        rebuild.tensor_v2(storage(), 0, (1,), (1,), False, None, metadata)


def test_integers_cannot_require_grad() -> None:
    held = typed(glasstorch.arange(3).untyped_storage(), glasstorch.int64)
    with pytest.raises(RuntimeError, match="floating point"):
        rebuild.tensor_v2(held, 0, (3,), (1,), True, None)


@pytest.mark.parametrize("state", [(1,), ({}, {}, {}), [1], {1: 2}, {"data": 1}, ({}, {"_offset": 3})])
def test_a_state_is_attributes(state: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Invalid serialized state|may not replace"):
        rebuild.parameter_with_state(glasstorch.ones(1), True, None, state)


def test_a_method_can_have_an_attribute_of_its_name() -> None:
    assert rebuild.parameter_with_state(glasstorch.ones(1), True, None, {"sum": 3}).sum == 3  # as in torch


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (rebuild.quantized_tensor, "glasstorch has no quantized dtypes"),
        (rebuild.nested_tensor, "a nested tensor, and glasstorch has none"),
        (
            lambda: rebuild.sparse_tensor(glasstorch.strided, ()),
            "the layout torch.strided, which glasstorch",
        ),
        (lambda: rebuild.wrapper_subclass(glasstorch.Tensor), "a tensor without a storage"),
        (
            lambda: rebuild.device_tensor(None, None, "xla:0", False),
            "a tensor of 'xla:0', a device that glas",
        ),
        (lambda: rebuild.layout_of("torch.round"), "there is no layout 'torch.round'"),
        (lambda: rebuild.layout_of(3), "there is no layout 3"),
    ],
)
def test_what_is_not_here_is_refused_by_name(function: Any, message: str) -> None:
    with pytest.raises((RuntimeError, NotImplementedError), match=message):
        function()


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_tensor_of_torch_in_a_compressed_layout_is_loaded(require: Any, weights_only: bool) -> None:
    from tests.serialization.exchange import saved

    torch = require("torch")
    dense = torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    for x in (dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_bsr((1, 2)), dense.to_sparse_bsc((2, 1))):
        loaded = glasstorch.load(saved(torch, x), weights_only=weights_only)
        assert str(loaded.layout) == str(x.layout)
        assert loaded.to_dense().tolist() == dense.tolist()
        again = glasstorch.load(saved(glasstorch, loaded), weights_only=weights_only)
        assert repr(again) == repr(x)


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_sparse_tensor_of_torch_is_loaded(require: Any, weights_only: bool) -> None:
    from tests.serialization.exchange import saved

    torch = require("torch")
    loaded = glasstorch.load(saved(torch, torch.eye(2).to_sparse()), weights_only=weights_only)
    assert loaded.is_coalesced()
    assert loaded.to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]


@glasstorch.sparse.check_sparse_tensor_invariants()
def test_the_parts_of_a_sparse_tensor_are_checked_where_that_is_asked_for() -> None:
    indices, values = glasstorch.tensor([[0, 5]]), glasstorch.ones(2)
    with pytest.raises(RuntimeError, match="for dim 0, size is 2 but found index 5"):
        rebuild.sparse_tensor(glasstorch.sparse_coo, (indices, values, (2,)))
    with pytest.raises(TypeError, match="expected indices, values and sizes"):
        rebuild.sparse_tensor(glasstorch.sparse_coo, ())
    starts = glasstorch.tensor([0, 3])
    with pytest.raises(RuntimeError, match=r"`crow_indices\[..., -1\] == nnz` is not satisfied"):
        rebuild.sparse_tensor(glasstorch.sparse_csr, (starts, glasstorch.tensor([0, 1]), values, (1, 2)))
    with pytest.raises(TypeError, match="expected indices, values and sizes"):
        rebuild.sparse_tensor(glasstorch.sparse_csr, (starts, values, (1, 2)))
