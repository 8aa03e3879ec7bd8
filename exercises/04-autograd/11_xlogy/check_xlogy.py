"""Are the value and the gradients right, at zero too, and are tensors saved so that changes are noticed?"""

import math
import random
import weakref

import glasstorch as torch
from glasstorch.autograd.engine import sum_to
from workbook.exercises.asking import Ask, Came, close, expect
from workbook.exercises.value_text import short

WANTED = (("x", "y"), ("x",), ("y",))
SHAPES = (((3,), (3,)), ((2, 1), (3,)), ((), (2, 2)))

draw = random.Random("04.11")


def tensor(shape: tuple[int, ...], least: float = 0.5) -> torch.Tensor:
    """Numbers up to 4, the same in every run."""
    numbers = [draw.uniform(least, 4) for _ in range(math.prod(shape))]
    return torch.tensor(numbers, dtype=torch.float64).view(shape)


def given(
    wanted: tuple[str, ...] = ("x", "y"), shapes: tuple[tuple[int, ...], ...] = SHAPES[0]
) -> dict[str, torch.Tensor]:
    """Two arguments, of which the named ones require a gradient."""
    return {name: tensor(shape).requires_grad_(name in wanted) for name, shape in zip(("x", "y"), shapes, strict=True)}


def call(ask: Ask, x: torch.Tensor, y: torch.Tensor) -> Came:
    """The outcome of the kernel, called as the dispatcher calls it."""
    return ask("xlogy", x.key_set | y.key_set, x, y)


def test_the_value(ask: Ask) -> None:
    """the value, and also where an argument is 0"""
    for x, y, accepted in (
        ([2.0, 3.0], [1.0, 2.0], [0.0, 3 * math.log(2)]),
        ([0.0, 0.0, -1.0], [0.0, 2.0, 0.5], [0.0, 0.0, math.log(2)]),
        ([0.0, 0.0], [math.inf, -1.0], [0.0, 0.0]),
    ):
        because = "where x is 0 the value is 0, even if the logarithm is infinite or not defined"
        expect(call(ask, torch.tensor(x), torch.tensor(y)), torch.tensor(accepted), same=close, because=because)


def test_the_derivatives(ask: Ask) -> None:
    """the gradients where no argument is 0, and their derivatives"""
    for wanted in WANTED:
        for shapes in SHAPES:
            arguments = given(wanted, shapes)
            x, y = (argument.detach() for argument in arguments.values())
            arrives = tensor(tuple((x + y).shape), -4)
            first = {"x": arrives * y.log(), "y": arrives * x / y}
            again = {"x": torch.zeros_like(arrives), "y": -arrives * x / y**2}
            for name in wanted:
                value = call(ask, *arguments.values()).value
                shape = shapes[name == "y"]
                for which, accepted in (("first", first[name]), ("second", again[name])):
                    came = torch.zeros_like(arguments[name])
                    if value.requires_grad:
                        arriving = arrives if which == "first" else torch.ones_like(value)
                        (came,) = torch.autograd.grad(
                            value, arguments[name], arriving, create_graph=True, materialize_grads=True
                        )
                    asked = (
                        f"the {which} derivative by {name}, where gradients are wanted of {' and '.join(wanted)}, the "
                        f"shapes are {shapes[0]} and {shapes[1]}, and {short(arrives)} arrives"
                    )
                    because = "each slope is multiplied by the gradient that arrives, and itself depends on x and y"
                    expect(came, sum_to(accepted, shape), same=close, asked=asked, because=because)
                    value = came


def test_the_gradient_at_zero(ask: Ask) -> None:
    """the gradient of x where x is 0"""
    x = torch.zeros(4, requires_grad=True)
    y = torch.tensor([0.0, -1.0, 0.5, 3.0])
    value = call(ask, x, y).value
    (came,) = torch.autograd.grad(value, x, torch.tensor([2.0, 3.0, 4.0, 5.0]))
    accepted = torch.tensor([0.0, 0.0, 4 * math.log(0.5), 5 * math.log(3)])
    asked = f"the gradient of x, which is 0 everywhere, for y = {short(y)}"
    because = "the slope is 0 where y is 0 or below, and log(y) where y is above 0, although the value is 0 there, too"
    expect(came, accepted, same=close, asked=asked, because=because)


def test_a_gradient_that_nobody_wants(ask: Ask) -> None:
    """the arguments for which backward returns a gradient that is not None"""
    for wanted in WANTED:
        value = call(ask, *given(wanted).values()).value
        returned = ask.get("Xlogy").backward(value.grad_fn, torch.ones_like(value))
        came = tuple(name for name, gradient in zip(("x", "y"), returned, strict=True) if gradient is not None)
        asked = f"the arguments with a gradient from backward, where that of {' and '.join(wanted)} is wanted"
        expect(came, wanted, asked=asked, because="ctx.needs_input_grad says which gradients are wanted")


def test_a_change_in_place(ask: Ask) -> None:
    """the gradients, or a RuntimeError, after an argument was changed in place"""
    for changed in ("x", "y"):
        leaves = given()
        arguments = {name: leaf * 1 for name, leaf in leaves.items()}
        x, y = (leaf.detach() for leaf in leaves.values())
        value = call(ask, *arguments.values()).value
        with torch.no_grad():
            arguments[changed].mul_(3)
        try:
            came: list[object] = [*torch.autograd.grad(value.sum(), [*leaves.values()])]
        except RuntimeError:
            continue  # noticed
        because = f"{changed} was changed in place; save_for_backward notices that, an attribute of ctx does not"
        expect(came, [y.log(), x / y], same=all_close, because=because)


def all_close(came: list[object], accepted: list[torch.Tensor]) -> bool:
    """Whether all tensors equal those expected, except for rounding."""
    return all(map(close, came, accepted))


def test_what_is_kept_after_a_pass(ask: Ask) -> None:
    """the arguments that are still in memory after a backward pass, when the program holds only the result"""
    leaves = given()
    arguments = {name: leaf * 1 for name, leaf in leaves.items()}
    alive = {name: weakref.ref(argument) for name, argument in arguments.items()}
    value = call(ask, *arguments.values()).value
    arguments.clear()
    torch.autograd.grad(value.sum(), [*leaves.values()])
    came = [name for name, argument in alive.items() if argument() is not None]
    because = "the engine releases saved tensors when the node has run, but not other attributes of ctx"
    expect(came, [], because=because)


def test_under_a_transform(ask: Ask) -> None:
    """the gradient that torch.func.grad computes"""
    x, y = given(()).values()
    kernel = ask.get("xlogy")
    try:
        came: object = torch.func.grad(lambda x: kernel(x.key_set, x, y).sum())(x)
    except RuntimeError as error:
        came = error
    because = "a transform computes at one level and records at another, so forward must not need a ctx"
    expect(came, y.log(), same=close, because=because)
