"""In which dictionary does a module keep what was assigned to it, and which of it is trained, converted and saved?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.book.figures.kit import Figure, text_width

if TYPE_CHECKING:
    from glasstorch.nn import Module

DICTIONARIES = ("_parameters", "_buffers", "_modules", "__dict__")
QUESTIONS = ("trained", "converted", "saved")
ROW, HEAD, GAP, PAD = 22, 24, 8, 10
ANSWER = 76  # the width of a column of answers


class Member(NamedTuple):
    """An attribute of a module, where it is kept, and the answer to each question."""

    place: str
    name: str
    what: str
    answers: tuple[bool, bool, bool]


def members(module: Module) -> Iterator[Member]:
    """What was assigned to a module, dictionary by dictionary; its own bookkeeping is left out."""
    trained = {id(parameter) for parameter in module.parameters() if parameter.requires_grad}
    reached = {id(child) for child in module.modules()}
    converted = {id(tensor) for walk in (module.parameters, module.buffers) for tensor in walk()}
    saved = module.state_dict()
    for place in DICTIONARIES:
        for name, value in {"__dict__": vars(module), **vars(module)}[place].items():
            if name == "training" or name.startswith("_"):
                continue
            if place == "_modules":
                answers = (id(value) in reached, id(value) in reached, id(value) in reached)
            else:
                answers = (id(value) in trained, id(value) in converted, place != "__dict__" and name in saved)
            yield Member(place, name, described(value), answers)


def described(value: Any) -> str:
    """What a member is, in a few words."""
    if isinstance(value, list | tuple):
        kinds = list(dict.fromkeys(type(one).__name__ for one in value))
        return f"a {type(value).__name__} of {len(value)} {' and '.join(kinds)}"
    if hasattr(value, "shape"):
        return f"{type(value).__name__} of sizes {tuple(value.shape)}"
    if hasattr(value, "state_dict"):
        return repr(value).partition("\n")[0].rstrip("(") if "\n" in repr(value) else repr(value)
    return repr(value)


def draw(module: Module) -> Figure:
    """A box for each dictionary, a row for each member, and whether it is trained, converted and saved."""
    found = list(members(module))
    if not found:
        raise ValueError(f"nothing was assigned to this {type(module).__name__}, so there is nothing to draw")
    names = max(text_width(member.name, 12.5, mono=True) for member in found)
    whats = max(text_width(member.what, 12) for member in found)
    places = max(text_width(place, 12.5, mono=True) for place in DICTIONARIES)
    left = PAD + places + 2 * PAD
    answers = left + names + 2 * PAD + whats + 2 * PAD
    width = answers + ANSWER * len(QUESTIONS)
    groups = {place: [member for member in found if member.place == place] for place in DICTIONARIES}
    groups = {place: rows for place, rows in groups.items() if rows}
    height = HEAD + sum(len(rows) * ROW + PAD + GAP for rows in groups.values()) - GAP + 2
    told = [
        f"{member.name} in {member.place}, {member.what}: "
        + ", ".join(f"{'' if yes else 'not '}{asked}" for asked, yes in zip(QUESTIONS, member.answers, strict=True))
        for member in found
    ]
    title = f"Where {type(module).__name__} keeps its attributes"
    figure = Figure("module", title, f"{'; '.join(told)}.", width, height)
    for column, asked in enumerate(QUESTIONS):
        figure.text(answers + ANSWER * (column + 0.5), 13, asked, size=12, colour="soft", anchor="middle")
    y = float(HEAD)
    for place, rows in groups.items():
        tall = len(rows) * ROW + PAD
        figure.box(0, y, width, tall, kind="plain" if place == "__dict__" else "glass", dashed=place == "__dict__")
        figure.text(PAD, y + 20, place, size=12.5, mono=True, bold=True)
        for number, member in enumerate(rows):
            line = y + 20 + number * ROW
            figure.text(left, line, member.name, size=12.5, mono=True)
            figure.text(left + names + 2 * PAD, line, member.what, size=12, colour="soft")
            for column, yes in enumerate(member.answers):
                middle, colour = answers + ANSWER * (column + 0.5), "glass" if yes else "torch"
                figure.text(middle, line, "yes" if yes else "no", size=12.5, colour=colour, anchor="middle", bold=yes)
        y += tall + GAP
    return figure
