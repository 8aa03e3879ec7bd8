"""How does a cell draw the objects that it has just made?

`show_trace`, `show_graph`, `show_memory`, `show_curves` and `show_images` display a figure made by the module of
the same subject. A figure's name, by which its parts refer to each other, comes from its content: two of them
may stand on one page.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbook.book.figures import curves, graph, hops, images, memory
from workbook.book.figures.kit import Figure

if TYPE_CHECKING:
    from glasstorch import Tensor
    from glasstorch.dispatch.trace import Trace


class Drawing(NamedTuple):
    """A figure to look at in a notebook, and to read in a terminal."""

    svg: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.text}


def show_trace(trace: Trace) -> None:
    """Draw the hops of the calls that a trace recorded, the first on top."""
    display(hops.draw(trace))


def show_graph(root: Tensor, **leaves: Tensor) -> None:
    """Draw the backward graph below a tensor. Leaves that are given by name are called so."""
    display(graph.draw(root, leaves))


def show_memory(tensor: Tensor) -> None:
    """Draw the storage of a tensor, numbered in the order in which the tensor reads it."""
    display(memory.draw(tensor))


def show_curves(curves_by_name: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> None:
    """Draw one or two series of numbers over their places."""
    display(curves.draw(curves_by_name, x_label, y_label))


def show_images(pictures: Sequence[Sequence[Sequence[float]]], captions: Sequence[str]) -> None:
    """Draw small grey images, values from 0 to 1, each with a caption below."""
    display(images.draw(pictures, captions))


def display(figure: Figure) -> None:
    """Display in the notebook, or print its description where there is none."""
    figure.name = f"{figure.name}-{hashlib.sha256(figure.svg().encode()).hexdigest()[:8]}"
    drawing = Drawing(figure.svg(), f"{figure.title}. {figure.description}")
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        sys.modules["IPython"].display.display(drawing)
    else:
        print(drawing)
