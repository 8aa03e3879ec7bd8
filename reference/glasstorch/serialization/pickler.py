"""How is an object pickled so that PyTorch can load it?

Mirrors: torch/serialization.py (_save, persistent_id), torch/_tensor.py (_reduce_ex_internal), torch/nn/parameter.py
    (Parameter.__reduce_ex__)
Differs: Python's own pickler in Python, not the one in C, which writes every class under the path at which it is
    defined; objects may be nested some 330 deep, half of what is possible in C. With a `pickle_module` whose pickler is
    in C, the classes of glasstorch keep their own paths.

Storages are not in the pickle: it holds an id for each (type, key, location, number of elements), and the file holds
the bytes elsewhere. Tensors that share a storage give the same key.
"""

from __future__ import annotations

import copyreg
import pickle
from collections import OrderedDict
from functools import cache
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import uint8
from glasstorch.core.errors import ArgumentError
from glasstorch.core.layout import layout
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import LEGACY_CLASSES, LEGACY_NAMES, TypedStorage, typed
from glasstorch.core.user_line import warn_user
from glasstorch.nn.parameter import Parameter
from glasstorch.python_forms import pickling
from glasstorch.serialization import names, rebuild, settings
from glasstorch.serialization.locations import location_tag

if TYPE_CHECKING:
    from collections.abc import Callable

PROTOCOL: Final = 2
STORAGES: Final = (UntypedStorage, TypedStorage)
_OF_A_TENSOR = frozenset(copyreg._slotnames(Tensor))  # type: ignore[attr-defined]


class SavedStorages:
    """The storages that a pickle refers to: `by_key`, in the order in which they were met."""

    def __init__(self) -> None:
        self.by_key: dict[str, UntypedStorage] = {}
        self._keys: dict[int, str] = {}
        self._dtypes: dict[int, Any] = {}

    def persistent_id(self, storage: UntypedStorage | TypedStorage) -> tuple[Any, ...]:
        """The id of a storage. It is an error to save the same bytes with two dtypes."""
        if isinstance(storage, TypedStorage):
            untyped, dtype = storage.untyped(), storage.dtype
            kind, count = LEGACY_CLASSES[storage.pickle_storage_type()], storage.size()
        else:
            untyped, dtype, kind, count = storage, uint8, UntypedStorage, storage.nbytes()
        address = untyped.address()
        if address and self._dtypes.setdefault(address, dtype) is not dtype:
            raise ArgumentError(
                "Cannot save multiple tensors or storages that view the same data as different types: "
                f"{self._dtypes[address]} and {dtype}; save one of them, or a clone"
            )
        key = self._keys.setdefault(id(untyped), str(len(self._keys)))
        self.by_key[key] = untyped  # which keeps it alive, and its id its own
        return "storage", kind, key, location_tag(untyped), count


def pickler(file: Any, module: ModuleType, protocol: int, persistent_id: Callable[[Any], Any]) -> Any:
    """A pickler of a module, by default Python's, which writes storages by their ids and names PyTorch's paths."""
    made: Any = _class_over(getattr(module, "_Pickler", module.Pickler))(file, protocol=protocol)
    # On the object: a class would keep the storages alive until Python's collector of cycles finds it.
    made.id_of = persistent_id
    return made


@cache
def _class_over(base: Any) -> type:
    """The class of picklers over one of a module."""
    if not issubclass(base, pickle._Pickler):
        return type("ArchivePickler", (_InC, base), {})
    table = dict(base.dispatch)
    if table[FunctionType] is pickle._Pickler.save_global:  # type: ignore[attr-defined]
        table[FunctionType] = _InPython.save_global
    return type("ArchivePickler", (_InPython, base), {"dispatch": table})


class _WithIds:
    """What is put before any pickler: storages by their ids."""

    id_of: Callable[[Any], Any]

    def persistent_id(self, what: Any) -> Any:
        """The id of a storage; None for what is pickled itself."""
        return self.id_of(what)


class _InC(_WithIds):
    """What is put before a pickler in C, whose way of naming a class cannot be changed: tensors as PyTorch's."""

    def reducer_override(self, what: Any) -> Any:
        """How a tensor or a type of storages is made again; NotImplemented for what the pickler itself knows."""
        if isinstance(what, Tensor):
            parts: Any = what.__reduce_ex__(PROTOCOL)
            if parts[0] is pickling.sparse_rebuilt:
                return rebuild.sparse_tensor, parts[1]
            return reduced(what, *parts[1]) if parts[0] is pickling.rebuilt else parts
        if any(what is kind for kind in LEGACY_CLASSES.values()):  # its path, `torch.FloatStorage`, may be another's
            return names.StorageType, (what.__name__,)
        others = getattr(super(), "reducer_override", None)
        return NotImplemented if others is None else others(what)


class _InPython(_WithIds):
    """What is put before a pickler in Python: tensors and names as PyTorch writes them."""

    def save_global(self: Any, what: Any, name: str | None = None) -> None:
        """Write a class or a function as its module and name."""
        if isinstance(what, layout):
            self.save_reduce(rebuild.layout_of, (repr(what),), obj=what)
            return
        place = names.written(what, name)
        if place is None:
            try:
                super().save_global(what, name)  # type: ignore[misc]
            except pickle.PicklingError:  # a local function, for example
                pickle.dumps(what, self.proto)  # raises the error of the pickler in C, which is PyTorch's
                raise
            return
        if self.proto >= 4:
            for part in place:
                self.save(part)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + "".join(f"{part}\n" for part in place).encode())
        self.memoize(what)

    def save_reduce(self: Any, func: Any, args: Any, state: Any = None, *rest: Any, **kept: Any) -> None:
        """Write a call that makes an object; that of a tensor becomes PyTorch's."""
        if func is pickling.rebuilt:
            func, args = reduced(kept["obj"], *args)
            state = None
        elif func is pickling.sparse_rebuilt:
            func, state = rebuild.sparse_tensor, None
        if hasattr(type(kept.get("obj")), names.WRITTEN_AS):
            super().save_reduce(func, args, state)  # type: ignore[misc]
            self.memoize(kept["obj"])  # when it has its state: PyTorch's reader makes an object only then
            return
        super().save_reduce(func, args, state, *rest, **kept)  # type: ignore[misc]


# Tensors ------------------------------------------------------------------------------------------------------------


def reduced(
    tensor: Tensor, cls: type, storage: UntypedStorage, dtype: Any, geometry: Any, bits: int, requires_grad: bool
) -> tuple[Any, tuple[Any, ...]]:
    """The function of `rebuild` and its arguments that make a tensor again; given are those of `pickling.rebuilt`."""
    state = _state(tensor)
    if issubclass(cls, Parameter):
        data: tuple[Any, ...] = (tensor.data, requires_grad, OrderedDict())
        return (rebuild.parameter_with_state, (*data, state)) if state else (rebuild.parameter, data)
    function, arguments = _reduced(tensor, storage, dtype, geometry[2], bits, requires_grad)
    if cls is Tensor and not state:
        return function, arguments
    return rebuild.from_type, (function, cls, arguments, state)


def _reduced(
    tensor: Tensor, storage: UntypedStorage, dtype: Any, offset: int, bits: int, requires_grad: bool
) -> tuple[Any, tuple[Any, ...]]:
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    if tensor.is_meta:
        if settings.skips_data():
            warn_user("Serializing tensors on the meta device under skip_data context manager is a no-op")
        return rebuild.meta_tensor, (dtype, size, stride, requires_grad)
    facts: tuple[Any, ...] = (offset, size, stride, requires_grad, OrderedDict())
    set_bits = {name: True for name, bit in rebuild.BITS.items() if bits & bit}
    metadata = (set_bits,) if set_bits else ()
    if dtype.name in LEGACY_NAMES:
        return rebuild.tensor_v2, (typed(storage, dtype), *facts, *metadata)
    return rebuild.tensor_v3, (storage, *facts, dtype, *metadata)


def _state(tensor: Tensor) -> Any:
    """A tensor's own attributes; with those that a subclass keeps in slots, a pair of dicts."""
    slots = [name for name in copyreg._slotnames(type(tensor)) if name not in _OF_A_TENSOR]  # type: ignore[attr-defined]
    if not slots:
        return tensor.__dict__
    return tensor.__dict__ or None, {name: getattr(tensor, name) for name in slots if hasattr(tensor, name)}
