"""Is the formula right, does it keep the result alone, and can it be differentiated again?"""

import inspect
import math
import random

import glasstorch as torch
from workbook.exercises.asking import Ask, close, expect


def tensor(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers between -2 and 2, the same in every run."""
    draw = random.Random(f"04.1 {shape}")
    numbers = [draw.uniform(-2, 2) for _ in range(math.prod(shape))]
    return torch.tensor(numbers, dtype=dtype).view(shape)


def arguments(ask: Ask, grad: torch.Tensor, x: torch.Tensor) -> list[torch.Tensor]:
    """What the library would hand to the formula, by the names of its parameters."""
    known = {"grad": grad, "self": x, "result": torch.tanh(x)}
    return [known[name] for name in names(ask) if name in known]


def names(ask: Ask) -> list[str]:
    """What the parameters are called."""
    return list(inspect.signature(ask.get("tanh_self")).parameters)


def test_what_is_saved(ask: Ask) -> None:
    """the names of the parameters: the gradient, and what the node is to save"""
    because = "the result stays in memory anyway, for the operator that takes it next; the argument would come on top"
    expect(sorted(names(ask)), ["grad", "result"], because=because)


def test_the_gradient(ask: Ask) -> None:
    """the gradient of the argument"""
    for shape in ((), (1,), (3,), (2, 3), (2, 1, 4)):
        for dtype in (torch.float32, torch.float64):
            x, grad = tensor(shape, dtype), tensor((2, *shape), dtype)[1]
            slopes = torch.tensor([1 - math.tanh(v) ** 2 for v in x.reshape(-1).tolist()], dtype=dtype).view(shape)
            came = ask("tanh_self", *arguments(ask, grad, x))
            expect(
                came,
                grad * slopes,
                same=close,
                because="tanh rises by 1 - tanh(x) squared, and grad is passed on times that",
            )


def test_the_formula_can_be_differentiated(ask: Ask) -> None:
    """the derivative of the formula itself, by each of its arguments"""
    x, grad = tensor((3,), torch.float64), tensor((2, 3), torch.float64)[1]
    for place, name in enumerate(names(ask)):
        given = [argument.requires_grad_() for argument in arguments(ask, grad, x)]
        value = ask("tanh_self", *given).value
        derivative = torch.zeros(3, dtype=torch.float64)
        if value.requires_grad:
            (derivative,) = torch.autograd.grad(value.sum(), given[place], materialize_grads=True)
        asked = f"the derivative of your formula by {name}, as it was recorded"
        because = f"moving {name} a little gives that; what operators do not do is missing from the record"
        expect(derivative, slope(ask, given, place), same=near, asked=asked, because=because)


def slope(ask: Ask, given: list[torch.Tensor], place: int) -> torch.Tensor:
    """How much the formula changes when one argument is moved."""
    with torch.no_grad():
        values = []
        for distance in (1e-5, -1e-5):
            moved = [t + distance if i == place else t.clone() for i, t in enumerate(given)]
            values.append(ask("tanh_self", *moved).value)
    return (values[0] - values[1]) / 2e-5


def near(derivative: torch.Tensor, accepted: torch.Tensor) -> bool:
    """Whether a derivative is what moving gave, as far as that can be told."""
    return torch.allclose(derivative, accepted, atol=1e-6)
