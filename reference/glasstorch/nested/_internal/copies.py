"""How is a nested tensor copied, cast, and how is one made that is like another?

Mirrors: torch/nested/_internal/ops.py (clone_default, to_copy_default, like_factory_default, new_empty_default)
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.layout import contiguous_format, strided
from glasstorch.dispatch.operator import Operator
from glasstorch.nested._internal.nested_tensor import NestedTensor, jagged_from_list, symbols
from glasstorch.nested._internal.rules import like, nested_of, rule, run


@rule("clone", "input: jt_all, memory_format: any?", only_below=True)
def clone_default(operator: Operator, x: NestedTensor, memory_format: Any) -> Any:
    """A copy; with contiguous_format one without holes."""
    if x._lengths is not None and memory_format is contiguous_format:
        return clone_without_holes(x)
    return like(x, run(operator, x._values, memory_format))


def clone_without_holes(x: NestedTensor) -> Any:
    """The sequences one after the other; their lengths have a symbol of their own."""
    if x._ragged_idx != 1:
        raise AssertionError("NJT with ragged_idx != 1 not supported for contiguous clone")
    return jagged_from_list(x.unbind(), None)[0]


@rule("contiguous", "self: jt_all, memory_format: any?")
def contiguous(operator: Operator, x: NestedTensor, memory_format: Any) -> Any:
    """The tensor itself, or a copy whose values are contiguous and without holes."""
    if x.is_contiguous(memory_format):
        return x
    return x.clone(memory_format=memory_format) if x._lengths is None else clone_without_holes(x)


@rule("detach alias", "self: jt_all", only_below=True)
def detach(operator: Operator, x: NestedTensor) -> Any:
    """The same without history."""
    return like(x, run(operator, x._values))


@rule("_to_copy", "self: jt_all", only_below=True)
def to_copy_default(operator: Operator, x: NestedTensor, dtype: Any, layout: Any, *rest: Any) -> Any:
    """A copy of another dtype or on another device, where its lengths have the same symbol."""
    return moved(x, run(operator, x._values, dtype, None, *rest))


@rule(
    "empty_like zeros_like ones_like rand_like randn_like full_like randint_like randint_like.low_dtype",
    "self: jt_all",
    only_below=True,
)
def like_factory_default(operator: Operator, x: NestedTensor, *arguments: Any) -> Any:
    """A new tensor with sequences of the same lengths; its layout is jagged, whatever is asked for."""
    at = next(i for i, a in enumerate(operator.schema.arguments[1:]) if a.name == "layout")
    given = [*arguments]
    given[at] = strided
    return moved(x, run(operator, x._values, *given))


def moved(x: NestedTensor, values: Tensor) -> Any:
    """A nested tensor of new values; on another device its offsets are copies that keep the symbol."""
    if values.device is x._values.device:
        return like(x, values)
    source = x._offsets if x._lengths is None else x._lengths
    offsets = x._offsets.to(device=values.device)
    lengths = None if x._lengths is None else x._lengths.to(device=values.device)
    symbols.give(offsets if lengths is None else lengths, symbols.of(source))
    return nested_of(values, offsets, lengths, x._ragged_idx, x._metadata_cache)


@rule("new_empty new_zeros new_ones", "self: jt_all, size: any, ...", only_below=True)
def new_empty_default(operator: Operator, x: NestedTensor, size: Any, *options: Any) -> Any:
    """A strided tensor of one element; other sizes are refused."""
    if len(size) == 0:
        return run(operator, x._values, size, *options)
    raise RuntimeError("new_empty() not supported for NJT with shape != ()")
