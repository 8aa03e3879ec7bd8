"""What is there for batches of sequences of several lengths?

Reading order: `_internal/` (the jagged layout); the functions here make nested tensors of it.

Mirrors: torch/nested/__init__.py
Differs: the strided layout of nested tensors, which is the default, is not here: `layout=torch.jagged` asks for the one
    that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentError
from glasstorch.core.layout import jagged, strided
from glasstorch.core.symbols import SymInt
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.kernels.loading import import_modules
from glasstorch.nested._internal.nested_tensor import NestedTensor as _NestedTensor
from glasstorch.nested._internal.nested_tensor import (
    _rebuild_from_parts,
    _rebuild_njt,
    jagged_from_list,
    jagged_from_tensor_and_lengths,
    nested_view_from_values_offsets,
    nested_view_from_values_offsets_lengths,
)
from glasstorch.nn.functional import pad
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated.functions import arange
from glasstorch.outside_data.creation import as_tensor
from glasstorch.outside_data.creation import tensor as _tensor
from glasstorch.serialization import add_safe_globals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasstorch.core.dtype import dtype as DType

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]

import_modules(f"{__name__}._internal")  # whose rules register themselves
add_safe_globals([_NestedTensor, _rebuild_njt, _rebuild_from_parts])  # so that `load` reads what `save` wrote

_padded: Any = on_tensor("to_padded_tensor")


def nested_tensor(
    tensor_list: Sequence[Any],
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A nested tensor of a list of tensors, or of what `tensor` takes: a copy without history."""
    if layout is None or layout is strided:
        _refuse_strided("nested_tensor")
    if layout is not jagged:
        raise ArgumentError(f"Specified layout is unsupported for nested tensors: {layout}")
    tensors = [t if isinstance(t, Tensor) else as_tensor(t) for t in tensor_list]
    with no_grad():
        made: Tensor = jagged_from_list(tensors, None, dtype, device)[0]
    made.requires_grad_(requires_grad)
    return made.pin_memory() if pin_memory else made


def as_nested_tensor(
    ts: Tensor | Sequence[Tensor], dtype: DType | None = None, device: Any = None, layout: Any = None
) -> Tensor:
    """A nested tensor through which gradients flow to a list of tensors, or to a tensor (batch, length, ...)."""
    is_list = isinstance(ts, list | tuple) and all(isinstance(t, Tensor) for t in ts)
    if not isinstance(ts, Tensor) and not is_list:
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if isinstance(ts, Tensor) and ts.dim() < 2:
        raise ArgumentError("as_nested_tensor(): Expected tensor argument to have dim() > 1")
    if isinstance(ts, Tensor) and ts.is_nested:
        if layout is not ts.layout:
            raise ArgumentError("as_nested_tensor(): Converting between nested tensor layouts is not supported")
        return ts.to(device=device, dtype=dtype)
    if layout is None or layout is strided:
        _refuse_strided("as_nested_tensor")
    if layout is not jagged:
        raise ArgumentError(f"Specified layout is unsupported for nested tensors: {layout}")
    if not isinstance(ts, Tensor):
        made: Tensor = jagged_from_list(ts, None, dtype, device)[0]
        return made
    on = ts.device if device is None else device
    values = ts.contiguous().flatten(0, 1).to(device=on, dtype=dtype)
    batch, length = ts.shape[:2]
    offsets = arange(0, batch * length + 1, length, device=on, dtype=int64)
    viewed: Tensor = nested_view_from_values_offsets(values, offsets, 1, length, length)
    return viewed


def to_padded_tensor(
    input: Tensor, padding: float, output_size: Sequence[int] | None = None, out: Tensor | None = None
) -> Tensor:
    """A nested tensor as a strided one, each sequence padded to the length of the longest, or to `output_size`."""
    if out is not None:
        raise NotImplementedError("to_padded_tensor: out= is not in glasstorch; copy the result")
    result: Tensor = _padded(input, padding, output_size)
    return result


def narrow(tensor: Tensor, dim: int, start: int | Tensor, length: int | Tensor, layout: Any = strided) -> Tensor:
    """A nested view of some elements of each row of a tensor: from a start on so many, for all rows or for each."""
    for name, value in (("start", start), ("length", length)):
        if not isinstance(value, int | SymInt | Tensor):
            raise ArgumentError(f"{name} must be an integer or a tensor")
    if layout is strided:
        if isinstance(start, Tensor) or isinstance(length, Tensor):
            raise ArgumentError("start and length must be integers for the strided layout NT impl")
        _refuse_strided("narrow")
    if layout is not jagged:
        raise ArgumentError(f"Specified layout is unsupported for nested narrow: {layout}")
    if dim != 1:
        raise ArgumentError("jagged layout only supports dim=1")
    limits = [
        value if isinstance(value, Tensor) else _tensor([value], device=tensor.device, dtype=int64)
        for value in (start, length)
    ]
    made: Tensor = jagged_from_tensor_and_lengths(tensor, *limits)[0]
    return made


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Tensor:
    """A nested view of packed values: sequences one after the other, that begin at the offsets or have these lengths.

    With both, a sequence ends before the next begins. `jagged_dim` is the ragged dimension of the result, 1 by default.
    """
    if offsets is None:
        if lengths is None:
            raise ArgumentError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets, lengths = pad(lengths.cumsum(0), (1, 0)), None
    at = 1 if jagged_dim is None else jagged_dim
    if at < 1:
        raise ValueError(f"Expected jagged_dim >=1, but got {jagged_dim}.")
    made: Tensor = nested_view_from_values_offsets_lengths(values, offsets, lengths, at, min_seqlen, max_seqlen)
    return made


def masked_select(tensor: Tensor, mask: Tensor) -> Tensor:
    """The elements that a mask picks, those of each row as a sequence of their own."""
    for name, given, given_words in (("tensor", tensor, ", given "), ("mask", mask, ", given: ")):
        if given.layout is not strided:
            raise ArgumentError(f"torch.nested.masked_select requires a strided {name}{given_words}{given.layout}")
    picked = tensor.masked_select(mask)
    lengths = mask.expand(tensor.shape).sum(dim=tensor.ndim - 1).view(-1)
    made: Tensor = nested_view_from_values_offsets(picked, pad(lengths.cumsum(dim=0), (1, 0)))
    return made


def _refuse_strided(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: nested tensors of the layout torch.strided, which is the default, are not in glasstorch; give "
        "layout=torch.jagged"
    )


__getattr__ = refuse_unknown_names("glasstorch.nested")
