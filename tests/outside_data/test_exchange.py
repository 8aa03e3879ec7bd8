"""Do other libraries read a tensor's memory as they read that of PyTorch's?"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.outside_data import dlpack

# NumPy ----------------------------------------------------------------------------------------------------------

NUMPY_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


@pytest.mark.parametrize("name", NUMPY_DTYPES)
def test_numpy_shows_the_same_memory(torch: Any, name: str) -> None:
    x = torch.zeros(2, 3, dtype=getattr(torch, name))
    array = x.t().numpy()
    assert (array.dtype, array.shape, array.ctypes.data) == (np.dtype(name), (3, 2), x.data_ptr())
    array[2, 1] = 1
    assert x[1, 2].item() == 1
    assert not x.untyped_storage().resizable()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_a_dtype_that_numpy_lacks_is_refused(torch: Any, name: str) -> None:
    x = torch.ones(2, dtype=torch.float32).to(getattr(torch, name))
    for ask in (x.numpy, lambda: np.asarray(x), lambda: x.numpy(force=True)):
        with pytest.raises(TypeError, match="Got unsupported ScalarType"):
            ask()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda t: t.ones(1, requires_grad=True), RuntimeError, "on Tensor that requires grad. Use tensor.detach()"),
        (lambda t: t.tensor([1j]).conj(), RuntimeError, "that has conjugate bit set. Use tensor.resolve_conj()"),
        (lambda t: t.tensor([1j]).conj().imag, RuntimeError, "has negative bit set. Use tensor.resolve_neg()"),
        (lambda t: t.ones(1, device="meta"), TypeError, "can't convert meta device type tensor to numpy"),
    ],
)
def test_what_numpy_would_misread_is_refused(torch: Any, make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        make(torch).numpy()


def test_force_detaches_and_resolves(torch: Any) -> None:
    assert torch.ones(2, requires_grad=True).numpy(force=True).tolist() == [1, 1]
    assert torch.tensor([1 + 2j]).conj().numpy(force=True).tolist() == [1 - 2j]
    assert torch.tensor([1 + 2j]).conj().imag.numpy(force=True).tolist() == [-2]
    with pytest.raises(TypeError):
        torch.ones(1).numpy(True)
    with pytest.raises(TypeError, match="argument 'force' must be bool, not int"):
        torch.ones(1).numpy(force=1)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        torch.ones(1, device="meta").numpy(force=True)


def test_array_gives_another_dtype_where_it_is_asked_to(torch: Any) -> None:
    x = torch.arange(3.0)
    assert x.__array__().ctypes.data == x.data_ptr()
    assert x.__array__(np.float32).ctypes.data == x.data_ptr()
    assert x.__array__(np.int16).dtype == np.int16
    assert np.asarray(x, np.int8).tolist() == [0, 1, 2]


def test_array_knows_when_it_must_and_must_not_copy() -> None:
    x = glasstorch.arange(3.0)
    assert np.array(x, copy=False).ctypes.data == x.data_ptr()
    assert np.array(x, copy=True).ctypes.data != x.data_ptr()
    assert x.__array__(copy=True).ctypes.data != x.data_ptr()
    with pytest.raises(ValueError, match=r"a torch.float32 tensor cannot be seen as int64 without a copy"):
        np.array(x, dtype=np.int64, copy=False)


def test_numpy_never_shows_what_is_shared_lazily() -> None:
    x = glasstorch.zeros(3)
    y = x._lazy_clone()
    y.numpy()[0] = 1
    assert (x.tolist(), y.tolist()) == ([0, 0, 0], [1, 0, 0])
    x.numpy()[1] = 2
    assert (x.tolist(), y.tolist()) == ([0, 2, 0], [1, 0, 0])


# DLPack ---------------------------------------------------------------------------------------------------------

DLPACK_DTYPES = (*NUMPY_DTYPES, "bfloat16", "float8_e4m3fn", "float8_e5m2")


@pytest.mark.parametrize("name", DLPACK_DTYPES)
def test_pytorch_takes_over_every_dtype_and_gives_it_back(require: Any, name: str) -> None:
    theirs = require("torch")
    x = glasstorch.zeros(2, 3, dtype=getattr(glasstorch, name)).t()
    y = theirs.from_dlpack(x)
    assert (str(y.dtype), tuple(y.shape), y.stride(), y.data_ptr()) == (str(x.dtype), (3, 2), (1, 3), x.data_ptr())
    z = glasstorch.from_dlpack(y)
    assert (z.dtype, z.shape, z.stride(), z.data_ptr()) == (x.dtype, x.shape, x.stride(), x.data_ptr())


def test_numpy_takes_over_a_tensor_and_keeps_its_memory_alive(torch: Any) -> None:
    x = torch.arange(6.0).view(2, 3)
    array = np.from_dlpack(x[:, 1:])
    array[0, 0] = 9
    assert x[0, 1].item() == 9
    del x
    torch.zeros(6)
    assert array.tolist() == [[9, 2], [4, 5]]


def test_a_capsule_has_the_tensors_strides(torch: Any) -> None:
    for x in (torch.zeros(2, 3, 4)[:, :1, :1], torch.zeros(1, 3).expand(2, 3), torch.zeros(0, 2), torch.zeros(())):
        held = dlpack.consume(x.__dlpack__())
        assert (held.shape, held.strides) == (tuple(x.shape), x.stride())


def test_a_capsule_has_the_layout_that_the_consumer_reads(torch: Any) -> None:
    x = torch.ones(2)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 1)))
    assert x.__dlpack_device__() == (1, 0)


def test_a_copy_is_the_consumers_own(torch: Any) -> None:
    x = torch.ones(2)
    held = dlpack.consume(x.__dlpack__(max_version=(1, 0), copy=True))
    assert held.copied == (torch is glasstorch)  # PyTorch leaves the flag at 0
    assert held.memory.address != x.data_ptr()
    held = dlpack.consume(x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False))
    assert not held.copied
    assert held.memory.address == x.data_ptr()


@pytest.mark.parametrize(
    ("make", "kwargs", "error", "words"),
    [
        (lambda t: t.ones(1, requires_grad=True), {}, BufferError, "that require gradient, use tensor.detach()"),
        (lambda t: t.tensor([1j]).conj(), {}, BufferError, "with the conjugate bit set"),
        (lambda t: t.ones(1, device="meta"), {}, BufferError, "Cannot pack tensors on meta"),
        (lambda t: t.ones(1), {"stream": 3}, AssertionError, "stream should be None on cpu"),
        (lambda t: t.ones(1), {"stream": "a"}, TypeError, "stream must be ``int`` or ``none``"),
        (lambda t: t.ones(1), {"dl_device": (2, 0), "copy": False}, ValueError, "cannot move (i.e. copy=False) tensor"),
    ],
)
def test_what_a_capsule_cannot_say_is_refused(torch: Any, make: Any, kwargs: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        make(torch).__dlpack__(**kwargs)


def test_a_negated_view_is_refused_too() -> None:
    with pytest.raises(BufferError, match="with the negative bit set"):  # PyTorch gives the wrong sign away
        glasstorch.tensor([1j]).conj().imag.__dlpack__()
    with pytest.raises(ValueError, match="Unknown device type meta"):
        glasstorch.ones(1, device="meta").__dlpack_device__()


def test_a_lazy_clone_is_given_away_as_its_own() -> None:
    x = glasstorch.zeros(2)
    y = x._lazy_clone()
    np.from_dlpack(y)[0] = 1
    assert (x.tolist(), y.tolist()) == ([0, 0], [1, 0])


# CUDA's array interface -----------------------------------------------------------------------------------------


def test_only_a_cuda_tensor_has_the_interface(torch: Any) -> None:
    assert not hasattr(torch.ones(1), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match=r"on non-CUDA tensor type: torch.FloatTensor If CUDA data is required"):
        _ = torch.ones(1).__cuda_array_interface__
