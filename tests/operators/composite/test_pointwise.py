"""Do comparisons of whole tensors answer as PyTorch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "question",
    [
        lambda t: t.equal(t.tensor([1.0, NAN]), t.tensor([1.0, NAN])),
        lambda t: t.equal(t.tensor([1, 2]), t.tensor([1.0, 2.0])),
        lambda t: t.tensor([1, 2]).equal(t.tensor([1])),
        lambda t: t.equal(t.empty(0), t.empty(0)),
        lambda t: t.allclose(t.tensor([1.0, NAN]), t.tensor([1.0, NAN])),
        lambda t: t.allclose(t.tensor([1.0, NAN]), t.tensor([1.0, NAN]), equal_nan=True),
        lambda t: t.allclose(t.tensor([INF]), t.tensor([INF])),
        lambda t: t.allclose(t.tensor([INF]), t.tensor([-INF])),
        lambda t: t.allclose(t.tensor([INF]), t.ones(1)),
        lambda t: t.allclose(t.ones(1), t.tensor([INF])),
        lambda t: t.ones(2).allclose(t.ones(1) + 1e-6),
        lambda t: t.ones(2).allclose(t.ones(1) + 1e-3),
        lambda t: t.allclose(t.tensor([True]), t.tensor([True])),
        lambda t: t.allclose(t.ones(2, requires_grad=True), t.ones(2)),
    ],
)
def test_two_tensors_are_found_equal_where_pytorch_finds_them_so(
    require: Callable[[str], Any], question: Callable[[Any], bool]
) -> None:
    ours = question(glasstorch)
    assert type(ours) is bool
    assert ours is question(require("torch"))


def test_tensors_that_cannot_be_close_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Long did not match Float"):
        torch.allclose(torch.tensor([1]), torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero, but got -1"):
        torch.allclose(torch.ones(1), torch.ones(1), rtol=-1)


def test_a_tensor_fills_a_mask_with_its_number(torch: Any) -> None:
    x, mask, value = torch.zeros(2), torch.tensor([[True, False]]), torch.tensor(3.0, requires_grad=True)
    y = x.masked_fill(mask, value)
    assert (y.tolist(), y.grad_fn.name()) == ([[3, 0]], "MaskedFillBackward1")
    y.sum().backward()
    assert value.grad.item() == 1
    written = x.clone().masked_fill_(mask[0], value)
    assert (written.tolist(), written.grad_fn.name()) == ([3, 0], "MaskedFillBackward1")
    with pytest.raises(
        RuntimeError, match="only supports a 0-dimensional value tensor, but got tensor with 1 dimension"
    ):
        x.masked_fill(mask, torch.ones(1))
    with pytest.raises(RuntimeError, match="cannot be converted to type float without overflow"):
        x.masked_fill(mask, torch.tensor(3j))


def test_a_square_in_place_is_differentiated(torch: Any) -> None:
    x = torch.tensor([1.0, -3.0], requires_grad=True)
    y = x * 2
    assert y.square_() is y
    assert y.tolist() == [4, 36]
    y.sum().backward()
    assert x.grad.tolist() == [8, -24]


def test_isfinite_of_complex_numbers_is_laid_out_as_in_torch(require: Callable[[str], Any]) -> None:
    seen = []
    for library in (glasstorch, require("torch")):
        memory = library.ones(400, dtype=library.complex64)
        seen.append(memory.as_strided((1, 5, 2, 3), (30, 2, 60, 10)).isfinite().stride())
    assert seen[0] == seen[1] == (30, 1, 15, 5)
