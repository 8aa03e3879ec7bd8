"""How does a program give a value a type while it is traced?

Mirrors: torch/fx/annotate.py
"""

from __future__ import annotations

from typing import Any

from glasstorch.fx.proxy import Proxy

__all__ = ["annotate"]


def annotate(val: Any, type: Any) -> Any:
    """The value itself; if it is a proxy, its node gets the type. RuntimeError if the node has one already."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                "Tried to annotate a value that already had a type on it! "
                f"Existing type is {val.node.type} and new type is {type}. "
                "This could happen if you tried to annotate a function parameter value (in which case you should use "
                "the type slot on the function signature) or you called annotate on the same value twice"
            )
        val.node.type = type
    return val
