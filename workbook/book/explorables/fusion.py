"""Which loops of an expression run as one, what C++ do they become, and what goes through memory?

Recorded from the library: each expression is lowered and scheduled twice, once as it is compiled, and once with every
loop in a nest of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch.compiler.loops.cpp_text import GroupText
from glasstorch.compiler.loops.ir import Buffer, Extern, Loop, View
from glasstorch.compiler.loops.lower import Lowered, lower
from glasstorch.compiler.loops.nest import natural
from glasstorch.compiler.loops.schedule import Group, Schedule, schedule
from glasstorch.compiler.loops.wrapper import Kernel, plan
from glasstorch.core.pytree import tree_leaves
from glasstorch.fx.experimental.proxy_tensor import make_fx
from workbook.book.figures.kit import Figure

ROWS, LONG = (1000, 1000), (4, 200_000)
# What a reader can choose, the sizes of x and y, and the expression as a function.
PROGRAMS: dict[str, tuple[tuple[int, int], Callable[[Any, Any], Any]]] = {
    "(x * y + x).sigmoid() * y": (ROWS, lambda x, y: (x * y + x).sigmoid() * y),
    "x + 1, x * y, x.sum(1)": (ROWS, lambda x, y: (x + 1, x * y, x.sum(1))),
    "softmax(x, 1)": (ROWS, lambda x, y: torch.softmax(x, 1)),
    "softmax(x, 1) of long rows": (LONG, lambda x, y: torch.softmax(x, 1)),
    "layer_norm(x, (1000,)) * y": (ROWS, lambda x, y: torch.nn.functional.layer_norm(x, (1000,)) * y),
    "x / x.sum()": (ROWS, lambda x, y: x / x.sum()),
    "y + 1 + (y + 1).t()": (ROWS, lambda x, y: (z := y + 1) + z.t()),
}
WAYS = ("one by one", "fused")


def lowered(code: str) -> Lowered:
    """The loops of an expression."""
    sizes, function = PROGRAMS[code]
    return lower(make_fx(function, tracing_mode="fake")(torch.zeros(sizes), torch.zeros(sizes)))


def scheduled(loops: Lowered, way: str) -> Kernel:
    """The only kernel of an expression: its nests, and which buffers are in memory."""
    order: list[Group | Extern] = []
    for item in loops.items:
        assert isinstance(item, Loop), "the expressions here have nothing but loops"
        dims, placed = natural(item)
        order.append(Group(dims, [placed], [0]))
    (kernel,) = plan(loops, schedule(loops.items) if way == "fused" else Schedule(order, [])).order
    assert isinstance(kernel, Kernel)
    return kernel


def data() -> dict[str, Any]:
    """For each expression and each way: buffers and where they are, nests with their C++, and the bytes that pass."""
    return {"ways": WAYS, "programs": [{"code": code, "ways": [facts(code, way) for way in WAYS]} for code in PROGRAMS]}


def facts(code: str, way: str) -> dict[str, Any]:
    """What a page shows of one expression in one way."""
    loops = lowered(code)
    kernel = scheduled(loops, way)
    buffers = in_order(loops, kernel)
    number = {buffer: place for place, buffer in enumerate(buffers)}
    nests = [nest(group, kernel, number) for group in kernel.groups]
    moved = [number for one in nests for number in (*one["reads"], *one["writes"])]
    return {
        "buffers": [
            {"name": name_of(buffer, loops), "what": what(buffer, kernel), "bytes": buffer.nbytes, "place": place}
            for buffer, place in places(buffers, loops, kernel).items()
        ],
        "nests": nests,
        "moved": sum(buffers[one].nbytes for one in moved),
        "workspace": kernel.workspace,
    }


def in_order(loops: Lowered, kernel: Kernel) -> list[Buffer]:
    """All buffers: what is read from outside, then what the loops make."""
    made = [item.write.buffer for item in loops.items if isinstance(item, Loop)]
    return [*(buffer for buffer in kernel.parameters if buffer not in made), *made]


def name_of(buffer: Buffer, loops: Lowered) -> str:
    """An argument as the program names it; any other buffer as in the C++."""
    inputs = {value.buffer: name for name, value in loops.inputs if isinstance(value, View)}
    return inputs[buffer].removesuffix("_1") if buffer in inputs else buffer.name


def what(buffer: Buffer, kernel: Kernel) -> str:
    """The steps that compute a buffer; of an argument its name in the C++."""
    for member in (member for group in kernel.groups for member in group.members):
        if member.write.buffer is buffer:
            steps = [step.formula.removeprefix("rounded_") for step in member.loop.steps]
            return ", ".join([*steps, *([member.loop.reduction] if member.loop.reduction else [])]) or "copy"
    return buffer.name


def places(buffers: list[Buffer], loops: Lowered, kernel: Kernel) -> dict[Buffer, str]:
    """Where each buffer is: "argument", "result", "workspace", an array of one "row", or a "variable"."""
    results = {leaf.buffer for leaf in tree_leaves(loops.outputs) if isinstance(leaf, View)}
    kept = {buffer for group in kernel.groups for buffer in GroupText(group, kernel.stored).kept}
    return {
        buffer: "argument"
        if buffer.made_by == "input"
        else "result"
        if buffer in results
        else "workspace"
        if buffer in kernel.inner
        else "row"
        if buffer in kept
        else "variable"
        for buffer in buffers
    }


def nest(group: Group, kernel: Kernel, number: dict[Buffer, int]) -> dict[str, Any]:
    """One nest: what it reads and writes in memory, its loops with their phases, and its C++."""
    made = group.writes()
    return {
        "reads": sorted(number[buffer] for buffer in group.reads() - made),
        "writes": sorted(number[buffer] for buffer in made & kernel.stored),
        "loops": [[number[m.write.buffer], phase] for m, phase in zip(group.members, group.phases, strict=True)],
        "over": list(group.dims.sizes),
        "code": [line.removeprefix("    ") for line in GroupText(group, kernel.stored).text().splitlines()],
    }


def figure() -> Figure:
    """The first expression in both ways: nests below, what they read and write in memory above."""
    code = next(iter(PROGRAMS))
    wide, tall, gap = 92, 30, 16
    drawing = Figure("explorable-fusion", "What passes through memory, one by one and fused", "", 6 * (wide + gap), 0)
    told, y = [], 4
    for way in WAYS:
        found = facts(code, way)
        said = f"{way}: {found['moved'] // 4_000_000} passes over memory"
        drawing.text(0, y + 12, said, size=13)
        held = [place for place, one in enumerate(found["buffers"]) if one["place"] not in ("variable", "row")]
        middle = {place: column * (wide + gap) + wide / 2 for column, place in enumerate(held)}
        top, below = y + 26, y + 26 + tall + 44
        for column, one in enumerate(found["nests"]):
            x = (column + 1) * (wide + gap) if len(found["nests"]) > 1 else (wide + gap) * (len(held) - 1) / 2
            loops = one["loops"]
            names = f"{len(loops)} loops" if len(loops) > 1 else found["buffers"][loops[0][0]]["what"].split(", ")[-1]
            for place in one["reads"]:
                drawing.line([(middle[place], top + tall), (x + wide / 2, below)], colour="soft")
            for place in one["writes"]:
                drawing.line([(x + wide / 2, below), (middle[place], top + tall)], colour="glass")
            drawing.box(x, below, wide, tall, kind="glass", radius=3)
            drawing.text(x + wide / 2, below + 19, names, size=11.5, mono=True, anchor="middle", room=wide - 6)
        for place in held:
            drawing.box(middle[place] - wide / 2, top, wide, tall, kind="pane", radius=3)
            name = found["buffers"][place]["name"]
            drawing.text(middle[place], top + 19, name, size=12, mono=True, anchor="middle")
        told.append(f"{said}, with {len(found['nests'])} nests and {len(held)} tensors in memory")
        y = below + tall + 26
    drawing.height = y - 20
    drawing.description = f"{code}. " + "; ".join(told) + "."
    return drawing
