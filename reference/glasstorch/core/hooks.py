"""What does the core ask of layers above it?

Mirrors: aten/src/ATen/core/VariableHooksInterface.h, c10/core/impl/PyInterpreter.h
Differs: a Protocol for each layer that answers, filled in once when that layer is imported.

A tensor has `backward` and `grad_fn`, and the core knows neither. It knows who to ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from glasstorch.core.errors import AutogradError

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class VariableHooks(Protocol):
    """What autograd answers about a tensor."""

    def grad_fn(self, tensor: Tensor) -> Any:
        """The node that produced the tensor, or None."""

    def backward(
        self, tensor: Tensor, gradient: Any, retain_graph: bool | None, create_graph: bool, inputs: Any
    ) -> None:
        """Run the engine from the tensor."""

    def is_leaf(self, tensor: Tensor) -> bool: ...

    def requires_grad_(self, tensor: Tensor, requires_grad: bool) -> None: ...

    def get_grad(self, tensor: Tensor) -> Tensor | None: ...

    def set_grad(self, tensor: Tensor, grad: object) -> None: ...

    def retain_grad(self, tensor: Tensor) -> None: ...

    def retains_grad(self, tensor: Tensor) -> bool: ...

    def register_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> Any: ...

    def register_post_accumulate_grad_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> Any: ...

    def base(self, tensor: Tensor) -> Tensor | None:
        """The tensor that a view looks at, or None."""


class _NoAutograd:
    """Stands where autograd has not been imported."""

    def __getattr__(self, name: str) -> Any:
        raise AutogradError(f"{name}: glasstorch.autograd is not loaded; `import glasstorch` loads it")


variable_hooks: VariableHooks = _NoAutograd()


def set_variable_hooks(hooks: VariableHooks) -> None:
    """Called once by the autograd layer when it is imported."""
    global variable_hooks
    variable_hooks = hooks


class TensorHooks(Protocol):
    """What the tensor layer makes for layers below it."""

    def wrapped_number(self, value: Any) -> Tensor:
        """A 0-dim tensor that stands for a Python number and is weak in promotion."""

    def from_array(self, array: Any) -> Tensor:
        """A tensor over a NumPy array's memory."""


class _NoTensors:
    def __getattr__(self, name: str) -> Any:
        raise AutogradError(f"{name}: glasstorch._tensor is not loaded; `import glasstorch` loads it")


tensor_hooks: TensorHooks = _NoTensors()


def set_tensor_hooks(hooks: TensorHooks) -> None:
    """Called once by the tensor layer when it is imported."""
    global tensor_hooks
    tensor_hooks = hooks
