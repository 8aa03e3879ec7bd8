"""What does a tensor ask of autograd?

Mirrors: torch/_tensor.py (backward, register_hook), torch/csrc/autograd/python_variable.cpp
Differs: asked through core/hooks.py, which the layer that knows fills in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks
from glasstorch.core.errors import ArgumentTypeError, AutogradError
from glasstorch.core.keys import TRANSFORMED
from glasstorch.dispatch.active_keys import active_keys

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Make a leaf require grad, or stop it from doing so; returns the tensor itself."""
    if not isinstance(requires_grad, bool):
        raise ArgumentTypeError(
            f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type(requires_grad).__name__}"
        )
    if active_keys.get()[0] & TRANSFORMED:
        raise AutogradError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) "
            "inside of a function being transformed by a functorch transform. This is unsupported, please attempt to "
            "use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside "
            "of a function being transformed instead."
        )
    return hooks.required(self, requires_grad, "only Tensors of floating point")


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradient of this tensor with respect to the leaves it came from, and add it to their `.grad`.

    `gradient` has this tensor's shape and may be left out for a tensor of one element.
    """
    hooks.variable_hooks.backward(self, gradient, retain_graph, create_graph, inputs)


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> Any:
    """Call `hook(grad)` when this tensor's gradient is known; a tensor that it returns replaces the gradient."""
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.gradient_hooked(self)
    return hooks.variable_hooks.register_hook(self, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Any], Any]) -> Any:
    """Call `hook(tensor)` after a gradient was added to this leaf's `.grad`."""
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.gradient_hooked(self)
    return hooks.variable_hooks.register_post_accumulate_grad_hook(self, hook)


def retain_grad(self: Tensor) -> None:
    """Keep this tensor's gradient in `.grad` though it is no leaf."""
    hooks.variable_hooks.retain_grad(self)


def detach_(self: Tensor) -> Tensor:
    """Forget in place how this tensor was computed; refused for a view."""
    if self._is_view() or hooks.is_example(self):  # an example is a view of the batch
        raise AutogradError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
            "detach_() cannot be called on these gradients. To fix this error, please refer to the "
            "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
        )
    if (meta := self._autograd_meta) is not None:
        meta.requires_grad, meta.grad_fn, meta.output_nr, meta.tangent = False, None, 0, None
    return self
