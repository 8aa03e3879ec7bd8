"""What becomes of a number, of a storage, and of a tensor that another is copied into?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("bool", 2.5, True),
        ("uint8", -255, 1),
        ("uint8", 255.0, 255),
        ("int32", -2.9, -2),
        ("int64", 2**63 - 1, 2**63 - 1),
        ("float16", 65504, 65504.0),
        ("bfloat16", float("inf"), float("inf")),
        ("float32", True, 1.0),
        ("float64", 1e300, 1e300),
    ],
)
def test_a_number_becomes_an_element(torch: Any, dtype: str, value: Any, expected: Any) -> None:
    assert torch.zeros(1, dtype=getattr(torch, dtype)).fill_(value).item() == expected


@pytest.mark.parametrize(
    ("dtype", "value", "name"),
    [
        ("uint8", 256, "uint8_t"),
        ("uint8", -0.5, "uint8_t"),
        ("int32", 2**31, "int"),
        ("int64", float("inf"), "int64_t"),
        ("float16", 65505, "c10::Half"),
        ("bfloat16", 3.4e38, "c10::BFloat16"),
        ("float32", -1e39, "float"),
    ],
)
def test_a_number_that_does_not_fit_is_refused(torch: Any, dtype: str, value: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match=f"value cannot be converted to type {name} without overflow"):
        torch.zeros(2, dtype=getattr(torch, dtype)).fill_(value)  # PyTorch does not check a single element of half


def test_resizing_keeps_what_fits_and_grows_the_storage(torch: Any) -> None:
    x = torch.arange(6.0).view(2, 3).clone()
    view = x[1]
    assert x.resize_(2) is x
    assert x.tolist() == [0, 1]
    assert x.untyped_storage().nbytes() == 24
    x.resize_(3, 4)
    assert x.untyped_storage().nbytes() == 48
    assert x.flatten()[:6].tolist() == [0, 1, 2, 3, 4, 5]
    view[0] = 9.0
    assert x[0, 3].item() == 9


def test_resizing_goes_by_sizes_and_not_by_strides(torch: Any) -> None:
    x = torch.zeros(2, 3).t()
    assert tuple(x.resize_(3, 2).stride()) == (1, 3)
    assert tuple(x.resize_(2, 3).stride()) == (3, 1)
    x = torch.zeros(120).resize_(2, 3, 4, 5, memory_format=torch.channels_last)
    assert tuple(x.stride()) == (60, 1, 15, 3)


def test_a_tensor_can_look_at_another_storage(torch: Any) -> None:
    x, y = torch.zeros(2), torch.arange(6.0)
    assert x.set_(y.untyped_storage(), 1, (2, 2), (2, 1)) is x
    assert x.tolist() == [[1, 2], [3, 4]]
    x[0, 0] = 9.0
    assert y[1].item() == 9
    x.set_(y.untyped_storage(), 4, (4,))
    assert y.untyped_storage().nbytes() == 32


def test_a_tensor_can_be_set_to_a_storage_a_tensor_or_nothing(torch: Any) -> None:
    y = torch.arange(6.0)
    x = torch.zeros(2, dtype=torch.int32)
    assert x.set_(y.untyped_storage()).shape == (6,)
    assert torch.zeros(2).set_(y[1:].view(5, 1)).stride() == (1, 1)
    x = torch.zeros(2).set_(y[1:], 2, (2,), (2,))
    assert (x.tolist(), x.storage_offset()) == ([3, 5], 3)
    with pytest.raises(RuntimeError, match="passed in tensor to be used as storage must be contiguous"):
        x.set_(y[::2], 0, (2,), (1,))
    assert x.set_().shape == (0,)
    assert x.untyped_storage().nbytes() == 0
    assert y.tolist() == [0, 1, 2, 3, 4, 5]


def test_tensors_are_set_alike_if_they_see_the_same_in_the_same_way(torch: Any) -> None:
    x = torch.arange(6.0)
    assert x.is_set_to(x.view(6))
    assert x.is_set_to(x.detach())
    for other in (x.view(2, 3), x[:5], x[1:], x.clone(), x[::2]):
        assert not x.is_set_to(other)


def test_resizing_as_another_takes_its_sizes_and_its_format_if_asked(torch: Any) -> None:
    template = torch.zeros(2, 2, 3, 4).to(memory_format=torch.channels_last)
    x = torch.arange(6.0)
    assert x.resize_as_(torch.zeros(2, 2)).tolist() == [[0, 1], [2, 3]]
    assert tuple(x.resize_as_(template).stride()) == (24, 12, 4, 1)
    assert tuple(x.resize_as_(template, memory_format=torch.preserve_format).stride()) == (24, 1, 8, 2)
    plain = torch.zeros(2, 2, 3, 4)
    assert tuple(torch.resize_as_(x, plain, memory_format=torch.channels_last).stride()) == (24, 1, 8, 2)


def test_what_requires_grad_is_neither_resized_nor_set(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    for resize in (lambda: x.resize_(2), lambda: x.resize_as_(torch.ones(3))):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            resize()
    storage = torch.ones(2).untyped_storage()
    for change in (
        lambda: x.set_(),
        lambda: x.set_(storage),
        lambda: x.set_(storage, 0, (1,), (1,)),
        lambda: x.set_(torch.ones(3)),
        lambda: x.set_(torch.ones(3), 0, (1,), (1,)),
    ):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            change()
    with torch.no_grad():
        assert x.set_(torch.zeros(3)).shape == (3,)


def test_no_gradient_passes_through_set() -> None:
    """PyTorch lets it happen and refuses when a backward pass comes there."""
    x = glasstorch.ones(2, requires_grad=True)
    for change in (lambda: (x * 2).set_(glasstorch.ones(2)), lambda: glasstorch.ones(2).set_(x)):
        with pytest.raises(RuntimeError, match="the derivative for 'set_' is not implemented"):
            change()


def test_a_lazy_clone_is_a_copy_from_the_first_write_on(torch: Any) -> None:
    x = torch.arange(4.0)
    y = x._lazy_clone()
    view = y[1:]
    assert torch._C._is_cow_tensor(x)
    assert torch._C._is_cow_tensor(view)
    assert torch._C._data_address(x) == torch._C._data_address(y) == y.const_data_ptr()
    assert view.const_data_ptr() == y.const_data_ptr() + 4
    assert (x + y).tolist() == [0, 2, 4, 6]
    assert torch._C._is_cow_tensor(x)
    view += 10
    assert (x.tolist(), y.tolist()) == ([0, 1, 2, 3], [0, 11, 12, 13])
    assert not torch._C._is_cow_tensor(y)
    assert x.data_ptr() == torch._C._data_address(x)
    assert not torch._C._is_cow_tensor(x)


def test_a_gradient_passes_through_a_lazy_clone(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    (x._lazy_clone() * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_lazy_clone_keeps_the_geometry(torch: Any) -> None:
    x = torch.arange(12.0).view(3, 4).t()[1:]
    y = x._lazy_clone()
    assert (y.stride(), y.storage_offset(), y.tolist()) == (x.stride(), 1, x.tolist())


def test_inference_tensors_are_never_lazy() -> None:
    x = glasstorch.zeros(2)
    with glasstorch.inference_mode():
        y = x._lazy_clone()
        y += 1
        z = glasstorch.ones(0).set_(x.clone()._lazy_clone())
        z += 1
    assert y.is_inference()
    w = glasstorch.zeros(2)
    lazy = w._lazy_clone()
    with glasstorch.inference_mode():
        seen = glasstorch.ones(0).set_(lazy)
        seen += 1
    assert (x.tolist(), y.tolist(), z.tolist(), w.tolist(), lazy.tolist()) == ([0, 0], [1, 1], [1, 1], [0, 0], [1, 1])


def test_what_an_inference_tensor_looks_at_is_cloned_at_once(torch: Any) -> None:
    a = torch.arange(4.0)
    with torch.inference_mode():
        seen, whole = torch.zeros(2), torch.empty(0)
        seen.set_(a)
    b = a._lazy_clone()
    with torch.inference_mode():
        seen.add_(1)
    assert (a.tolist(), b.tolist()) == ([1, 2, 3, 4], [0, 1, 2, 3])
    c = torch.arange(2.0)
    with torch.inference_mode():
        whole.set_(c.untyped_storage())
    d = c._lazy_clone()
    with torch.inference_mode():
        whole.fill_(7)
    assert (c.tolist(), d.tolist()) == ([7, 7], [0, 1])


def test_what_is_set_to_an_inference_tensor_is_cloned_at_once() -> None:
    with glasstorch.inference_mode():
        source = glasstorch.zeros(2)
    x = glasstorch.ones(2).set_(source)
    y = x._lazy_clone()
    with glasstorch.inference_mode():
        source.add_(1)
    assert (x.tolist(), y.tolist()) == ([1, 1], [0, 0])


def test_resizing_and_setting_are_refused_where_pytorch_refuses_them(torch: Any) -> None:
    x = torch.zeros(2)
    with pytest.raises(RuntimeError, match="Unsupported memory format"):
        x.resize_(2, memory_format=torch.preserve_format)
    with pytest.raises(RuntimeError):
        x.set_(torch.zeros(2).untyped_storage(), 0, (2, 2), (1,))
    with pytest.raises(RuntimeError, match="invalid storage offset -1"):
        x.set_(torch.zeros(2).untyped_storage(), -1, (2,), (1,))
    with pytest.raises(RuntimeError, match="device"):
        x.set_(torch.zeros(2, device="meta").untyped_storage(), 0, (2,), (1,))


def test_a_negative_size_is_refused() -> None:
    """PyTorch 2.13 takes it and leaves a broken tensor behind."""
    x = glasstorch.zeros(2)
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        x.resize_(-1)
    assert x.tolist() == [0, 0]


def test_memory_of_an_array_cannot_be_resized(torch: Any, require: Any) -> None:
    x = torch.from_numpy(require("numpy").ones(3))
    assert x.resize_(2).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        x.resize_(9)


def test_a_copy_onto_the_same_places_does_nothing_whatever_overlaps(torch: Any) -> None:
    x = torch.arange(3.0)[1:2].expand(4)
    assert x.copy_(x.view(4)) is x
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.copy_(torch.zeros(4))
