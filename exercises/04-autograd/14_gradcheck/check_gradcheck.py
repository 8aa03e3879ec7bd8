"""Are the differences and the gradients of each element right, and are the caller's tensors left as they were?"""

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
    """Whether all vectors equal those expected, except for rounding."""
    return len(came) == len(accepted) and all(map(close, came, accepted))


def test_one_element_is_moved(ask: Ask) -> None:
    """the differences of both outputs when one element of the input is moved"""
    x, y = point(1.0, 2.0), point(3.0, 4.0)
    came = ask("central", lambda x, y: (x * x, (x * y).sum()), (x, y), x[1], 0.5, 0.5)
    accepted = [point(0.0, 4.0), point(4.0)]
    because = "only values that depend on the element change; a tensor without dimensions becomes a vector"
    expect(came, accepted, same=near, because=because)


def test_a_tensor_is_moved_along_a_step(ask: Ask) -> None:
    """the differences when a whole matrix is moved, each element by a step of its own"""
    x = point(1.0, 2.0, 3.0, 4.0).view(2, 2)
    step = point(0.5, 0.0, 0.25, -0.5).view(2, 2)
    came = ask("central", lambda x: (x * x * x,), (x,), x, step, 0.25)
    accepted = [point(6.5, 0.0, 27.0625, -96.5)]
    because = "the step is eps times a direction, so the change is divided by 2 * eps and not by the step"
    expect(came, accepted, same=near, because=because)


def test_the_order_of_the_calls(ask: Ask) -> None:
    """the values of x for which func is called"""
    x, seen = point(1.0), []
    ask("central", lambda x: (seen.append(x.item()) or x * 1,), (x,), x, 0.25, 0.25)
    asked = "the values of x for which func is called, where x is 1 and the step 0.25"
    expect(seen, [0.75, 1.25], asked=asked, because="the call one step below comes first")


def test_a_function_that_returns_its_input(ask: Ask) -> None:
    """the difference of a function that returns a view of its input"""
    x = point(1.0, 2.0)
    came = ask("central", lambda x: (x.view(2),), (x,), x, 0.5, 0.5)
    because = "the output of the first call shares memory with x, which the second step overwrites"
    expect(came, [point(1.0, 1.0)], same=near, because=because)


def test_the_memory_afterwards(ask: Ask) -> None:
    """the input after a call, and also after a call in which func raised an error"""
    for fails_at in (None, 1, 2):
        x, calls = point(0.1, 0.3), iter((1, 2))

        def squares(x: Tensor, calls=calls, fails_at=fails_at) -> tuple[Tensor, ...]:  # type: ignore[no-untyped-def]
            if next(calls) == fails_at:
                raise ZeroDivisionError
            return (x * x,)

        ask("central", squares, (x,), x, 0.7, 0.7)
        asked = (
            f"x, which was [0.1, 0.3], after a step of 0.7{f' where call {fails_at} of func failed' * bool(fails_at)}"
        )
        because = "0.1 - 0.7 + 0.7 is not 0.1, so restore x from a copy, even after an error"
        expect(x.tolist(), [0.1, 0.3], asked=asked, because=because)


def test_the_history(ask: Ask) -> None:
    """whether a difference requires grad"""
    x = point(1.0, requires_grad=True)
    came = ask("central", lambda x: (x * x,), (x,), x.data, 0.5, 0.5)
    because = "the difference is only compared, so it is returned without a history"
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
            ask("rows", [x, y], output_of()), [by_x, by_y], read=lists, asked=asked, because="each needs its own pass"
        )


def test_a_backward_pass_that_hands_on_its_gradient(ask: Ask) -> None:
    """the gradients of a view, whose backward pass returns the tensor with which it was started"""
    x = point(1.0, 2.0, 3.0, requires_grad=True)
    accepted = [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]
    because = "if the start of a pass is written into again, the gradients that were found before change"
    expect(ask("rows", [x], x.view(3)), accepted, read=lists, because=because)


def test_a_tensor_that_is_not_reached(ask: Ask) -> None:
    """the gradients by a tensor on which the output does not depend"""
    x, y = point(1.0, requires_grad=True), point(1.0, requires_grad=True)
    because = "no path leads from the output to y, so its gradient is None"
    expect(ask("rows", [x, y], x * 2), [[[2.0]], [None]], read=lists, because=because)


def test_what_is_left_behind(ask: Ask) -> None:
    """whether .grad is unchanged, and whether the graph can be used again"""
    x = point(1.0, 2.0, requires_grad=True)
    x.grad = point(5.0, 5.0)
    output = x * x
    ask("rows", [x], output)
    because = "a check must not change the tensors of the caller"
    expect(x.grad.tolist(), [5.0, 5.0], asked="x.grad, which was [5.0, 5.0]", because=because)
    x.grad = None
    because = "gradcheck computes each Jacobian twice and compares the two, so the graph must be kept"
    came = ask("rows", [x], output)
    expect(came, [[[2.0, 0.0], [0.0, 4.0]]], read=lists, asked="the same rows again", because=because)
