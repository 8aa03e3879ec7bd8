"""Are the differences those of two calls, are the gradients those of each element, and is nothing left behind?"""

import glasstorch as torch
from workbook.exercises.asking import Ask, close, expect

Tensor = torch.Tensor


def point(*values: float, requires_grad: bool = False) -> Tensor:
    """A vector of float64."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def lists(came: list[list[Tensor | None]]) -> list[list[object]]:
    """The gradients as numbers."""
    return [[None if gradient is None else gradient.tolist() for gradient in row] for row in came]


def near(came: list[Tensor], accepted: list[Tensor]) -> bool:
    """Whether all vectors are those accepted, but for rounding."""
    return len(came) == len(accepted) and all(map(close, came, accepted))


def test_one_element_is_moved(ask: Ask) -> None:
    """the differences of both outputs, when one element of the input is moved"""
    x, y = point(1.0, 2.0), point(3.0, 4.0)
    came = ask("central", lambda x, y: (x * x, (x * y).sum()), (x, y), x[1], 0.5, 0.5)
    accepted = [point(0.0, 4.0), point(4.0)]
    because = "of the outputs only what depends on the element has changed; a number becomes a vector of one element"
    expect(came, accepted, same=near, because=because)


def test_a_tensor_is_moved_along_a_step(ask: Ask) -> None:
    """the differences when a matrix is moved, each element by another distance"""
    x = point(1.0, 2.0, 3.0, 4.0).view(2, 2)
    step = point(0.5, 0.0, 0.25, -0.5).view(2, 2)
    came = ask("central", lambda x: (x * x * x,), (x,), x, step, 0.25)
    accepted = [point(6.5, 0.0, 27.0625, -96.5)]
    because = "the step is eps times a direction, so that what is divided by is 2 * eps"
    expect(came, accepted, same=near, because=because)


def test_the_order_of_the_calls(ask: Ask) -> None:
    """where the function is called"""
    x, seen = point(1.0), []
    ask("central", lambda x: (seen.append(x.item()) or x * 1,), (x,), x, 0.25, 0.25)
    asked = "where func is called, when x is 1 and the step 0.25"
    expect(seen, [0.75, 1.25], asked=asked, because="one step behind comes first")


def test_a_function_that_returns_its_input(ask: Ask) -> None:
    """the difference of a function that returns a view of what is moved"""
    x = point(1.0, 2.0)
    came = ask("central", lambda x: (x.view(2),), (x,), x, 0.5, 0.5)
    because = "the output of the first call shares memory with x, and x moves on"
    expect(came, [point(1.0, 1.0)], same=near, because=because)


def test_the_memory_afterwards(ask: Ask) -> None:
    """the input after a call, also where the function has raised an error"""
    for fails_at in (None, 1, 2):
        x, calls = point(0.1, 0.3), iter((1, 2))

        def squares(x: Tensor, calls=calls, fails_at=fails_at) -> tuple[Tensor, ...]:  # type: ignore[no-untyped-def]
            if next(calls) == fails_at:
                raise ZeroDivisionError
            return (x * x,)

        ask("central", squares, (x,), x, 0.7, 0.7)
        asked = (
            f"x, which was [0.1, 0.3], after a step of 0.7{f' at whose call {fails_at} func failed' * bool(fails_at)}"
        )
        because = "0.1 - 0.7 + 0.7 is not 0.1, so keep a copy; and x is the caller's, whatever has happened"
        expect(x.tolist(), [0.1, 0.3], asked=asked, because=because)


def test_the_history(ask: Ask) -> None:
    """whether a difference requires grad"""
    x = point(1.0, requires_grad=True)
    came = ask("central", lambda x: (x * x,), (x,), x.data, 0.5, 0.5)
    because = "it is a number to be compared, and not something to be differentiated"
    expect(came, [False], read=lambda came: [one.requires_grad for one in came], because=because)


def test_the_gradients_of_each_element(ask: Ask) -> None:
    """the gradients of each element of outputs of several shapes, by two tensors"""
    x, y = point(1.0, 2.0, requires_grad=True), point(3.0, 4.0, requires_grad=True)
    for name, output_of, by_x, by_y in (
        ("x[:0] * y[:0]", lambda: x[:0] * y[:0], [], []),
        ("x @ y", lambda: x @ y, [[3.0, 4.0]], [[1.0, 2.0]]),
        (
            "torch.outer(x, y)",
            lambda: torch.outer(x, y),
            [[3.0, 0.0], [4.0, 0.0], [0.0, 3.0], [0.0, 4.0]],
            [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 2.0]],
        ),
        (
            "torch.outer(x, y).t()[:1]",
            lambda: torch.outer(x, y).t()[:1],
            [[3.0, 0.0], [0.0, 3.0]],
            [[1.0, 0.0], [2.0, 0.0]],
        ),
    ):
        asked = f"the gradients of the elements of {name}, by x = [1, 2] and y = [3, 4]"
        expect(
            ask("rows", [x, y], output_of()), [by_x, by_y], read=lists, asked=asked, because="a pass for each element"
        )


def test_a_backward_pass_that_hands_on_its_gradient(ask: Ask) -> None:
    """the gradients of a view, whose backward pass returns the tensor that it was given"""
    x = point(1.0, 2.0, 3.0, requires_grad=True)
    accepted = [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]
    because = "writing into a gradient that was handed on changes what has been returned"
    expect(ask("rows", [x], x.view(3)), accepted, read=lists, because=because)


def test_a_tensor_that_is_not_reached(ask: Ask) -> None:
    """the gradients by a tensor that the output does not depend on"""
    x, y = point(1.0, requires_grad=True), point(1.0, requires_grad=True)
    because = "no path leads from the output to y"
    expect(ask("rows", [x, y], x * 2), [[[2.0]], [None]], read=lists, because=because)


def test_what_is_left_behind(ask: Ask) -> None:
    """whether the graph can be walked again, and whether .grad is untouched"""
    x = point(1.0, 2.0, requires_grad=True)
    x.grad = point(5.0, 5.0)
    output = x * x
    ask("rows", [x], output)
    because = "a check leaves nothing behind in the tensors of the caller"
    expect(x.grad.tolist(), [5.0, 5.0], asked="x.grad, which was [5.0, 5.0]", because=because)
    x.grad = None
    because = "gradcheck computes each Jacobian twice, and looks whether it is the same"
    came = ask("rows", [x], output)
    expect(came, [[[2.0, 0.0], [0.0, 4.0]]], read=lists, asked="the same rows again", because=because)
