"""What does a transform put around a tensor?

Mirrors: aten/src/ATen/functorch/BatchedTensorImpl.h, TensorWrapper.h
Differs: the value stands in the tensor's storage, so that whatever copies a tensor's fields copies it too.

At each level of nested transforms a value may be wrapped once. A *batched* tensor hides one dimension of its value,
along which vmap maps; a *tracked* tensor has the geometry of its value and a history of its own.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor, tensor_of
from glasstorch.core.keys import ADINPLACEORVIEW, FUNCTIONALITY_BIT, FUNCTIONALIZE, MATH_BITS, SPARSE, WRAPPED
from glasstorch.core.pytree import tree_map
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.tensor_impl import TensorImpl

BATCHED = FUNCTIONALITY_BIT["FuncTorchBatched"]
TRACKED = FUNCTIONALITY_BIT["FuncTorchGradWrapper"]
DENSE = FUNCTIONALITY_BIT["Dense"]
RECORDING = FUNCTIONALITY_BIT["AutogradFunctionality"] | ADINPLACEORVIEW  # which an inference tensor lacks

NO_VALUE = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
NO_TRUTH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
NO_ELEMENTS = "Cannot access data pointer of Tensor that doesn't have storage"


class Wrapping(UntypedStorage):
    """The storage of a wrapped tensor: its value, the transform that wrapped it, and the hidden dimension."""

    __slots__ = ("bdim", "captured", "owner", "value")

    value: Tensor
    owner: object  # the interpreter
    bdim: int | None  # None for a tracked tensor
    captured: bool  # a tracked tensor, or one that it is a view of, is not made at its level: it may not be changed

    def __init__(self, value: Tensor, owner: object, bdim: int | None, captured: bool = False) -> None:
        self._fill_in_wrapping(value)
        self.value, self.owner, self.bdim, self.captured = value, owner, bdim, captured

    def _fill_in_wrapping(self, value: Tensor) -> None:
        self._nbytes = 0
        self.device = value.device
        self.may_resize = False
        self.cloned_at_once = False
        self.block = self.lazy = self.shared = None

    @property
    def generation(self) -> int:  # type: ignore[override]
        if self.value.key_set & SPARSE:  # it has no storage that could be reallocated
            return 0
        return self.value.untyped_storage().generation

    @property
    def memory(self) -> Any:  # type: ignore[override]
        """The memory of a tracked tensor's value; that of a batched one holds all examples, and is refused."""
        if self.bdim is not None:
            raise RuntimeError(NO_ELEMENTS)
        return self.value.untyped_storage().memory

    def data_ptr(self) -> int:
        return self.memory.ctypes.data if self.bdim is not None else self.value.untyped_storage().data_ptr()

    def nbytes(self) -> int:
        return self.value.untyped_storage().nbytes()

    def materialize(self) -> None:
        self.value.untyped_storage().materialize()


def wrapping(tensor: TensorImpl) -> Wrapping:
    """The wrapping of a tensor that is wrapped."""
    storage = tensor._storage
    assert isinstance(storage, Wrapping)
    return storage


def batched(value: Tensor, bdim: int, owner: object) -> Tensor:
    """A tensor that hides the dimension `bdim` of its value."""
    bdim %= len(value._shape)
    if value.key_set & MATH_BITS:
        value = value.resolve_conj().resolve_neg()
    strides = value.strides()
    keys = (value.key_set & ~(DENSE | TRACKED | MATH_BITS | FUNCTIONALIZE)) | BATCHED
    shape = value._shape[:bdim] + value._shape[bdim + 1 :]
    result = tensor_of(
        value.dtype,
        shape,
        keys,
        None,
        Wrapping(value, owner, bdim),
        strides[:bdim] + strides[bdim + 1 :],
        value._offset,
    )
    _with_parts(result, value)
    result._version_counter = value.version_counter() if value.key_set & ADINPLACEORVIEW else value._version_counter
    return result


def tracked(value: Tensor, owner: object, captured: bool = False) -> Tensor:
    """A tensor with the geometry of its value, and no history so far; a normal one, also around an inference tensor."""
    keys = (value.key_set & ~(DENSE | BATCHED | MATH_BITS | FUNCTIONALIZE)) | TRACKED | RECORDING
    result = tensor_of(
        value.dtype, value._shape, keys, None, Wrapping(value, owner, None, captured), value.strides(), value._offset
    )
    result._number = value._number
    _with_parts(result, value)
    return result


def _with_parts(wrapper: Tensor, value: Tensor) -> None:
    """Let the wrapper of a sparse tensor say what layout it has; operators reach the value before they read parts."""
    if value.key_set & SPARSE:
        wrapper._parts = value._parts


def refresh(wrapper: Tensor) -> None:
    """Take over the geometry of the value, which an operator has changed in place."""
    inside = wrapping(wrapper)
    value = inside.value
    shape, strides = value._shape, value.strides()
    if inside.bdim is not None:
        shape = shape[: inside.bdim] + shape[inside.bdim + 1 :]
        strides = strides[: inside.bdim] + strides[inside.bdim + 1 :]
    wrapper._shape, wrapper._strides, wrapper._offset = shape, strides, value._offset


def values_of(tree: Any, owner: object) -> Any:
    """The tensors that a transform has wrapped as their values, and the other leaves as they are."""

    def value_of(leaf: Any) -> Any:
        found = wrapping_by(owner, leaf)
        return leaf if found is None else found.value

    return tree_map(value_of, tree)


def wrapping_by(owner: object, value: Any) -> Wrapping | None:
    """The wrapping of a tensor that this transform has wrapped; None for any other value."""
    if isinstance(value, TensorImpl) and value.key_set & WRAPPED:
        inside = wrapping(value)
        if inside.owner is owner:
            return inside
    return None
