"""What are torch.FloatTensor and the other legacy tensor types?

Mirrors: torch/csrc/tensor/python_tensor.cpp, torch/csrc/utils/tensor_types.cpp, Tensor.type in
    tools/autograd/templates/python_variable_methods.cpp, typename in torch/__init__.py
Differs: classes of dtypes and devices; those of CUDA tensors are in `cuda_tensor_types`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.device import device_from
from glasstorch.core.dtype import (
    DTYPES,
    bfloat16,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, DeviceError
from glasstorch.core.layout import jagged, layout, sparse_coo, strided
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.warn_once import warn_once
from glasstorch.outside_data.from_data import legacy, legacy_sparse

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

ON_DEVICE = {"cpu": "torch", "cuda": "torch.cuda", "meta": "torch.meta"}


class tensortype(type):
    """The metaclass of `FloatTensor` and the like. Calling one makes a tensor of its dtype on its device, which is no
    instance of it but passes `isinstance`.

    >>> FloatTensor
    <class 'torch.FloatTensor'>
    """

    dtype: dtype
    layout: layout
    device_type: str

    @property
    def is_sparse(cls) -> bool:
        """Whether these are COO tensors."""
        return cls.layout is sparse_coo

    @property
    def is_cuda(cls) -> bool:
        """Whether these are tensors on CUDA devices."""
        return cls.device_type == "cuda"

    def __call__(cls, *data: Any, device: Any = None) -> Tensor:
        """`FloatTensor(2, 3)` is uninitialised with these sizes, `FloatTensor([1, 2])` has these values."""
        on = device_from(cls.device_type) if device is None else device_from(device)
        if on.type != cls.device_type:
            raise DeviceError(
                f"legacy constructor expects device type: {cls.device_type} but device type: {on.type} was passed"
            )
        if cls.is_sparse:
            return legacy_sparse(data, cls.dtype, on, "torch.sparse.SparseTensor")
        if len(data) == 1 and isinstance(data[0], TensorImpl) and not isinstance(data[0], cls):
            raise ArgumentTypeError(f"expected a {cls.__module__}.{cls.__name__} (got {type_name(data[0])})")
        return legacy(data, cls.dtype, on)

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, TensorImpl):
            return False
        return instance.dtype is cls.dtype and instance.device.type == cls.device_type and instance.layout is cls.layout

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def named(of: dtype, name: str, on: str = "cpu", layout: layout = strided) -> tensortype:
    """The type of tensors of a dtype and a layout on devices of one kind."""
    module = ON_DEVICE[on] if layout is strided else f"{ON_DEVICE[on]}.sparse"
    facts = {"dtype": of, "device_type": on, "layout": layout, "__doc__": f"{on.upper()} tensors of {of}."}
    return tensortype(f"{name}Tensor", (), {"__module__": module, **facts})


BFloat16Tensor = named(bfloat16, "BFloat16")
BoolTensor = named(bool_, "Bool")
ByteTensor = named(uint8, "Byte")
CharTensor = named(int8, "Char")
DoubleTensor = named(float64, "Double")
FloatTensor = named(float32, "Float")
HalfTensor = named(float16, "Half")
IntTensor = named(int32, "Int")
LongTensor = named(int64, "Long")
ShortTensor = named(int16, "Short")


# Names ----------------------------------------------------------------------------------------------------------


def type_name(tensor: TensorImpl) -> str:
    """`torch.sparse.FloatTensor`: the device, unless it is the CPU, the layout, unless it is strided, and the dtype."""
    of_layout = "" if tensor.layout in (strided, jagged) else f"{'sparse' if tensor.is_sparse else tensor.layout.name}."
    kind = tensor.device.type  # of a program's own device, `torch.NAME`
    return f"{ON_DEVICE.get(kind, f'torch.{kind}')}.{of_layout}{tensor.dtype.scalar_name}Tensor"


def typename(obj: Any, /) -> str:
    """The module and name of a class or function, or of an object's class; of a tensor, what its `type()` says.

    >>> typename(FloatTensor([1.0])), typename(3), typename(typename)
    ('torch.FloatTensor', 'int', 'glasstorch.python_forms.tensor_types.typename')
    """
    if isinstance(obj, TensorImpl):
        return type_name(obj)
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    module = getattr(obj, "__module__", None)
    if name is None:
        name, module = type(obj).__qualname__, type(obj).__module__
    return f"{module}.{name}" if module and module != "builtins" else name


def set_default_tensor_type(t: Any, /) -> None:
    """Make the dtype of a type, `torch.DoubleTensor` or its name, the default one; types of CUDA are refused."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    if not isinstance(t, str | tensortype):
        raise TypeError(f"invalid type object: expected a type such as torch.DoubleTensor, or its name, got {t!r}")
    wanted, on = _asked_for(t)
    if on != "cpu" or wanted is None:
        raise TypeError(f"type {t} not available as the default: call torch.set_default_device('cuda') for the device")
    set_default_dtype(wanted)


DTYPE_OF_NAME = {f"{d.scalar_name}Tensor": d for d in DTYPES}


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type; or the tensor converted to a dtype, a type or the type of a name."""
    if dtype is None:
        return type_name(self)
    wanted, on = _asked_for(dtype)
    return self.to(on or self.device, wanted or self.dtype, non_blocking=non_blocking)


def _asked_for(given: Any) -> tuple[dtype | None, str | None]:
    """The requested dtype, and the device if a type's name includes one."""
    if isinstance(given, dtype):
        return given, None
    if isinstance(given, tensortype):
        return given.dtype, given.device_type
    if not isinstance(given, type | str):
        raise ArgumentTypeError("dtype must be a type, str, or dtype object")
    name = given if isinstance(given, str) else given.__name__
    name = name.replace(".sparse.", ".")  # a tensor keeps its layout
    module, _, last = name.rpartition(".")
    if last == "Tensor" and module in ("", "torch"):
        return get_default_dtype(), "cpu"
    if last in DTYPE_OF_NAME and module in ("torch", "torch.cuda"):
        return DTYPE_OF_NAME[last], "cpu" if module == "torch" else "cuda"
    raise ArgumentValueError(f"invalid type: {name!r}; expected a dtype, or a name such as 'torch.FloatTensor'")
