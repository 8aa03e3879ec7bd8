"""Does what reads no element work without data, and what reads one say that there is none?"""

from __future__ import annotations

from typing import Any

import pytest


def test_writing_and_drawing_need_no_data(torch: Any) -> None:
    x = torch.zeros(2, 3, device="meta")
    for change in (
        lambda: x.fill_(1),
        lambda: x.zero_(),
        lambda: x.uniform_(),
        lambda: x.normal_(),
        lambda: x.random_(0, 5),
        lambda: x.copy_(torch.ones(3)),
        lambda: x.copy_(torch.ones(1, 3, device="meta")),
    ):
        assert change() is x
    x[0] = 5.0
    x[:, 1] = torch.ones(2)
    assert x._version == 9


def test_copies_have_the_layout_of_the_source(torch: Any) -> None:
    x = torch.zeros(2, 3, device="meta").t()
    for copy in (x.clone(), x.double(), torch.empty_like(x), torch.zeros(2, 3).t().to("meta")):
        assert (copy.device.type, tuple(copy.shape), tuple(copy.stride())) == ("meta", (3, 2), (1, 3))
    assert x.contiguous().is_contiguous()


def test_factories_on_the_meta_device(torch: Any) -> None:
    made = {
        "zeros": torch.zeros(2, device="meta"),
        "full": torch.full((2,), 5, device="meta"),
        "arange": torch.arange(0.5, 2, device="meta"),
        "randperm": torch.randperm(2, device="meta"),
        "rand": torch.rand(2, device="meta"),
        "like": torch.zeros_like(torch.ones(2), device="meta"),
        "new": torch.ones(2).new_zeros(2, device="meta"),
        "channels last": torch.empty(2, 1, 1, 1, device="meta", memory_format=torch.channels_last).flatten(),
        "strided": torch.empty_strided((2,), (3,), device="meta"),
        "out": torch.arange(2, out=torch.empty(0, device="meta")),
    }
    for name, x in made.items():
        assert (x.device.type, tuple(x.shape)) == ("meta", (2,)), name
    assert made["full"].dtype is made["randperm"].dtype is torch.int64


def test_resizing_without_data(torch: Any) -> None:
    x = torch.zeros(2, device="meta")
    assert tuple(x.resize_(3, 4).shape) == (3, 4)
    assert x.untyped_storage().nbytes() == 48


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda t, x: x.to("cpu"), NotImplementedError),
        (lambda t, x: t.zeros(2).copy_(x), NotImplementedError),
        (lambda t, x: x.nonzero(), NotImplementedError),
        (lambda t, x: x[0].item(), RuntimeError),
        (lambda t, x: x.copy_(t.zeros(3)), RuntimeError),
    ],
)
def test_elements_that_are_not_there(torch: Any, read: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        read(torch, torch.zeros(2, device="meta"))


def test_what_cannot_be_read_is_named() -> None:
    import glasstorch

    x = glasstorch.zeros(2, device="meta")
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        x.to("cpu")
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        glasstorch.zeros(2).index_put_((glasstorch.tensor([0]),), x[0])
    with pytest.raises(NotImplementedError, match=r"nonzero: .* depend on the data, and \[2\] on meta has none"):
        glasstorch.nonzero(x, out=glasstorch.empty(0, dtype=glasstorch.int64, device="meta"))
    with pytest.raises(RuntimeError, match=r"Tensor.item\(\) cannot be called on meta tensors"):
        x[0].item()


def test_a_mask_without_data_chooses_nothing_that_can_be_told() -> None:
    import glasstorch

    x = glasstorch.empty(2, 3, device="meta")
    with pytest.raises(NotImplementedError, match=r"masked_select: .* and \[2, 3\] on meta has none"):
        glasstorch.masked_select(x, x > 0)
    with pytest.raises(NotImplementedError, match=r"nonzero: .* depend on the data, and \[2, 3\] on meta has none"):
        x[x > 0]
    assert tuple(x[glasstorch.tensor([True, False])].shape) == (1, 3)
