"""What does a tensor consist of?

Mirrors: c10/core/TensorImpl.h, c10/util/intrusive_ptr.h (VariableVersion in c10/core/TensorImpl.h),
    aten/src/ATen/core/TensorBase.h (what a tensor asks of VariableHooksInterface)
Differs: the storage, the strides and the version counter of a fresh tensor are made on first use; most results of
    kernels die before that.

# Note [Storage and geometry are the truth]
A tensor is a storage, a dtype, sizes, strides, an offset, a key set and a version counter. `_array` is NumPy's view of
exactly that, kept because rebuilding it costs more than adding eight floats. It is never consulted for sizes or
strides, and it is stale when its storage has been resized since (`_generation`).

Three fields may be None and are filled in on demand, always to the same answer:
`_storage` (then `_array` owns the memory and is row-major), `_strides` (then they are row-major), `_version_counter`
(then the version is 0 and no view shares it).

# Note [Sparse tensors]
A tensor whose key set has Sparse or SparseCsr has no storage: in its place stands a mark that says on which device its
parts are (`NoStorage`), and what it consists of is in `_parts`. Its strides are zeros. Its keys lead to kernels of its
own; where a kernel for all backends makes a view, the mark refuses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from glasstorch.core import geometry, hooks, private_use
from glasstorch.core.allocator import check_dimensions
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutogradError,
    InplaceError,
    NoDataError,
    ShapeError,
    StorageError,
)
from glasstorch.core.geometry import Shape, Size
from glasstorch.core.inference import is_inference_mode_enabled
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    CONJUGATE,
    MATH_BITS,
    NEGATIVE,
    PYTHON,
    SPARSE,
    SPARSE_COO,
    SPARSE_CSR,
)
from glasstorch.core.layout import layout, sparse_coo, sparse_csr, strided
from glasstorch.core.sparse_parts import NoStorage, Parts
from glasstorch.core.storage import Storage
from glasstorch.core.typed_storage import TypedStorage, typed, warn_of_removal

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]

NO_POINTER: Final = "Cannot access data pointer of Tensor that doesn't have storage"


class VersionCounter:
    """How many in-place operations a storage has seen through the tensors that share this counter."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class TensorImpl:
    """A storage read through sizes, strides and an offset; see Note [Storage and geometry are the truth]."""

    __slots__ = (
        "__weakref__",
        "_array",
        "_autograd_meta",
        "_generation",
        "_number",
        "_offset",
        "_parts",
        "_shape",
        "_storage",
        "_strides",
        "_version_counter",
        "dtype",
        "key_set",
    )

    _array: Array | None
    _autograd_meta: Any  # autograd's own record (AutogradMeta), None for a tensor that takes no part in autograd
    _generation: int
    _number: Number | None  # the Python number that this 0-dim tensor wraps, which makes it weak in type promotion
    _offset: int
    _parts: Parts  # what a sparse tensor consists of; a strided one leaves it unset
    _shape: Shape
    _storage: Storage | None
    _strides: Shape | None
    _version_counter: VersionCounter | None
    dtype: dtype
    key_set: int  # readable as DispatchKeySet(x.key_set)

    # Sizes and strides ------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes, as a `Size`."""
        return Size(self._shape)

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or that of one dimension."""
        if dim is None:
            return Size(self._shape)
        return self._shape[geometry.existing_dim(dim, len(self._shape))]

    def strides(self) -> Shape:
        """The strides in elements, as a plain tuple."""
        strides = self._strides
        if strides is None:
            strides = geometry.contiguous_strides(self._shape)
        return strides

    def stride(self, dim: int | None = None) -> Any:
        """All strides in elements, or that of one dimension; zeros for a COO tensor, refused for a compressed one."""
        if self.key_set & SPARSE_CSR:
            raise StorageError(f"Sparse {self._parts.layout.name[-3:].upper()} tensors do not have strides")
        strides = self.strides()
        return strides if dim is None else strides[geometry.existing_dim(dim, len(strides))]

    def storage_offset(self) -> int:
        """The position of the first element, in elements from the start of the storage."""
        return self._offset

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    def ndimension(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self._shape)

    nelement = numel

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes, each element counted once."""
        if self.key_set & SPARSE and self.layout is sparse_coo:  # others answer, as if all elements were specified
            raise StorageError(
                "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the "
                "nbytes of the indices and values.  If you want the size of the  equivalent dense tensor, multiply "
                "numel() by element_size()"
            )
        return self.numel() * self.dtype.itemsize

    def is_same_size(self, other: TensorImpl) -> bool:
        """Whether another tensor has these sizes."""
        if not isinstance(other, TensorImpl):
            raise ArgumentTypeError(f"is_same_size(): argument 'other' must be Tensor, not {type(other).__name__}")
        return self._shape == other._shape

    def is_row_major(self) -> bool:
        """Whether the elements lie next to each other in row-major order; a sparse tensor has no order."""
        return self._strides is None or geometry.is_contiguous(self._shape, self._strides)

    # Dtype, device and layout: the kinds that no tensor here has are constants ----------------------------------

    is_ipu: Final = False
    is_maia: Final = False
    is_mkldnn: Final = False
    is_mps: Final = False
    is_mtia: Final = False
    is_nested: Final = False
    is_quantized: Final = False
    is_vulkan: Final = False
    is_xla: Final = False
    is_xpu: Final = False
    name: Final = None  # a name that only C++ code can set

    def is_floating_point(self) -> bool:
        """Whether the dtype is floating point."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype is signed."""
        return self.dtype.is_signed

    @property
    def device(self) -> device:
        """The device of the storage."""
        return CPU if self._storage is None else self._storage.device

    @property
    def layout(self) -> layout:
        """How the elements are laid out: `strided`, or what the parts say."""
        return self._parts.layout if self.key_set & SPARSE else strided

    @property
    def is_sparse(self) -> bool:
        """Whether the layout is sparse_coo."""
        return bool(self.key_set & SPARSE_COO)

    @property
    def is_sparse_csr(self) -> bool:
        """Whether the layout is sparse_csr; one of the other compressed ones does not count."""
        return bool(self.key_set & SPARSE_CSR) and self._parts.layout is sparse_csr

    @property
    def is_cpu(self) -> bool:
        """Whether the storage is in main memory."""
        return self.device.type == "cpu"

    @property
    def is_cuda(self) -> bool:
        """Whether the storage is on a GPU."""
        return self.device.type == "cuda"

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has sizes and a dtype and no data."""
        return self.device.type == "meta"

    # Storage ----------------------------------------------------------------------------------------------------

    def untyped_storage(self) -> Storage:
        """The storage that this tensor reads; tensors that share memory return the same object."""
        if self.key_set & SPARSE:
            raise NoDataError(f"Cannot access storage of {self._parts.impl}")
        storage = self._storage
        if storage is None:
            storage = self._storage = Storage.over(self.array(), resizable=True)
            self._generation = storage.generation
        return storage

    def storage(self) -> TypedStorage:
        """The storage as elements of the tensor's dtype; `untyped_storage` is what new code asks for."""
        warn_of_removal()
        return typed(self.untyped_storage(), self.dtype)

    def _typed_storage(self) -> TypedStorage:
        return typed(self.untyped_storage(), self.dtype)

    def share_memory_(self) -> Self:
        """Move the storage to memory that other processes can be given; it can no longer be resized."""
        self.untyped_storage().share_memory_()
        return self

    def is_shared(self) -> bool:
        """Whether other processes can be given the storage; true of every CUDA tensor."""
        return self.untyped_storage().is_shared()

    def data_ptr(self) -> int:
        """The address of the first element, the offset included; 0 where there are no bytes.

        The caller may write there, so a lazily shared storage is copied first.
        """
        if self.key_set & SPARSE:
            raise StorageError(NO_POINTER)
        storage = self.untyped_storage()
        if self.key_set & PYTHON and storage.lazy is None:
            return self.const_data_ptr()
        start = storage.data_ptr()
        return start + self._offset * self.dtype.itemsize if start else 0

    def const_data_ptr(self) -> int:
        """The address of the first element, to be read from only: a lazily shared storage stays shared."""
        if self.key_set & SPARSE:
            raise StorageError(NO_POINTER)
        start = self.untyped_storage().address()
        return start + self._offset * self.dtype.itemsize if start else 0

    def array(self) -> Array:
        """NumPy's view of this tensor's elements: the same memory, never a copy. What kernels compute on."""
        array = self._array
        storage = self._storage
        if array is not None and (storage is None or storage.generation == self._generation):
            return array
        if storage is None:  # a wrapped number, not materialised so far
            array = self._array = np.array(self._number, self.dtype.numpy)
            return array
        if storage.memory is None:
            raise out_of_reach(storage)
        array = self._array = strided_array(storage, self.dtype, self._shape, self.strides(), self._offset)
        self._generation = storage.generation
        return array

    def host_array(self) -> Array:
        """The elements as a NumPy array: on the CPU the tensor's own memory, else a copy. Calls no operator."""
        if hooks.trace_hooks is not None:
            hooks.trace_hooks.value_read(self)
        if self._storage is None or self._storage.block is None:
            array = self.array()
        else:
            array = (hooks.memory_hooks if self.is_cuda else private_use).host_array(self)
        return self.read_through_bits(array) if self.key_set & MATH_BITS else array

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; one number for a 0-dim tensor."""
        if self.key_set & PYTHON:
            raise ArgumentError(f".tolist() is not supported for tensor subclasses, got {type(self).__name__}")
        return self.host_array().tolist()

    # Bits -------------------------------------------------------------------------------------------------------

    def is_conj(self) -> bool:
        """Whether each element stands for the conjugate of what is stored; `resolve_conj` computes it."""
        return bool(self.key_set & CONJUGATE)

    def is_neg(self) -> bool:
        """Whether each element stands for the negative of what is stored; `resolve_neg` computes it."""
        return bool(self.key_set & NEGATIVE)

    def read_through_bits(self, stored: Array) -> Array:
        """The values that the stored elements stand for; see Note [Lazy conjugation and negation]."""
        if self.is_conj():
            stored = np.conjugate(stored)
        return np.negative(stored) if self.is_neg() else stored

    def set_geometry(self, shape: Shape, strides: Shape | None, offset: int) -> None:
        """Change sizes, strides and offset in place. The caller has checked that they fit the storage."""
        self.untyped_storage()
        self._shape, self._strides, self._offset, self._array = shape, strides, offset, None

    def set_storage(self, storage: Storage, shape: Shape, strides: Shape | None, offset: int) -> None:
        """Make this tensor read another storage."""
        self._storage = storage
        self._shape, self._strides, self._offset, self._array = shape, strides, offset, None

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode, and autograd does not track it."""
        return not self.key_set & ADINPLACEORVIEW

    # Versions ---------------------------------------------------------------------------------------------------

    @property
    def _version(self) -> int:
        """How often the shared memory was changed in place; AutogradError for an inference tensor without a count."""
        counter = self._version_counter
        if counter is not None:
            return counter.value
        if self.is_inference():
            raise AutogradError("Inference tensors do not track version counter.")
        return 0

    def version_counter(self) -> VersionCounter:
        """The counter, which views share; made here if there is none yet, and not kept by an inference tensor."""
        counter = self._version_counter
        if counter is None:
            counter = VersionCounter()
            if self.key_set & ADINPLACEORVIEW:
                self._version_counter = counter
        return counter

    def bump_version(self) -> None:
        """Count one in-place change; an inference tensor without a count raises InplaceError outside the mode."""
        counter = self._version_counter
        if counter is None and not self.key_set & ADINPLACEORVIEW:  # is_inference, written out
            if is_inference_mode_enabled():
                return
            raise InplaceError(
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
                "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more "
                "details."
            )
        if counter is None:
            counter = self._version_counter = VersionCounter()
        counter.value += 1

    # Autograd: answered by the layer that knows -----------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operators on this tensor are recorded."""
        meta = self._autograd_meta
        return meta is not None and (
            meta.requires_grad or meta.grad_fn is not None or (meta.base is not None and meta.base.requires_grad)
        )

    @requires_grad.setter
    def requires_grad(self: Any, value: bool) -> None:
        hooks.variable_hooks.requires_grad_(self, value, "only Tensors of floating point and complex")

    @property
    def grad(self: Any) -> Tensor | None:
        """The gradient that backward passes have added up for this leaf; None before the first."""
        return hooks.variable_hooks.get_grad(self)

    @grad.setter
    def grad(self: Any, value: Tensor | None) -> None:
        hooks.variable_hooks.set_grad(self, value)

    @grad.deleter
    def grad(self: Any) -> None:
        hooks.variable_hooks.set_grad(self, None)

    # As in PyTorch, where programs set it too.
    _grad = property(grad.fget, grad.fset, grad.fdel)  # type: ignore[attr-defined]

    @property
    def grad_dtype(self: Any) -> Any:
        """The dtype to which gradients of this leaf are cast, by default its own; None where they keep theirs."""
        return hooks.variable_hooks.get_grad_dtype(self)

    @grad_dtype.setter
    def grad_dtype(self: Any, value: Any) -> None:
        hooks.variable_hooks.set_grad_dtype(self, value)

    @property
    def grad_fn(self: Any) -> Any:
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

    @property
    def retains_grad(self: Any) -> bool:
        """Whether `retain_grad` was called on this tensor, and it is not a leaf."""
        return hooks.variable_hooks.retains_grad(self)

    @property
    def _backward_hooks(self: Any) -> Any:
        """The hooks on this tensor's gradient by their ids, an OrderedDict; None before the first."""
        return hooks.variable_hooks.backward_hooks(self)

    @_backward_hooks.setter
    def _backward_hooks(self: Any, value: Any) -> None:
        hooks.variable_hooks.set_backward_hooks(self, value)

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise AutogradError("Deletion of _backwards_hooks not allowed!")

    @property
    def _post_accumulate_grad_hooks(self) -> Any:
        """The hooks on what is accumulated in this leaf by their ids, an OrderedDict; None before the first."""
        return None if self._autograd_meta is None else self._autograd_meta.post_accumulate_hooks

    @_post_accumulate_grad_hooks.setter
    def _post_accumulate_grad_hooks(self: Any, value: Any) -> None:
        hooks.variable_hooks.set_post_accumulate_hooks(self, value)

    @_post_accumulate_grad_hooks.deleter
    def _post_accumulate_grad_hooks(self) -> None:
        raise AutogradError("Deletion of _post_accumulate_grad_hooks not allowed!")

    @property
    def _base(self: Any) -> Tensor | None:
        return hooks.variable_hooks.base(self)

    def _is_view(self) -> bool:
        return self._base is not None

    def _view_func(
        self: Any, new_base: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None
    ) -> Tensor | None:
        """The view of `new_base` that this tensor is of its base; None if it is no view, or if the two are not alike.

        They are where sizes, strides, offsets and the lengths of their storages agree.
        """
        return hooks.variable_hooks.view_again(self, new_base, (symint_visitor_fn, tensor_visitor_fn), alike=True)

    def _view_func_unsafe(
        self: Any, new_base: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None
    ) -> Tensor | None:
        """As `_view_func`, of any tensor whose storage is long enough."""
        return hooks.variable_hooks.view_again(self, new_base, (symint_visitor_fn, tensor_visitor_fn), alike=False)

    def _rev_view_func_unsafe(self: Any, new_view: Tensor, /) -> None:
        """None for a tensor that is no view; refused for a view: inverses of view operators are not there."""
        hooks.variable_hooks.base_again(self, new_view)


def count_versions_anew(tensor: TensorImpl) -> None:
    """Count from 0, for this tensor alone: an inference tensor, too, unless the mode is on."""
    counts = tensor.is_inference() and not is_inference_mode_enabled()
    tensor._version_counter = VersionCounter() if counts else None


def out_of_reach(storage: Storage) -> Exception:
    """Why NumPy cannot read a storage: its bytes are on a device, or it has none."""
    if isinstance(storage, NoStorage):
        return StorageError(NO_POINTER)
    if storage.device.type == "meta":
        return NoDataError(f"Cannot copy out of {storage.device} tensor; no data!")
    return ArgumentTypeError(
        f"can't convert {storage.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
        f"memory first."
    )


def strided_array(storage: Storage, dtype: dtype, shape: Shape, strides: Shape, offset: int) -> Array:
    """A NumPy array over a storage's bytes at the given sizes, strides and offset (in elements).

    StorageError where the storage has been made too small since the tensor was made, or where a stride in bytes
    overflows an int64.
    """
    itemsize = dtype.itemsize
    assert storage.memory is not None
    if 0 in shape:
        return np.ndarray(shape, dtype.numpy)
    if not storage.nbytes():  # NumPy takes memory of 0 bytes for memory of unknown size, and would read what follows
        check_fits(storage, dtype, shape, strides, offset)
    try:
        return np.ndarray(
            shape,
            dtype.numpy,
            storage.memory,
            offset * itemsize,
            [step * itemsize for step in strides],
        )
    except ValueError as error:
        check_dimensions(shape)
        check_fits(storage, dtype, shape, strides, offset)
        raise StorageError(
            f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}"
        ) from error


def check_fits(storage: Storage, dtype: dtype, shape: Shape, strides: Shape, offset: int) -> None:
    """Refuse a geometry that reads outside its storage or has negative strides."""
    if any(step < 0 for step in strides):
        raise ShapeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(strides)}")
    if offset < 0:
        raise ShapeError(f"Tensor: invalid storage offset {offset}; it counts elements from the start of the storage")
    needed = (offset + geometry.span(shape, strides)) * dtype.itemsize if 0 not in shape else 0
    if needed > storage.nbytes():
        raise StorageError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{dtype.itemsize} requiring a storage size of {needed} are out of bounds for storage of size "
            f"{storage.nbytes()}"
        )
