"""What becomes of a number, of a storage, and of a tensor that another is copied into?"""

from __future__ import annotations

from typing import Any

import pytest


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
    import glasstorch

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
