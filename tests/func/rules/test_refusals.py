"""Is refused under vmap what would differ in shape from example to example?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

pytestmark = pytest.mark.usefixtures("quiet")


def words(torch: Any, refused: Callable[[Any], str], f: Callable[[Any], Any]) -> str:
    return refused(lambda: torch.func.vmap(f)(torch.arange(6.0).view(2, 3)))


@pytest.mark.parametrize("name", ["nonzero", "where", "unique_consecutive"])
def test_a_result_of_unknown_size(torch: Any, refused: Callable[[Any], str], name: str) -> None:
    message = words(torch, refused, getattr(torch, name))
    assert message.startswith("vmap: We do not support batching operators that can output dynamic shape.")
    assert f"Attempted to vmap over aten::{name}." in message


def test_masks(torch: Any, refused: Callable[[Any], str]) -> None:
    assert "Attempting to batch over indexing with a boolean mask" in words(torch, refused, lambda x: x[x > 1])
    assert "Attempted to vmap over `mask` in torch.masked_select" in words(
        torch, refused, lambda x: x.masked_select(x > 1)
    )
    mask = torch.tensor([True, False, True])  # the same for all examples
    assert torch.func.vmap(lambda x: x[mask])(torch.arange(6.0).view(2, 3)).tolist() == [[0, 2], [3, 5]]


def test_bools_of_python(torch: Any, refused: Callable[[Any], str]) -> None:
    assert "vmap over torch.allclose isn't supported yet" in words(torch, refused, lambda x: torch.allclose(x, x))
    assert "not implemented for aten::equal" in words(torch, refused, lambda x: torch.equal(x, x))


def test_a_view_by_strides_that_leaves_its_example(torch: Any, refused: Callable[[Any], str]) -> None:
    inside = torch.func.vmap(lambda x: x.as_strided((2,), (2,)))(torch.arange(6.0).view(2, 3))
    assert inside.tolist() == [[0.0, 2.0], [3.0, 5.0]]
    assert words(torch, refused, lambda x: x.as_strided((2,), (2,), 4)).startswith(
        "result = tensor.as_strided([2], [2], 4) can access memory outside of `tensor`. `result` can access some "
        "memory in range [4, 7], but `tensor` can only access some memory in range [0, 3]. This is not supported"
    )
    empty = refused(lambda: torch.func.vmap(lambda x: x.as_strided((1,), (1,)))(torch.ones(2, 0)))
    assert "`tensor` has no storage but the passed-in (size, stride, storage_offset) imply" in empty


def test_a_copy_with_a_view_by_strides_written(torch: Any, refused: Callable[[Any], str]) -> None:
    y = torch.zeros(3)
    for call in (
        lambda x: torch.as_strided_scatter(x, y[:2], (2,), (1,)),
        lambda x: torch.as_strided_scatter(y, x[:2], (2,), (1,)),
    ):
        assert words(torch, refused, call).startswith(
            "Error: aten::as_strided_scatter requires special handling, and does not yet have a batching rule."
        )


@pytest.mark.parametrize("place", [(), (0, (2,), (1,))])
def test_another_storage(torch: Any, refused: Callable[[Any], str], place: Any) -> None:
    y = torch.zeros(3)
    assert words(torch, refused, lambda x: y.set_(x, *place)).startswith(
        "vmap: aten::set_(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
        "has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped "
        "over at level 1."
    )


def test_an_example_is_not_pointed_at_another_storage(refused: Callable[[Any], str]) -> None:
    y = glasstorch.zeros(3)
    for given in ((y,), (y, 0, (2,), (1,)), (y.untyped_storage(),), ()):
        assert "all examples lie in the storage of their batch" in words(glasstorch, refused, lambda x: x.set_(*given))  # noqa: B023
