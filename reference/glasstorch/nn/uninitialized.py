"""What stands for a parameter or buffer whose sizes are not known yet?

Mirrors: torch/nn/parameter.py (UninitializedTensorMixin, is_lazy)
Differs: no `__torch_function__` intercepts calls: it is the one that never answers. Methods are overridden, and a
    dispatch key that such a tensor carries, DeferredInit, refuses the operators that functions call; the message
    then names the operator, as PyTorch's names a compiled function. `is_inference` and the functions that tell
    facts, such as `torch.is_complex`, answer.

Until the sizes are known there is an empty tensor of the right dtype, on the right device. It may be converted and
moved. `materialize` gives it memory, and changes its class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from glasstorch._tensor import Tensor, alias
from glasstorch.calls.overloaded import _disabled_torch_function_impl
from glasstorch.core.keys import FUNCTIONALITY_BIT, DispatchKey
from glasstorch.core.tensor_impl import count_versions_anew
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.operators.generated import functions as operators

UNINITIALIZED = FUNCTIONALITY_BIT["DeferredInit"]

# What may be done with a tensor without sizes; another tensor may try to copy it, too, with the operator `copy_`.
CONVERSIONS = ("half", "float", "double", "char", "short", "int", "long", "cuda", "cpu", "to", "copy_")
FACTS = ("size", "is_complex", "is_floating_point", "get_device")
VIEWS = ("T", "mT", "H", "mH", "real", "imag")  # read as attributes

# Methods that PyTorch writes in Python; its others are compiled.
PYTHON_METHODS = (
    "__array__", "__array_wrap__", "__contains__", "__deepcopy__", "__dir__", "__dlpack__", "__dlpack_device__",
    "__floordiv__", "__format__", "__len__", "__rdiv__", "__reversed__", "__rfloordiv__", "__rlshift__",
    "__rmatmul__", "__rmod__", "__rpow__", "__rrshift__", "__rsub__", "backward", "dim_order", "eig", "index",
    "is_shared", "istft", "lstsq", "lu", "norm", "register_hook", "register_post_accumulate_grad_hook", "reinforce",
    "resize", "resize_as", "solve", "split", "stft", "storage", "storage_type", "symeig", "unflatten", "unique",
    "unique_consecutive",
)  # fmt: skip
# The method that PyTorch runs, and names, for another.
CALLED_AS = {
    "__abs__": "abs", "__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_",
    "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul_", "__truediv__": "div", "__itruediv__": "div_",
    "__rtruediv__": "__rdiv__", "__ifloordiv__": "floor_divide_", "__mod__": "remainder", "__imod__": "remainder_",
    "__matmul__": "matmul", "__neg__": "neg", "__pos__": "positive", "__rand__": "bitwise_and",
    "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge", "__ne__": "ne", "__iter__": "dim", "ndimension": "dim", "nelement": "numel",
    "_typed_storage": "untyped_storage", "to_sparse_coo": "to_sparse", "__long__": "__int__", "__nonzero__": "__bool__",
}  # fmt: skip
# What PyTorch calls neither a method nor a Python function.
SLOTS = ("__getitem__", "__setitem__")
WRAPPED = {"__pow__": "TensorBase.pow", "__ipow__": "TensorBase.pow_"}

# Methods that every object has, and a tensor answers in its own way.
OF_OBJECTS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__format__", "__dir__")
# Methods that only our lower layers ask for.
INTERNAL = (
    "alias", "array", "bump_version", "host_array", "is_inference", "is_row_major", "read_through_bits", "set_geometry",
    "set_storage", "strides", "version_counter", "__torch_dispatch__", "__torch_function__", "_make_subclass",
    "_make_wrapper_subclass",
)  # fmt: skip
# Defined in the mixin, or by its classes.
OWN = ("share_memory_", "__deepcopy__")


def methods_to_refuse() -> list[str]:
    """Every method of Tensor that needs sizes, elements or memory."""
    kept = {*dir(object), *CONVERSIONS, *FACTS, *INTERNAL, *OWN}
    public = [name for name in dir(Tensor) if name not in kept and callable(getattr(Tensor, name, None))]
    return [*public, *OF_OBJECTS]


def as_pytorch_prints(method: str) -> str:
    """A method of Tensor as PyTorch's message shows it."""
    method = CALLED_AS.get(method, method)
    if method in WRAPPED:
        return f"<function {WRAPPED[method]} at {id(WRAPPED):#x}>"
    if method in PYTHON_METHODS:
        return f"<function Tensor.{method} at {id(getattr(Tensor, method, None)):#x}>"
    kind = "slot wrapper" if method in SLOTS else "method"
    return f"<{kind} '{method}' of 'torch._C.TensorBase' objects>"


def refuse(function: str, cls: type) -> NoReturn:
    """Raise the error for a function that was given an uninitialized tensor."""
    raise ValueError(
        f"Attempted to use an uninitialized parameter in {function}. This error happens when you are using a "
        f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules "
        "Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
    )


class UninitializedTensorMixin:
    """A tensor without sizes, which `materialize` makes an instance of `cls_to_become`.

    It can be converted to another dtype and moved to another device. Anything else that needs its elements is refused
    with ValueError, and its shape with RuntimeError.
    """

    __slots__ = ()
    __torch_function__ = _disabled_torch_function_impl
    cls_to_become: ClassVar[type[Tensor]]

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it sizes and memory with arbitrary contents; device and dtype are its own unless others are given."""
        made = operators.empty(
            shape, device=self.device if device is None else device, dtype=self.dtype if dtype is None else dtype
        )
        Tensor.data.__set__(self, made)  # type: ignore[attr-defined]
        self.__class__ = self.cls_to_become

    @property
    def data(self: Any) -> Any:
        """An empty tensor of the same dtype and device, without history."""
        made = alias(self)
        count_versions_anew(made)
        made.key_set &= ~UNINITIALIZED
        return self._as_own(made)

    @data.setter
    def data(self: Any, value: Tensor) -> None:
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined]
        self.key_set |= UNINITIALIZED

    @property
    def shape(self) -> Any:
        """Not known yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    @property
    def nbytes(self) -> int:
        """The size of what is there, in bytes."""
        return 0

    def share_memory_(self) -> Any:
        """Refused: there is no memory to share."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad,)

    @classmethod
    def _as_own(cls, converted: Tensor) -> Tensor:
        """What a conversion returns."""
        return converted


def is_lazy(param: Any) -> bool:
    """Whether a value is a parameter or a buffer whose sizes are not known yet."""
    return isinstance(param, UninitializedTensorMixin)


def make_uninitialized(cls: type[Tensor], requires_grad: bool, device: Any, dtype: Any) -> Any:
    """A tensor of one of the two classes without elements."""
    made = alias(operators.empty(0, device=device, dtype=dtype), cls)
    made.requires_grad = requires_grad
    made.key_set |= UNINITIALIZED
    return made


def _plain(value: Any) -> Any:
    """An uninitialized tensor as an empty Tensor with the same history; anything else as it is."""
    if not is_lazy(value):
        return value
    made = alias(value)
    made._autograd_meta = value._autograd_meta
    made.key_set &= ~UNINITIALIZED
    return made


def _conversion(name: str) -> Callable[..., Any]:
    """The method of that name, which returns the tensor itself where nothing changes."""
    convert = getattr(Tensor, name)

    @functools.wraps(convert)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        plain = _plain(self)
        converted = convert(plain, *map(_plain, args), **kwargs)
        return self if converted is plain else self._as_own(converted)

    return method


def _view(name: str) -> property:
    """The attribute of that name, of the empty tensor."""
    view = getattr(Tensor, name)

    def read(self: Any) -> Any:
        plain = _plain(self)
        seen = view.__get__(plain)
        return self if seen is plain else self._as_own(seen)

    return property(read, doc=view.__doc__)


def _refused(name: str) -> Callable[..., Any]:
    """A method that refuses in the name of one of Tensor's."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse(as_pytorch_prints(name), type(self))

    method.__name__ = name
    return method


for _name in methods_to_refuse():
    setattr(UninitializedTensorMixin, _name, _refused(_name))
for _name in VIEWS:
    setattr(UninitializedTensorMixin, _name, _view(_name))
for _name in CONVERSIONS:
    setattr(UninitializedTensorMixin, _name, _conversion(_name))


def _refuse_operator(keys: int, operator: Operator, *args: Any, **kwargs: Any) -> Any:
    """The kernel of DeferredInit: no operator takes an uninitialized tensor, but one may be copied to another tensor.

    The copy then fails, unless the other has no elements either.
    """
    if operator.name == "aten::copy_":
        return operator(*map(_plain, args), **kwargs)
    given = [*args, *kwargs.values()]
    given += [one for many in given if isinstance(many, list | tuple) for one in many]
    name = operator.name.removeprefix("aten::").partition(".")[0]
    printed = f"<built-in method {name} of type object at {id(Tensor):#x}>"
    if name.endswith("_"):
        printed = as_pytorch_prints(name)
    refuse(printed, next(type(one) for one in given if is_lazy(one)))


registry.fallbacks[DispatchKey.DeferredInit] = Kernel(
    _refuse_operator, DispatchKey.DeferredInit, caller(0), takes_keys=True, by_user=True
)
registry.changed()
