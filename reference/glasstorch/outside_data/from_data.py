"""How do Tensor's constructor, `new` and `new_tensor` interpret their arguments?

Mirrors: torch/csrc/utils/tensor_new.cpp (legacy_tensor_generic_ctor_new, new_tensor)
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from glasstorch.calls.arguments import PYTHON_TYPES, sizes_of
from glasstorch.core import hooks
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import from_numpy_dtype, int64
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, DtypeError
from glasstorch.core.geometry import Size
from glasstorch.core.keys import BELOW_ADINPLACEORVIEW, FUNCTIONALITY_BIT, TRANSFORMED
from glasstorch.core.layout import sparse_coo
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import Array, TensorImpl
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.dispatch.active_keys import INCLUDED_BY_DEFAULT, active_keys
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated import functions
from glasstorch.operators.generated.registry import table
from glasstorch.operators.shapes.result import C_NAMES
from glasstorch.outside_data.nested import array_of, is_sequence, type_name

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

PYTHON = FUNCTIONALITY_BIT["Python"]
LIFT_FRESH = table("lift_fresh")
NO_DETACHED_COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}."
)
SPARSE_FORMS = "".join(
    f" * ({form}*, torch.device device = None)\n"
    for form in (
        "",
        "Tensor indices, Tensor values, ",
        "Tensor indices, Tensor values, tuple of ints size, ",
        "tuple of ints size, ",
    )
)
of_indices, of_indices_and_size = on_tensors("sparse_coo_tensor.indices"), on_tensors("sparse_coo_tensor.indices_size")


def is_tensor(obj: Any) -> TypeGuard[Tensor]:
    """Whether the object is a Tensor."""
    return isinstance(obj, TensorImpl)


def legacy(data: tuple[Any, ...], dtype: Dtype, on: Device) -> Tensor:
    """An uninitialised tensor if the arguments are sizes; otherwise a tensor of the only argument's elements.

    A tensor argument shares its storage, whatever its dtype; an array of this dtype shares its memory.
    """
    if len(data) == 1 and isinstance(data[0], Storage | TypedStorage):
        return over_storage(data[0], dtype)
    if len(data) == 1 and isinstance(data[0], TensorImpl):
        shared: Tensor = functions.alias(data[0])  # type: ignore[arg-type]
        return shared
    sizes = sizes_of(data[0] if len(data) == 1 and isinstance(data[0], Size) else data)
    if sizes is not None:
        return functions.empty(sizes or (0,), dtype=dtype, device=on)
    if len(data) == 1 and is_sequence(data[0]):
        return _of(data[0], dtype).to(on)
    given = ", ".join(type_name(type(value)) for value in data)
    raise ArgumentTypeError(f"new(): data must be a sequence (got {given}); expected sizes, or use tensor()")


def new(self: Tensor, *data: Any, device: Any = None) -> Tensor:
    """As `Tensor(...)`, with this tensor's dtype and device, which a tensor argument must also have."""
    if self.is_sparse:
        return legacy_sparse(data, self.dtype, self.device if device is None else Device(device), "SparseTensor.new")
    if len(data) == 1 and isinstance(data[0], TensorImpl):
        other: Tensor = data[0]  # type: ignore[assignment]
        if (other.dtype, other.device) != (self.dtype, self.device):
            raise ArgumentTypeError(f"expected {_options(self)} (got {_options(other)})")
    return legacy(data, self.dtype, self.device if device is None else device_from(device))


def legacy_sparse(data: tuple[Any, ...], dtype: Dtype, on: Device, name: str) -> Tensor:
    """A COO tensor of indices, values and maybe sizes; or of sizes alone, without specified elements."""
    if len(data) in (2, 3) and all(isinstance(one, TensorImpl) for one in data[:2]):
        indices, values, *size = data
        if indices.dtype is not int64:
            raise DtypeError(f"expected scalar type Long but found {indices.dtype.scalar_name}")
        if not size:
            return of_indices(indices, values, None, None, None, None, None)
        return of_indices_and_size(indices, values, list(size[0]), None, None, None, None, None)
    sizes = sizes_of(data[0] if len(data) == 1 and isinstance(data[0], Size) else data)
    if sizes is not None:
        return functions.empty(sizes or (0,), dtype=dtype, device=on, layout=sparse_coo)
    if len(data) == 1 and is_sequence(data[0]) and not isinstance(data[0], str):
        raise ArgumentTypeError(
            f"{name}(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided "
            "tensor and convert it to sparse via to_sparse."
        )
    given = ", ".join("Tensor" if isinstance(one, TensorImpl) else type(one).__name__ for one in data)
    raise ArgumentTypeError(
        f"new() received an invalid combination of arguments - got ({given}), but expected one of:\n{SPARSE_FORMS}"
    )


def _options(tensor: Tensor) -> str:
    return (
        f"TensorOptions(dtype={C_NAMES[tensor.dtype.name]}, device={tensor.device}, layout=Strided, "
        f"requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def _of(data: Any, dtype: Dtype) -> Tensor:
    """An array or other data as a CPU tensor; an array of the dtype shares its memory."""
    if isinstance(data, Storage | TypedStorage):
        return over_storage(data, dtype)
    if not isinstance(data, np.ndarray):
        return lifted(hooks.tensor_hooks.wrap(*array_of(data, dtype)))
    over = over_array(data)
    if not data.flags.writeable:
        warn_of_read_only(stacklevel=3)
    return over.to(dtype)


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor of the data, as from `tensor`, by default with this tensor's dtype and device."""
    wanted = self.dtype if dtype is None else PYTHON_TYPES.get(dtype, dtype)
    if not isinstance(wanted, Dtype):
        raise ArgumentTypeError(f"new_tensor(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    made: Any
    if isinstance(data, TensorImpl):
        warnings.warn(NO_DETACHED_COPY.format("tensor.new_tensor(sourceTensor)"), UserWarning, stacklevel=2)
        made = functions.detach(data).to(wanted, copy=True)  # type: ignore[arg-type]
    else:
        made = over_array(data).to(wanted, copy=True) if isinstance(data, np.ndarray) else _of(data, wanted)
    made = (made.pin_memory() if pin_memory else made).to(self.device if device is None else device)
    result: Tensor = hooks.required(made) if requires_grad else made
    return result


def over_storage(storage: Storage | TypedStorage, dtype: Dtype | None) -> Tensor:
    """A tensor over all bytes of a storage, read as a dtype (by default as int64, or a typed storage's own).

    Mirrors: the case of a storage in internal_new_from_data (torch/csrc/utils/tensor_new.cpp)
    """
    if isinstance(storage, TypedStorage):
        own = storage.dtype
        if dtype is not None and dtype is not own:
            raise ArgumentTypeError(
                f"Expected a Storage of type {dtype.scalar_name} or an UntypedStorage, but got {own.scalar_name}"
            )
        storage, dtype = storage.untyped(), own
    dtype = dtype or int64
    return hooks.tensor_hooks.make(storage, dtype, (storage.nbytes() // dtype.itemsize,), None, 0)


# NumPy's arrays -------------------------------------------------------------------------------------------------


def lifted(made: Tensor) -> Tensor:
    """A tensor made from outside data, itself; transforms and active Python dispatch modes see it by `lift_fresh`.

    Mirrors: the call of at::lift_fresh in internal_new_from_data (torch/csrc/utils/tensor_new.cpp)
    """
    included, allowed = active_keys.get()
    if included & TRANSFORMED:  # it belongs to the levels of all transforms that are running
        keys = (made.key_set | included) & allowed
    elif included & allowed & PYTHON:
        keys = (made.key_set | included) & allowed & BELOW_ADINPLACEORVIEW
    else:
        return made
    result: Tensor = LIFT_FRESH[keys](keys, made)
    return result


def over_array(ndarray: Array) -> Tensor:
    """`from_numpy` for other functions, without the check that the array is writable."""
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentTypeError(f"expected np.ndarray (got {type_name(type(ndarray))})")
    if not ndarray.dtype.isnative:
        raise ArgumentValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders "
            "is currently not supported."
        )
    dtype = from_numpy_dtype(ndarray.dtype)
    if any(step < 0 for step in ndarray.strides):
        raise ArgumentValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  "
            "with array.copy().) "
        )
    if any(step % dtype.itemsize for step in ndarray.strides):
        raise ArgumentValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate "
            "the memory."
        )
    over: Tensor = hooks.tensor_hooks.from_array(np.asarray(ndarray))
    if not ndarray.size:  # keep the array's own strides: those of an empty array are often 0
        over.set_geometry(over._shape, tuple(step // dtype.itemsize for step in ndarray.strides), 0)
    return over if active_keys.get()[0] == INCLUDED_BY_DEFAULT else lifted(over)


def warn_of_read_only(stacklevel: int) -> None:
    """Warn that the array under a tensor is read-only."""
    warnings.warn(
        "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
        "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
        "data or make it writable before converting it to a tensor.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
