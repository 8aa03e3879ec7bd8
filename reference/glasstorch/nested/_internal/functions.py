"""Which functions answer before an operator is dispatched?

Mirrors: torch/nested/_internal/ops.py (jagged_torch_function)
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import DisableTorchFunctionSubclass
from glasstorch.nested._internal.nested_tensor import NestedTensor, hooks_of_class
from glasstorch.nested._internal.sdpa import jagged_scaled_dot_product_attention
from glasstorch.nn import functional


def apply_(self: NestedTensor, function: Any) -> NestedTensor:
    """The values changed in place, each by a Python function."""
    with DisableTorchFunctionSubclass():
        self._values.apply_(function)
    return self


hooks_of_class.functions[functional.scaled_dot_product_attention] = jagged_scaled_dot_product_attention
hooks_of_class.functions[Tensor.apply_] = apply_
