"""Does a tensor say of its order in memory what PyTorch's says, and do copies keep it as there?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def test_formats_are_for_tensors_of_their_rank(torch: Any) -> None:
    image, volume = torch.empty(2, 3, 4, 5), torch.empty(2, 3, 2, 4, 5)
    assert image.to(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)
    assert volume.to(memory_format=torch.channels_last_3d).is_contiguous(memory_format=torch.channels_last_3d)
    single = torch.empty(1, 1, 1, 1)
    assert single.is_contiguous(memory_format=torch.channels_last)
    assert not single.is_contiguous(memory_format=torch.channels_last_3d)
    assert not single[0].is_contiguous(memory_format=torch.channels_last)
    assert image.is_contiguous(memory_format=torch.preserve_format)
    with pytest.raises(TypeError, match=r"'memory_format' must be torch.memory_format, not str"):
        image.is_contiguous(memory_format="channels_last")


ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "contiguous": lambda x, f: x.contiguous(memory_format=f),
    "clone": lambda x, f: x.clone(memory_format=f),
    "to": lambda x, f: x.to(memory_format=f),
    "another dtype": lambda x, f: x.double(memory_format=f),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(("format", "rank"), [("channels_last", 4), ("channels_last_3d", 5)])
def test_a_format_is_refused_for_other_ranks(torch: Any, name: str, format: str, rank: int) -> None:
    with pytest.raises(RuntimeError, match=f"required rank {rank} tensor to use {format} format"):
        ASKED[name](torch.empty(2, 3), getattr(torch, format))


@pytest.mark.parametrize("name", ASKED)
def test_a_format_gives_its_strides(torch: Any, name: str) -> None:
    image = ASKED[name](torch.empty(2, 3, 4, 5), torch.channels_last)
    assert image.stride() == (60, 1, 15, 3)
    volume = ASKED[name](torch.empty(2, 3, 2, 4, 5), torch.channels_last_3d)
    assert volume.stride() == (120, 1, 60, 15, 3)


def test_the_order_in_memory_survives_copies_and_pointwise_operators(torch: Any) -> None:
    image = torch.empty(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    for like in (image.clone(), image.double(), image + 1, torch.empty_like(image), image[:, :, ::2].clone()):
        assert like.stride()[1] == 1
    assert image.contiguous().stride() == (60, 20, 5, 1)


def test_contiguous_does_not_preserve(torch: Any) -> None:
    x = torch.empty(2, 3)
    assert x.contiguous(memory_format=torch.preserve_format) is x
    with pytest.raises(RuntimeError, match="preserve memory format is unsupported by the contiguous operator"):
        x.t().contiguous(memory_format=torch.preserve_format)


def test_the_order_of_dimensions_is_pytorchs(torch: Any) -> None:
    assert torch.empty(2, 3, 4).permute(2, 0, 1).dim_order() == (1, 2, 0)
    assert torch.empty(2, 3, 4, 5).to(memory_format=torch.channels_last).dim_order() == (0, 2, 3, 1)
    assert torch.empty(1, 2, 1).transpose(0, 2).dim_order() == (0, 1, 2)


def test_an_order_that_is_not_unique_is_refused_when_asked_to(torch: Any) -> None:
    x = torch.empty(1, 2, 3, 4)
    with pytest.raises(RuntimeError, match="does not have unique dim order, or cannot map to exact one of"):
        x.dim_order(ambiguity_check=True)
    assert x.dim_order(ambiguity_check=[torch.contiguous_format, torch.channels_last]) == (0, 1, 2, 3)
    assert torch.empty(2, 3).dim_order(ambiguity_check=True) == (0, 1)
    for wrong in ("all", [1]):
        with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
            x.dim_order(ambiguity_check=wrong)
