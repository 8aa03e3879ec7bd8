"""How may a program write to tensors that nodes have saved?

Mirrors: torch/autograd/graph.py (allow_mutation_on_saved_tensors)
Differs: a storage is known by itself, not by the address at which a tensor begins, so that a write to a part of a saved
    tensor copies it too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from glasstorch._tensor import Tensor
from glasstorch.autograd.saved_hooks import saved_tensors_hooks
from glasstorch.core import hooks
from glasstorch.core.errors import AutogradError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.operator import Operator

Saved = tuple[int, int, int]  # a tensor, its storage, and its version
Memory = tuple[int, int]  # a storage, and its version

_allowed: ContextVar[bool] = ContextVar("mutation_on_saved_tensors", default=False)


class Handle:
    """What a node keeps in place of a tensor."""


class AllowMutationOnSavedContext:
    """The tensors that nodes have saved in a block, and the copies of those that were written to since.

    Everything goes with the handles that the nodes hold. PyTorch's names, as its tests look inside.
    """

    def __init__(self) -> None:
        self.cloned: MutableMapping[Handle, Tensor] = WeakKeyDictionary()
        self.original: MutableMapping[Handle, Tensor] = WeakKeyDictionary()
        self.tid_to_weakhandle: MutableMapping[Saved, Handle] = WeakValueDictionary()
        self.sid_to_tid: dict[Memory, set[Saved]] = defaultdict(set)

    def clear(self) -> None:
        """Forget all tensors: graphs of this block can no longer be run backward."""
        for table in (self.cloned, self.original, self.tid_to_weakhandle, self.sid_to_tid):
            table.clear()

    def pack(self, tensor: Tensor) -> Handle:
        """A handle; the same one for a tensor of the same version."""
        memory = _memory(tensor)
        saved = (id(tensor), *memory)
        self.sid_to_tid[memory].add(saved)
        handle = self.tid_to_weakhandle.get(saved)
        if handle is None:
            handle = self.tid_to_weakhandle[saved] = Handle()
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: Handle) -> Tensor:
        """The tensor as it was when it was saved. AssertionError outside of the block."""
        tensor = self.cloned.get(handle)
        if tensor is None:
            tensor = self.original.get(handle)
        if tensor is None or not _allowed.get():
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
                "originally recorded."
            )
        return tensor

    def before(self, operator: Operator, positional: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Copy what nodes have saved of the tensors that an operator is about to write to."""
        for place, argument in enumerate(operator.schema.arguments):
            if argument.type.is_write:
                given = positional[place] if place < len(positional) else named.get(argument.name)
                for tensor in given if isinstance(given, list | tuple) else (given,):
                    if isinstance(tensor, TensorImpl):
                        self._copy_saved(_memory(tensor))

    def _copy_saved(self, memory: Memory) -> None:
        for saved in self.sid_to_tid.get(memory, ()):
            handle = self.tid_to_weakhandle.get(saved)  # None where a backward pass has freed the node's
            if handle is not None and handle not in self.cloned:
                self.cloned[handle] = self.original.pop(handle).clone()


def _memory(tensor: TensorImpl) -> Memory:
    return id(TensorImpl.untyped_storage(tensor)), tensor.version_counter().value


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[AllowMutationOnSavedContext]:
    """Inside, a tensor that was saved for backward is copied before it is written to, and the backward pass is right.

    Forward and backward pass must both be in the block. It gives the object that holds the tensors and their copies,
    and forgets them at its end. Blocks do not nest.

    >>> from glasstorch import ones
    >>> with allow_mutation_on_saved_tensors():
    ...     x = ones(2, requires_grad=True)
    ...     y = x.clone()
    ...     z = (y**2).sum()
    ...     y = y.sin_()
    ...     z.backward()
    >>> x.grad
    tensor([2., 2.])
    """
    context = AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack), hooks.intercepted(context.before):
        try:
            if _allowed.get():
                raise AutogradError("allow_mutation_on_saved_tensors contexts cannot be nested")
            _allowed.set(True)
            yield context
        finally:
            context.clear()
            _allowed.set(False)
