"""What is a Tensor, the object that users work with?

Mirrors: aten/src/ATen/templates/TensorBody.h, torch/csrc/autograd/python_variable.cpp, torch/_tensor.py
Differs: one Python class, joined from what it is (TensorImpl) and what operators give it (TensorMethods, generated);
    the rows of its body name what is written by hand, file by file. Names that only our lower layers ask for, and
    torch has in C++ alone, can be seen: array, host_array, strides, key_set, version_counter, alias, slice.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np

from glasstorch import printing
from glasstorch.calls import of_subclasses, removed
from glasstorch.calls.asked_class import _TensorMeta, own_method
from glasstorch.calls.inherited import converted as _convert  # noqa: F401 (by PyTorch's name here)
from glasstorch.calls.overloaded import DisableTorchFunction, is_quiet
from glasstorch.core import geometry, hooks, inference, private_use
from glasstorch.core.allocator import MOST, check_countable, empty_array
from glasstorch.core.device import CPU, device, device_from
from glasstorch.core.dtype import Number, dtype, dtype_of_operand, from_numpy_dtype, get_default_dtype
from glasstorch.core.errors import AutogradError, DeviceError
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    CPU_KEYS,
    KEYS_OF_DEVICE,
    PYTHON,
    SPARSE,
    SPARSE_CSR_KEYS_OF_DEVICE,
    SPARSE_KEYS_OF_DEVICE,
    WRAPPED,
)
from glasstorch.core.left_out import MISSING_METHODS
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.sparse_parts import CooParts, Parts, no_storage
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import Array, TensorImpl, count_versions_anew
from glasstorch.core.unknown_names import MissingName
from glasstorch.dispatch.python_fallback import _disabled_torch_dispatch_impl, detached, is_seen, keys_of_class
from glasstorch.operators.generated.methods import TensorMethods
from glasstorch.outside_data import exchange, from_data
from glasstorch.python_forms import (
    conversion,
    conversion_methods,
    gradients,
    indexing,
    layouts,
    lu,
    namespace,
    nonzero,
    norm,
    old_methods,
    pickling,
    places,
    protocols,
    python_functions,
    reflected,
    sparse_tensors,
    stft,
    subclasses,
    unique,
)
from glasstorch.python_forms.tensor_types import type_


class Tensor(TensorMethods, metaclass=_TensorMeta):
    """A multi-dimensional array of one dtype on one device, which records how it was computed.

    Make one with `tensor`, `zeros`, `rand` ... Views share their storage; `x.untyped_storage()` is that storage.
    """

    # What subclasses inherit; see Note [The class that asks]
    __torch_function__: Any = classmethod(of_subclasses.__torch_function__)
    _printed_as = "tensor"  # a subclass prints under its own name unless it says otherwise

    def __new__(cls, *data: Any, device: Any = None) -> Any:
        """`Tensor(2, 3)` is uninitialised with these sizes, `Tensor([1, 2])` has these values; in the default dtype.

        `empty` and `tensor` are the unambiguous forms.
        """
        if hooks.trace_hooks is not None:
            hooks.trace_hooks.made_from_data("torch.Tensor")
        made = from_data.legacy(data, get_default_dtype(), CPU if device is None else device_from(device))
        return made if cls is Tensor else made.as_subclass(cls)

    @property
    def data(self) -> Tensor:
        """The same storage as a tensor without history, whose changes do not increment the version counter."""
        if hooks.is_example(self):
            raise RuntimeError("accessing `data` under vmap transform is not allowed")
        result = alias(self)
        result._version_counter = None
        if not self.key_set & ADINPLACEORVIEW:
            count_versions_anew(result)
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if (self.key_set | value.key_set) & WRAPPED:
            where = "under vmap" if hooks.is_example(self) or hooks.is_example(value) else "inside functorch"
            raise RuntimeError(f"mutating directly with `.data` {where} transform is not allowed.")
        if value.is_meta != self.is_meta or (value.key_set ^ self.key_set) & SPARSE:
            raise DeviceError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
                "type."
            )
        if self.requires_grad and not (value.dtype.is_floating_point or value.dtype.is_complex):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        meta = self._autograd_meta
        if meta is not None and (value.dtype is not self.dtype or value.device is not self.device):
            meta.accumulator = None  # its AccumulateGrad expects gradients of the old dtype and device
        self.version_counter()  # a count goes on, even if the new data are of an inference tensor
        self.dtype, self.key_set = value.dtype, keys_of_class(type(self), value.key_set)
        if self.key_set & SPARSE:
            self._parts, self._shape, self._strides = value._parts.again(), value._shape, value._strides
            return
        self.set_storage(TensorImpl.untyped_storage(value), value._shape, value._strides, value._offset)

    @data.deleter
    def data(self) -> None:
        raise AutogradError("Deleting tensor data is not allowed. Delete tensor instead!")

    def as_subclass(self, cls: type[Tensor]) -> Any:
        """The same storage, geometry and history as an instance of a subclass."""
        subclasses.check_class(cls)
        if subclasses.is_a_mode_on():
            return subclasses.without_modes(lambda: self.as_subclass(cls))
        aliased = self.alias() if is_seen(self) else self
        if aliased.key_set & PYTHON and aliased is not self:
            raise RuntimeError(
                f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already associated to a "
                f"python object of type {type(aliased).__name__}"
            )
        result = alias(aliased, cls)
        result._autograd_meta = aliased._autograd_meta
        return result

    def __format__(self, specification: str) -> str:
        if not self._shape and not self.is_meta and type(self) is Tensor:
            return format(self.item(), specification)
        return object.__format__(self, specification) if specification else str(self)

    # Indices, and functions with a form of their own ------------------------------------------------------------------

    __getitem__ = indexing.get
    __setitem__ = indexing.__setitem__
    __delitem__ = indexing.__delitem__
    new = from_data.new
    new_tensor = from_data.new_tensor
    norm = norm.method  # type: ignore[assignment]  # which takes the order of a norm by its name
    lu = lu.lu_method
    stft = own_method(stft.stft)
    unique_consecutive = own_method(unique.unique_consecutive)
    unique = own_method(unique.unique)
    nonzero = nonzero.method  # which takes as_tuple=, and the operator out=
    apply_ = python_functions.apply_
    map_ = python_functions.map_
    map2_ = python_functions.map2_
    eig, lstsq, solve, symeig = removed.eig, removed.lstsq, removed.solve, removed.symeig
    resize = old_methods.resize
    resize_as = old_methods.resize_as
    reinforce = old_methods.reinforce
    storage_type = old_methods.storage_type
    volatile = old_methods.volatile

    # Autograd; `grad`, `grad_fn`, `is_leaf` ... are in TensorImpl -----------------------------------------------------

    requires_grad_ = gradients.requires_grad_
    backward = gradients.backward
    register_hook = gradients.register_hook
    register_post_accumulate_grad_hook = gradients.register_post_accumulate_grad_hook
    retain_grad = gradients.retain_grad
    detach_ = gradients.detach_

    # Memory: its order, its place, other libraries, copies ------------------------------------------------------------

    is_contiguous = layouts.is_contiguous
    dim_order = layouts.dim_order
    to_sparse_coo = sparse_tensors.to_sparse_coo
    cpu = places.cpu
    cuda = places.cuda
    ipu = places.ipu
    mtia = places.mtia
    xpu = places.xpu
    get_device = places.get_device
    record_stream = places.record_stream
    pin_memory = places.pin_memory
    is_pinned = places.is_pinned
    numpy = exchange.numpy
    __array__ = exchange.array
    __array_wrap__ = exchange.array_wrap
    __array_priority__ = 1000  # an ndarray's operators give way to a tensor's
    __dlpack__ = exchange.to_dlpack
    __dlpack_device__ = exchange.dlpack_device
    __cuda_array_interface__ = property(exchange.cuda_array_interface)
    __array_namespace__ = namespace.array_namespace
    _cdata = property(id)  # the address of the object; PyTorch's tensors have one in C++ beside it
    to_device = namespace.to_device
    __deepcopy__ = pickling.deep_copy
    module_load = pickling.module_load
    __reduce_ex__ = pickling.reduce_ex

    # Subclasses -------------------------------------------------------------------------------------------------------

    _make_subclass = staticmethod(subclasses._make_subclass)
    _make_wrapper_subclass = staticmethod(subclasses._make_wrapper_subclass)
    __torch_dispatch__ = staticmethod(_disabled_torch_dispatch_impl)

    # Python's own functions and operators -----------------------------------------------------------------------------

    __repr__ = printing.__repr__
    __bool__ = protocols.__bool__
    is_nonzero = protocols.is_nonzero
    __int__ = protocols.__int__
    __float__ = protocols.__float__
    __complex__ = protocols.__complex__
    __index__ = protocols.__index__
    __len__ = protocols.__len__
    __iter__ = protocols.__iter__
    __contains__ = protocols.__contains__
    __reversed__ = protocols.__reversed__
    __rtruediv__ = reflected.__rdiv__  # a number on the left, where the operator does not commute
    __rdiv__ = reflected.__rdiv__  # the names of Python 2
    __div__ = old_methods.__div__
    __idiv__ = old_methods.__idiv__
    __long__ = old_methods.__long__
    __nonzero__ = old_methods.__nonzero__
    __rpow__ = reflected.__rpow__
    __rfloordiv__ = reflected.__rfloordiv__
    __rmod__ = reflected.__rmod__
    __rmatmul__ = reflected.__rmatmul__
    __rlshift__ = reflected.__rlshift__
    __rrshift__ = reflected.__rrshift__

    # Types; last, since an annotation below these rows would take `bool` for the method -------------------------------

    to = conversion.to
    type = type_
    bool = conversion_methods.bool
    byte = conversion_methods.byte
    char = conversion_methods.char
    short = conversion_methods.short
    int = conversion_methods.int
    long = conversion_methods.long
    half = conversion_methods.half
    bfloat16 = conversion_methods.bfloat16
    float = conversion_methods.float
    double = conversion_methods.double
    cfloat = conversion_methods.cfloat
    cdouble = conversion_methods.cdouble
    chalf = conversion_methods.chalf


for _name, _value in [*vars(Tensor).items()]:
    if isinstance(_value, FunctionType) and _value.__name__ not in vars(Tensor):
        _value.__name__ = _name  # under which others are asked about it

for _name in MISSING_METHODS:
    setattr(Tensor, _name, MissingName("torch.Tensor", _name))


# Making tensors: what kernels use -------------------------------------------------------------------------------

_new = object.__new__


def tensor_of(  # hot path: benchmarks/eager.py
    dtype: dtype,
    shape: Shape,
    key_set: int,
    array: Array | None = None,
    storage: Storage | None = None,
    strides: Shape | None = None,
    offset: int = 0,
    cls: type[Tensor] = Tensor,
) -> Tensor:
    """A tensor of these fields; see Note [Storage and geometry are the truth].

    There is no version counter yet, nor a record of autograd's. Only `make_view` and the two shortest kernels of
    `kernels/cpu/pointwise/loops.py` fill in the fields themselves: a field that is added is added in these four.
    """
    t = _new(cls)
    t.dtype = dtype
    t._shape = shape
    t.key_set = key_set
    t._array = array
    t._storage = storage
    t._strides = strides
    t._offset = offset
    t._generation = 0 if storage is None else storage.generation
    t._version_counter = t._autograd_meta = t._number = None
    return t


def wrap(array: Array, dtype: dtype) -> Tensor:
    """A CPU tensor around a fresh row-major array without another owner. Nothing is copied."""
    keys = inference.keys_of_new(CPU_KEYS) if inference.entered else CPU_KEYS
    return tensor_of(dtype, array.shape, keys, array)


def make(
    storage: Storage,
    dtype: dtype,
    shape: Shape,
    strides: Shape | None,
    offset: int,
    cls: type[Tensor] = Tensor,
) -> Tensor:
    """A tensor that reads a storage through a geometry; `strides` None means row-major."""
    keys = CPU_KEYS if storage.device is CPU else KEYS_OF_DEVICE[storage.device.type]
    keys = inference.keys_of_new(keys) if inference.entered else keys
    return tensor_of(dtype, shape, keys, None, storage, strides, offset, cls)


def make_view(  # hot path: benchmarks/eager.py
    base: TensorImpl, shape: Shape, strides: Shape | None, offset: int
) -> Tensor:
    """A tensor on the storage of another, with its own geometry. Versions and bases are ADInplaceOrView's business.

    It is `tensor_of` of the base's storage, dtype and keys, written out: the call costs a view a fifteenth.
    """
    storage = base._storage
    if storage is None:
        storage = base.untyped_storage()
    t = _new(Tensor)
    t.dtype = base.dtype
    t._shape = shape
    t.key_set = base.key_set
    t._storage = storage
    t._strides = strides
    t._offset = offset
    t._generation = storage.generation
    t._array = t._version_counter = t._autograd_meta = t._number = None
    return t


def make_view_as(base: TensorImpl, dtype: dtype, shape: Shape, strides: Shape | None, offset: int) -> Tensor:
    """As `make_view`, reading the bytes as another dtype; `offset` counts elements of that one."""
    t = make_view(base, shape, strides, offset)
    t.dtype = dtype
    return t


def alias(base: TensorImpl, cls: type[Tensor] = Tensor) -> Tensor:
    """The same storage, geometry and version counter without autograd's record.

    Where a mode is on, or a class has a `__torch_dispatch__`, they see a call of `detach` and say what it gives.
    """
    keys = base.key_set
    if cls is not Tensor:
        keys = keys_of_class(cls, keys)
    elif is_seen(base):
        return detached(base)  # type: ignore[no-any-return]
    if (cls in PLAIN and type(base) in PLAIN) or is_quiet():
        return _alias(base, cls, keys)
    with DisableTorchFunction():
        return _alias(base, cls, keys)


def _alias(base: TensorImpl, cls: type[Tensor], keys: int) -> Tensor:
    if keys & SPARSE:
        return alias_of_sparse(base, keys, cls)
    storage = TensorImpl.untyped_storage(base)  # an uninitialized parameter refuses its own
    t = tensor_of(base.dtype, base._shape, keys, base._array, storage, base._strides, base._offset, cls)
    t._generation = base._generation
    t._version_counter = base.version_counter() if base.key_set & ADINPLACEORVIEW else None
    t._number = base._number
    return t


def without_history(base: Tensor) -> Tensor:
    """As `alias`; a mode or a class that sees it sees the operator `detach`."""
    return base.detach() if is_seen(base) else alias(base)


def taken_over(base: Tensor) -> Tensor:
    """A gradient that a leaf keeps, of the same parts.

    A COO tensor is not known to be coalesced afterwards, as in PyTorch, which makes one of its indices and values; or
    copies it, if its values do not follow each other.
    """
    if base.is_sparse and type(base) is Tensor and not base._parts.values.is_contiguous():
        return base.clone()
    kept = without_history(base)
    if type(kept) is Tensor and isinstance(kept._parts, CooParts):
        kept._parts.coalesced = kept._parts.nnz < 2
    return kept


def made_of_parts(dtype: dtype, shape: Shape, parts: Parts, on: device = CPU, cls: type[Tensor] = Tensor) -> Tensor:
    """A sparse tensor: Note [Sparse tensors] (core/tensor_impl.py)."""
    is_coo = isinstance(parts, CooParts)
    keys = (SPARSE_KEYS_OF_DEVICE if is_coo else SPARSE_CSR_KEYS_OF_DEVICE)[on.type]
    t = tensor_of(dtype, shape, inference.keys_of_new(keys), None, None, (0,) * len(shape), 0, cls)
    t._storage, t._parts = no_storage(on, parts.layout), parts
    return t


def alias_of_sparse(base: TensorImpl, keys: int, cls: type[Tensor] = Tensor) -> Tensor:
    """As `alias`: the same parts, in a tensor that may come to have others."""
    t = made_of_parts(base.dtype, base._shape, base._parts.again(), base.device, cls)
    t.key_set = keys
    t._version_counter = base.version_counter() if base.key_set & ADINPLACEORVIEW else None
    return t


def empty(shape: Shape, dtype: dtype, on: device = CPU) -> Tensor:
    """An uninitialised row-major tensor."""
    nbytes = math.prod(shape) * dtype.itemsize
    if on is CPU:
        return wrap(empty_array(shape, dtype.numpy, nbytes), dtype)
    if type(nbytes) is not int:  # of symbols, whose strides are kept: they have no hash to look them up by
        return make(Storage.allocate(nbytes, on), dtype, shape, geometry.row_major(shape), 0)
    if nbytes > MOST:
        check_countable(shape, dtype.itemsize)
    return make(Storage.allocate(nbytes, on), dtype, shape, None, 0)


def empty_strided(shape: Shape, strides: Shape, dtype: dtype, on: device = CPU) -> Tensor:
    """An uninitialised tensor with the given strides, on a storage just large enough."""
    if on is CPU and strides == geometry.contiguous_strides(shape):
        return empty(shape, dtype, on)
    nbytes = geometry.span(shape, strides) * dtype.itemsize
    return make(Storage.allocate(nbytes, on), dtype, shape, strides, 0)


def empty_pinned(shape: Shape, strides: Shape, dtype: dtype) -> Tensor:
    """An uninitialised CPU tensor in pinned memory."""
    nbytes = geometry.span(shape, strides) * dtype.itemsize
    return make(Storage.over(private_use.pinned(nbytes)), dtype, shape, strides, 0)


def from_array(array: Array, dtype: dtype) -> Tensor:
    """A tensor over another owner's array, of any strides; the memory is shared."""
    itemsize = dtype.itemsize
    if array.flags.c_contiguous:
        t = wrap(array, dtype)
        t._storage = Storage.over(array)
        return t
    strides = tuple(step // itemsize for step in array.strides)
    raw = array.view(f"V{itemsize}")  # as_strided does not know the dtypes of ml_dtypes
    whole = np.lib.stride_tricks.as_strided(raw, (geometry.span(array.shape, strides),), (itemsize,))
    return make(Storage.over(whole), dtype, array.shape, strides, 0)


def wrapped_number(value: Number) -> Tensor:  # hot path: benchmarks/eager.py
    """A 0-dim tensor that stands for a Python number; it is weak in promotion and has no array until asked."""
    if type(value) not in (bool, int, float, complex):
        value = value.item() if hasattr(value, "item") else value  # a NumPy scalar
    keys = inference.keys_of_new(CPU_KEYS) if inference.entered else CPU_KEYS
    t = tensor_of(dtype_of_operand(value), (), keys)
    t._number = value
    return t


class _Tensors:
    """Fills hooks.TensorHooks."""

    def wrapped_number(self, value: Any) -> Tensor:
        return wrapped_number(value)

    def from_array(self, array: Any) -> Tensor:
        return from_array(array, from_numpy_dtype(array.dtype))

    def over(self, array: Any, dtype: dtype) -> Tensor:
        return from_array(array, dtype)

    def wrap(self, array: Any, dtype: dtype) -> Tensor:
        return wrap(array, dtype)

    make: Any = staticmethod(make)

    def alias(self, base: Any, cls: Any) -> Any:
        return alias(base, cls)

    def empty_pinned(self, shape: Shape, strides: Shape, dtype: dtype) -> Tensor:
        return empty_pinned(shape, strides, dtype)

    def tensor_class(self) -> type[Tensor]:
        return Tensor


hooks.set_tensor_hooks(_Tensors())
