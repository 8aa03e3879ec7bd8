"""To which operator's result does a node of the backward graph belong?"""

from __future__ import annotations

import re
from functools import lru_cache

from workbook.book.withheld import library

NODES = "autograd/generated/autograd_kernels.py"
NODE = re.compile(r"^class (\w+Backward\d*)\(Node\)", re.MULTILINE)


@lru_cache(maxsize=1)
def node_operators() -> dict[str, str]:
    """The nodes that are generated from formulas, each with the operator whose row it is made from."""
    blocks = (library() / NODES).read_text(encoding="utf-8").split("\n\n\n")
    found: dict[str, str] = {}
    for place, block in enumerate(blocks):
        if node := NODE.match(block.lstrip("\n")):
            word = re.compile(rf"\b{node[1]}\b")
            kernel = next((other for other in blocks[place + 1 :] if word.search(other)), "")
            if registered := re.search(r"""["']([a-z_]\w*(?:\.\w+)?)["']""", kernel):
                found[node[1]] = registered[1]
    return found


def operator_of_node(name: str) -> str | None:
    """The operator to whose result a generated node belongs; None if it is not the name of one."""
    return node_operators().get(name) if "Backward" in name else None
