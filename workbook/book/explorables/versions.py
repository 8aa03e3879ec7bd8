"""Which writes can a reader make, and what do versions, histories and gradients say after them?

Every order of writes is run by the library when the book is built. The gradients that a pass returns stand beside
finite differences of the same program, so that a page can show where a pass is wrong and nothing has noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import glasstorch as torch
from glasstorch.core.errors import AutogradError
from workbook.book.figures.kit import Figure

BEGIN = ("w = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)", "y = w * 2")
LEAF = (1.0, 2.0, 3.0, 4.0)
MOST = 4  # operations of a program


class Operation(NamedTuple):
    """A line that a reader can add to the program, once."""

    line: str
    needs: str = ""  # the name of another that has to come before


OPERATIONS = {
    "square": Operation("z = y * y"),
    "part": Operation("part = y[1:3]"),
    "base": Operation("y.add_(1)"),
    "view": Operation("part.mul_(10)", needs="part"),
    "detached": Operation("y.detach().mul_(3)"),
    "data": Operation("y.data.sub_(1)"),
}
PASSES = {"y": "y.sum().backward()", "z": "z.sum().backward()"}
SHOWN = ("square", "part", "view")  # the program of the static figure


def data() -> dict[str, Any]:
    """The states that programs lead to, each with the numbers of those that one more operation leads to."""
    programs = list(all_programs())
    number = {program: place for place, program in enumerate(programs)}
    texts: dict[str, int] = {}

    def kept(text: str) -> int:
        return texts.setdefault(text, len(texts))

    states = []
    for program in programs:
        state = state_of(program)
        state["next"] = [number.get((*program, name), -1) for name in OPERATIONS]
        for name in ("y", "part", "z"):
            if name in state:
                state[name] = kept(state[name])
        state["ends"] = {name: [kept(text) for text in end] for name, end in state["ends"].items()}
        states.append(state)
    return {
        "begin": list(BEGIN),
        "operations": [[name, operation.line] for name, operation in OPERATIONS.items()],
        "passes": PASSES,
        "states": states,
        "texts": list(texts),
    }


def all_programs() -> Iterator[tuple[str, ...]]:
    """The names of the operations of each program, the shorter programs first."""
    programs: list[tuple[str, ...]] = [()]
    for program in programs:
        yield program
        if len(program) < MOST:
            programs += [(*program, name) for name in OPERATIONS if is_allowed(program, name)]


def is_allowed(program: Sequence[str], name: str) -> bool:
    """Whether an operation can come next."""
    needs = OPERATIONS[name].needs
    return name not in program and (not needs or needs in program)


def run(program: Sequence[str], leaf: Sequence[float] = LEAF, until: str = "") -> dict[str, Any]:
    """The variables of a program that was run, beginning with a leaf of these values; `until`: its last line."""
    values: dict[str, Any] = {"torch": torch, "w": torch.tensor(leaf, dtype=torch.float64, requires_grad=True)}
    for line in (*BEGIN[1:], *(OPERATIONS[name].line for name in program), *filter(None, [until])):
        exec(line, values)
    return values


def state_of(program: Sequence[str]) -> dict[str, Any]:
    """What is to be seen after a program, and how each pass would end."""
    values = run(program)
    y = values["y"]
    state: dict[str, Any] = {"values": y.tolist(), "version": y._version, "y": history(y)}
    if "part" in values:
        state["part"] = history(values["part"])
    if "z" in values:
        state["z"] = history(values["z"])
        state["saved"] = version_saved(program)
    state["ends"] = {name: end_of(program, name) for name in PASSES if name in values}
    return state


def history(tensor: Any) -> str:
    """The names of the nodes behind a tensor, along each node's first edge."""
    names, node = [], tensor.grad_fn
    while node is not None:
        names.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return " ".join(names)


def version_saved(program: Sequence[str]) -> int:
    """The version of y's memory at which `z = y * y` saved it."""
    return int(run(program[: list(program).index("square")])["y"]._version)


def end_of(program: Sequence[str], name: str) -> list[str]:
    """The gradient of w that a pass leaves, or what it raises; and what finite differences give."""
    try:
        found = vector(run(program, until=PASSES[name])["w"].grad.tolist())
    except AutogradError as error:
        found = f"{type(error).__bases__[-1].__name__}: ... {brief(str(error))}"
    return [found, vector(differences(program, name))]


def differences(program: Sequence[str], name: str, step: float = 1e-6) -> list[float]:
    """The derivatives of a sum by finite differences."""

    def total(place: int, by: float) -> float:
        leaf = [value + by * (place == at) for at, value in enumerate(LEAF)]
        return float(run(program, leaf)[name].detach().sum())

    return [round((total(place, step) - total(place, -step)) / (2 * step), 3) for place in range(len(LEAF))]


def vector(values: Sequence[float]) -> str:
    """Numbers as a page shows them."""
    return f"[{', '.join(f'{value:g}' for value in values)}]"


def brief(message: str) -> str:
    """The part of the message that names the versions."""
    return message[message.find("is at version") :].partition(". Hint")[0].removesuffix(".")


def figure() -> Figure:
    """One program, and what a reader sees after it."""
    state = state_of(SHOWN)
    lines = [*BEGIN, *(OPERATIONS[name].line for name in SHOWN)]
    across, tall, left, top = 62, 30, 8, 16
    facts = [
        f"z's node saved y at version {state['saved']}",
        f"y: {state['y'].replace(' ', ' to ')}",
        f"part: {state['part'].replace(' ', ' to ')}",
    ]
    below = top + 20 * len(lines) + 18
    drawing = Figure("explorable-versions", "A write through a view", "", 460, below + tall + 62 + 22 * len(facts))
    for place, line in enumerate(lines):
        drawing.text(left, top + 20 * place, line, size=12.5, mono=True)
    for cell, value in enumerate(state["values"]):
        x = left + across * cell
        drawing.box(x, below, across, tall, kind="glass" if cell in (1, 2) else "plain")
        drawing.text(x + across / 2, below + 20, f"{value:g}", size=12.5, mono=True, anchor="middle")
    drawing.text(left + 4 * across + 14, below + 20, f"version {state['version']}", size=12.5, bold=True)
    drawing.text(left + across, below + tall + 17, "part reads these two", size=12, colour="soft")
    for place, fact in enumerate(facts):
        drawing.text(left, below + tall + 48 + 22 * place, fact, size=12.5)
    cells = ", ".join(f"{value:g}" for value in state["values"])
    drawing.description = f"The memory holds {cells} and is at version {state['version']}. {'. '.join(facts)}."
    return drawing
