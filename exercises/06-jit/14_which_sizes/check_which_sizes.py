"""Is each size a number or a symbol by the rules, and is what has changed remembered?"""

from itertools import product

from glasstorch.compiler.shapes import Marks
from workbook.exercises.asking import Ask, expect

NOTHING = Marks()
DYNAMIC = (None, True, False)


def judge(
    ask: Ask,
    sizes: list[int],
    seen: list[int | None],
    marks: Marks,
    dynamic: bool | None,
    accepted: list[str],
    because: str,
) -> None:
    """Ask for the kinds of sizes; `seen` is changed."""
    asked = f"the kinds of {sizes}, of which was seen {seen}, with dynamic={dynamic} and the marks {tuple(marks)}"
    came = ask("kinds_of", sizes, seen, marks, dynamic)
    expect(came, accepted, asked=asked, because=because)


def test_first_captures(ask: Ask) -> None:
    """the kinds of sizes at the first capture, without marks"""
    for dynamic, kind in zip(DYNAMIC, ("STATIC", "DUCK", "STATIC"), strict=True):
        because = "nothing has changed yet, so `dynamic` alone decides"
        judge(ask, [4, 3, 4], [4, 3, 4], NOTHING, dynamic, [kind] * 3, because)
        judge(ask, [], [], NOTHING, dynamic, [], "a tensor without dimensions has no sizes")


def test_later_captures(ask: Ask) -> None:
    """the kinds of sizes that change"""
    seen: list[int | None] = [4, 3]
    for size in (4, 6, 6, 4):
        kind = "STATIC" if size == 4 and seen[0] == 4 else "DYNAMIC"
        judge(
            ask,
            [size, 3],
            seen,
            NOTHING,
            None,
            [kind, "STATIC"],
            "a size that has changed once is a symbol from then on",
        )


def test_changes_are_noted_whatever_is_decided(ask: Ask) -> None:
    """what is noted of sizes that a mark, `dynamic`, or a size of 0 or 1 decides"""
    for marks, dynamic in product((NOTHING, Marks({0}), Marks((), {0}), Marks((), (), {0})), DYNAMIC):
        for size in (7, 1):
            seen: list[int | None] = [5]
            ask("kinds_of", [size], seen, marks, dynamic).value  # noqa: B018
            asked = f"`seen` after 5 became {size}, with dynamic={dynamic} and the marks {tuple(marks)}"
            expect(seen, [None], asked=asked, because="a later capture without the mark has to know of it")


def test_zero_and_one(ask: Ask) -> None:
    """the kinds of sizes of 0 and 1"""
    for size, dynamic in product((0, 1), DYNAMIC):
        because = "0 and 1 are numbers"
        judge(ask, [size], [5], NOTHING, dynamic, ["STATIC"], because)
        judge(ask, [size], [size], Marks((), {0}), dynamic, ["STATIC"], f"{because}, also with a weak mark")
        judge(ask, [size], [size], Marks({0}), dynamic, ["DYNAMIC"], "what is marked as dynamic is so, whatever it is")


def test_marks(ask: Ask) -> None:
    """the kinds of sizes with marks"""
    for dynamic, rest in zip(DYNAMIC, ("DYNAMIC", "DUCK", "STATIC"), strict=True):
        marks = Marks({0}, {1}, {2})
        accepted = ["DYNAMIC", "DYNAMIC", "STATIC", rest]
        judge(ask, [5, 5, 5, 5], [4, 4, 4, 4], marks, dynamic, accepted, "a mark decides before `dynamic` does")
