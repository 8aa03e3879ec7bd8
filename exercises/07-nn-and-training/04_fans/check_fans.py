"""Are the fans of a weight those that the library counts?"""

import random

import glasstorch as torch
from glasstorch.nn import functional
from workbook.exercises.asking import Ask, Raises, expect

WORDS = "can not be computed for tensor with fewer than 2 dimensions"
COUNTED = "the library counts these numbers if all weights and inputs are ones"


def counted(shape: tuple[int, ...]) -> tuple[int, int]:
    """The fans of a layer with a weight of this shape, by a forward and a backward pass of ones."""
    kernel, dims = shape[2:], len(shape) - 2
    x = torch.ones(1, shape[1], *(3 * size for size in kernel), requires_grad=True)
    weight = torch.ones(shape)
    if dims == 0:
        y = functional.linear(x, weight)
    else:
        convolution = (functional.conv1d, functional.conv2d, functional.conv3d)[dims - 1]
        y = convolution(x, weight, padding=tuple(size - 1 for size in kernel))
    (grad,) = torch.autograd.grad(y.sum(), x)
    return int(y.max().item()), int(grad.max().item())


def test_linear_layers(ask: Ask) -> None:
    """the fans of the weights of linear layers"""
    draw = random.Random("07.4")
    for _ in range(6):
        shape = tuple(draw.sample(range(1, 12), 2))
        asked = f"the fans of a linear layer whose weight has the shape {shape}"
        expect(ask("fans", torch.zeros(shape)), counted(shape), asked=asked, because=COUNTED)


def test_convolutions(ask: Ask) -> None:
    """the fans of the weights of convolutions"""
    draw = random.Random("07.4")
    for dims in (1, 2, 3, 1, 2, 3):
        shape = (*draw.sample(range(1, 7), 2), *draw.sample(range(2, 6), dims))
        asked = f"the fans of a convolution whose weight has the shape {shape}"
        expect(ask("fans", torch.zeros(shape)), counted(shape), asked=asked, because=COUNTED)


def test_no_memory(ask: Ask) -> None:
    """the fans of a weight that has no values, and of one that has no elements"""
    for weight, both in ((torch.empty(4, 3, 2, device="meta"), (6, 8)), (torch.empty(0, 3, 5), (15, 0))):
        expect(ask("fans", weight), both, because="they follow from the shape alone")


def test_what_has_no_fans(ask: Ask) -> None:
    """the fans of tensors of fewer than two dimensions"""
    for shape in ((), (3,)):
        because = "a tensor with fewer than two dimensions, such as a bias, has no size for inputs and outputs"
        expect(ask("fans", torch.zeros(shape)), Raises(ValueError, WORDS), because=because)
