"""Does the kernel record when it should, and is its node right, twice differentiable, safe and free of cycles?"""

import gc
import math
import weakref

import glasstorch as torch
from glasstorch.core.keys import DispatchKeySet
from workbook.exercises.asking import Ask, Came, close, expect

VALUES = (0.0, 0.3, -1.7, 2.5)


def leaf() -> torch.Tensor:
    """A leaf that wants a gradient."""
    return torch.tensor(VALUES, dtype=torch.float64, requires_grad=True)


class Keys(int):
    """A key set that shows the names of its keys."""

    def __repr__(self) -> str:
        return "{" + ", ".join(key.name for key in DispatchKeySet(int(self))) + "}"


def call(ask: Ask, x: torch.Tensor) -> Came:
    """What comes of the kernel, called as the dispatcher calls it."""
    return ask("sigmoid", Keys(x.key_set), x)


def right(value: float) -> float:
    """The sigmoid of a number."""
    return 1 / (1 + math.exp(-value))


def numbers(values: list[float]) -> torch.Tensor:
    """What is accepted, as a tensor."""
    return torch.tensor(values, dtype=torch.float64)


def test_the_value(ask: Ask) -> None:
    """the sigmoid of a tensor"""
    for x in (leaf().detach(), leaf()):
        because = "the kernel below computes it, whether or not the call is recorded"
        expect(call(ask, x), numbers([right(v) for v in VALUES]), same=close, because=because)


def test_no_gradient_is_wanted(ask: Ask) -> None:
    """whether a result requires grad whose argument does not"""
    x = leaf().detach()
    result = call(ask, x).value
    expect(
        result.requires_grad, False, because="the gradient of the argument leads nowhere, so there is nothing to record"
    )


def test_recording_is_off(ask: Ask) -> None:
    """whether a result requires grad that was computed under no_grad"""
    x = leaf()
    with torch.no_grad():
        result = call(ask, x).value
    expect(result.requires_grad, False, because="the kernel itself has to look at the grad mode; nobody did it before")


def test_the_derivatives(ask: Ask) -> None:
    """the first and the second derivative by the argument"""
    x = leaf()
    value = result = call(ask, x).value
    arrives, s = numbers([1.0, 2.0, 3.0, 4.0]), result.detach()
    accepted = {
        "first derivative": (arrives * s * (1 - s), "it is result * (1 - result), times what arrives"),
        "second derivative": (arrives * s * (1 - s) * (1 - 2 * s), "the slope depends on the saved result"),
    }
    for which, (derivative, because) in accepted.items():
        if value.requires_grad:
            arriving = arrives if which == "first derivative" else torch.ones_like(s)
            (value,) = torch.autograd.grad(value, x, arriving, create_graph=True, materialize_grads=True)
        else:
            value = torch.zeros_like(s)
        asked = f"the {which} by the argument, where [1, 2, 3, 4] arrives at the node"
        expect(value, derivative, same=close, asked=asked, because=because)


def test_a_change_in_place(ask: Ask) -> None:
    """the gradient, or a refusal, after somebody wrote into a tensor that the node may have saved"""
    for changed in ("the result", "the argument"):
        x = leaf()
        result = call(ask, x).value
        values = result.detach().clone()
        with torch.no_grad():
            {"the result": result, "the argument": x}[changed].mul_(3)
        try:
            (gradient,) = torch.autograd.grad(result.sum(), x)
        except RuntimeError:
            continue  # noticed
        except Exception as error:  # noqa: BLE001 (whatever it is, it is no gradient)
            gradient = error
        because = (
            f"{changed} was changed in place: a saved tensor is compared with its version, or the gradient is wrong"
        )
        expect(gradient, values * (1 - values), same=close, because=because)


def test_the_node_dies_with_its_result(ask: Ask) -> None:
    """whether the node is still there when its result is not, before any collection of cycles"""
    x = leaf()
    gc.collect()
    gc.disable()
    try:
        result = call(ask, x).value
        node = weakref.ref(result.grad_fn)
        ask.last = result = None
        alive = node() is not None
    finally:
        gc.enable()
    because = "a result holds its node; a node that holds its result makes a cycle, and only a collector frees that"
    expect(alive, False, because=because)


def test_no_gradient_arrives(ask: Ask) -> None:
    """what the node gives for its argument where no gradient has arrived"""
    x = leaf()
    node = call(ask, x).value.grad_fn
    try:
        gives = node.apply([None])
    except (TypeError, AttributeError, RuntimeError) as error:
        gives = error
    expect(
        gives, (None,), because="None says that no gradient came this way; the node hands that on, one for each edge"
    )


def test_the_memory_is_given_back(ask: Ask) -> None:
    """what a second pass through the same node says"""
    x = leaf()
    result = call(ask, x).value
    torch.autograd.grad(result.sum(), x)
    said = "nothing: it went through"
    try:
        torch.autograd.grad(result.sum(), x)
    except RuntimeError as error:
        said = str(error)[:54]
    except Exception as error:  # noqa: BLE001 (`expect` tells it)
        said = f"{type(error).__name__}: {error}"
    because = (
        "the engine calls release_variables when the node has run: it lets go of what was saved, and sets released"
    )
    expect(said, "Trying to backward through the graph a second time (or", because=because)
