"""Which sizes, dtype and strides does each node's result have?

Mirrors: torch/fx/passes/shape_prop.py
Differs: no tensor is quantized. Sizes are noted as numbers.
"""

from __future__ import annotations

import traceback
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import Size
from glasstorch.core.layout import channels_last, channels_last_3d, contiguous_format, memory_format, strided
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Interpreter
from glasstorch.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]

FORMATS: Final = (contiguous_format, channels_last, channels_last_3d)


class TensorMetadata(NamedTuple):
    """What is known of a tensor besides its values. Strides count elements; a sparse tensor has none."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """What is known of a tensor besides its values."""
    is_strided = result.layout is strided
    found = None
    if include_contiguity and is_strided:
        found = next((form for form in FORMATS if _has_format(result, form)), None)
    stride = result.stride() if is_strided else ()
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, stride, found, False, {})


def _has_format(tensor: Tensor, form: memory_format) -> bool:
    dims = {channels_last: 4, channels_last_3d: 5}.get(form, tensor.dim())
    return tensor.dim() == dims and tensor.is_contiguous(memory_format=form)


class ShapeProp(Interpreter):
    """Runs a module on examples, and notes in each node's `meta["tensor_meta"]` what its result is.

    A result that contains tensors is noted as the same container of `TensorMetadata`; `meta["type"]` is its class.
    With a `fake_mode`, the examples become fake tensors, and nothing is computed.
    """

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        super().__init__(gm)
        self.fake_mode = fake_mode

    def run_node(self, n: Node) -> Any:
        """What the node gives, after noting what it is; RuntimeError names the node if it cannot be run."""
        try:
            if self.fake_mode is None:
                result = super().run_node(n)
            else:
                with self.fake_mode:
                    result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def described(value: Any) -> Any:
            nonlocal found
            if not isinstance(value, Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)

        described_result = map_aggregate(result, described)
        if found:
            n.meta["tensor_meta"] = described_result
        n.meta["type"] = type(result)
        return result

    def fetch_attr(self, target: str) -> Any:
        """What the module has at a path; a fake tensor of it, if there is a fake mode."""
        found = super().fetch_attr(target)
        if self.fake_mode is not None and isinstance(found, Tensor):
            return self.fake_mode.from_tensor(found)
        return found

    def propagate(self, *args: Any) -> Any:
        """The module's result for examples; all nodes are noted."""
        if self.fake_mode is not None:
            args = tuple(self.fake_mode.from_tensor(arg) if isinstance(arg, Tensor) else arg for arg in args)
        return super().run(*args)
