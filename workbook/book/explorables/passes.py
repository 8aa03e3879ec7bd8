"""Which graphs does a function go through between its capture and the two parts that are compiled?

The stages are those of the library, which is called on the function when the book is built. Each is compared with the
one before, line by line. Why a line went is found out from the graph: its value was known, or nothing uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import glasstorch as torch
from glasstorch._decomp import core_aten_decompositions
from glasstorch._functorch.aot_autograd import aot_function, make_boxed_func
from glasstorch._functorch.partitioners import min_cut_rematerialization_partition
from glasstorch.compiler.common_results import fx_graph_cse
from workbook.book.figures.kit import Figure


def layer(x: Any, w: Any) -> Any:
    h = torch.nn.functional.silu(x @ w)
    return (h * h).sum()


def twice(x: Any, w: Any) -> Any:
    a = (x * w).sigmoid()
    b = (x * w).sigmoid()
    unused = a.cos()  # noqa: F841  # a pass takes it out
    return a * b


def in_place(x: Any, w: Any) -> Any:
    y = x.exp()
    y.add_(1)
    y.mul_(w)
    return y.log()


class Program(NamedTuple):
    """A function that a reader can choose, with its lines as they are shown."""

    title: str
    function: Callable[..., Any]
    lines: tuple[str, ...]


PROGRAMS = {
    "layer": Program("a layer", layer, ("h = silu(x @ w)", "return (h * h).sum()")),
    "twice": Program(
        "the same twice",
        twice,
        ("a = (x * w).sigmoid()", "b = (x * w).sigmoid()", "unused = a.cos()", "return a * b"),
    ),
    "in_place": Program("in place", in_place, ("y = x.exp()", "y.add_(1)", "y.mul_(w)", "return y.log()")),
}
SHOWN = "twice"  # the program of the static figure
RECORDED = (
    "Forward and backward were recorded below autograd: operators of ATen, the gradient of the result as an input "
    "(tangents), and no writes, so that any value may be computed again."
)
CUT = (
    "The graph was cut in two where the fewest bytes have to be kept. Forward returns what backward needs; what is "
    "cheap is computed again."
)
STAGES = (
    ("captured", "Captured", "The function's bytecode was executed symbolically: what it calls, in its own words."),
    ("joint", "Joint, functionalized", RECORDED),
    (
        "decomposed",
        "Decomposed",
        "Large operators were taken apart into those of a smaller set.",
    ),
    ("common", "Common results", "An operator that has run with the same arguments need not run again."),
    ("dead", "Dead code", "An operator whose result nothing uses need not run, because it has no other effect."),
    ("partition", "Partition", CUT),
)


class Line(NamedTuple):
    """A line of a graph, which part of it the line belongs to, and what became of it."""

    text: str
    part: str  # "", "forward" or "backward"
    mark: str = ""  # "new", "gone" or ""
    why: str = ""  # why it is gone, or where it comes from


def data() -> dict[str, Any]:
    """For each program the lines of its stages, beside those that have just gone."""
    return {
        "stages": [[name, title, reason] for name, title, reason in STAGES],
        "programs": [
            {
                "key": key,
                "title": program.title,
                "lines": list(program.lines),
                "stages": [list(map(list, lines)) for lines in steps_of(program.function)],
            }
            for key, program in PROGRAMS.items()
        ],
    }


def steps_of(function: Callable[..., Any]) -> Iterator[list[Line]]:
    """The lines of each stage, marked by what differs from the stage before."""
    before: list[Line] = []
    for name, lines, why in stages_of(function):
        if name == "partition":
            yield list(cut(lines))
        else:
            yield list(compared(before, lines, why)) if before else lines
        before = lines


def stages_of(function: Callable[..., Any]) -> Iterator[tuple[str, list[Line], dict[str, str]]]:
    """The lines of each stage, and why lines of the stage before went, where the graph tells."""
    args = inputs()
    yield "captured", lines_of(captured(function, args)), {}
    joint, _ = joint_and_parts(function, args, {})
    yield "joint", lines_of(joint), {}
    decomposed, parts = joint_and_parts(function, args, core_aten_decompositions())
    yield "decomposed", lines_of(decomposed), {}
    common = fx_graph_cse(decomposed.graph)
    kept = {node.name for node in common.nodes}
    same = {
        text_of(node): f"computes what {first_like(node)} has computed"
        for node in decomposed.graph.nodes
        if node.name not in kept
    }
    yield "common", lines_of(common), same
    module = torch.fx.GraphModule(decomposed, common)
    before = {node.name: text_of(node) for node in module.graph.nodes}
    module.graph.eliminate_dead_code()
    live = {node.name for node in module.graph.nodes}
    unused = {text: "nothing uses it" for name, text in before.items() if name not in live}
    yield "dead", lines_of(module.graph), unused
    yield "partition", [line for name, part in parts for line in lines_of(part, name)], {}


def inputs() -> tuple[Any, Any]:
    """A tensor and a weight, which requires grad."""
    return torch.ones(4, 4), torch.ones(4, 4, requires_grad=True)


def captured(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The graph of a function as the compiler hands it to a backend."""
    found = []

    def keep(module: Any, examples: Any) -> Any:
        found.append(module)
        return module.forward

    torch.compile(function, backend=keep, fullgraph=True)(*args)
    return found[0]


def joint_and_parts(
    function: Callable[..., Any], args: tuple[Any, ...], decompositions: Any
) -> tuple[Any, list[tuple[str, Any]]]:
    """The joint graph of a function, and the two parts of its partition."""
    found: list[Any] = []

    def partition(joint: Any, examples: Any, **options: Any) -> Any:
        copied = torch.fx.GraphModule(joint, torch.fx.Graph())
        output = copied.graph.graph_copy(joint.graph, {})
        copied.graph.output(output)
        forward, backward = min_cut_rematerialization_partition(joint, examples, **options)
        found[:] = copied, [("forward", forward), ("backward", backward)]
        return forward, backward

    def unchanged(module: Any, examples: Any) -> Any:
        return make_boxed_func(module)

    aot_function(function, unchanged, partition_fn=partition, decompositions=decompositions)(*args)
    return found[0], found[1]


def lines_of(module: Any, part: str = "") -> list[Line]:
    """The lines of a graph, or of a module's graph."""
    return [Line(text_of(node), part) for node in getattr(module, "graph", module).nodes]


def text_of(node: Any) -> str:
    """A node as a line: its name, what it calls, and with what."""
    if node.op == "placeholder":
        return f"{node.name}: an input"
    if node.op == "output":
        return f"return {', '.join(map(str, node.args[0]))}"
    args = ", ".join([*map(str, node.args), *(f"{name}={value}" for name, value in node.kwargs.items())])
    if node.op == "call_method":
        return f"{node.name} = .{node.target}({args})"
    called = node.target
    return f"{node.name} = {getattr(called, '_opname', None) or called.__name__}({args})"


def first_like(node: Any) -> str:
    """The name of the first node that computes what this one does, once equal ones count as one."""
    number: dict[Any, Any] = {}
    firsts: dict[Any, Any] = {}
    for other in node.graph.nodes:
        key = (
            (other.op, other.target, tuple(str(number.get(arg, arg)) for arg in other.args))
            if other.op.startswith("call_")
            else other
        )
        number[other] = firsts.setdefault(key, other)
        if other is node:
            return str(number[node])
    raise AssertionError(f"{node} is no node of its graph")


def compared(before: list[Line], after: list[Line], why: dict[str, str]) -> Iterator[Line]:
    """The lines after a step, with those that have gone where they stood."""
    matcher = SequenceMatcher(None, [line.text for line in before], [line.text for line in after], autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            for line in before[i:j]:
                yield Line(line.text, "", "gone", why.get(line.text, ""))
        for line in after[k:m]:
            yield line if kind == "equal" else line._replace(mark="new")


def cut(lines: list[Line]) -> Iterator[Line]:
    """The lines of both parts: what backward gets from forward, and what it computes again."""
    forward = {line.text for line in lines if line.part == "forward"}
    returned = next(text for text in forward if text.startswith("return")).removeprefix("return ").split(", ")
    for line in lines:
        if line.text.startswith("return"):
            yield line._replace(mark="new")
        elif line.part == "forward":
            yield line
        elif line.text.endswith(": an input"):
            kept = line.text.removesuffix(": an input") in returned
            yield line._replace(mark="new" if kept else "", why="kept by forward" if kept else "")
        else:
            again = line.text in forward
            yield line._replace(mark="new" if again else "", why="computed again" if again else "")


def figure() -> Figure:
    """One step of one program: which lines went, and why."""
    at = [name for name, _, _ in STAGES].index("common")
    lines = list(steps_of(PROGRAMS[SHOWN].function))[at]
    left, top, tall = 8, 40, 19
    drawing = Figure("explorable-passes", "A graph after one of its passes", "", 560, top + tall * len(lines) + 8)
    drawing.text(left, 18, f"{STAGES[at][1]}: equal operators run once", size=13, bold=True)
    for place, line in enumerate(lines):
        y = top + tall * place
        sign = {"new": "+", "gone": "-"}.get(line.mark, "")
        drawing.text(left, y, sign, size=12.5, mono=True, bold=True)
        drawing.text(left + 16, y, line.text, size=12.5, mono=True, colour="soft" if line.mark == "gone" else "ink")
        if line.why:
            drawing.text(left + 290, y, line.why, size=12, colour="soft")
    gone = [line for line in lines if line.why]
    drawing.description = f"{len(gone)} lines went: " + "; ".join(f"{line.text} {line.why}" for line in gone) + "."
    return drawing
