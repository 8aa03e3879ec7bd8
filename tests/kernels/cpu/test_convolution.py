"""What do convolutions give where no row of the operator table looks?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

Require = Callable[[str], Any]


def both(require: Require, program: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What a program gives with this library, and with torch."""
    return program(glasstorch), program(require("torch"))


@pytest.mark.parametrize("transposed", [False, True])
def test_images_with_their_channels_last_give_such_images(transposed: bool, require: Require) -> None:
    def strides(torch: Any) -> list[Any]:
        x = torch.ones(2, 3, 6, 5).to(memory_format=torch.channels_last).requires_grad_()
        weight = torch.ones(*((3, 4) if transposed else (4, 3)), 3, 3, requires_grad=True)
        result = (torch.conv_transpose2d if transposed else torch.conv2d)(x, weight)
        result.sum().backward()
        return [t.stride() for t in (result, x.grad)]

    ours, theirs = both(require, strides)
    assert ours == theirs


@pytest.mark.parametrize("bias", [True, False])
def test_images_without_channels_give_images_without_channels(bias: bool, require: Require) -> None:
    def run(torch: Any) -> list[Any]:
        x, weight = torch.ones(2, 0, 4, 3, requires_grad=True), torch.ones(3, 0, 2, 2, requires_grad=True)
        shift = torch.ones(3, requires_grad=True)
        result = torch.conv2d(x, weight, shift if bias else None)
        result.sum().backward()
        return [list(result.shape), list(x.grad.shape), list(weight.grad.shape), bias and shift.grad.tolist()]

    ours, theirs = both(require, run)
    assert ours == theirs


def test_the_gradients_of_complex_numbers_are_conjugated(require: Require) -> None:
    def run(torch: Any) -> list[Any]:
        x = torch.tensor([[[1 + 2j, 3 - 1j, 2j]]], requires_grad=True)
        weight = torch.tensor([[[2 - 1j, 1j]]], requires_grad=True)
        torch.conv1d(x, weight).abs().sum().backward()
        return [x.grad.tolist(), weight.grad.tolist()]

    ours, theirs = both(require, run)
    np.testing.assert_allclose(np.concatenate(ours, axis=-1), np.concatenate(theirs, axis=-1), rtol=1e-6)


def test_half_precision_is_rounded_once() -> None:
    x, weight = glasstorch.randn(1, 64, 5, 5).half(), glasstorch.randn(2, 64, 3, 3).half()
    wide = glasstorch.conv2d(x.double(), weight.double())
    error = (glasstorch.conv2d(x, weight).double() - wide).abs()
    assert (error <= 0.5 * 2**-10 * 2 ** wide.abs().log2().floor() * 1.01).all()


def test_the_argument_out_is_written_to() -> None:
    x, weight = glasstorch.randn(1, 2, 4, 4), glasstorch.randn(3, 2, 2, 2)
    out = glasstorch.empty(1, 3, 3, 3)
    how = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    assert glasstorch.ops.aten.convolution.out(x, weight, None, *how, out=out) is out
    assert out.equal(glasstorch.conv2d(x, weight))
