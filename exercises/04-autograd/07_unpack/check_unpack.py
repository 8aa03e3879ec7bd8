"""Is a saved tensor returned with its history, and only while it is as it was saved?"""

from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch.autograd import forward_ad
from workbook.exercises.asking import Ask, Raises, expect

Tensor = torch.Tensor
NOTICED: dict[str, Callable[[Tensor], object]] = {
    "hidden.mul_(3)": lambda hidden: hidden.mul_(3),
    "hidden.detach().mul_(3)": lambda hidden: hidden.detach().mul_(3),
    "hidden.view(2, 1).zero_()": lambda hidden: hidden.view(2, 1).zero_(),
    "hidden[:1].zero_()": lambda hidden: hidden[:1].zero_(),
    "hidden.mul_(1)": lambda hidden: hidden.mul_(1),
}
UNNOTICED: dict[str, Callable[[Tensor], object]] = {
    "hidden * 3": lambda hidden: hidden * 3,
    "hidden.clone().mul_(3)": lambda hidden: hidden.clone().mul_(3),
    "hidden.data.mul_(3)": lambda hidden: hidden.data.mul_(3),
}


def computed() -> Tensor:
    """A tensor with a history that was changed once before it is saved."""
    return (torch.tensor([2.0, 3.0], requires_grad=True) * 1).add_(1)


class Sorted(torch.autograd.Function):
    """The elements in ascending order, and the places where they were."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        values, places = x.sort()
        ctx.save_for_backward(places)
        return values, places

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: object) -> Tensor:
        (places,) = ctx.saved_tensors
        return torch.zeros_like(grad).scatter(0, places, grad)


def test_an_argument(ask: Ask) -> None:
    """what is returned for an argument whose version has not changed since it was saved"""
    for program, change in UNNOTICED.items():
        for hidden in (computed(), computed().detach().requires_grad_()):
            node = (hidden * hidden).grad_fn
            change(hidden)

            def named(came: object, hidden: Tensor = hidden) -> object:
                return "the argument itself" if came is hidden else came

            came = ask("unpack", node.saved_self, node)
            asked = f"hidden, saved at version {hidden._version}, after {program}"
            because = "its version is the saved one, and the argument has the history that a second derivative needs"
            expect(came, "the argument itself", read=named, asked=asked, because=because)


def test_a_change_is_noticed(ask: Ask) -> None:
    """the error for an argument whose memory was changed in place"""
    for program, change in NOTICED.items():
        hidden = computed()
        node = (hidden * hidden).grad_fn
        change(hidden)
        accepted = Raises(RuntimeError, "is at version 2; expected version 1 instead")
        asked = f"hidden, saved at version 1, after {program}"
        because = "all these tensors share one counter, which counts each write whatever was written"
        expect(ask("unpack", node.saved_self, node), accepted, asked=asked, because=because)


def test_detached_in_place(ask: Ask) -> None:
    """the error for an argument that has lost its history"""
    hidden = computed()
    node = (hidden * hidden).grad_fn
    hidden.detach_()
    came = ask("unpack", node.saved_self, node)
    because = "its numbers are right, but a second derivative through it would be missing"
    expect(came, Raises(RuntimeError, "use a saved tensor that has been detached in-place"), because=because)
    came = ask("unpack", node.saved_self, node, shown=True)
    because = "with shown=True the tensor is only looked at, which is allowed"
    asked = "the detached argument, called with shown=True"
    expect(came, [3.0, 4.0], read=lambda came: came.tolist(), asked=asked, because=because)


def test_a_result(ask: Ask) -> None:
    """the history of a saved result: its node, and the number of the result"""
    matrix = torch.tensor([[2.0, 1.0], [0.0, 3.0]], requires_grad=True)
    for node, slot, number in (
        (matrix.exp().grad_fn, "saved_result", 0),
        (torch.linalg.qr(matrix)[0].grad_fn, "saved_Q", 0),
        (torch.linalg.qr(matrix)[0].grad_fn, "saved_R", 1),
    ):
        saved = getattr(node, slot)
        came = ask("unpack", saved, node)
        asked = f"the history of {slot} of {node.name()}"

        def history(came: Tensor) -> object:
            return (came.grad_fn and came.grad_fn.name(), came.output_nr)

        because = "a second derivative is computed through the saved result and the node that made it"
        expect(came, (node.name(), number), read=history, asked=asked, because=because)
        because = "if the kept tensor had the node as its grad_fn, the node and the tensor would form a cycle"
        asked = f"the grad_fn of the kept tensor, {slot}.tensor, after the call"
        ask.last = came
        kept = saved.tensor.grad_fn
        expect(kept and kept.name(), None, asked=asked, because=because)


def test_a_changed_result(ask: Ask) -> None:
    """the error for a saved result that was changed in place"""
    result = torch.tensor([1.0, 2.0], requires_grad=True).exp()
    node = result.grad_fn
    result.add_(1)
    because = "the kept tensor shares its memory and its counter with the result"
    accepted = Raises(RuntimeError, "output 0 of Exp, is at version 1; expected version 0 instead")
    expect(ask("unpack", node.saved_result, node), accepted, because=because)


def test_integers(ask: Ask) -> None:
    """whether a saved result of integers requires grad, here the places that a Function has saved"""
    ordered: Any = Sorted.apply(torch.tensor([3.0, 1.0], requires_grad=True))
    node = ordered[0].grad_fn
    came = ask("unpack", node._raw_saved_tensors[0], node)
    because = "no gradient flows through integers"
    expect(came, False, read=lambda came: came.requires_grad, because=because)


def test_a_tangent(ask: Ask) -> None:
    """the tangent of a result that was saved in forward mode"""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        result = forward_ad.make_dual(x, torch.tensor([1.0, 0.0])).exp()
        node = result.grad_fn
        came = ask("unpack", node.saved_result, node)
        expect(
            came,
            forward_ad.unpack_dual(result).tangent.tolist(),
            read=lambda came: getattr(forward_ad.unpack_dual(came).tangent, "tolist", list)(),
            because="forward over reverse differentiates the backward pass along this tangent",
        )
