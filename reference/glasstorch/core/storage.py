"""What holds a tensor's bytes?

Mirrors: c10/core/Storage.h, c10/core/StorageImpl.h, c10/core/impl/COW.h, torch/storage.py (UntypedStorage),
    torch/csrc/StorageMethods.cpp
Differs: one class instead of a handle and an implementation; Python's references do the counting. A lazy copy
    of memory that is visible outside the library is made at once: a write to it would go unnoticed. A storage in
    shared memory is not resizable; PyTorch's says that it is.

# Note [Copies made at the first write]
`lazy_clone` gives a second storage the same bytes. From then on both are lazy: they know the `LazyCopy` that holds the
bytes, and show NumPy an array that cannot be written to. `materialize` ends that: the storage takes a copy of its own,
or the bytes themselves if it is the last that shares them. The ADInplaceOrView kernels call it on whatever an operator
is about to write, and so does every function that hands out the address or the memory. If a kernel bypassed them,
NumPy would refuse the write, and the other storage would stay intact.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final
from weakref import WeakSet

import numpy as np

from glasstorch.core import hooks, private_use
from glasstorch.core.allocator import Buffer, cpu_allocator
from glasstorch.core.device import CPU, device, device_from, holds_tensors, no_tensors_on
from glasstorch.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    DimensionError,
    NoDataError,
    StorageError,
)
from glasstorch.core.forks import free_after_forks
from glasstorch.core.shared_memory import SharedMemory

Memory = np.ndarray[Any, Any]


class _StorageBase:
    """What programs ask for with `isinstance` to tell storages from other objects."""

    __slots__ = ()


class UntypedStorage(_StorageBase):
    """A block of bytes on one device, shared by any number of tensors.

    `memory` is a row-major array over the bytes, of whatever shape and dtype it was made with; None for a device whose
    bytes NumPy cannot reach (cuda, or a program's own: `block` holds them) and for one that has none (meta).
    `generation` changes whenever the bytes are replaced, so that an array cached on a tensor can be seen to be stale.
    `may_resize` is False once the memory is visible outside the library. `lazy` is what the storage shares with its
    lazy copies; see Note [Copies made at the first write]. `cloned_at_once`: the storage is never lazy, as an inference
    tensor uses it, whose writes pass no ADInplaceOrView kernel. `shared` is the memory that can be sent to other
    processes.
    """

    __slots__ = (
        "__weakref__",
        "_nbytes",
        "block",
        "cloned_at_once",
        "device",
        "generation",
        "lazy",
        "may_resize",
        "memory",
        "shared",
    )

    memory: Memory | None
    block: hooks.DeviceBlock | None
    lazy: LazyCopy | None
    shared: SharedMemory | None
    is_sparse: Final = False
    stands_for_others: ClassVar[bool] = False  # without bytes, in a tensor whose class computes with other tensors

    def __init__(self, *data: Any, device: device | str | None = None) -> None:
        """`UntypedStorage(3)` has three uninitialised bytes, `UntypedStorage([1, 2])` the bytes 1 and 2.

        Ints in a sequence are truncated to their lowest eight bits.
        """
        if len(data) > 1:
            raise ArgumentTypeError(
                f"UntypedStorage() takes a size or a sequence of ints, got {len(data)} positional arguments"
            )
        size = data[0] if data else 0
        values = None if _is_size(size) else _checked_bytes(size)
        nbytes = int(size) if values is None else len(values)
        if nbytes < 0:
            raise StorageError(f"UntypedStorage(): a storage cannot have {nbytes} bytes; the size must be 0 or more")
        on = _device(device)
        self._fill_in(None, nbytes, on, True)
        fresh = UntypedStorage.allocate(nbytes, on)
        if values is not None:
            fresh.copy_(UntypedStorage.over(np.array(values, np.uint8)))
        self.memory, self.block = fresh.memory, fresh.block

    def _fill_in(self, memory: Memory | None, nbytes: int, on: device, may_resize: bool) -> None:
        self.memory = memory
        self._nbytes = nbytes
        self.device = on
        self.may_resize = may_resize
        self.generation = 0
        self.cloned_at_once = False
        self.block = self.lazy = self.shared = None

    @classmethod
    def allocate(cls, nbytes: int, on: device = CPU) -> UntypedStorage:
        """A new storage of uninitialised bytes; on the meta device it has a size and no bytes.

        A device with memory of its own must have an index.
        """
        storage = _new(cls)
        if on is CPU:
            storage._fill_in(cpu_allocator.allocate(nbytes), nbytes, CPU, True)
            return storage
        storage._fill_in(None, nbytes, on, True)
        if on.type != "meta":
            assert on.index is not None, "a device with memory of its own has its index here"
            allocate = hooks.memory_hooks.allocate if on.type == "cuda" else private_use.allocate
            storage.block = allocate(nbytes, on)
        return storage

    @classmethod
    def over(cls, array: Memory, resizable: bool = False) -> UntypedStorage:
        """A storage that shares the memory of a row-major array and keeps it alive.

        It may be `resizable` only if nothing else relies on the array showing the storage's bytes.
        """
        storage = _new(cls)
        storage._fill_in(array, array.nbytes, CPU, resizable)
        return storage

    @classmethod
    def over_block(cls, block: hooks.DeviceBlock, on: device) -> UntypedStorage:
        """A storage over memory of a CUDA device that was allocated elsewhere; `block` keeps it alive."""
        storage = _new(cls)
        storage._fill_in(None, block.nbytes, on, False)
        storage.block = block
        return storage

    @classmethod
    def over_shared(cls, shared: SharedMemory) -> UntypedStorage:
        """A storage over memory that processes share."""
        storage = cls.over(shared.memory)
        storage.shared = shared
        return storage

    # Facts ------------------------------------------------------------------------------------------------------

    _cdata = property(id)  # the address of the object, by which programs tell storages apart

    @property
    def buffer(self) -> Buffer | None:
        """The bytes as a one-dimensional uint8 array; None where NumPy cannot reach any. Read-only while lazy."""
        return None if self.memory is None else self.memory.reshape(-1).view(np.uint8)

    def nbytes(self) -> int:
        """The size in bytes."""
        return self._nbytes

    def size(self) -> int:
        """The size in bytes: an untyped storage counts bytes."""
        return self._nbytes

    def __len__(self) -> int:
        return self._nbytes

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._nbytes

    def element_size(self) -> int:
        """1: the elements of an untyped storage are bytes."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there are no bytes.

        The caller may write there, so a lazy storage takes its own copy first.
        """
        if self.lazy is not None:
            self.materialize()
        return self.address()

    def address(self) -> int:
        """The address of the first byte, to be compared or read from only; 0 where there are no bytes."""
        if not self._nbytes:
            return 0
        if self.memory is None:
            return 0 if self.block is None else self.block.address
        return int(self.memory.ctypes.data)

    def resizable(self) -> bool:
        """Whether `resize_` may replace the memory: it is not visible outside the library."""
        return self.may_resize

    @property
    def is_cuda(self) -> bool:
        """Whether the bytes are on a GPU."""
        return self.device.type == "cuda"

    def get_device(self) -> int | None:
        """The index of the device; None for the CPU."""
        return self.device.index

    def type(self) -> str:
        """The class's name."""
        return "torch.storage.UntypedStorage"

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    # Changing the size and the content --------------------------------------------------------------------------

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Change the size in place; the bytes that fit are kept, new ones are uninitialised."""
        if nbytes == self._nbytes:
            return self
        if nbytes < 0:
            raise StorageError(f"UntypedStorage.resize_: got invalid size {nbytes}; it must be 0 or more")
        if not self.may_resize:
            raise StorageError(
                f"Trying to resize storage that is not resizable: asked for {nbytes} bytes, it has {self._nbytes} and "
                f"its memory may be in use elsewhere ({self._owner()}); clone() the tensor first"
            )
        fresh = UntypedStorage.allocate(nbytes, self.device)
        fresh.copy_first(self, min(nbytes, self._nbytes))
        self._replace(fresh)
        self._nbytes = nbytes
        return self

    def _owner(self) -> str:
        return "by another process" if self.shared is not None else "by a NumPy array"

    def _replace(self, fresh: UntypedStorage) -> None:
        """Take over another storage's bytes. Tensors on this storage notice by its new generation."""
        with _making_lazy:
            self.memory, self.block, self.shared = fresh.memory, fresh.block, fresh.shared
            if self.lazy is not None:
                self.lazy.storages.discard(self)
            self.lazy = None
            self.generation += 1

    def copy_(self, source: UntypedStorage, non_blocking: bool | None = None) -> UntypedStorage:
        """Overwrite the bytes with those of another storage of the same size. The copy blocks in either case."""
        if source._nbytes != self._nbytes:
            raise StorageError(
                f"size does not match, self was {self._nbytes} bytes but src was {source._nbytes} bytes; copy_() takes "
                f"a storage of the same size"
            )
        return self.copy_first(source, self._nbytes)

    def copy_first(self, source: UntypedStorage, count: int) -> UntypedStorage:
        """Overwrite the first bytes, which both storages have."""
        if self.lazy is not None:
            self.materialize()
        mine, others = self.buffer, source.buffer
        if mine is not None and others is not None:
            mine[:count] = others[:count]
        elif count and self.device.type != "meta":
            of_program = private_use.name() in (self.device.type, source.device.type)
            (private_use.copy_bytes if of_program else hooks.memory_hooks.copy_bytes)(self, source, count)
        return self

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte to an int, truncated to its lowest eight bits."""
        filled = np.full(self._nbytes, _lowest_byte("fill_", value), np.uint8)
        return self.copy_(UntypedStorage.over(filled)) if self.device.type != "meta" else self

    def cpu(self) -> UntypedStorage:
        """A copy in main memory; the storage itself if it is there already."""
        return self if self.device is CPU else UntypedStorage.allocate(self._nbytes).copy_(self)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """A copy on a CUDA device, by default the current one; the storage itself if it is there already."""
        on = _device("cuda" if device is None else device)
        if on.type != "cuda":
            raise DeviceError(f"Invalid device, must be cuda device; got {on}")
        return self.to(device=on, non_blocking=non_blocking)

    def to(self, *, device: device | str, non_blocking: bool = False) -> UntypedStorage:
        """A copy on a device; the storage itself if it is there already. The copy blocks in either case."""
        on = _device(device)
        return self if on is self.device else UntypedStorage.allocate(self._nbytes, on).copy_(self)

    def clone(self) -> UntypedStorage:
        """A copy on the same device."""
        return UntypedStorage.allocate(self._nbytes, self.device).copy_(self)

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        return self.clone()

    def new(self) -> UntypedStorage:
        """An empty storage on the same device."""
        return UntypedStorage.allocate(0, self.device)

    def byteswap(self, dtype: Any) -> None:
        """Reverse the bytes of each element of a dtype in place (of each part of a complex number)."""
        width = dtype.itemsize // (2 if dtype.is_complex else 1)
        if self._nbytes % width:
            raise StorageError(
                f"byteswap: the length of data in bytes must be a multiple of {width}, the size of an element of "
                f"{dtype}, but got {self._nbytes}"
            )
        mine = self._written_buffer("byteswap")
        mine[:] = mine.reshape(-1, width)[:, ::-1].reshape(-1)

    # Lazy copies ------------------------------------------------------------------------------------------------

    def lazy_clone(self) -> UntypedStorage:
        """A storage of its own with the same bytes, copied when one of the two is first written to.

        Memory that is visible outside the library is copied at once.
        """
        if not self.may_resize or self.cloned_at_once or self.device.type == "meta" or not self._nbytes:
            return self.clone()
        with _making_lazy:
            if self.lazy is None:
                self.lazy = LazyCopy(self.memory, self.block)
                self.lazy.storages.add(self)
                if self.memory is not None:
                    self.memory = _read_only(self.memory)
                self.generation += 1  # tensors hold arrays that can be written to
            other = _new(UntypedStorage)
            other._fill_in(self.memory, self._nbytes, self.device, True)
            other.block, other.lazy = self.block, self.lazy
            self.lazy.storages.add(other)
        return other

    def clone_at_once(self) -> None:
        """Materialize now and never be lazy again: a writer does not call `materialize`."""
        self.materialize()
        self.cloned_at_once = True

    def materialize(self) -> None:
        """Make the bytes this storage's own, and writable. See Note [Copies made at the first write]."""
        with _making_lazy:
            lazy = self.lazy
            if lazy is None:
                return
            if len(lazy.storages) == 1:
                self.memory, self.block = lazy.memory, lazy.block
            else:
                own = UntypedStorage.allocate(self._nbytes, self.device).copy_(self)
                self.memory, self.block = own.memory, own.block
            lazy.storages.discard(self)
            self.lazy = None
            self.generation += 1

    # Memory shared outside the process ---------------------------------------------------------------------------

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes to shared memory. NumPy arrays that were made before show the old memory.

        A storage on another device stays where it is.
        """
        if self.device is CPU and self.shared is None:
            fresh = UntypedStorage.over_shared(SharedMemory.allocate(self._nbytes))
            fresh.copy_(self)
            self._replace(fresh)
            self.may_resize = False
        return self

    def is_shared(self) -> bool:
        """Whether the memory can be shared with other processes; always true on CUDA."""
        return self.shared is not None or self.is_cuda

    @property
    def filename(self) -> str | None:
        """The file that writes reach; None for anonymous memory, and for a file that was mapped without `shared`."""
        return None if self.shared is None else self.shared.filename

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file. `shared` makes writes reach the file, which then grows where it is too short."""
        return cls.over_shared(SharedMemory.of_file(filename, nbytes, shared))

    def pin_memory(self, device: Any = None) -> UntypedStorage:
        """A copy in page-locked memory, from which copies to a device need not block; itself if it is there already."""
        if self.device is not CPU:
            raise ArgumentTypeError(f"cannot pin '{self.type()}' on {self.device}: only CPU memory can be pinned")
        if self.is_pinned():
            return self
        return UntypedStorage.over(private_use.pinned(self._nbytes)).copy_(self)

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the bytes are in page-locked main memory."""
        return self.device is CPU and private_use.is_pinned(self.address())

    # A sequence of bytes ----------------------------------------------------------------------------------------

    def tolist(self) -> list[int]:
        """The bytes as Python ints."""
        return [int(byte) for byte in self._read_buffer("tolist")]

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __contains__(self, value: object) -> bool:
        return value in self.tolist()

    def __getitem__(self, index: Any) -> Any:
        """One byte; or a storage that shares the bytes of a slice, whose step must be 1."""
        if isinstance(index, slice):
            start, stop, step = index.indices(self._nbytes)
            if step != 1:
                raise ArgumentError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
            return UntypedStorage.over(self._written_buffer("a slice")[start : max(start, stop)])
        return int(self._read_buffer("indexing")[self._position(index)])

    def __setitem__(self, index: Any, value: int) -> None:
        if isinstance(index, slice):
            self[index].fill_(value)
        else:
            position = self._position(index)
            self._written_buffer("assignment")[position] = _lowest_byte("assignment", value)

    def _position(self, index: Any) -> int:
        if not isinstance(index, int):
            raise ArgumentTypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}; it takes an int")
        if not -self._nbytes <= index < self._nbytes:
            raise DimensionError(f"index {index} out of range for storage of size {self._nbytes}")
        return index

    def _read_buffer(self, what: str) -> Buffer:
        if self.device.type == "meta":
            raise NoDataError(f"{what}: cannot read a storage on {self.device}: it has a size and no bytes")
        buffer = self.cpu().buffer
        assert buffer is not None, "NumPy reaches the bytes of a CPU storage"
        return buffer

    def _written_buffer(self, what: str) -> Buffer:
        self.materialize()
        buffer = self.buffer
        if buffer is None:
            raise NoDataError(f"{what}: a storage on {self.device} cannot be written byte by byte; use cpu()")
        return buffer

    def __repr__(self) -> str:
        about = f"[torch.storage.UntypedStorage(device={self.device}) of size {self._nbytes}]"
        return "...\n" + about if self.device.type == "meta" else " " + "\n ".join(map(str, self)) + "\n" + about

    def __reduce__(self) -> tuple[Any, ...]:
        held = None if self.device.type == "meta" else self.cpu().buffer
        return _rebuilt, (held, self._nbytes, str(self.device))


Storage = UntypedStorage  # its name in schemas and in c10

_new = object.__new__
_making_lazy = threading.RLock()  # reentrant: copying may trigger garbage collection, and with it a storage's deletion
free_after_forks(_making_lazy)


class LazyCopy:
    """The bytes that several lazy storages share, and those storages."""

    __slots__ = ("block", "memory", "storages")

    def __init__(self, memory: Memory | None, block: hooks.DeviceBlock | None) -> None:
        self.memory = memory
        self.block = block
        self.storages: WeakSet[UntypedStorage] = WeakSet()


def _read_only(array: Memory) -> Memory:
    view = array.view()
    view.flags.writeable = False
    return view


def _device(given: device | str | None) -> device:
    """The device named, with its index where there may be several."""
    if given is None:
        return CPU
    on = device_from(given)
    if not holds_tensors(on.type):
        raise no_tensors_on(on.type)
    return private_use.with_index(on)


def _is_size(value: Any) -> bool:
    """Whether an argument is an int of Python or NumPy; a bool is not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _lowest_byte(what: str, value: Any) -> int:
    """An int truncated to one byte, as in C."""
    if not isinstance(value, int | np.integer):
        raise ArgumentError(f"{what}: can only set storage content with int types, but got {type(value).__name__}")
    return int(value) & 255


def _checked_bytes(values: Any) -> list[int]:
    if not isinstance(values, Sequence):
        raise ArgumentError(
            f"torch.UntypedStorage(): Expected a sequence type, but got {type(values).__name__}; a size is an int"
        )
    for value in values:
        if not isinstance(value, int):
            raise ArgumentError(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(values).__name__}), but "
                f"one of the items was of type {type(value).__name__} instead of int"
            )
    return [value & 255 for value in values]


def _rebuilt(held: Buffer | None, nbytes: int, on: str) -> UntypedStorage:
    """The storage that `__reduce__` described."""
    if held is None:
        return UntypedStorage.allocate(nbytes, _device(on))
    if not held.flags.writeable:  # the pickle's own bytes
        held = held.copy()
    return UntypedStorage.over(held, resizable=True).to(device=on)
