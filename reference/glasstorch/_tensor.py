"""What is a Tensor, the object that users work with?

Mirrors: aten/src/ATen/templates/TensorBody.h, torch/csrc/autograd/python_variable.cpp, torch/_tensor.py
Differs: one Python class, joined from what it is (TensorImpl), what operators give it (TensorMethods, generated),
    what types it becomes (ConversionMethods) and what Python asks of it (here). Names that only our lower layers ask
    for, and torch has in C++ alone, can be seen: array, host_array, strides, key_set, version_counter, alias, slice.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from glasstorch.calls import removed
from glasstorch.core import geometry, hooks, inference
from glasstorch.core.allocator import MOST, check_countable, empty_array
from glasstorch.core.device import CPU, device
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import Number, dtype, dtype_of_operand, from_numpy_dtype, get_default_dtype
from glasstorch.core.errors import DeviceError, InplaceError
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import CPU_KEYS, KEYS_OF_DEVICE
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import Array, TensorImpl
from glasstorch.core.typed_storage import TypedStorage, typed, warn_of_removal
from glasstorch.operators.generated import functions
from glasstorch.outside_data import exchange, from_data
from glasstorch.printing import tensor_str
from glasstorch.python_forms import (
    gradients,
    indexing,
    layouts,
    lu,
    namespace,
    nonzero,
    norm,
    pickling,
    places,
    python_functions,
    reflected,
    stft,
    unique,
)
from glasstorch.python_forms.facts import FactMethods


class Tensor(FactMethods):
    """A multi-dimensional array of one dtype on one device, which records how it was computed.

    Make one with `tensor`, `zeros`, `rand` ... Views share their storage; `x.untyped_storage()` is that storage.
    """

    _printed_as = "tensor"  # a subclass prints under its own name unless it says otherwise

    def __new__(cls, *data: Any, device: Any = None) -> Any:
        """`Tensor(2, 3)` is uninitialised with these sizes, `Tensor([1, 2])` has these values; in the default dtype.

        `empty` and `tensor` are the unambiguous forms.
        """
        if hooks.trace_hooks is not None:
            hooks.trace_hooks.made_from_data("torch.Tensor")
        made = from_data.legacy(data, get_default_dtype(), CPU if device is None else Device(device))
        return made if cls is Tensor else made.as_subclass(cls)

    new = from_data.new
    new_tensor = from_data.new_tensor

    # Autograd: answered by the layer that knows -----------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operators on this tensor are recorded."""
        meta = self._autograd_meta
        return meta is not None and (
            meta.requires_grad or meta.grad_fn is not None or (meta.base is not None and meta.base.requires_grad)
        )

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        hooks.variable_hooks.requires_grad_(self, value)

    requires_grad_ = gradients.requires_grad_

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have added up for this leaf; None before the first."""
        return hooks.variable_hooks.get_grad(self)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        hooks.variable_hooks.set_grad(self, value)

    @grad.deleter
    def grad(self) -> None:
        hooks.variable_hooks.set_grad(self, None)

    @property
    def grad_fn(self) -> Any:
        """The node of the backward graph that produced this tensor; None for a leaf."""
        return None if self._autograd_meta is None else hooks.variable_hooks.grad_fn(self)

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was not computed from tensors that require grad."""
        return self._autograd_meta is None or self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which of its node's results this tensor is."""
        return 0 if self._autograd_meta is None else int(self._autograd_meta.output_nr)

    backward = gradients.backward

    register_hook = gradients.register_hook

    register_post_accumulate_grad_hook = gradients.register_post_accumulate_grad_hook

    retain_grad = gradients.retain_grad

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this tensor, and it is not a leaf."""
        return hooks.variable_hooks.retains_grad(self)

    @property
    def _base(self) -> Tensor | None:
        return hooks.variable_hooks.base(self)

    def _is_view(self) -> bool:
        return self._base is not None

    detach_ = gradients.detach_

    @property
    def data(self) -> Tensor:
        """The same storage as a tensor without history, whose changes do not increment the version counter."""
        result = alias(self)
        result._version_counter = None
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if value.is_meta != self.is_meta:
            raise DeviceError(
                f"incompatible tensor type: .data of a tensor on {self.device} cannot be set to one on {value.device}"
            )
        meta = self._autograd_meta
        if meta is not None and (value.dtype is not self.dtype or value.device is not self.device):
            meta.accumulator = None  # its AccumulateGrad expects gradients of the old dtype and device
        self.dtype, self.key_set = value.dtype, value.key_set
        self.set_storage(value.untyped_storage(), value._shape, value._strides, value._offset)

    # Facts ------------------------------------------------------------------------------------------------------

    is_contiguous = layouts.is_contiguous
    dim_order = layouts.dim_order

    def is_floating_point(self) -> bool:
        """Whether the dtype is floating point."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self.dtype.is_complex

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has sizes and a dtype and no data."""
        return self.device.type == "meta"

    @property
    def is_cuda(self) -> bool:
        """Whether the storage is on a GPU."""
        return self.device.type == "cuda"

    # Out to NumPy and Python ------------------------------------------------------------------------------------

    numpy = exchange.numpy
    __array__ = exchange.array
    __dlpack__ = exchange.to_dlpack
    __dlpack_device__ = exchange.dlpack_device
    __cuda_array_interface__ = property(exchange.cuda_array_interface)
    __array_namespace__ = namespace.array_namespace
    to_device = namespace.to_device
    norm = norm.method
    lu = lu.lu_method
    stft = stft.stft
    unique_consecutive = unique.unique_consecutive
    unique = unique.unique
    nonzero = nonzero.method  # type: ignore[assignment]  # which takes as_tuple=, and the operator out=
    eig, lstsq, solve, symeig = removed.eig, removed.lstsq, removed.solve, removed.symeig
    apply_ = python_functions.apply_
    map_ = python_functions.map_
    map2_ = python_functions.map2_

    # An ndarray's operators give way to a tensor's, and what NumPy computes from a tensor becomes one again.
    __array_priority__ = 1000

    def __array_wrap__(self, array: Array, context: Any = None, return_scalar: Any = False) -> Tensor:
        if array.dtype == np.bool_:
            array = array.astype(np.uint8)  # as PyTorch, which had no bool tensors when it wrote this
        return from_array(array, from_numpy_dtype(array.dtype))

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; one number for a 0-dim tensor."""
        return self.host_array().tolist()

    def storage(self) -> TypedStorage:
        """The storage as elements of the tensor's dtype; `untyped_storage` is what new code asks for."""
        warn_of_removal()
        return typed(self.untyped_storage(), self.dtype)

    def _typed_storage(self) -> TypedStorage:
        return typed(self.untyped_storage(), self.dtype)

    def share_memory_(self) -> Tensor:
        """Move the storage to memory that other processes can be given; it can no longer be resized."""
        self.untyped_storage().share_memory_()
        return self

    def is_shared(self) -> Any:
        """Whether other processes can be given the storage; true of every CUDA tensor."""
        return self.untyped_storage().is_shared()

    def __bool__(self) -> bool:
        if self.numel() != 1:
            many = "no" if self.numel() == 0 else "more than one"
            raise RuntimeError(f"Boolean value of Tensor with {many} value{'s' if many == 'no' else ''} is ambiguous")
        return bool(self.item())

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        if hooks.trace_hooks is not None:
            hooks.trace_hooks.length_read(self)
        return self._shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        if hooks.trace_hooks is not None:
            hooks.trace_hooks.iterated(self)
        return iter(functions.unbind(self, 0))

    def __contains__(self, value: Any) -> bool:
        if not issubclass(type(value), TensorImpl | bool | int | float | complex | np.number):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
            )
        return bool(functions.any(functions.eq(self, value)).item())

    def __reversed__(self) -> Tensor:
        return functions.flip(self, (0,)) if self._shape else self

    __getitem__ = indexing.get

    def __setitem__(self, index: Any, value: Any) -> None:
        indexing.put(self, index, value)

    def __delitem__(self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    # A number on the left, where the operator does not commute ---------------------------------------------------

    __rtruediv__ = reflected.rtruediv

    __rdiv__ = __rtruediv__  # the name of Python 2

    __rpow__ = reflected.rpow

    __rfloordiv__ = reflected.rfloordiv

    __rmod__ = reflected.rmod

    __rmatmul__ = reflected.rmatmul

    __rlshift__ = reflected.rlshift

    __rrshift__ = reflected.rrshift

    # Copies with another dtype or place -------------------------------------------------------------------------

    cpu = places.cpu

    cuda = places.cuda

    def pin_memory(self, device: Any = None) -> Tensor:
        """The tensor in pinned main memory, from which a copy to a device need not block; itself if it is there.

        There is one kind of device to pin for; naming it is deprecated.
        """
        _warn_of_device("pin_memory", device)
        if self.device is not CPU:
            raise DeviceError(f"cannot pin a tensor on {self.device}, only dense CPU tensors can be pinned")
        if self.is_pinned():
            return self
        strides = geometry.strides_like(self._shape, self.strides())
        return empty_pinned(self._shape, strides, self.dtype).copy_(self)

    def is_pinned(self, device: Any = None) -> Any:
        """Whether the tensor is in pinned main memory. Naming a device is deprecated."""
        _warn_of_device("is_pinned", device)
        return self.untyped_storage().is_pinned()

    record_stream = places.record_stream

    get_device = places.get_device

    # Python protocols -------------------------------------------------------------------------------------------

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        try:
            grad_fn = self.grad_fn.name().rpartition("::")[2] if self.grad_fn is not None else None
        except InplaceError:  # a view whose history a change in place made ambiguous
            grad_fn = "Invalid"
        return tensor_str(
            None if self.is_meta else self.host_array(),
            self._shape,
            self.dtype,
            self.device,
            requires_grad=self.requires_grad,
            grad_fn=grad_fn,
            prefix=type(self).__dict__.get("_printed_as", type(self).__name__) + "(",
            contents=tensor_contents,
        )

    def __format__(self, specification: str) -> str:
        if not self._shape and not self.is_meta and type(self) is Tensor:
            return format(self.item(), specification)
        return object.__format__(self, specification) if specification else str(self)

    __deepcopy__ = pickling.deep_copy
    __reduce_ex__ = pickling.reduce_ex

    def as_subclass(self, cls: type[Tensor]) -> Any:
        """The same storage, geometry and history as an instance of a subclass."""
        result = alias(self, cls)
        result._autograd_meta = self._autograd_meta
        return result


def _warn_of_device(method: str, given: Any) -> None:
    if given is not None:
        warnings.warn(
            f"The argument 'device' of Tensor.{method}() is deprecated. Please do not pass this argument.",
            DeprecationWarning,
            stacklevel=3,
        )


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
    """A tensor of these fields, see Note [Storage and geometry are the truth]; `make_view` and short kernels repeat it.

    There is no version counter yet, nor a record of autograd's.
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
    keys = inference.keys_of_new(CPU_KEYS if storage.device is CPU else KEYS_OF_DEVICE[storage.device.type])
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
    """The same storage, geometry and version counter without autograd's record."""
    storage = base.untyped_storage()
    t = tensor_of(base.dtype, base._shape, base.key_set, base._array, storage, base._strides, base._offset, cls)
    t._generation = base._generation
    t._version_counter = base.version_counter()
    t._number = base._number
    return t


def empty(shape: Shape, dtype: dtype, on: device = CPU) -> Tensor:
    """An uninitialised row-major tensor."""
    nbytes = math.prod(shape) * dtype.itemsize
    if on is CPU:
        return wrap(empty_array(shape, dtype.numpy, nbytes), dtype)
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
    return make(Storage.over(hooks.memory_hooks.pinned(nbytes)), dtype, shape, strides, 0)


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

    def make(self, *arguments: Any) -> Tensor:
        return make(*arguments)


hooks.set_tensor_hooks(_Tensors())
