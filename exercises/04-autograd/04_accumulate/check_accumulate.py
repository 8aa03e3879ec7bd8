"""Is the sum right, is it made in place where that is safe and only there, and has it a history where one is wanted?"""

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
    """A gradient of six elements in one place of memory, as the formula of `sum` gives it."""
    return torch.tensor(BASE[0]).expand(2, 3)


def part() -> torch.Tensor:
    """A gradient that fills a part of a larger memory, and not from its beginning."""
    return torch.tensor(BASE)[4:10].view(2, 3)


def part_expanded() -> torch.Tensor:
    """A gradient of six elements in one place in the middle of a larger memory."""
    return torch.tensor(BASE)[4].expand(2, 3)


def with_gaps() -> torch.Tensor:
    """A gradient of which each row is followed by a gap."""
    return torch.tensor(BASE).view(2, 6)[:, :3]


def test_where_the_sum_is_made(ask: Ask) -> None:
    """the sum of two gradients, and where it stands"""
    for made, others, grad_mode, where, because in (
        (whole, 0, False, "in place", "nobody else has it, nothing is recorded, each element has its own place"),
        (whole, 1, False, "new", "somebody else has the first gradient too, and would see it change"),
        (
            whole,
            0,
            True,
            "new",
            "the sum needs a history, and the first gradient may be saved by some node already",
        ),
        (whole, 1, True, "new", "one reason is enough"),
        (
            transposed,
            0,
            False,
            "in place",
            "the memory is full and holds each element once; the order does not matter",
        ),
        (expanded, 0, False, "new", "all six elements stand in one place: what is written into one is in all"),
        (part, 0, False, "in place", "it has no gaps; what else the memory holds is not touched"),
        (part_expanded, 0, False, "new", "all six elements stand in one place, wherever that is"),
        (with_gaps, 0, False, "new", "written in place, the sum would have the gaps that this gradient has"),
    ):
        arrived, grad = made(), torch.tensor(BASE[6:]).view(2, 3)
        accepted = (where, (arrived + grad).tolist())
        came = ask("accumulate", arrived, grad, others=others, grad_mode=grad_mode)
        places = {arrived.data_ptr(): "in place", grad.data_ptr(): "in the second gradient, which others may hold"}
        asked = f"the sum of a gradient ({made.__name__.replace('_', ' ')}) and the next one"

        def placed(total: torch.Tensor, places: dict[int, str] = places) -> tuple[str, object]:
            return places.get(total.data_ptr(), "new"), total.tolist()

        expect(came, accepted, read=placed, asked=asked, because=because)


def test_the_history_of_the_sum(ask: Ask) -> None:
    """whether the sum requires grad, where the second gradient does"""
    arrived, grad = whole(), whole().requires_grad_()
    came = ask("accumulate", arrived, grad, others=0, grad_mode=True)
    because = "a second derivative flows through the sums of the first pass, too"
    expect(came, True, read=lambda total: total.requires_grad, because=because)
