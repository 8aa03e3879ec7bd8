"""Is the tangent right along any dimensions, for large numbers and minus infinity, and can it be differentiated?"""

import math
import random

import glasstorch as torch
from workbook.exercises.asking import Ask, Came, close, expect

DIMS = ((0,), (1,), (-1,), (0, 1), (1, 0), (-3, -1), (0, 1, 2))
INF = math.inf

draw = random.Random("04.12")


def tensor(shape: tuple[int, ...]) -> torch.Tensor:
    """Numbers between -3 and 3, the same in every run."""
    numbers = [draw.uniform(-3, 3) for _ in range(math.prod(shape))]
    return torch.tensor(numbers, dtype=torch.float64).view(shape)


def tangent(ask: Ask, x: torch.Tensor, t: torch.Tensor, dim: tuple[int, ...], keepdim: bool = False) -> Came:
    """The outcome of the rule, called as the library calls it."""
    return ask("logsumexp_tangent", x, t, list(dim), keepdim, torch.logsumexp(x, dim, keepdim))


def test_the_tangent(ask: Ask) -> None:
    """the tangent along one dimension or several"""
    for dim in DIMS:
        for keepdim in (False, True):
            x, t = tensor((2, 3, 4)), tensor((2, 3, 4))
            accepted = (x.exp() * t).sum(dim, keepdim) / x.exp().sum(dim, keepdim)
            asked = f"the tangent for sizes (2, 3, 4), dim={dim} and keepdim={keepdim}"
            because = "each tangent is weighted by the share of exp(self) in the sum, and the shape is the result's"
            expect(tangent(ask, x, t, dim, keepdim), accepted, same=alike, asked=asked, because=because)


def alike(came: torch.Tensor, accepted: torch.Tensor) -> bool:
    """Whether the shapes are equal, and the numbers equal except for rounding."""
    return came.shape == accepted.shape and close(came, accepted)


def test_far_out(ask: Ask) -> None:
    """the tangent where the arguments are large, or far apart"""
    x = torch.tensor([[3000.0, 3000.0, -3000.0], [-3000.0, -3000.0, -3001.0]], dtype=torch.float64)
    t = torch.tensor([[1.0, 3.0, 100.0], [2.0, 2.0, 2.0]], dtype=torch.float64)
    because = "exp(3000) is infinite and exp(-3000) is 0, so take the exponential of self - result, which stays small"
    expect(tangent(ask, x, t, (1,)), torch.tensor([2.0, 2.0], dtype=torch.float64), same=close, because=because)


def test_minus_infinity(ask: Ask) -> None:
    """the tangent where elements are minus infinity"""
    x = torch.tensor([[-INF, 1.0], [2.0, -INF], [-INF, -INF]])
    t = torch.tensor([[5.0, 3.0], [4.0, 7.0], [1.0, 2.0]])
    because = "a masked element has the weight 0, and so have all if all are masked; -inf - (-inf) would be NaN"
    expect(tangent(ask, x, t, (1,)), torch.tensor([3.0, 4.0, 0.0]), same=close, because=because)


def test_it_can_be_differentiated(ask: Ask) -> None:
    """the gradient of the tangent, with respect to the argument and to its tangent"""
    x, t = tensor((3,)).requires_grad_(), tensor((3,)).requires_grad_()
    value = tangent(ask, x, t, (0,)).value
    share = torch.softmax(x.detach(), 0)
    accepted = [share * (t.detach() - (share * t.detach()).sum()), share]
    for name, argument, one in zip(("self", "self_t"), (x, t), accepted, strict=True):
        came = torch.zeros(3, dtype=torch.float64)
        if value.requires_grad:
            (came,) = torch.autograd.grad(value, argument, retain_graph=True, materialize_grads=True)
        asked = f"the gradient of the tangent with respect to {name}"
        because = (
            "the weights depend on the argument, also through the result; what no operator computes is not recorded"
        )
        expect(came, one, same=close, asked=asked, because=because)
