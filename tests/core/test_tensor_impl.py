"""Is a tensor exactly its storage read through its geometry, whatever happens to the storage?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glasstorch.core.allocator import LARGE
from glasstorch.core.device import META
from glasstorch.core.dtype import DTYPES, dtype, float32, float64, int32, int64
from glasstorch.core.errors import DimensionError, ShapeError, StorageError
from glasstorch.core.geometry import Size
from glasstorch.core.keys import CPU_KEYS
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import TensorImpl, check_fits


def over(storage: Storage | None, dtype: dtype, shape: tuple[int, ...], strides=None, offset: int = 0) -> TensorImpl:
    """A tensor with nothing filled in that can be worked out."""
    t = TensorImpl()
    t._storage, t.dtype, t._shape, t._strides, t._offset = storage, dtype, shape, strides, offset
    t.key_set, t._generation = CPU_KEYS, 0
    t._array = t._version_counter = t._autograd_meta = t._number = None
    return t


def numbers(count: int = 12) -> Storage:
    return Storage.over(np.arange(count, dtype=np.float32), resizable=True)


def test_the_array_is_the_storage_read_through_the_geometry() -> None:
    t = over(numbers(), float32, (2, 3), (1, 4), 2)
    assert t.array().tolist() == [[2, 6, 10], [3, 7, 11]]
    t.array()[0, 0] = 99
    assert over(t.untyped_storage(), float32, (12,)).array()[2] == 99


def test_two_tensors_on_one_storage_see_each_others_writes() -> None:
    storage = numbers()
    a, b = over(storage, float32, (12,)), over(storage, float32, (3,), (1,), 4)
    b.array()[:] = -1
    assert a.array()[3:8].tolist() == [3, -1, -1, -1, 7]


def test_a_resize_of_the_storage_leaves_no_stale_array() -> None:
    storage = numbers()
    t = over(storage, float32, (4,), (1,), 1)
    before = t.array()
    storage.resize_(400)
    t.array()[:] = 7
    assert before.tolist() == [1, 2, 3, 4]  # the old memory is nobody's but the array's
    assert over(storage, float32, (6,)).array().tolist() == [0, 7, 7, 7, 7, 5]


@pytest.mark.parametrize("nbytes", [0, 4, 11])
def test_a_storage_made_smaller_is_not_read_past_its_end(nbytes: int) -> None:
    storage = numbers(3)
    t, strided, empty = over(storage, float32, (3,)), over(storage, float32, (2,), (2,)), over(storage, float32, (0,))
    t.array()
    storage.resize_(nbytes)
    for tensor in (t, strided):
        with pytest.raises(StorageError, match=f"storage size of 12 are out of bounds for storage of size {nbytes}"):
            tensor.array()
    assert empty.array().size == 0
    storage.resize_(12)
    assert t.array().shape == (3,)


def test_a_stride_of_more_bytes_than_an_integer_counts_is_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Storage size calculation overflowed with sizes=\[.*\] and strides=\["):
        torch.ones(3)[:: 2**70].tolist()


def test_another_geometry_or_storage_leaves_no_stale_array() -> None:
    t = over(numbers(), float32, (12,))
    t.array()
    t.set_geometry((2,), (3,), 1)
    assert t.array().tolist() == [1, 4]
    t.set_storage(Storage.over(np.ones(5, np.float32)), (5,), None, 0)
    assert t.array().tolist() == [1] * 5
    assert t.stride() == (1,)


def test_a_storage_resized_before_it_was_first_read_is_read_as_it_is() -> None:
    storage = numbers()
    storage.resize_(4 * 20)
    t = over(storage, float32, (3,))
    assert t.array().tolist() == [0, 1, 2]


def test_a_kernels_array_becomes_a_storage_when_somebody_asks() -> None:
    t = over(None, float32, (2, 2))
    t._array = np.arange(4, dtype=np.float32).reshape(2, 2)
    storage = t.untyped_storage()
    assert storage is t.untyped_storage()
    assert (storage.nbytes(), storage.data_ptr()) == (16, t._array.ctypes.data)
    storage.resize_(32)  # the tensor's own memory may be resized
    assert t.array().tolist() == [[0, 1], [2, 3]]


def test_an_array_taken_from_a_tensor_outlives_it() -> None:
    count = LARGE  # float32: large enough for the pool
    t = over(Storage.allocate(4 * count), float32, (count,))
    t.array()[:] = 1
    kept = t.array()[100:110]
    del t
    for _ in range(3):
        over(Storage.allocate(4 * count), float32, (count,)).array()[:] = 2
    assert kept.tolist() == [1] * 10


def test_facts_about_sizes_are_pytorchs() -> None:
    t = over(numbers(), float32, (2, 3), (1, 4), 2)
    assert (t.shape, t.size(), t.size(-1), t.stride(), t.stride(0)) == (Size((2, 3)), Size((2, 3)), 3, (1, 4), 1)
    assert (t.dim(), t.ndim, t.ndimension(), t.numel(), t.nelement()) == (2, 2, 2, 6, 6)
    assert (t.element_size(), t.itemsize, t.nbytes, t.storage_offset()) == (4, 4, 24, 2)
    assert t.data_ptr() == t.untyped_storage().data_ptr() + 8
    assert not t.is_row_major()
    assert over(numbers(), float32, (2, 3)).stride() == (3, 1)
    assert repr(t.layout) == "torch.strided"
    with pytest.raises(DimensionError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        t.size(2)


def test_a_view_that_shares_the_counter_sees_every_change() -> None:
    base = over(numbers(), float32, (12,))
    assert base._version == 0
    view = over(base.untyped_storage(), float32, (3,))
    view._version_counter = base.version_counter()
    view.bump_version()
    base.bump_version()
    assert base._version == view._version == 2
    other = over(base.untyped_storage(), float32, (3,))
    other.bump_version()
    assert (other._version, base._version) == (1, 2)


def test_a_meta_tensor_has_no_array() -> None:
    t = over(Storage.allocate(24, META), float32, (2, 3))
    assert (t.data_ptr(), t.device) == (0, META)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        t.array()


def test_a_wrapped_number_has_its_array_when_asked() -> None:
    t = over(None, float64, ())
    t._number = 1.5
    assert t.array() == 1.5
    assert t.array() is t.array()


def test_no_element_of_an_empty_tensor_is_looked_for() -> None:
    t = over(Storage.allocate(0), float32, (0, 3), (7, 7), 100)
    assert t.array().shape == (0, 3)


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "error", "message"),
    [
        ((3,), (-1,), 0, ShapeError, r"Negative strides are not supported at the moment, got strides: \[-1\]"),
        ((3,), (1,), -1, ShapeError, "invalid storage offset -1"),
        ((2, 2), (3, 1), 0, StorageError, r"requiring a storage size of 40 are out of bounds for storage of size 32"),
        ((2,), (1,), 3, StorageError, "requiring a storage size of 40"),
    ],
)
def test_a_geometry_outside_the_storage_is_refused(shape, strides, offset, error, message) -> None:
    with pytest.raises(error, match=message):
        check_fits(Storage.allocate(32), int64, shape, strides, offset)


def test_a_geometry_that_just_fits_is_accepted() -> None:
    check_fits(Storage.allocate(32), int64, (2, 2), (2, 1), 0)
    check_fits(Storage.allocate(32), int64, (2,), (1,), 2)
    check_fits(Storage.allocate(4), int32, (5, 5), (0, 0), 0)
    check_fits(Storage.allocate(0), int64, (0, 4), (9, 9), 7)


# What a tensor says of itself, and what PyTorch's says --------------------------------------------------------------

FACTS = (
    "is_cpu", "is_cuda", "is_ipu", "is_leaf", "is_maia", "is_meta", "is_mkldnn", "is_mps", "is_mtia", "is_nested",
    "is_quantized", "is_sparse", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu", "name",
)  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_facts_are_torch_s(device: str) -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    said = [[getattr(t.ones(2, device=device), fact) for fact in FACTS] for t in (ours, theirs)]
    assert said[0] == said[1]


def test_signed_dtypes_are_torch_s() -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    for each in DTYPES:
        said = [t.zeros(1, dtype=getattr(t, each.name)).is_signed() for t in (ours, theirs)]
        assert said[0] == said[1]


def test_sizes_can_be_compared(torch: Any) -> None:
    assert torch.ones(2, 3).is_same_size(torch.zeros(2, 3, dtype=torch.int8))
    assert not torch.ones(2, 3).is_same_size(torch.zeros(3, 2))
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.ones(1).is_same_size(1)
