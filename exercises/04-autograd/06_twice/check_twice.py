"""Are both formulas right along any dimension, can they be differentiated again, and do they stay small?"""

import inspect
import math
import random
from collections.abc import Sequence

import glasstorch as torch
from glasstorch.utils._python_dispatch import TorchDispatchMode
from workbook.exercises.asking import Ask, close, expect

FORMULAS = ("of_grad_output", "of_output")
PLACES = (((3,), 0), ((2, 3), 1), ((2, 3), -2), ((2, 2, 3), -1), ((2, 3, 2), 1))  # shapes, and along which dimension

draw = random.Random("04.6")


def tensor(shape: Sequence[int]) -> torch.Tensor:
    """Numbers between -2 and 2, the same in every run."""
    numbers = [draw.uniform(-2, 2) for _ in range(math.prod(shape))]
    return torch.tensor(numbers, dtype=torch.float64).view(*shape)


def names(ask: Ask, formula: str) -> list[str]:
    """The names of the parameters."""
    return list(inspect.signature(ask.get(formula)).parameters)


def handed(ask: Ask, formula: str, shape: Sequence[int], dim: int) -> list[torch.Tensor | int]:
    """What the library would pass to a formula, chosen by the names of its parameters."""
    known = {"grad": tensor(shape), "grad_output": tensor(shape), "output": tensor(shape), "dim": dim}
    return [known[name] for name in names(ask, formula) if name in known]


def moved(ask: Ask, formula: str, given: list[torch.Tensor | int], dim: int) -> torch.Tensor:
    """The gradient by its definition: how the operator's result changes with a step of each element."""
    grad, *_, s, _ = given
    g = given[1] if formula == "of_output" else tensor(s.shape)
    found = torch.zeros_like(s).flatten()
    for place in range(found.numel()):
        step = torch.zeros_like(found)
        step[place] = 0.5  # the operator is of the second degree: a wide step is exact
        step = step.view(s.shape)
        values = []
        for sign in (1, -1):
            left, right = (g, s + sign * step) if formula == "of_output" else (g + sign * step, s)
            values.append(right * (left - (right * left).sum(dim, keepdim=True)))
        found[place] = (grad * (values[0] - values[1])).sum()
    return found.view(s.shape)


class Largest(TorchDispatchMode):
    """Remembers how many elements the largest result of an operator had."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.elements = max(self.elements, result.numel())
        return result


def at_most(count: int, limit: int) -> bool:
    """Whether a count is within a limit."""
    return count <= limit


def test_what_is_saved(ask: Ask) -> None:
    """whether the node saves g for the gradient of g"""
    because = "the operator's result is linear in g, so its derivative by g does not depend on g"
    expect("grad_output" in names(ask, "of_grad_output"), False, because=because)


def test_the_gradients(ask: Ask) -> None:
    """the gradients of both arguments"""
    for shape, dim in PLACES:
        for formula in FORMULAS:
            given = handed(ask, formula, shape, dim)
            came = ask(formula, *given)
            asked = f"{formula} of tensors of shape {shape}, along dimension {dim}"
            because = "a small step of each element gives the expected value; s need not add up to 1"
            expect(came, moved(ask, formula, given, dim), same=close, asked=asked, because=because)


def test_the_formulas_can_be_differentiated(ask: Ask) -> None:
    """the derivative of each formula itself, by each of its tensors"""
    for formula in FORMULAS:
        given = handed(ask, formula, (3,), 0)
        for place, name in enumerate(names(ask, formula)[:-1]):
            tensors = [given[i].detach().requires_grad_() for i in range(len(given) - 1)]
            value = ask(formula, *tensors, 0).value
            derivative = torch.zeros(3, dtype=torch.float64)
            if value.requires_grad:
                weights = torch.arange(1.0, 4.0, dtype=torch.float64)
                (derivative,) = torch.autograd.grad(value, tensors[place], weights, materialize_grads=True)
            asked = f"the derivative of {formula} by {name}, as it was recorded"
            because = f"a small step of {name} gives the expected value; what no operator computes is not recorded"
            expect(derivative, slope(ask, formula, tensors, place), same=near, asked=asked, because=because)


def slope(ask: Ask, formula: str, tensors: list[torch.Tensor], place: int) -> torch.Tensor:
    """How the weighted sum of a formula's values changes with a small step of each element of one tensor."""
    found = torch.zeros(3, dtype=torch.float64)
    weights = torch.arange(1.0, 4.0, dtype=torch.float64)
    with torch.no_grad():
        for element in range(3):
            sums = []
            for distance in (1e-5, -1e-5):
                given = [t.clone() for t in tensors]
                given[place][element] += distance
                sums.append((ask(formula, *given, 0).value * weights).sum())
            found[element] = (sums[0] - sums[1]) / 2e-5
    return found


def near(derivative: torch.Tensor, accepted: torch.Tensor) -> bool:
    """Whether a derivative equals the measured slope, within the precision of the measurement."""
    return torch.allclose(derivative, accepted, atol=1e-6)


def test_no_jacobian_is_built(ask: Ask) -> None:
    """the size of the largest tensor that a formula makes for lines of 40 elements"""
    for formula in FORMULAS:
        given = handed(ask, formula, (2, 40), 1)
        with Largest() as largest:
            ask(formula, *given)
        because = "the Jacobian of a line has 1,600 entries; compute its product with a vector without building it"
        asked = f"how many elements the largest tensor has that {formula} makes from tensors of 80 elements"
        expect(largest.elements, 80, same=at_most, asked=asked, because=because)
