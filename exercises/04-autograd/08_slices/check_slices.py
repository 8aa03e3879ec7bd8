"""Does a gradient pass through the operator within the part and unchanged outside it, whatever its layout?"""

from collections.abc import Callable

import glasstorch as torch
from workbook.exercises.asking import Ask, Raises, close, expect

Tensor = torch.Tensor
PARTS: dict[str, Callable[[Tensor], Tensor]] = {
    "y[1]": lambda y: y[1],
    "y[:, :2]": lambda y: y[:, :2],
    "y[:, 2]": lambda y: y[:, 2],
    "y.t()[1:]": lambda y: y.t()[1:],
    "y[:, 1:][0]": lambda y: y[:, 1:][0],
    "y.diagonal()": lambda y: y.diagonal(),
}


def numbers(*shape: int, begin: int = 1) -> Tensor:
    """Consecutive numbers in a tensor of this shape."""
    size = torch.Size(shape).numel()
    return torch.arange(begin, begin + size, dtype=torch.float64).view(*shape)


def multiplied(part_of: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """A (2, 3) tensor, a part of which was multiplied in place, and the factor."""
    y = numbers(2, 3).requires_grad_() * 1
    factor = numbers(*part_of(y).shape, begin=11).requires_grad_()
    part_of(y).mul_(factor)
    return y, factor


def both(came: tuple[Tensor, Tensor]) -> Tensor:
    """Two gradients as the elements of one tensor."""
    return torch.cat([grad.flatten() for grad in came])


def test_both_gradients(ask: Ask) -> None:
    """the gradients of the old base and of the factor, after a part of y was multiplied in place"""
    for program, part_of in PARTS.items():
        for transposed in (False, True):
            y, factor = multiplied(part_of)
            grad = numbers(3, 2, begin=5).t() if transposed else numbers(2, 3, begin=5)
            of_base, of_factor = grad.contiguous().clone(), part_of(grad) * part_of(numbers(2, 3))
            part_of(of_base).mul_(factor.detach())
            asked = f"both gradients after {program}.mul_(factor), where y has shape (2, 3)"
            if transposed:
                asked += " and the gradient that arrives is laid out column by column"
            because = "within the part the gradient goes through the operator's node; outside it passes unchanged"
            came = ask("apply", y.grad_fn, [grad])
            expect(came, both((of_base, of_factor)), read=both, same=close, asked=asked, because=because)


def test_the_gradient_that_arrived(ask: Ask) -> None:
    """the gradient that arrived, after a step under no_grad"""
    y, _ = multiplied(lambda y: y[1])
    grad = numbers(2, 3)
    with torch.no_grad():
        ask("apply", y.grad_fn, [grad])
    expect(grad.tolist(), numbers(2, 3).tolist(), because="another node may use the same tensor; do not write into it")


def test_no_memory_is_shared(ask: Ask) -> None:
    """whether two of the gradients share memory, where the operator's node returns the gradient that it gets"""
    y, other = numbers(2, 3).requires_grad_() * 1, numbers(3).requires_grad_()
    y[1].add_(other)
    with torch.no_grad():
        came = ask("apply", y.grad_fn, [torch.ones(2, 3, dtype=torch.float64)])

    def shared(came: tuple[Tensor, Tensor]) -> bool:
        first, second = (grad.untyped_storage().data_ptr() for grad in came)
        return first == second

    because = "the node of add_ returns the tensor that it gets, so it must get a copy of the part"
    expect(came, False, read=shared, because=because)


def test_a_second_derivative(ask: Ask) -> None:
    """the derivatives of the two gradients by the gradient that arrived and by the factor, as recorded"""
    y, factor = multiplied(lambda y: y[1])
    grad = numbers(2, 3).requires_grad_()
    of_base, of_factor = ask("apply", y.grad_fn, [grad]).value
    total, came = of_base.sum() + of_factor.sum(), torch.zeros(9, dtype=torch.float64)
    if total.requires_grad:
        by = torch.autograd.grad(total, (grad, factor), materialize_grads=True)
        came = both(by)
    accepted = torch.tensor([1, 1, 1, 11 + 4, 12 + 5, 13 + 6, 4, 5, 6], dtype=torch.float64)
    expect(came, accepted, same=close, because="the step consists of operators, and each of them is recorded")


def test_no_gradient_arrives(ask: Ask) -> None:
    """what the step returns where no gradient has arrived"""
    y, _ = multiplied(lambda y: y[1])
    because = "None means that no gradient has arrived; the step then returns a None for each edge"
    expect(ask("apply", y.grad_fn, [None]), [None, None], read=list, because=because)


def test_a_graph_that_was_freed(ask: Ask) -> None:
    """the error of a step whose graph was freed"""
    y, _ = multiplied(lambda y: y[1])
    y.sum().backward()
    accepted = Raises(RuntimeError, "Trying to backward through the graph a second time")
    because = "release_variables has dropped the operator's node, so there is nothing to run"
    expect(ask("apply", y.grad_fn, [torch.ones(2, 3, dtype=torch.float64)]), accepted, because=because)


def test_a_base_without_a_gradient(ask: Ask) -> None:
    """the gradient of w, which was copied into a part of a tensor of zeros"""
    y, w = torch.zeros(2, 3, dtype=torch.float64), numbers(3).requires_grad_()
    y[1].copy_(w)
    came = ask("apply", y.grad_fn, [numbers(2, 3)])
    because = "the zeros need no gradient, but w does"
    expect(came, [4.0, 5.0, 6.0], read=lambda came: came[1].tolist(), because=because)
