"""Is the sum right, made in place exactly where that is safe, and does it have a history where one is wanted?"""

import glasstorch as torch
from workbook.exercises.asking import Ask, expect

BASE = (1.0, -2.0, 3.5, 0.5, 7.0, -1.5, 4.0, 2.5, -3.0, 6.0, 0.25, 8.0)


def whole() -> torch.Tensor:
    """A row-major gradient of its own."""
    return torch.tensor(BASE[:6]).view(2, 3)


def transposed() -> torch.Tensor:
    """A gradient whose memory is full and holds each element once, in another order."""
    return torch.tensor(BASE[:6]).view(3, 2).t()


def expanded() -> torch.Tensor:
    """A gradient whose six elements share one place in memory, as the formula of `sum` returns it."""
    return torch.tensor(BASE[0]).expand(2, 3)


def part() -> torch.Tensor:
    """A gradient that fills a part of a larger memory, and not from its beginning."""
    return torch.tensor(BASE)[4:10].view(2, 3)


def part_expanded() -> torch.Tensor:
    """A gradient whose six elements share one place in the middle of a larger memory."""
    return torch.tensor(BASE)[4].expand(2, 3)


def with_gaps() -> torch.Tensor:
    """A gradient with a gap after each row."""
    return torch.tensor(BASE).view(2, 6)[:, :3]


def test_where_the_sum_is_made(ask: Ask) -> None:
    """the sum of two gradients, and whether it was made in place"""
    for made, others, grad_mode, where, because in (
        (whole, 0, False, "in place", "no other reference, grad mode off, and a place for each element: it is safe"),
        (whole, 1, False, "new", "there is another reference to the first gradient, through which the change is seen"),
        (
            whole,
            0,
            True,
            "new",
            "with grad mode on the sum needs a history, and a node may have saved the first gradient already",
        ),
        (whole, 1, True, "new", "another reference or grad mode: each alone forbids it"),
        (
            transposed,
            0,
            False,
            "in place",
            "its memory has no gaps and a place for each element; their order does not matter",
        ),
        (expanded, 0, False, "new", "all six elements share one place, so a write into one changes all"),
        (part, 0, False, "in place", "its elements have no gaps between them; the rest of the memory is not touched"),
        (part_expanded, 0, False, "new", "all six elements share one place in the middle of the memory"),
        (with_gaps, 0, False, "new", "the first gradient has gaps, and a sum made in place would have them, too"),
    ):
        arrived, grad = made(), torch.tensor(BASE[6:]).view(2, 3)
        accepted = (where, (arrived + grad).tolist())
        came = ask("accumulate", arrived, grad, others=others, grad_mode=grad_mode)
        places = {arrived.data_ptr(): "in place", grad.data_ptr(): "in the second gradient, which others may hold"}
        asked = f"the sum of a gradient ({made.__name__.replace('_', ' ')}) and the next one, and where it was made"

        def placed(total: torch.Tensor, places: dict[int, str] = places) -> tuple[str, object]:
            return places.get(total.data_ptr(), "new"), total.tolist()

        expect(came, accepted, read=placed, asked=asked, because=because)


def test_the_history_of_the_sum(ask: Ask) -> None:
    """whether the sum requires grad where the second gradient does"""
    arrived, grad = whole(), whole().requires_grad_()
    came = ask("accumulate", arrived, grad, others=0, grad_mode=True)
    because = "a second derivative is computed through the sums of the first pass, too"
    expect(came, True, read=lambda total: total.requires_grad, because=because)
