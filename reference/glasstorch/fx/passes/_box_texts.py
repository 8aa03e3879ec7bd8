"""What stands in a box of a drawn graph, as Graphviz reads it?

Mirrors: torch/fx/passes/graph_drawer.py (_get_str_for_args_kwargs, _tensor_meta_to_label)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasstorch.fx.passes.shape_prop import TensorMetadata

NEWLINE: Final = r"\n"  # a line's end in a label: Graphviz reads the escape
LEFT: Final = r"\l"  # the same, with the line on the left


def listed_text(start: str, arguments: Sequence[str], end: str) -> str:
    """Arguments in brackets, each in a line if there are several; nothing where there are none."""
    if not arguments:
        return ""
    text = f"{start}{LEFT}" + rf",{NEWLINE}".join(arguments) + f",{NEWLINE}{end}{LEFT}"
    if len(arguments) == 1:
        text = text.replace(LEFT, "").replace(NEWLINE, "")
    return escaped(text)


def noted_text(noted: object) -> str:
    """What `ShapeProp` noted of a node's result, or of each tensor in it."""
    if noted is None:
        return ""
    if isinstance(noted, TensorMetadata):
        facts = (noted.dtype, tuple(noted.shape), noted.requires_grad, noted.stride)
        names = ("dtype", "shape", "requires_grad", "stride")
        return "".join(f"|{name}={fact}{NEWLINE}" for name, fact in zip(names, facts, strict=True))
    if isinstance(noted, list | tuple | dict):
        return "".join(map(noted_text, noted.values() if isinstance(noted, dict) else noted))
    raise RuntimeError(f"Unsupported tensor meta type {type(noted)}")


def escaped(text: str) -> str:
    """Text in which braces do not divide a box."""
    return text.replace("{", r"\{").replace("}", r"\}")


def shortened(path: str) -> str:
    """A file and its folder.

    >>> shortened("/the/book/example")
    'book/example'
    """
    return "/".join(path.split("/")[-2:])
