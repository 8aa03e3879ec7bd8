"""Does the kernel record when it should, and is its node right, differentiable, safe, thrifty and free of cycles?"""

import gc
import math
import random
import weakref

import glasstorch as torch
from glasstorch.autograd.engine import sum_to
from glasstorch.core.keys import DispatchKeySet
from workbook.exercises.asking import Ask, Came, close, expect
from workbook.exercises.value_text import short

WANTED = (("self", "other"), ("self",), ("other",))
SHAPES = (((3,), (3,)), ((2, 1), (3,)), ((), (2, 2)))

draw = random.Random("04.2")


class Keys(int):
    """A key set that shows the names of its keys."""

    def __repr__(self) -> str:
        return "{" + ", ".join(key.name for key in DispatchKeySet(int(self))) + "}"


def tensor(shape: tuple[int, ...]) -> torch.Tensor:
    """Numbers between 1 and 4 of either sign, the same in every run."""
    numbers = [draw.uniform(1, 4) * draw.choice((-1, 1)) for _ in range(math.prod(shape))]
    return torch.tensor(numbers, dtype=torch.float64).view(shape)


def given(
    wanted: tuple[str, ...] = ("self", "other"), shapes: tuple[tuple[int, ...], ...] = SHAPES[0]
) -> dict[str, torch.Tensor]:
    """Two arguments, of which the named ones require a gradient."""
    return {
        name: tensor(shape).requires_grad_(name in wanted)
        for name, shape in zip(("self", "other"), shapes, strict=True)
    }


def call(ask: Ask, x: torch.Tensor, y: torch.Tensor) -> Came:
    """The outcome of the kernel, called as the dispatcher calls it."""
    return ask("hypot", Keys(x.key_set | y.key_set), x, y)


def length(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The expected value."""
    return (x.detach() ** 2 + y.detach() ** 2).sqrt()


def test_the_value(ask: Ask) -> None:
    """the length of two arguments together"""
    large = (torch.tensor([value], dtype=torch.float64) for value in (3e200, 4e200, 5e200))
    for x, y, accepted in (
        *((x, y, length(x, y)) for x, y in (given((), shapes).values() for shapes in SHAPES)),
        *((x, y, length(x, y)) for x, y in (given(wanted).values() for wanted in WANTED)),
        large,
    ):
        because = "the kernel below computes the value, whether or not the call is recorded"
        expect(call(ask, x, y), accepted, same=close, because=because)


def test_no_gradient_is_wanted(ask: Ask) -> None:
    """whether the result requires grad where no argument does"""
    result = call(ask, *given(()).values()).value
    because = "neither argument has an edge that leads anywhere, so there is nothing to record"
    expect(result.requires_grad, False, because=because)


def test_recording_is_off(ask: Ask) -> None:
    """whether the result requires grad where it was computed under no_grad"""
    arguments = given()
    with torch.no_grad():
        result = call(ask, *arguments.values()).value
    expect(result.requires_grad, False, because="the kernel itself has to look at the grad mode; the caller did not")


def test_the_derivatives(ask: Ask) -> None:
    """the first and the second derivative by each argument whose gradient is wanted"""
    for wanted in WANTED:
        for shapes in SHAPES:
            arguments = given(wanted, shapes)
            x, y = (argument.detach() for argument in arguments.values())
            r = length(x, y)
            arrives = tensor(tuple(r.shape))
            first = {"self": arrives * x / r, "other": arrives * y / r}
            second = {"self": arrives * y**2 / r**3, "other": arrives * x**2 / r**3}
            for name in wanted:
                value = call(ask, *arguments.values()).value
                for which, accepted in (("first", first[name]), ("second", second[name])):
                    came = torch.zeros_like(arguments[name])
                    if value.requires_grad:
                        arriving = arrives if which == "first" else torch.ones_like(came)
                        (came,) = torch.autograd.grad(
                            value, arguments[name], arriving, create_graph=True, materialize_grads=True
                        )
                    asked = (
                        f"the {which} derivative by {name}, where gradients are wanted of {' and '.join(wanted)}, the "
                        f"shapes are {shapes[0]} and {shapes[1]}, and {short(arrives)} arrives"
                    )
                    because = "the first is the gradient times argument / result, where result depends on argument, too"
                    expect(came, sum_to(accepted, shapes[name == "other"]), same=close, asked=asked, because=because)
                    value = came


def test_a_change_in_place(ask: Ask) -> None:
    """the gradients, or a RuntimeError, after a tensor that the node may have saved was changed in place"""
    for changed in ("self", "other", "result"):
        arguments = given()
        result = call(ask, *arguments.values()).value
        accepted = [argument.detach() / result.detach() for argument in arguments.values()]
        with torch.no_grad():
            {**arguments, "result": result}[changed].mul_(3)
        try:
            came: list[object] = [*torch.autograd.grad(result.sum(), [*arguments.values()])]
        except RuntimeError:
            continue  # noticed
        except Exception as error:  # noqa: BLE001 (whatever it is, it is no gradient)
            came = [error]
        because = (
            f"{changed} was changed in place; a SavedVariable compares versions and raises before a gradient is wrong"
        )
        expect(came, accepted, same=all_close, because=because)


def all_close(came: list[object], accepted: list[torch.Tensor]) -> bool:
    """Whether all tensors equal those expected, except for rounding."""
    return all(map(close, came, accepted))


def test_what_is_kept(ask: Ask) -> None:
    """the arguments that are still in memory before a pass and after it, when the program holds only the result"""
    for wanted in WANTED:
        leaves = given(wanted)
        arguments = {name: leaf * 1 for name, leaf in leaves.items()}
        alive = {name: weakref.ref(argument) for name, argument in arguments.items()}
        result = call(ask, *arguments.values()).value
        arguments.clear()
        kept = [[name for name, argument in alive.items() if argument() is not None]]
        torch.autograd.grad(result.sum(), [leaves[name] for name in wanted])
        kept.append([name for name, argument in alive.items() if argument() is not None])
        asked = f"the arguments in memory before a pass and after it; gradients are wanted of {' and '.join(wanted)}"
        because = "a node saves what the wanted gradients need, and drops all of it when it has run"
        expect(kept, [[*wanted], []], asked=asked, because=because)


def test_the_node_dies_with_its_result(ask: Ask) -> None:
    """whether the node outlives its result while the garbage collector is off"""
    arguments = given()
    gc.collect()
    gc.disable()
    try:
        result = call(ask, *arguments.values()).value
        node = weakref.ref(result.grad_fn)
        ask.last = result = None
        alive = node() is not None
    finally:
        gc.enable()
    because = "a result holds its node; if the node holds the result, too, only the garbage collector frees the two"
    expect(alive, False, because=because)


def test_no_gradient_arrives(ask: Ask) -> None:
    """what the node's apply returns where no gradient has arrived"""
    node = call(ask, *given().values()).value.grad_fn
    try:
        gives = node.apply([None])
    except (TypeError, AttributeError, RuntimeError) as error:
        gives = error
    because = "None means that no gradient has arrived; the node then returns a None for each of its edges"
    expect(gives, (None, None), because=because)


def test_a_second_pass(ask: Ask) -> None:
    """the error of a second pass through the same node"""
    arguments = given()
    result = call(ask, *arguments.values()).value
    said = "none: the second pass went through"
    try:
        for _ in range(2):
            torch.autograd.grad(result.sum(), [*arguments.values()])
    except RuntimeError as error:
        said = str(error)[:54]
    except Exception as error:  # noqa: BLE001 (`expect` tells it)
        said = f"{type(error).__name__}: {error}"
    because = "the engine calls release_variables when the node has run; it must drop what was saved and set released"
    expect(said, "Trying to backward through the graph a second time (or", because=because)
