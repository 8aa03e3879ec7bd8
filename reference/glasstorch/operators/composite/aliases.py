"""How does an alias of an operator work?

`native_functions.yaml` names the original under `alias_of:`; the alias's kernel is made here from that name. Its
in-place and out= forms are aliases of the original's.

Mirrors: aten/src/ATen/native/UnaryOps.cpp (absolute, arccos, fix, negative, special_expit), BinaryOps.cpp (multiply,
    subtract, greater, true_divide, special_gammainc), TensorCompare.cpp (clip), TensorShape.cpp (concat, swapaxes),
    LinearAlgebra.cpp (ger, linalg_matmul)
Differs: PyTorch writes a function for each name and form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.operators.generated.registry import table as table_of


def same_as(name: str) -> Callable[..., Any]:
    """A kernel that passes its arguments, and the key set of its call, to another operator."""
    table = table_of(name)

    def alias(keys: int, *arguments: Any) -> Any:
        return table[keys](keys, *arguments)

    return alias
