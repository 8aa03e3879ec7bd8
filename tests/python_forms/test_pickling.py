"""Does a tensor come out of a pickle or a deep copy as it comes out of PyTorch's?"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import glasstorch

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda value: pickle.loads(pickle.dumps(value))}


@pytest.fixture(params=COPIES)
def copied(request: pytest.FixtureRequest) -> Any:
    """A way to copy."""
    return COPIES[request.param]


def test_the_geometry_is_kept_and_nothing_is_shared(torch: Any, copied: Any) -> None:
    x = torch.arange(12.0).view(3, 4).t()[1:]
    y = copied(x)
    assert (y.tolist(), y.stride(), y.storage_offset()) == (x.tolist(), (1, 4), 1)
    assert y.untyped_storage().nbytes() == 48
    y.zero_()
    assert x.sum().item() != 0


@pytest.mark.parametrize("name", ["bool", "int16", "bfloat16", "float16", "complex64"])
def test_every_dtype_is_kept(torch: Any, copied: Any, name: str) -> None:
    x = torch.tensor([1, 0]).to(getattr(torch, name))
    y = copied(x)
    assert (y.dtype, y.tolist()) == (x.dtype, x.tolist())


@pytest.mark.parametrize("name", ["uint64", "float8_e5m2"])
def test_the_newer_dtypes_are_kept_too(copied: Any, name: str) -> None:
    x = glasstorch.tensor([1, 0]).to(getattr(glasstorch, name))  # PyTorch cannot pickle them
    y = copied(x)
    assert (y.dtype, y.tolist()) == (x.dtype, x.tolist())


def test_requires_grad_attributes_and_the_dtype_are_kept(torch: Any, copied: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.note = ["kept"]
    y = copied(x)
    assert (y.requires_grad, y.is_leaf, y.note) == (True, True, ["kept"])
    assert y.note is not x.note
    assert type(copied(torch.nn.Parameter(torch.ones(1)))) is torch.nn.Parameter


def test_conjugates_and_negatives_keep_their_values(torch: Any, copied: Any) -> None:
    x = torch.tensor([1 + 2j]).conj()
    assert copied(x).tolist() == [1 - 2j]
    assert copied(x.imag).tolist() == [-2]


def test_a_deep_copy_of_a_leaf_has_its_gradient_and_a_pickle_has_not(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    y = copy.deepcopy(x)
    assert y.grad.tolist() == [3, 3]
    y.grad.zero_()
    assert x.grad.tolist() == [3, 3]
    assert pickle.loads(pickle.dumps(x)).grad is None


def test_what_was_computed_cannot_be_deep_copied_and_is_pickled_as_a_leaf(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"Only Tensors created explicitly by the user \(graph leaves\) support"):
        copy.deepcopy(y)
    again = pickle.loads(pickle.dumps(y))
    assert (again.is_leaf, again.requires_grad, again.tolist()) == (True, True, [2, 2])


def test_tensors_copied_together_share_what_their_sources_share(torch: Any) -> None:
    x = torch.zeros(3)
    first, second, again = copy.deepcopy([x, x[1:], x])
    second += 1
    assert first.tolist() == [0, 1, 1]
    assert first is again


def test_tensors_pickled_together_share_too() -> None:
    x = glasstorch.zeros(3)
    first, second, again = pickle.loads(pickle.dumps([x, x[1:], x]))  # in PyTorch each gets a storage of its own
    second += 1
    assert first.tolist() == [0, 1, 1]
    assert first is again


def test_a_tensor_may_have_itself_as_an_attribute(copied: Any) -> None:
    x = glasstorch.zeros(2)  # PyTorch recurses until the stack ends
    x.me = [x]
    y = copied(x)
    assert y.me[0] is y is not x


def test_a_shallow_copy_shares_the_storage(torch: Any) -> None:
    x = torch.zeros(2)
    y = copy.copy(x)
    assert y is not x
    assert y.data_ptr() == x.data_ptr()


def test_a_meta_tensor_keeps_its_sizes(torch: Any, copied: Any) -> None:
    x = torch.empty(1 << 40, 3, device="meta").t()
    y = copied(x)
    assert (y.device.type, y.shape, y.stride()) == ("meta", x.shape, x.stride())


def test_hooks_are_left_behind_with_a_warning(torch: Any) -> None:
    x = torch.ones(1, requires_grad=True)
    x.register_hook(lambda grad: None)
    with pytest.warns(UserWarning, match="will not be serialized"):
        again = pickle.loads(pickle.dumps(x))
    (again * 1).sum().backward()


def test_buffers_can_travel_apart_from_the_pickle() -> None:
    buffers: list[Any] = []
    x = glasstorch.arange(1000.0)
    text = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert len(text) < 1000
    again = pickle.loads(text, buffers=[bytes(buffer) for buffer in buffers])
    again += 1  # the bytes that came were read-only
    assert again[999].item() == 1000


def test_what_is_shared_lazily_is_pickled_and_copied_whole(copied: Any) -> None:
    x = glasstorch.zeros(2)
    y = x._lazy_clone()
    z = copied(y)
    z += 1
    assert (x.tolist(), y.tolist(), z.tolist()) == ([0, 0], [0, 0], [1, 1])


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_deep_copy_computes_a_conjugate(torch: Any, requires_grad: bool) -> None:
    whole = torch.tensor([1 + 2j, 3j, 4])
    x = whole[1:].conj().requires_grad_(requires_grad)
    _, copied = copy.deepcopy([whole, x])
    assert (copied.is_conj(), copied.requires_grad, copied.is_leaf) == (False, requires_grad, True)
    assert copied.tolist() == [-3j, 4]
    assert copied.untyped_storage().nbytes() == 16
    negative = copy.deepcopy(whole.conj().imag)
    assert (negative.is_neg(), negative.stride(), negative.tolist()) == (False, (1,), [-2, -3, 0])
