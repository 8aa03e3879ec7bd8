"""How does a cell draw the objects that it has just made?

`show_trace`, `show_keys`, `show_table`, `show_lanes`, `show_bars`, `draw_graph`, `draw_program`, `draw_nodes`,
`show_memory`, `show_memory_map`, `show_module`, `show_profile`, `show_curves` and `show_images` display a figure made
by the module of the same subject, in a notebook of the book or in one that a reader has written (`from workbook import
draw_graph`).
A figure's name, by which its parts refer to each other, comes from its content: two of them may stand on one page.
"""

from __future__ import annotations

import hashlib
import html
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from workbook.book.figures import (
    bars,
    calls_inside,
    curves,
    graph,
    hops,
    images,
    key_set,
    lanes,
    memory,
    memory_map,
    module,
    nodes,
    program,
    table,
)
from workbook.book.figures.kit import Figure
from workbook.book.figures.names import tensors_by_name

if TYPE_CHECKING:
    from glasstorch import Tensor
    from glasstorch.core.keys import DispatchKeySet
    from glasstorch.devices.snapshot import SegmentInfo
    from glasstorch.dispatch.trace import Trace
    from glasstorch.fx import Graph as FxGraph
    from glasstorch.fx import Node
    from glasstorch.jit.ir import Graph
    from glasstorch.nn import Module
    from glasstorch.profiler import profile


class Drawing(NamedTuple):
    """A figure to look at in a notebook, and to read in a terminal."""

    svg: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What Jupyter shows: an image with its description, which it would leave out for a bare SVG."""
        return {"image/svg+xml": self.svg, "text/html": self.image(), "text/plain": self.text}

    def image(self) -> str:
        """The figure as an HTML image that needs no other file, and that JupyterLab shows before a cell is run."""
        source = quote(self.svg.replace("\n", ""), safe=" !$()*+,-./:;=?@[]_{|}~'")
        return f'<img alt="{html.escape(self.text)}" src="data:image/svg+xml,{source}">'


def show_trace(trace: Trace) -> None:
    """Draw the hops of the calls that a trace recorded, the first on top."""
    display(hops.draw(trace))


def show_keys(**sets: DispatchKeySet) -> None:
    """Draw the union of some key sets, such as those of a call's arguments, and the key to which the call goes.

    `show_keys(a=DispatchKeySet(a.key_set), b=...)`: below each key stand the names of the sets that have it. At most
    12 functionalities and 4 backends are drawn.
    """
    from glasstorch.core.keys import DispatchKeySet

    for name, given in sets.items():
        if not isinstance(given, DispatchKeySet):
            raise TypeError(
                f"show_keys: {name} is of type {type(given).__name__}\n"
                f"  accepted: a DispatchKeySet, such as DispatchKeySet({name}.key_set)"
            )
    display(key_set.draw({name: given.bits for name, given in sets.items()}))


def show_table(operator: str, *keys: str) -> None:
    """Draw what an operator's dispatch table holds at some keys: `show_table("aten::add.Tensor", "Meta", "CPU")`.

    The highest key is on top. At most 14 keys are drawn; `torch._C._dispatch_dump_table` prints them all.
    """
    display(table.draw(operator, keys))


def show_lanes(steps: Sequence[tuple[str, str]], waits: Sequence[tuple[int, int]] = ()) -> None:
    """Draw what may run at the same time: a lane for each queue, thread or worker, from top to bottom.

    A step is a lane and what is done there, in an order in which all could run one after the other. A wait is a pair
    of numbers of steps, counted from 0: the second waits for the first. There are at most five lanes.
    """
    display(lanes.draw(steps, waits))


def show_bars(numbers: Mapping[str, float], unit: str) -> None:
    """Draw up to 16 numbers as bars from 0: bytes, counts, ratios, and no times, which differ from run to run."""
    display(bars.draw(numbers, unit))


def draw_graph(root: Tensor, most: int = graph.MOST, **leaves: Tensor) -> None:
    """Draw the backward graph below a tensor.

    A leaf is called as it is given (`draw_graph(loss, w=w)`), else as the caller's variable that holds it, else
    told by its sizes. Of a graph of more than `most` nodes (30, at most 200), a part that is repeated three times or
    more, such as a layer, is drawn once, and of what remains the nodes nearest to the root are drawn.
    """
    check_tensors("draw_graph", {"its first argument": root, **leaves})
    caller = sys._getframe(1)
    found = tensors_by_name(leaves, caller.f_locals, caller.f_globals)
    display(graph.draw(root, found, most))


def draw_program(graph: Graph) -> None:
    """Draw a program's graph: its nodes in order, their uses of results, and the orders that memory imposes.

    It is the `graph` of what `torch.jit.trace` returns, or what its `graph_for(*inputs)` gives. It has no blocks, and
    23 nodes at the most, constants not counted.
    """
    from glasstorch.jit.ir import Graph

    if not isinstance(graph, Graph):
        raise TypeError(
            f"draw_program: its argument is of type {type(graph).__name__}\n"
            "  accepted: the graph of a traced program, such as torch.jit.trace(f, x).graph"
        )
    display(program.draw(graph))


def draw_nodes(graph: FxGraph, marked: Collection[Node] = (), meaning: str = "") -> None:
    """Draw a graph of FX: its nodes in order, and their uses of results.

    It is the `graph` of what `torch.fx.symbolic_trace` returns, or of any other GraphModule, with 27 nodes at the most,
    inputs not counted. The `marked` nodes have another colour; `meaning` says of each in words what that is.
    """
    from glasstorch.fx import Graph as FxGraph

    if not isinstance(graph, FxGraph):
        raise TypeError(
            f"draw_nodes: its first argument is of type {type(graph).__name__}\n"
            "  accepted: a graph of torch.fx, such as torch.fx.symbolic_trace(f).graph"
        )
    display(nodes.draw(graph, marked, meaning))


def show_memory(*tensors: Tensor, **named: Tensor) -> None:
    """Draw the storage of a tensor, with the numbers of the elements that read each cell, counted row by row.

    Several tensors that share a storage get a row of numbers each: `show_memory(x, t=x.t())`. Of more than 48
    cells, those at the tensor's beginning are drawn.
    """
    given = {f"tensor {number}": tensor for number, tensor in enumerate(tensors, start=1)} | named
    if not given:
        raise TypeError("show_memory() was given nothing to draw\n  accepted: one tensor, or several of one storage")
    check_tensors("show_memory", given)
    caller = sys._getframe(1)
    variables = tensors_by_name(caller.f_locals, caller.f_globals)
    views: dict[str, Tensor] = {}
    for place, tensor in given.items():
        name = next((name for name, value in variables.items() if value is tensor), place)
        views[place if place in named or name in given or name in views else name] = tensor
    display(memory.draw(views))


def show_memory_map(snapshot: Sequence[SegmentInfo] | None = None, **named: Tensor) -> None:
    """Draw the memory of the CUDA allocator: its segments, the blocks in them, and the tensors in the blocks.

    A tensor is called as it is given, else as the caller's variable that holds it. `snapshot` is one that
    `glasstorch.cuda.memory_snapshot()` gave before; tensors of now are not written into it unless they are given.
    """
    from glasstorch.cuda import memory_snapshot

    check_tensors("show_memory_map", named)
    caller = sys._getframe(1)
    tensors = dict(named)
    if snapshot is None:
        seen = {id(tensor) for tensor in named.values()}
        found = tensors_by_name(caller.f_locals, caller.f_globals)
        tensors |= {name: tensor for name, tensor in found.items() if id(tensor) not in seen and name not in named}
    on_cuda = {name: tensor for name, tensor in tensors.items() if tensor.device.type == "cuda"}
    holders = {name: (tensor.device.index or 0, tensor.data_ptr()) for name, tensor in on_cuda.items()}
    display(memory_map.draw(memory_snapshot() if snapshot is None else snapshot, holders))


def show_module(holder: Module) -> None:
    """Draw in which dictionary a module keeps what was assigned to it, and which of it is trained, converted and saved.

    What its children hold is not drawn; a child counts as trained where the walk through the modules comes by it.
    """
    from glasstorch.nn import Module

    if not isinstance(holder, Module):
        raise TypeError(
            f"show_module: its argument is of type {type(holder).__name__}\n"
            "  accepted: a module of glasstorch, such as torch.nn.Linear(2, 3)"
        )
    display(module.draw(holder))


def show_profile(recorded: profile) -> None:
    """Draw the events of a profile that is over, each inside the event that it lies in, from top to bottom.

    A box's height is the number of calls inside it, not their time, so that the figure is the same on every machine. A
    number behind a forward call and behind a backward step joins the two. The profile has 64 innermost calls at most.
    """
    from glasstorch.profiler import profile

    if not isinstance(recorded, profile):
        raise TypeError(
            f"show_profile: its argument is of type {type(recorded).__name__}\n"
            "  accepted: a profile of glasstorch, such as `with torch.profiler.profile() as prof:` gives"
        )
    display(calls_inside.draw(recorded))


def check_tensors(call: str, given: Mapping[str, object]) -> None:
    """Refuse anything that is not a tensor of glasstorch."""
    from glasstorch import Tensor

    for name, value in given.items():
        if not isinstance(value, Tensor):
            kind = type(value)
            what = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
            raise TypeError(f"{call}: {name} is of type {what}\n  accepted: a tensor of glasstorch")


def show_curves(curves_by_name: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> None:
    """Draw one or two series of numbers over their indices."""
    display(curves.draw(curves_by_name, x_label, y_label))


def show_images(pictures: Sequence[Sequence[Sequence[float]]], captions: Sequence[str]) -> None:
    """Draw small grey images, values from 0 to 1, each with a caption below."""
    display(images.draw(pictures, captions))


def display(figure: Figure) -> None:
    """Display in the notebook, or print the description outside of one."""
    drawing = drawing_of(figure)
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        sys.modules["IPython"].display.display(drawing)
    else:
        print(drawing)


def drawing_of(figure: Figure) -> Drawing:
    """A figure as it is displayed, named by its content."""
    figure.name = f"{figure.name}-{hashlib.sha256(figure.svg().encode()).hexdigest()[:8]}"
    return Drawing(figure.svg(), f"{figure.title}. {figure.description}")
