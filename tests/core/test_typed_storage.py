"""Are a storage's bytes read as elements of a dtype as PyTorch reads them?"""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.core import warn_once
from glasstorch.core.typed_storage import LEGACY_NAMES


@pytest.fixture(autouse=True)
def quietly() -> Iterator[None]:
    """Typed storages are deprecated, and say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_a_typed_storage_is_made_of_a_size_of_elements_or_of_bytes(torch: Any) -> None:
    assert torch.TypedStorage(3).size() == 3
    assert torch.TypedStorage().nbytes() == 0
    assert torch.TypedStorage([1, 2], dtype=torch.int16).tolist() == [1, 2]
    over = torch.TypedStorage(wrap_storage=torch.ones(2).untyped_storage(), dtype=torch.float32)
    assert (over.tolist(), over.dtype, over.device) == ([1, 1], torch.float32, torch.device("cpu"))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda t: t.TypedStorage(1, 2), RuntimeError),
        (lambda t: t.TypedStorage(1.5), TypeError),
        (lambda t: t.TypedStorage(wrap_storage=t.UntypedStorage(4)), RuntimeError),
        (lambda t: t.TypedStorage(1, wrap_storage=t.UntypedStorage(4), dtype=t.float32), RuntimeError),
        (lambda t: t.TypedStorage(wrap_storage=t.FloatStorage(4), dtype=t.float32), TypeError),
        (lambda t: t.FloatStorage(3, dtype=t.float32), RuntimeError),
    ],
)
def test_what_says_too_much_or_too_little_is_refused(torch: Any, make: Any, error: Any) -> None:
    with pytest.raises(error, match="received an invalid combination"):
        make(torch)


def test_elements_are_read_and_written(torch: Any) -> None:
    x = torch.arange(4.0)
    storage = x.storage()
    assert (storage[1], storage[-1], len(storage), storage.nbytes(), storage.element_size()) == (1, 3, 4, 16, 4)
    storage[0] = 5
    storage[1:3] = 7
    assert x.tolist() == [5, 7, 7, 3]
    storage.fill_(2)
    assert x.tolist() == [2] * 4
    assert storage.data_ptr() == x.data_ptr()
    with pytest.raises(IndexError, match="index 4 out of range for storage of size 4"):
        storage[4]
    with pytest.raises(RuntimeError, match=r"slices are only supported in UntypedStorage\.__getitem__"):
        storage[1:2]
    with pytest.raises(RuntimeError, match="can't index a"):
        storage["a"]
    with pytest.raises(RuntimeError, match="cannot set item with value type"):
        storage[0] = storage


def test_casts_are_copies(torch: Any) -> None:
    storage = torch.FloatStorage([1.5, 0])
    for name, dtype in {
        "double": "float64",
        "half": "float16",
        "bfloat16": "bfloat16",
        "complex_float": "complex64",
    }.items():
        cast = getattr(storage, name)()
        assert (cast.dtype, cast.tolist()) == (getattr(torch, dtype), [1.5, 0])
    for name, dtype in {"long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8"}.items():
        cast = getattr(storage, name)()
        assert (cast.dtype, cast.tolist()) == (getattr(torch, dtype), [1, 0])
    assert storage.bool().tolist() == [True, False]
    same = storage.float()
    assert same.data_ptr() != storage.data_ptr()
    assert storage.complex_double().tolist() == [1.5, 0]


def test_a_typed_storage_prints_its_elements(torch: Any) -> None:
    about = "[torch.storage.TypedStorage(dtype=torch.int32, device={}) of size 2]"
    assert repr(torch.IntStorage([1, 2])) == " 1\n 2\n" + about.format("cpu")
    assert repr(torch.empty(2, dtype=torch.int32, device="meta").storage()) == "...\n" + about.format("meta")


def test_the_bytes_are_those_of_the_storage_below(torch: Any) -> None:
    x = torch.ones(2)
    storage = x.storage()
    assert storage.untyped() is x.untyped_storage()
    assert (storage.is_cuda, storage.get_device(), storage.is_pinned(), storage.filename) == (False, None, False, None)
    assert storage.copy_(torch.FloatStorage([3, 4])).tolist() == x.tolist() == [3, 4]
    assert not storage.is_shared()
    storage.share_memory_()
    assert x.is_shared()


def test_a_copy_is_another_storage(torch: Any) -> None:
    storage = torch.LongStorage([1, 2])
    for other in (storage.clone(), copy.copy(storage), copy.deepcopy(storage)):
        assert (other.tolist(), other.dtype) == ([1, 2], torch.int64)
        assert other.data_ptr() != storage.data_ptr()
    storage.resize_(3)
    assert storage.size() == 3
    assert storage.tolist()[:2] == [1, 2]


def test_a_pickle_keeps_the_dtype_and_what_is_shared() -> None:
    storage = glasstorch.LongStorage([1, 2])
    first, second = pickle.loads(pickle.dumps([storage, storage.untyped()]))
    assert first.tolist() == [1, 2]
    assert first.untyped() is second
    same, bytes_of_it = copy.deepcopy([storage, storage.untyped()])
    assert same.untyped() is bytes_of_it


@pytest.mark.parametrize("dtype", LEGACY_NAMES)
def test_every_dtype_of_old_has_its_class(torch: Any, dtype: str) -> None:
    name = LEGACY_NAMES[dtype]
    storage = getattr(torch, name)([1, 0])
    assert storage.dtype is getattr(torch, dtype)
    assert storage.type() == f"torch.{name}"
    assert storage.pickle_storage_type() == name
    assert isinstance(storage, getattr(torch, name))
    assert isinstance(torch.ones(1, dtype=storage.dtype).storage(), getattr(torch, name))
    other = torch.IntStorage if dtype != "int32" else torch.FloatStorage
    assert not isinstance(storage, other)


def test_the_newer_dtypes_have_none(torch: Any) -> None:
    storage = (
        torch.TypedStorage([1], dtype=torch.uint16) if torch is glasstorch else torch.ones(1).to(torch.uint16).storage()
    )
    assert storage.type() == "torch.storage.TypedStorage"
    with pytest.raises(KeyError, match="is not recognized"):
        storage.pickle_storage_type()


def test_a_type_is_asked_for_by_class_name_or_dtype() -> None:
    storage = glasstorch.FloatStorage([1.5])  # PyTorch 2.13 fails here
    for wanted in ("torch.IntStorage", glasstorch.IntStorage, glasstorch.int32):
        assert storage.type(wanted).tolist() == [1]
    with pytest.raises(TypeError, match=re.escape("expected a dtype or the name of a class of storage, got 'int'")):
        storage.type("int")


def test_a_tensor_can_be_set_to_a_typed_storage_of_its_dtype(torch: Any) -> None:
    x = torch.empty(0)
    assert x.set_(torch.FloatStorage([1, 2, 3])).tolist() == [1, 2, 3]
    assert x.set_(torch.FloatStorage([1, 2, 3]), 1, (2,)).tolist() == [2, 3]
    with pytest.raises(
        RuntimeError, match=r"(?i)expected a Storage of type float or an UntypedStorage, but got type Int"
    ):
        x.set_(torch.IntStorage([1]))


def test_storages_are_known_as_such(torch: Any) -> None:
    assert torch.is_storage(torch.FloatStorage(1))
    assert torch.is_storage(torch.UntypedStorage(1))
    assert not torch.is_storage(torch.ones(1))
    assert torch.storage.TypedStorage is torch.TypedStorage


def test_typed_storages_say_that_they_are_of_the_past() -> None:
    warn_once._given.clear()
    with pytest.warns(UserWarning, match="TypedStorage is deprecated. It will be removed in the future"):
        glasstorch.ones(1).storage()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        glasstorch.TypedStorage(1)
