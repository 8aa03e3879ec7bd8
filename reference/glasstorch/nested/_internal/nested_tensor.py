"""What is a nested tensor, and how is one made?

Mirrors: torch/nested/_internal/nested_tensor.py
Differs: nothing is traced with symbols, so what marks sizes as dynamic is left out.

# Note [Jagged]
A batch of sequences, each of a length of its own, lies in one tensor of values: one sequence after the other along a
packed dimension. `offsets` says where each begins, and where the last one ends. To a program the two are one tensor of
one dimension more: (batch, length, ...), in which the size `length` is a symbol (nested_int.py). `_ragged_idx` is
the place of that dimension; in the values it is one less, as the batch has no dimension there. With `lengths`, a
sequence ends before the next one begins: the tensor has holes.

The class wraps its values. Calls reach it through its keys: AutogradNestedTensor above, where rules.py has registered
what is more than a function of each element, and Python below, whose fallback asks `__torch_dispatch__`.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Self

from glasstorch._tensor import Tensor, tensor_of
from glasstorch.calls.overloaded import DisableTorchFunctionSubclass
from glasstorch.core import hooks, inference
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentError
from glasstorch.core.geometry import Size, existing_dim, is_expandable_to
from glasstorch.core.keys import FUNCTIONALITY_BIT, KEYS_OF_DEVICE
from glasstorch.core.layout import contiguous_format, jagged, preserve_format
from glasstorch.core.symbols import SymInt
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.python_fallback import keys_of_class
from glasstorch.nested._internal.nested_int import NestedIntNode
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated.functions import _nested_view_from_jagged, arange, cat, zeros
from glasstorch.outside_data.creation import tensor
from glasstorch.python_forms.subclasses import Unbacked

NESTED = FUNCTIONALITY_BIT["NestedTensor"] | FUNCTIONALITY_BIT["AutogradNestedTensor"]

view_from_jagged: Any = on_tensors("_nested_view_from_jagged")
get_values: Any = on_tensor("_nested_get_values")
slice_of: Any = on_tensor("slice.Tensor")


# The symbols of ragged sizes ----------------------------------------------------------------------------------------


class _Symbols:
    """The symbol of each tensor of offsets or lengths, for as long as that lives."""

    def __init__(self) -> None:
        self.count = 0
        self.known: dict[int, tuple[weakref.ref[Tensor], SymInt]] = {}

    def of(self, source: Tensor) -> SymInt:
        """The symbol of a tensor; a new one where it has none."""
        found = self.known.get(id(source))
        if found is not None and found[0]() is source:
            return found[1]
        symbol = SymInt(NestedIntNode(self.count, 1))
        self.count += 1
        self.give(source, symbol)
        return symbol

    def give(self, source: Tensor, symbol: SymInt) -> None:
        """Let a tensor have the symbol of another: the lengths are the same, on another device."""
        number = id(source)
        self.known[number] = weakref.ref(source, lambda _: self.known.pop(number, None) and None), symbol


symbols = _Symbols()


def get_tensor_symint(tensor: Tensor, *, coeff: int = 1) -> SymInt:
    """The symbol that stands for the lengths which a tensor of offsets or lengths tells."""
    symbol: SymInt = symbols.of(tensor) * coeff
    return symbol


# The class ----------------------------------------------------------------------------------------------------------


class NestedTensor(Tensor):
    """A batch of sequences of several lengths, over one tensor of values; see Note [Jagged]."""

    _values: Any  # a strided tensor
    _offsets: Tensor
    _lengths: Tensor | None
    _size: tuple[Any, ...]
    _ragged_idx: int
    _metadata_cache: dict[str, Tensor]  # the lengths of the longest and the shortest sequence, once they are known

    is_nested = True  # type: ignore[misc]

    @staticmethod
    def __new__(cls: Any, values: Tensor, offsets: Tensor, *, lengths: Tensor | None = None, **kwargs: Any) -> Any:
        _check_parts(values, offsets, lengths)
        ragged_idx = kwargs.get("_ragged_idx", 1)
        ragged = get_tensor_symint(offsets if lengths is None else lengths)
        inner, r = values._shape, ragged_idx - 1
        if r >= len(inner):
            raise IndexError("tuple index out of range")
        size: Any = (offsets._shape[0] - 1, *inner[:r], ragged, *inner[r + 1 :])
        keys = keys_of_class(cls, inference.keys_of_new(KEYS_OF_DEVICE[values.device.type] | NESTED))
        storage = Unbacked(Tensor.untyped_storage(values).nbytes(), values.device)
        made: Any = tensor_of(values.dtype, size, keys, None, storage, None, values.storage_offset(), cls)
        made._ragged_idx, made._size = ragged_idx, size
        if kwargs.get("requires_grad", False):
            hooks.required(made)
        return made

    def __init__(self, values: Tensor, offsets: Tensor, *, lengths: Tensor | None = None, **kwargs: Any) -> None:
        super().__init__()
        self._values = values.detach() if values.requires_grad else values  # its own history is that of the whole
        self._offsets = offsets
        self._lengths = lengths
        self._metadata_cache = kwargs.get("_metadata_cache") or {}

    # Parts ------------------------------------------------------------------------------------------------------

    def values(self) -> Tensor:
        """The packed values, a view of this tensor through which gradients flow."""
        found: Tensor = get_values(self)
        return found

    def offsets(self) -> Tensor:
        """Where each sequence begins in the values, and where the last one ends."""
        return self._offsets

    def lengths(self) -> Tensor | None:
        """How long each sequence is, where that is less than the distance to the next; else None."""
        return self._lengths

    def _get_max_seqlen(self) -> int:
        return self._seqlen("max_seqlen", max)

    def _get_min_seqlen(self) -> int:
        return self._seqlen("min_seqlen", min)

    def _seqlen(self, name: str, extreme: Any) -> int:
        """The length of the longest or shortest sequence; computed once."""
        known = self._metadata_cache.get(name)
        if known is None:
            lengths = self._offsets.diff() if self._lengths is None else self._lengths
            known = self._metadata_cache[name] = store_seqlen(int(extreme(lengths.tolist())))
        return known._shape[0]

    @property
    def _max_seqlen(self) -> int:
        return self._get_max_seqlen()

    @property
    def _min_seqlen(self) -> int:
        return self._get_min_seqlen()

    @property
    def _max_seqlen_tensor(self) -> Tensor | None:
        return self._metadata_cache.get("max_seqlen")

    @property
    def _min_seqlen_tensor(self) -> Tensor | None:
        return self._metadata_cache.get("min_seqlen")

    @property
    def _maybe_max_seqlen(self) -> int | None:
        """The length of the longest sequence, if it is known."""
        found = self._metadata_cache.get("max_seqlen")
        return None if found is None else found._shape[0]

    @property
    def _maybe_min_seqlen(self) -> int | None:
        """The length of the shortest sequence, if it is known."""
        found = self._metadata_cache.get("min_seqlen")
        return None if found is None else found._shape[0]

    # What a tensor tells of itself --------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes, the ragged one as its symbol."""
        return Size(self._size)

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or that of one dimension."""
        return Size(self._size) if dim is None else self._size[existing_dim(dim, len(self._size))]

    def stride(self, dim: int | None = None) -> Any:
        """The strides of the values, and before them that of the batch, which is a symbol too."""
        steps = self._values.stride()
        whole = (self._size[self._ragged_idx] * steps[self._ragged_idx - 1], *steps)
        return whole if dim is None else whole[existing_dim(dim, len(whole))]

    @property
    def layout(self) -> Any:
        """`jagged`."""
        return jagged

    def numel(self) -> int:
        """The number of elements of all sequences."""
        if self._lengths is None:
            return int(self._values.numel())
        at = self._ragged_idx
        return int(self._lengths.sum()) * int(math.prod((*self._size[1:at], *self._size[at + 1 :])))

    nelement = numel

    def is_contiguous(self, memory_format: Any = contiguous_format) -> bool:
        """Whether the values are, and there are no holes between the sequences."""
        if self._lengths is not None:
            return False
        return memory_format is preserve_format or self._values.is_contiguous(memory_format=memory_format)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        facts = f"size={self._size}, offsets={self._offsets}"
        if self.grad_fn:
            facts += f", grad_fn={self.grad_fn}"
        elif self.requires_grad:
            facts += f", requires_grad={self.requires_grad}"
        return f"NestedTensor({facts}, contiguous={self.is_contiguous()})"

    def __getitem__(self, index: Any) -> Any:
        """An index or a slice for each dimension, the first of which is the batch; no dimension is passed over."""
        items = index if isinstance(index, tuple) else (index,)
        if not all(item is None or item is Ellipsis or type(item) in (int, slice) for item in items):
            return super().__getitem__(index)
        found: Any = self
        dim = 0
        for at, item in enumerate(items):
            if item is Ellipsis:
                dim += found.dim() - dim - sum(later is not None for later in items[at + 1 :])
            elif item is None:
                found, dim = found.unsqueeze(dim), dim + 1
            elif isinstance(item, slice):
                begin, end, step = item.start, item.stop, item.step
                found, dim = slice_of(found, dim, begin, end, 1 if step is None else step), dim + 1
            else:
                found = found.select(dim, item)
        return found

    def pin_memory(self, device: Any = None) -> Any:
        """The same with values in pinned memory."""
        return self._with(self._values.pin_memory())

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the values are in pinned memory."""
        return bool(self._values.is_pinned())

    def share_memory_(self) -> Self:
        """Move what it consists of to memory that other processes can be given."""
        for name in self.__tensor_flatten__()[0]:
            getattr(self, name).share_memory_()
        return self

    def is_shared(self) -> bool:
        """Whether other processes can be given what it consists of."""
        return all(getattr(self, name).is_shared() for name in self.__tensor_flatten__()[0])

    def _with(self, values: Tensor) -> NestedTensor:
        """Other values with the same sequences, without history."""
        parts = {"_ragged_idx": self._ragged_idx, "_metadata_cache": self._metadata_cache}
        return NestedTensor(values, self._offsets, lengths=self._lengths, **parts)

    # Copies and pickles -------------------------------------------------------------------------------------------

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        state = {name: value for name, value in self.__dict__.items() if name != "_size"}
        parts = {
            "values": self._values,
            "offsets": self._offsets,
            "lengths": self._lengths,
            "_ragged_idx": self._ragged_idx,
            "_metadata_cache": self._metadata_cache,
            "requires_grad": self.requires_grad,
        }
        return _rebuild_from_parts, (_rebuild_njt, type(self), (parts,), state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            return super().__deepcopy__(memo)
        if id(self) not in memo:
            copied = self.detach().clone().requires_grad_(self.requires_grad)
            if self.grad is not None:
                copied.grad = self.grad.detach().clone()
            memo[id(self)] = copied
        return memo[id(self)]

    def __tensor_flatten__(self) -> tuple[list[str], dict[str, Any]]:
        """The names of the tensors that this one consists of, and what else it has."""
        names = ["_values", "_offsets"]
        if self._lengths is not None:
            names.append("_lengths")
        names += [f"_{name}_tensor" for name in ("min_seqlen", "max_seqlen") if name in self._metadata_cache]
        return names, {"requires_grad": self.requires_grad, "ragged_idx": self._ragged_idx}

    @staticmethod
    def __tensor_unflatten__(
        inner_tensors: Mapping[str, Any], meta: Any, outer_size: Any, outer_stride: Any
    ) -> NestedTensor:
        """The tensor that consists of these."""
        names = "min_seqlen", "max_seqlen"
        cache = {name: inner_tensors[f"_{name}_tensor"] for name in names if f"_{name}_tensor" in inner_tensors}
        parts = inner_tensors["_values"], inner_tensors["_offsets"]
        more = {"_ragged_idx": meta["ragged_idx"], "_metadata_cache": cache, "requires_grad": meta["requires_grad"]}
        return NestedTensor(*parts, lengths=inner_tensors.get("_lengths"), **more)

    # Calls --------------------------------------------------------------------------------------------------------

    @classmethod
    def __torch_dispatch__(
        cls, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return hooks_of_class.answer(func, func.bind(args, dict(kwargs or {})))

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        answered = hooks_of_class.functions.get(func)
        if answered is not None:
            return answered(*args, **(kwargs or {}))
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


class _Answers:
    """What the class asks: filled in by rules.py and functions.py, which make nested tensors and so stand above it."""

    answer: Any
    functions: dict[Any, Any]


hooks_of_class = _Answers()
hooks_of_class.functions = {}


def _check_parts(values: Tensor, offsets: Tensor, lengths: Tensor | None) -> None:
    if offsets is None:
        raise AssertionError("offsets must not be None")
    if offsets.ndim != 1:
        raise AssertionError(f"offsets must be 1D, but got {offsets.ndim}D")
    if isinstance(values, NestedTensor):
        raise AssertionError("values must not be a NestedTensor")
    if values.device != offsets.device:
        raise AssertionError(
            f"values and offsets must be on the same device, but got values.device={values.device} and "
            f"offsets.device={offsets.device}"
        )
    batch = offsets._shape[0] - 1
    if lengths is not None and batch != lengths._shape[0]:
        raise AssertionError(
            f"offsets and lengths batch sizes must match: offsets.shape[0] - 1 = {batch}, lengths.shape[0] = "
            f"{lengths._shape[0]}"
        )


def _rebuild_njt(parts: dict[str, Any]) -> NestedTensor:
    """The tensor that a pickle holds the parts of."""
    return NestedTensor(**parts)


def _rebuild_from_parts(function: Any, cls: type, arguments: Any, state: dict[str, Any]) -> Any:
    made = function(*arguments)
    made.__dict__.update(state)
    return made


def store_seqlen(length: int) -> Tensor:
    """A length as the first size of an empty tensor."""
    made: Tensor = zeros(length, 0)
    return made


# Making one ---------------------------------------------------------------------------------------------------------

_dummies: list[Any] = []


def _nt_view_dummy() -> NestedTensor:
    """The nested tensor that stands among the arguments where an operator makes one of others."""
    if not _dummies:
        on = Device("meta")
        made = NestedTensor(zeros(3, 3, device=on), zeros(3, device=on, dtype=int64))
        _dummies.append(made.detach())
    found: NestedTensor = _dummies[0]
    return found


def nested_view_from_values_offsets_lengths(
    values: Tensor,
    offsets: Tensor,
    lengths: Tensor | None,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Any:
    """A nested tensor that is a view of the values."""
    ends = [None if length is None else store_seqlen(length) for length in (min_seqlen, max_seqlen)]
    return _nested_view_from_jagged(values, offsets, _nt_view_dummy(), lengths, ragged_idx, *ends)


def nested_view_from_values_offsets(
    values: Tensor,
    offsets: Tensor,
    ragged_idx: int = 1,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Any:
    """The same without holes."""
    return nested_view_from_values_offsets_lengths(values, offsets, None, ragged_idx, min_seqlen, max_seqlen)


def jagged_from_list(
    tensors: Sequence[Tensor], offsets: Tensor | None, dtype: Dtype | None = None, device: Any = None
) -> tuple[Any, Tensor]:
    """A nested tensor of the elements of a list of tensors, which are copied, and its offsets."""
    at = _ragged_dimension(tensors)
    values = cat([*tensors], at - 1)
    options = {name: value for name, value in (("device", device), ("dtype", dtype)) if value is not None}
    if options:
        values = values.to(**options)
    lengths = [t._shape[at - 1] for t in tensors]
    if offsets is None:
        offsets = tensor([*accumulate(lengths, initial=0)], dtype=int64, device=values.device)
    nested = nested_view_from_values_offsets(values, offsets, at, min(lengths), max(lengths))
    return nested, offsets


def _ragged_dimension(tensors: Sequence[Tensor]) -> int:
    """Which dimension of the nested tensor of a list has a size for each: the second, where all are of one size."""
    if len(tensors) == 0:
        raise ArgumentError("Cannot construct a nested tensor from an empty tensor list")
    kinds: list[set[Any]] = [{t.dtype for t in tensors}, {t.device for t in tensors}, {t.dim() for t in tensors}]
    for facts, ending in zip(kinds, ("have the same dtype", "be on the same device", "have the same dim"), strict=True):
        if len(facts) != 1:
            raise ArgumentError(f"When constructing a nested tensor, all tensors in list must {ending}")
    if tensors[0].dim() == 0:
        raise ArgumentError("Cannot construct a nested tensor from a list of zero-dim tensors")
    ragged = [d for d, sizes in enumerate(zip(*(t._shape for t in tensors), strict=True)) if len({*sizes}) > 1]
    if len(ragged) > 1:
        raise ArgumentError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout "
            "only allows for a single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim."
        )
    return ragged[0] + 1 if ragged else 1


def jagged_from_tensor_and_lengths(
    tensor: Tensor, starts: Tensor, lengths: Tensor
) -> tuple[Any, Tensor, Tensor | None]:
    """A nested view of some elements of each row: from its start on, as many as its length says."""
    batch = tensor._shape[0]
    if not (is_expandable_to(starts._shape, (batch,)) and is_expandable_to(lengths._shape, (batch,))):
        raise ArgumentError(
            "When constructing a jagged nested tensor using narrow(), your start and length must be Tensors that "
            "broadcast to input.shape[0]"
        )
    first, count = starts.expand(batch), lengths.expand(batch)
    if tensor.dim() < 2:
        raise AssertionError("tensor must at least be 2D for the nested narrow op to work")
    row = tensor._shape[1]
    begin = row * arange(0, batch, dtype=int64, device=tensor.device)
    offsets = cat([first + begin, (first[-1] + begin[-1] + count[-1]).unsqueeze(0)])
    values = tensor.view(-1, *tensor._shape[2:])
    gapless = (
        not bool((count[1:-1] != row).any())
        and not bool((offsets[1:-2].diff() != row).any())
        and int(offsets[0] + count[0]) == row
    )
    ends = int(lengths.min()), int(lengths.max())
    if gapless:
        packed = values[int(offsets[0]) : int(offsets[-1])]
        return nested_view_from_values_offsets(packed, offsets - offsets[0], 1, *ends), offsets, None
    return nested_view_from_values_offsets_lengths(values, offsets, count, 1, *ends), offsets, count
