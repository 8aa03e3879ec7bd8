"""Which value of a graph is known before it runs?

Mirrors: torch/csrc/jit/ir/constants.h (toIValue, constant_as)
Differs: a list or tuple that the graph builds of constants is known too; PyTorch folds it to a constant first.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.jit.ir import Value


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()  # None is a value that may be known
BUILDERS: Final[dict[str, type]] = {"prim::ListConstruct": list, "prim::TupleConstruct": tuple}


def known(value: Value) -> Any:
    """The Python value, or UNKNOWN."""
    if value.is_constant:
        return value.constant()
    build = BUILDERS.get(value.node.kind)
    if build is None:
        return UNKNOWN
    elements = [known(element) for element in value.node.inputs]
    return UNKNOWN if any(element is UNKNOWN for element in elements) else build(elements)
