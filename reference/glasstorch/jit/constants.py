"""Which values of a graph are known before it runs?

Mirrors: torch/csrc/jit/ir/constants.h (toIValue, constant_as)
Differs: a list or tuple built from constants is known too; PyTorch folds it to a constant first.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.jit.ir import Value


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()  # not None, which is a possible value
BUILDERS: Final[dict[str, type]] = {"prim::ListConstruct": list, "prim::TupleConstruct": tuple}


def known(value: Value) -> Any:
    """The Python value of a constant, or of a list or tuple of constants; else UNKNOWN."""
    if value.is_constant:
        return value.constant()
    build = BUILDERS.get(value.node.kind)
    if build is None:
        return UNKNOWN
    elements = [known(element) for element in value.node.inputs]
    return UNKNOWN if any(element is UNKNOWN for element in elements) else build(elements)
