"""What does a verbose source say about each value?

Mirrors: torch/fx/graph.py (CodeGen._gen_python_code, _parse_stack_trace)
Differs: there are no distributed tensors.
"""

from __future__ import annotations

import os
import pprint
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core import layout as layouts
from glasstorch.core.symbols import SymInt
from glasstorch.fx.node import Node

FRAME: Final = re.compile(r"^File \"(.+)\", line (\d+), in (.+)$")
LONGEST_NOTE: Final = 40  # characters of a program's own annotation
COLORS: Final = {"red": "\033[31m", "blue": "\033[34m", "dim": "\033[2m", "dim_blue": "\033[2m\033[34m",
                 "dim_green": "\033[2m\033[32m"}  # fmt: skip
RESET: Final = "\033[0m"


@dataclass(frozen=True)
class Shown:
    """What the source shows besides the code; the variables FX_GRAPH_SHOW_STRIDE and _DEVICE switch two of them on."""

    include_stride: bool = False
    include_device: bool = False
    colored: bool = False
    expanded_def: bool = False
    record_func: bool = False
    additional_meta: list[str] | None = None

    def paint(self, color: str, text: str) -> str:
        """The text in a color, where colors are shown."""
        return f"{COLORS[color]}{text}{RESET}" if self.colored else text


class ParsedStackTrace(NamedTuple):
    """The innermost frame of a stack as text."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self) -> str:
        """The frame on one line."""
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def parse_stack_trace(
    stack_trace: str | None, filter_fn: Callable[[str, str, str], bool] | None = None
) -> ParsedStackTrace | None:
    """The innermost frame for which `filter_fn(file, name, code)` is true; None if there is none."""
    lines = (stack_trace or "").strip().split("\n")
    for i in range(len(lines) - 2, -1, -1):
        if (frame := FRAME.match(lines[i].strip())) is not None:
            file, number, name = frame.groups()
            found = ParsedStackTrace(file, number, name, lines[i + 1].strip())
            if filter_fn is None or filter_fn(found.file, found.name, found.code):
                return found
    return None


def _switched_on(name: str) -> bool:
    return os.environ.get(name, "0") == "1"


class Notes:
    """What is written above, beside and behind each line of one source."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.strides = shown.include_stride or _switched_on("FX_GRAPH_SHOW_STRIDE")
        self.devices = shown.include_device or _switched_on("FX_GRAPH_SHOW_DEVICE")
        self._last: str | None = None

    def above(self, node: Node) -> list[str]:
        """A comment with the line of the program that recorded a node, unless the node before has the same."""
        if node.op in ("placeholder", "output"):
            return []
        chosen = [f"{key}: {node.meta[key]}" for key in self.shown.additional_meta or () if key in node.meta]
        before = f"# {', '.join(chosen)} " if chosen else ""
        note = f" Annotation: {_shortened(annotation)}" if (annotation := node.meta.get("custom")) else ""
        recompute, region = node.meta.get("recompute"), node.meta.get("ac_graph_id")
        if region is not None:
            note += f" ac_graph_id: {region}" + (f" - {recompute.name}" if recompute is not None else "")
        elif recompute is not None:
            note += f" recompute: {recompute.name}"
        frame = parse_stack_trace(node.stack_trace)
        where = "No stacktrace found for following nodes" if frame is None else frame.get_summary_str()
        text = "\n" + self.shown.paint("dim", f"{before}#{note} {where}") + "\n"
        if text == self._last:
            return []
        self._last = text
        return [text]

    def annotation(self, node: Node, sym_repr: Callable[[Any], str]) -> str:
        """A type annotation with dtype and sizes, if they are known."""
        value: Any = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        if isinstance(value, Tensor) and value.layout not in (layouts.sparse_csc, layouts.sparse_csr):
            paint = self.shown.paint
            text = paint("red", value.dtype.abbr) + paint("blue", _sizes(value.shape))
            text += paint("dim_blue", _sizes(value.stride()) if self.strides else "")
            text += paint("dim_green", str(value.device) if self.devices else "")
            kind = type(value)
            plain = kind is Tensor or any(base.__name__ == "FakeTensor" for base in kind.__mro__)
            return f': "{text}"' if plain else f': "{kind.__name__}({text})"'
        if isinstance(value, SymInt):
            return f': "Sym({sym_repr(value)})"'
        if hasattr(value, "_fields") and hasattr(value, "memory_format"):  # what passes/shape_prop.py notes
            return f': "{value.dtype.abbr}{_sizes(value.shape)}"'
        return ""

    def comment(self, node: Node) -> str:
        """What an input is, if its `meta` says so and each input has a line of its own."""
        described = self.shown.expanded_def and node.op == "placeholder" and node.meta.get("desc") is not None
        return f"  # {node.meta['desc']}" if described else ""

    def metadata(self, node: Node) -> list[str]:
        """Everything in `meta`, as a text in quotes, if FX_GRAPH_SHOW_META asks for it."""
        if not node.meta or not _switched_on("FX_GRAPH_SHOW_META"):
            return []
        rows = (f"{key}: {pprint.pformat(str(value), width=80, compact=True)}\n" for key, value in node.meta.items())
        return ['"""\n', *rows, '"""\n']


def _shortened(annotation: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value if len(str(value)) <= LONGEST_NOTE else f"{str(value)[:LONGEST_NOTE]}..."
        for key, value in annotation.items()
    }


def _sizes(sizes: Any) -> str:
    return f"[{', '.join(map(str, sizes))}]"
