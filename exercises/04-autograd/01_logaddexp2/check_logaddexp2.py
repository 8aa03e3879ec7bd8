"""Do the formulas hold for all shapes and for large numbers, need no result, and can they be differentiated again?"""

import inspect
import math
import random

import glasstorch as torch
from glasstorch.autograd.engine import sum_to
from workbook.exercises.asking import Ask, close, expect

FORMULAS = {"self": "logaddexp2_self", "other": "logaddexp2_other"}
SHAPES = (  # of self, of other
    ((), ()),
    ((3,), (3,)),
    ((3,), ()),
    ((2, 1), (4,)),
    ((3,), (2, 1, 3)),
    ((1, 2), (3, 1)),
)
FAR = (  # self, other, the share of self
    (1000.0, -1000.0, 1.0),
    (-1000.0, 1000.0, 0.0),
    (3000.0, 3000.0, 0.5),
    (-3000.0, -3000.0, 0.5),
    (-3000.0, -3001.0, 2 / 3),
)

draw = random.Random("04.1")


def tensor(shape: tuple[int, ...], dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Numbers between -3 and 3, the same in every run."""
    numbers = [draw.uniform(-3, 3) for _ in range(math.prod(shape))]
    return torch.tensor(numbers, dtype=dtype).view(shape)


def names(ask: Ask, formula: str) -> list[str]:
    """The names of the parameters."""
    return list(inspect.signature(ask.get(formula)).parameters)


def handed(ask: Ask, formula: str, grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    """What the library would pass to a formula, chosen by the names of its parameters."""
    known = {"grad": grad, "self": x, "other": y, "result": torch.logaddexp2(x, y)}
    return [known[name] for name in names(ask, formula) if name in known]


def test_what_is_saved(ask: Ask) -> None:
    """the names of the parameters of both functions, which decide what the node saves"""
    named = {name for formula in FORMULAS.values() for name in names(ask, formula)}
    because = "the arguments are enough for both formulas; where they are broadcast, the result is larger than both"
    expect("result" in named, False, asked="whether the node saves the result", because=because)


def test_the_gradients(ask: Ask) -> None:
    """the gradients of both arguments"""
    for of_self, of_other in SHAPES:
        for dtype in (torch.float32, torch.float64):
            x, y = tensor(of_self, dtype), tensor(of_other, dtype)
            grad = tensor(tuple((x + y).shape), dtype)
            share = torch.exp2(x) / (torch.exp2(x) + torch.exp2(y))
            of_both = (of_self, grad * share), (of_other, grad * (1 - share))
            for (argument, formula), (shape, accepted) in zip(FORMULAS.items(), of_both, strict=True):
                came = ask(formula, *handed(ask, formula, grad, x, y))
                if getattr(came.value, "shape", shape) == shape:  # summed already
                    accepted = sum_to(accepted, shape)
                asked = f"the gradient of {argument} of shape {shape}, where the result has shape {tuple(grad.shape)}"
                because = "an argument gets as much of the gradient as its power has in 2**self + 2**other"
                expect(came, accepted, same=close, asked=asked, because=because)


def test_far_out(ask: Ask) -> None:
    """the gradients of arguments that are large, or far apart"""
    grad = torch.tensor([10.0] * len(FAR))
    x, y, share = (torch.tensor(list(numbers)) for numbers in zip(*FAR, strict=True))
    for formula, accepted in zip(FORMULAS.values(), (grad * share, grad * (1 - share)), strict=True):
        came = ask(formula, *handed(ask, formula, grad, x, y))
        because = "in float32 2**1000 is infinite and 2**-1000 is 0, so compute with the difference of the arguments"
        expect(came, accepted, same=close, because=because)


def test_the_formulas_can_be_differentiated(ask: Ask) -> None:
    """the derivative of each formula itself, by each of its arguments"""
    for formula in FORMULAS.values():
        x, y, grad = tensor((3,)), tensor((3,)), tensor((3,))
        for place, name in enumerate(names(ask, formula)):
            given = [argument.detach().requires_grad_() for argument in handed(ask, formula, grad, x, y)]
            value = ask(formula, *given).value
            derivative = torch.zeros(3, dtype=torch.float64)
            if value.requires_grad:
                (derivative,) = torch.autograd.grad(value.sum(), given[place], materialize_grads=True)
            asked = f"the derivative of {formula} by {name}, as it was recorded"
            because = f"a small step of {name} gives the expected value; what no operator computes is not recorded"
            expect(derivative, slope(ask, formula, given, place), same=near, asked=asked, because=because)


def slope(ask: Ask, formula: str, given: list[torch.Tensor], place: int) -> torch.Tensor:
    """The slope of a formula, measured by a small step of one argument."""
    with torch.no_grad():
        values = []
        for distance in (1e-5, -1e-5):
            moved = [t + distance if i == place else t.clone() for i, t in enumerate(given)]
            values.append(ask(formula, *moved).value)
    return (values[0] - values[1]) / 2e-5


def near(derivative: torch.Tensor, accepted: torch.Tensor) -> bool:
    """Whether a derivative equals the measured slope, within the precision of the measurement."""
    return torch.allclose(derivative, accepted, atol=1e-6)
