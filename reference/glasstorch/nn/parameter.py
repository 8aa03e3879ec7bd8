"""What is a module's parameter?

Mirrors: torch/nn/parameter.py
"""

from __future__ import annotations

from typing import Any, Self

from glasstorch._tensor import Tensor, alias
from glasstorch.calls.asked_class import _TensorMeta
from glasstorch.calls.overloaded import DisableTorchFunction, _disabled_torch_function_impl
from glasstorch.core.hooks import required
from glasstorch.core.keys import PYTHON
from glasstorch.core.tensor_impl import count_versions_anew
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.uninitialized import (
    UNINITIALIZED,
    UninitializedTensorMixin,
    as_pytorch_prints,
    is_lazy,
    make_uninitialized,
    refuse,
)
from glasstorch.operators.generated import functions as operators
from glasstorch.python_forms import pickling

__all__ = [
    "Parameter",
    "UninitializedParameter",
    "is_lazy",
    "Buffer",
    "UninitializedBuffer",
    "UninitializedTensorMixin",
]


class _ParameterMeta(_TensorMeta):
    def __instancecheck__(cls, instance: object) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a module registers as its own when it is assigned to an attribute.

    It shares the storage of `data` and is a leaf: gradients are accumulated in its `grad`.
    """

    _printed_as = "tensor"
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = operators.empty(0)
        if is_lazy(data):
            data = data.detach()  # which is refused
        if data.key_set & PYTHON:
            own: Self = _of_own_class(data, requires_grad)
            return own
        with DisableTorchFunction():
            parameter = alias(data, cls)
            if data.is_inference():
                count_versions_anew(parameter)
            assert isinstance(parameter, cls)
            required(parameter, requires_grad)
        return parameter

    # mypy forgets the names of parameters of methods such as __repr__
    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        text = super().__repr__(tensor_contents=tensor_contents)  # type: ignore[call-arg]
        return "Parameter containing:\n" + (text if type(self) is Parameter else f"Parameter({text})")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A parameter on a storage of its own, without gradient, hooks and attributes."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """As a tensor's; of hooks, which are not pickled, PyTorch does not warn here."""
        return pickling.parts(self)


def _of_own_class(data: Tensor, requires_grad: bool) -> Any:
    """A parameter that keeps its class, which has a `__torch_dispatch__`; a mark makes it one."""
    made: Any = data.detach()
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(made).__name__} was found instead. To use the type as a "
            "Parameter, please correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    marked: Any = required(made, requires_grad)
    marked._is_param = True
    return marked


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose sizes are not known yet. `materialize(shape)` makes it a Parameter."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return make_uninitialized(cls, requires_grad, device, dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class _BufferMeta(_TensorMeta):
    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or (
            isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as a buffer when it is assigned to an attribute.

    It is a tensor of the class of `data`, on the same storage; a mark makes it an instance of this class.
    """

    persistent: bool
    _is_buffer: bool
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        given = operators.empty(0) if data is None else data
        made: Any = required(given.detach(), given.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose sizes are not known yet. `materialize(shape)` makes it a Tensor. It cannot be deep copied."""

    cls_to_become = Tensor
    persistent: bool
    _is_buffer: bool

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        made = make_uninitialized(cls, requires_grad, device, dtype)
        made.persistent = persistent
        made._is_buffer = True
        return made

    @classmethod
    def _as_own(cls, converted: Tensor) -> Tensor:
        made = alias(converted, cls)
        made._autograd_meta = converted._autograd_meta
        made.key_set |= UNINITIALIZED
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        refuse(as_pytorch_prints("__deepcopy__"), type(self))


__getattr__ = _refuse_unknown_names(__name__)
