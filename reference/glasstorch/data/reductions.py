"""How is a tensor pickled for another process, and rebuilt there?

Mirrors: torch/multiprocessing/reductions.py
Differs: CUDA memory is not shared between processes; a CUDA tensor is refused, where PyTorch sends an IPC handle.
"""

from __future__ import annotations

import os
import weakref
from multiprocessing import reduction
from typing import Any, Final
from weakref import WeakValueDictionary

from glasstorch._tensor import Tensor
from glasstorch.core.errors import AutogradError, DeviceError
from glasstorch.core.shared_memory import SharedMemory
from glasstorch.core.storage import UntypedStorage
from glasstorch.nn.parameter import Parameter
from glasstorch.python_forms import pickling

# Storages that this process has sent or received, so that one that arrives twice is a single storage here too.
_known: Final[WeakValueDictionary[tuple[int, int], UntypedStorage]] = WeakValueDictionary()


class StorageWeakRef:
    """Whether a storage is still there, and the same as another: what a program keeps that shall not keep it alive.

    A storage has one weak reference, which all these share. It tells a dead storage from a new one at its address.
    """

    __slots__ = ("cdata", "storage")

    def __init__(self, storage: Any) -> None:
        self.storage = weakref.ref(storage)
        self.cdata = storage._cdata

    def expired(self) -> bool:
        return self.storage() is None

    def __hash__(self) -> int:
        return hash(self.cdata)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageWeakRef) and self.storage is other.storage


def register_reductions() -> None:
    """Register with Python's `multiprocessing` how tensors and storages are pickled."""
    reduction.register(UntypedStorage, reduce_storage)
    for kind in (Tensor, Parameter):
        reduction.register(kind, reduce_tensor)


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """A tensor as its storage, dtype and geometry; a non-leaf tensor that requires grad is refused."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise AutogradError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
            "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before "
            "serializing (e.g., putting it on the queue)."
        )
    if tensor.is_cuda:
        raise DeviceError(f"cannot send a tensor on {tensor.device} to another process; send tensor.cpu()")
    return pickling.reduce_ex(tensor, None)


def reduce_storage(storage: UntypedStorage) -> tuple[Any, ...]:
    """A storage as the descriptor of shared memory, to which it is moved first."""
    if storage.device.type == "meta":
        return _on_meta, (storage.nbytes(),)
    if storage.is_cuda:
        raise DeviceError(f"cannot send a storage on {storage.device} to another process; send storage.cpu()")
    if not storage.nbytes():
        return UntypedStorage, ()
    shared = storage.share_memory_().shared
    assert shared is not None, "the storage has just been moved to shared memory"
    _known[shared.identity] = storage
    return _received, (reduction.DupFd(shared.descriptor), storage.nbytes())


def _received(sent: Any, nbytes: int) -> UntypedStorage:
    return received_storage(sent.detach(), nbytes)


def received_storage(descriptor: int, nbytes: int) -> UntypedStorage:
    """The storage over memory whose descriptor was received; an existing one if this process has it already."""
    about = os.fstat(descriptor)
    storage = _known.get((about.st_dev, about.st_ino))
    if storage is not None:
        os.close(descriptor)
        return storage
    storage = UntypedStorage.over_shared(SharedMemory(descriptor, nbytes))
    _known[about.st_dev, about.st_ino] = storage
    return storage


def _on_meta(nbytes: int) -> UntypedStorage:
    return UntypedStorage(nbytes, device="meta")
