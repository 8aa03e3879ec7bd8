"""What does a tensor carry into a pickle or a deep copy, and take from a state dict?

Mirrors: torch/_tensor.py (__deepcopy__, __reduce_ex__), torch/_utils.py (_rebuild_tensor_v2, _rebuild_from_type_v2)
Differs: tensors that share a storage share it after unpickling too, as after deepcopy; PyTorch's plain pickle gives
    each a storage of its own (torch.save does not).
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

from glasstorch.calls.asked_class import _TensorMeta
from glasstorch.core import hooks
from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import CONJUGATE, NEGATIVE, PYTHON, SPARSE
from glasstorch.core.layout import layout
from glasstorch.core.sparse_invariants import are_checked
from glasstorch.core.sparse_parts import COMPRESSED_LAYOUTS
from glasstorch.core.storage import Storage
from glasstorch.operators.composite.sparse.compressed import check_compressed, compressed_unchecked
from glasstorch.operators.composite.sparse.coo import check_coo, made_of
from glasstorch.python_forms.sparse_tensors import checking

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Geometry = tuple[Shape, Shape | None, int]


def deep_copy(self: Tensor, memo: dict[int, Any]) -> Any:
    """A leaf with its own storage, gradient and attributes; tensors that share a storage share the copy.

    A tensor with the conjugate or negative bit is resolved, and shares its storage with no other.
    """
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        return memo[id(self)]
    if self.key_set & SPARSE:
        return _kept(self, self.detach().clone(), memo)
    if self.key_set & PYTHON and self.untyped_storage().stands_for_others:
        cloned = self.clone()
        if type(cloned) is not type(self):
            raise RuntimeError(
                "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types "
                f"that properly implement clone(): that of {type(self).__name__} gave a {type(cloned).__name__}"
            )
        return _kept(self, cloned.detach() if cloned.requires_grad else cloned, memo)
    if type(self) is not _TensorMeta.root:
        _check_new_empty(self)
    storage = copy.deepcopy(self.untyped_storage(), memo)
    copied = rebuilt(type(self), storage, self.dtype, _geometry(self), _bits(self), False)
    if _bits(self):
        resolved = copied.resolve_conj().resolve_neg()
        copied = rebuilt(type(self), resolved.untyped_storage(), self.dtype, _geometry(resolved), 0, False)
    return _kept(self, copied, memo)


def _kept(self: Tensor, copied: Any, memo: dict[int, Any]) -> Any:
    """The copy, with a copy of what the tensor has beside its elements."""
    hooks.required(copied, self.requires_grad)
    memo[id(self)] = copied
    if self.grad is not None:
        copied.grad = copy.deepcopy(self.grad, memo)
    copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return copied


def _check_new_empty(self: Tensor) -> None:
    """Refuse the copy of a subclass that would come back as another class."""
    if type(self.new_empty([])) is not type(self):
        raise RuntimeError(
            "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types "
            "that implement new_empty() and for which that function returns another instance of the same subclass. "
            "You should either properly implement new_empty() for your subclass or override __deepcopy__() if it is "
            "intended behavior for new_empty() to return an instance of a different type."
        )


def reduce_ex(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    """The storage, the tensor's geometry, `requires_grad` and attributes. Hooks are not pickled."""
    warn_of_hooks(self)
    return parts(self)


def parts(self: Tensor) -> tuple[Any, ...]:
    """What a tensor is rebuilt from; of a sparse one neither `requires_grad` nor attributes, as in PyTorch."""
    if self.is_sparse:
        return sparse_rebuilt, (self.layout, (self._indices(), self._values(), self.shape, self.is_coalesced()))
    if self.key_set & SPARSE:
        held: Any = self._parts
        indices = held.compressed.detach(), held.plain.detach()
        return sparse_rebuilt, (held.layout, (*indices, held.values.detach(), self.shape))
    held = (self.untyped_storage(), self.dtype, _geometry(self), _bits(self), self.requires_grad)
    return rebuilt, (type(self), *held), self.__dict__ or None


def warn_of_hooks(self: Tensor) -> None:
    """Warn of each hook that is not pickled, unless it is marked as one that need not be."""
    for hook in (self._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                f"function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=4,
            )


def rebuilt(
    cls: type[Tensor], storage: Storage, dtype: dtype, geometry: Geometry, bits: int, requires_grad: bool
) -> Tensor:
    """A tensor rebuilt from the parts that `reduce_ex` returned; always a leaf."""
    made = hooks.tensor_hooks.make(storage, dtype, *geometry, cls)
    made.key_set |= bits
    return hooks.required(made, requires_grad)


def sparse_rebuilt(layout: layout, data: Any) -> Tensor:
    """A sparse tensor rebuilt from its parts, which are checked where the program has asked for that."""
    if layout in COMPRESSED_LAYOUTS:
        compressed, plain, values, size = data
        if are_checked():
            check_compressed(compressed, plain, values, size, layout, None)
        with checking(False):
            return compressed_unchecked(compressed, plain, values, size, values.dtype, layout, values.device, None)
    indices, values, size, is_coalesced = data
    if are_checked():
        check_coo(indices, values, size, is_coalesced, None)
    return made_of(indices, values, size, (None, layout, None, None), is_coalesced)


def _geometry(self: Tensor) -> Geometry:
    return self._shape, self._strides, self._offset


def _bits(self: Tensor) -> int:
    """The conjugate bit and the negative bit."""
    return self.key_set & (CONJUGATE | NEGATIVE)


# What a module's parameter takes from a state dict ---------------------------------------------------------------


def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """The tensor that takes this one's place in a module when `other` is loaded: itself, filled, or `other`.

    Both are given detached. A subclass may say something else.
    """
    return other.detach() if assign else self.copy_(other).detach()
