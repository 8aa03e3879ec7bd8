"""How are a storage's bytes read as the elements of one dtype?

Mirrors: torch/storage.py (TypedStorage, _LegacyStorage)
Differs: NumPy reads and writes elements, without a tensor; there are no quantised dtypes.

PyTorch keeps typed storages for programs and files from the time when each dtype had a storage class. New code asks
a tensor for its `untyped_storage()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from glasstorch.core.device import device as Device
from glasstorch.core.dtype import BY_NAME, get_default_dtype
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError, ArgumentTypeError, DimensionError, NoDataError
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.warn_once import warn_once

# The legacy classes, by the name of their dtype.
LEGACY_NAMES = {
    "float64": "DoubleStorage",
    "float32": "FloatStorage",
    "float16": "HalfStorage",
    "int64": "LongStorage",
    "int32": "IntStorage",
    "int16": "ShortStorage",
    "int8": "CharStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "bfloat16": "BFloat16Storage",
    "complex128": "ComplexDoubleStorage",
    "complex64": "ComplexFloatStorage",
}

FORMS = (
    "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
    " * (*, torch.device device, torch.dtype dtype)\n"
    " * (int size, *, torch.device device, torch.dtype dtype)\n"
    " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
    " * (*, UntypedStorage wrap_storage, torch.dtype dtype)"
)


def warn_of_removal() -> None:
    """PyTorch's deprecation warning, once in a process."""
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()"
    )


class _Casts:
    """Copies cast to another dtype. They have a class of their own, as `int` and `float` are methods in it."""

    def _to(self, wanted: Dtype) -> TypedStorage:
        """A copy with another dtype."""
        raise NotImplementedError(f"{type(self)} does not say how its elements are cast to {wanted}")

    def double(self) -> TypedStorage:
        """A copy as float64."""
        return self._to(BY_NAME["float64"])

    def float(self) -> TypedStorage:
        """A copy as float32."""
        return self._to(BY_NAME["float32"])

    def half(self) -> TypedStorage:
        """A copy as float16."""
        return self._to(BY_NAME["float16"])

    def bfloat16(self) -> TypedStorage:
        """A copy as bfloat16."""
        return self._to(BY_NAME["bfloat16"])

    def long(self) -> TypedStorage:
        """A copy as int64."""
        return self._to(BY_NAME["int64"])

    def int(self) -> TypedStorage:
        """A copy as int32."""
        return self._to(BY_NAME["int32"])

    def short(self) -> TypedStorage:
        """A copy as int16."""
        return self._to(BY_NAME["int16"])

    def char(self) -> TypedStorage:
        """A copy as int8."""
        return self._to(BY_NAME["int8"])

    def byte(self) -> TypedStorage:
        """A copy as uint8."""
        return self._to(BY_NAME["uint8"])

    def bool(self) -> TypedStorage:
        """A copy as bool."""
        return self._to(BY_NAME["bool"])

    def complex_float(self) -> TypedStorage:
        """A copy as complex64."""
        return self._to(BY_NAME["complex64"])

    def complex_double(self) -> TypedStorage:
        """A copy as complex128."""
        return self._to(BY_NAME["complex128"])


class TypedStorage(_Casts):
    """The bytes of an `UntypedStorage` as elements of one dtype; sizes and indices count elements."""

    dtype: Dtype
    _untyped_storage: UntypedStorage

    def __init__(
        self,
        *data: Any,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
        wrap_storage: UntypedStorage | None = None,
        _internal: bool = False,
    ) -> None:
        """A storage of a size, of a sequence's elements, or over the bytes of another (`wrap_storage`).

        The dtype is the default one if not given; `wrap_storage` requires it.
        """
        if not _internal:
            warn_of_removal()
        if wrap_storage is not None:
            if data or device is not None:
                raise ArgumentError(f"{FORMS}\nwrap_storage is given together with {'data' if data else 'a device'}")
            if dtype is None:
                raise ArgumentError(FORMS + "\nArgument 'dtype' must be specified")
            if not isinstance(wrap_storage, UntypedStorage):
                raise ArgumentTypeError(
                    f"{FORMS}\nArgument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"
                )
            self.dtype, self._untyped_storage = dtype, wrap_storage
            return
        if len(data) > 1:
            raise ArgumentError(FORMS + "\nToo many positional arguments")
        self.dtype = get_default_dtype() if dtype is None else dtype
        given = data[0] if data else 0
        if isinstance(given, int | np.integer):
            self._untyped_storage = UntypedStorage(int(given) * self.dtype.itemsize, device=device)
        elif isinstance(given, Sequence):
            elements = UntypedStorage.over(np.array(given, self.dtype.numpy), resizable=True)
            self._untyped_storage = elements.to(device="cpu" if device is None else device)
        else:
            raise ArgumentTypeError(f"{FORMS}\nArgument type not recognized: {type(given)}")

    @property
    def device(self) -> Device:
        """Where the bytes are."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """Whether the bytes are on a GPU."""
        return self._untyped_storage.is_cuda

    @property
    def filename(self) -> str | None:
        """The file whose bytes these are, if any."""
        return self._untyped_storage.filename

    def untyped(self) -> UntypedStorage:
        """The underlying storage, which counts bytes."""
        return self._untyped_storage

    def size(self) -> int:
        """The number of elements."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def __len__(self) -> int:
        return self.size()

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._untyped_storage.data_ptr()

    def get_device(self) -> int | None:
        """The index of the device; None for the CPU."""
        return self._untyped_storage.get_device()

    def resizable(self) -> bool:
        """Whether `resize_` may replace the memory."""
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> None:
        """Change the number of elements in place."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def type(self, dtype: Any = None) -> Any:
        """The name of the legacy class of this dtype; with an argument, a copy with another dtype."""
        if dtype is not None:
            return self._to(_dtype_of_class(dtype))
        name = self.pickle_storage_type() if self.dtype.name in LEGACY_NAMES else "storage.TypedStorage"
        return f"torch.{'cuda.' if self.is_cuda else ''}{name}"

    def pickle_storage_type(self) -> str:
        """The legacy class that stands for the dtype in saved files."""
        if self.dtype.name not in LEGACY_NAMES:
            raise KeyError(
                f"dtype {self.dtype} is not recognized: it has no legacy storage class; those that do are "
                f"{', '.join(sorted(LEGACY_NAMES))}"
            )
        return LEGACY_NAMES[self.dtype.name]

    # Elements ---------------------------------------------------------------------------------------------------

    def _elements(self) -> np.ndarray[Any, Any]:
        """The elements, to be read."""
        if self.device.type == "meta":
            raise NoDataError("Not available for 'meta' device type")
        memory = self._untyped_storage.cpu().buffer
        assert memory is not None, "NumPy reaches the bytes of a CPU storage"
        return memory[: self.size() * self.dtype.itemsize].view(self.dtype.numpy)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        found: list[Any] = self._elements().tolist()
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise ArgumentError("slices are only supported in UntypedStorage.__getitem__")
        return self._elements()[self._position(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, TypedStorage | UntypedStorage):
            raise ArgumentError(f"cannot set item with value type {type(value)}")
        if not isinstance(index, slice):
            index = self._position(index)
        changed = self._elements().copy()
        changed[index] = value
        self._untyped_storage.copy_first(UntypedStorage.over(changed), changed.nbytes)

    def _position(self, index: Any) -> int:
        if not isinstance(index, int):
            raise ArgumentError(f"can't index a {type(self)} with {type(index)}")
        if not -self.size() <= index < self.size():
            raise DimensionError(f"index {index} out of range for storage of size {self.size()}")
        return index

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element to a number."""
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> TypedStorage:
        """Overwrite the bytes with those of a storage of the same size in bytes, of any dtype."""
        self._untyped_storage.copy_(source.untyped())
        return self

    # Copies and moves -------------------------------------------------------------------------------------------

    def _like(self, storage: UntypedStorage) -> TypedStorage:
        return self if storage is self._untyped_storage else typed(storage, self.dtype)

    def clone(self) -> TypedStorage:
        """A copy on the same device."""
        return self._like(self._untyped_storage.clone())

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        if id(self._untyped_storage) not in memo:
            memo[id(self._untyped_storage)] = self._untyped_storage.clone()
        return typed(memo[id(self._untyped_storage)], self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return typed, (self._untyped_storage, self.dtype)

    def cpu(self) -> TypedStorage:
        """A copy in main memory; the storage itself if it is there already."""
        return self._like(self._untyped_storage.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """A copy on a CUDA device; the storage itself if it is there already."""
        return self._like(self._untyped_storage.cuda(device, non_blocking))

    def to(self, *, device: Device | str, non_blocking: bool = False) -> TypedStorage:
        """A copy on a device; the storage itself if it is there already."""
        return self._like(self._untyped_storage.to(device=device, non_blocking=non_blocking))

    def share_memory_(self) -> TypedStorage:
        """Move the bytes to shared memory."""
        self._untyped_storage.share_memory_()
        return self

    def is_shared(self) -> bool:
        """Whether the memory can be shared with other processes."""
        return self._untyped_storage.is_shared()

    def pin_memory(self, device: Any = None) -> TypedStorage:
        """A copy in page-locked memory; itself if it is there already."""
        return self._like(self._untyped_storage.pin_memory(device))

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the bytes are in page-locked memory."""
        return self._untyped_storage.is_pinned(device)

    def _to(self, wanted: Dtype) -> TypedStorage:
        """A copy cast to a dtype."""
        cast = self._elements().astype(wanted.numpy)
        storage = UntypedStorage.over(cast, resizable=True)
        return typed(storage.to(device=self.device), wanted)

    def __repr__(self) -> str:
        about = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"
        return "...\n" + about if self.device.type == "meta" else " " + "\n ".join(map(str, self)) + "\n" + about


def typed(storage: UntypedStorage, dtype: Dtype) -> TypedStorage:
    """A storage as elements of a dtype, without the deprecation warning."""
    return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


# Legacy classes -------------------------------------------------------------------------------------------------


class _Legacy(type):
    """A metaclass: calling the class makes typed storages of its dtype, which count as its instances."""

    dtype: Dtype

    def __call__(cls, *data: Any, wrap_storage: UntypedStorage | None = None, **refused: Any) -> TypedStorage:
        warn_of_removal()
        if refused:
            raise ArgumentError(
                f"{cls}.__new__ received an invalid combination of arguments: keyword argument "
                f"'{next(iter(refused))}' cannot be specified"
            )
        return TypedStorage(*data, dtype=cls.dtype, wrap_storage=wrap_storage, _internal=True)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype and not instance.is_cuda


def _legacy_class(of: str, name: str) -> Any:
    return _Legacy(name, (), {"dtype": BY_NAME[of], "__module__": "torch", "__doc__": f"Legacy storages of {of}."})


LEGACY_CLASSES = {name: _legacy_class(of, name) for of, name in LEGACY_NAMES.items()}


def _dtype_of_class(given: Any) -> Dtype:
    """The dtype that a legacy class, its name or a dtype stands for."""
    if isinstance(given, Dtype):
        return given
    found = LEGACY_CLASSES.get(given.removeprefix("torch.")) if isinstance(given, str) else given
    if not isinstance(found, _Legacy):
        raise ArgumentTypeError(f"type(): expected a dtype or the name of a class of storage, got {given!r}")
    return found.dtype


def is_storage(obj: object) -> bool:
    """Whether an object is a storage, typed or not."""
    return isinstance(obj, UntypedStorage | TypedStorage)
