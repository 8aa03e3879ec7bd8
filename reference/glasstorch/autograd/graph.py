"""How does a user ask for gradients?

Mirrors: torch/autograd/__init__.py (backward, grad), torch/autograd/graph.py, torch/csrc/autograd/python_variable.cpp
Differs: `is_grads_batched` comes with vmap.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from glasstorch._tensor import Tensor, alias
from glasstorch.autograd.engine import execute
from glasstorch.autograd.history import AutogradMeta, gradient_edge
from glasstorch.autograd.hooks import HookHandle
from glasstorch.autograd.node import Edge, Node
from glasstorch.autograd.views import refresh_view
from glasstorch.core import hooks
from glasstorch.core.dtype import FLOATING
from glasstorch.core.errors import AutogradError
from glasstorch.core.inference import is_inference_mode_enabled
from glasstorch.operators.generated.functions import ones_like, zeros_like
from glasstorch.operators.shapes.result import C_NAMES

if TYPE_CHECKING:
    from glasstorch.core.hooks import VariableHooks


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of leaves and add them to their `.grad`.

    `grad_tensors` are the gradients of `tensors`, of the same shapes; one may be None for a tensor of one element. The
    graph is freed on the way unless `retain_graph` (which follows `create_graph`). With `inputs`, only theirs are
    computed.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    gradients = _root_gradients(tensors, _as_list(grad_tensors, len(tensors)), create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
            "avoid this.",
            stacklevel=3,
        )
    only = None
    if inputs is not None:
        inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        if not inputs:
            raise AutogradError("`inputs` argument to `backward()` cannot be empty.")
        only = [_input_edge(i, t) for i, t in enumerate(inputs)]
        for tensor in inputs:
            tensor.retain_grad()
    execute(_roots(tensors), gradients, keep, create_graph, only=only)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of outputs with respect to inputs, as a tuple; no `.grad` is touched.

    An input that the outputs do not depend on is an error, or None with `allow_unused`, or zeros with
    `materialize_grads`.
    """
    outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not inputs:
        raise AutogradError("`inputs` argument to `grad()` cannot be empty.")
    gradients = _root_gradients(outputs, _as_list(grad_outputs, len(outputs)), create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    found = execute(_roots(outputs), gradients, keep, create_graph, [_input_edge(i, t) for i, t in enumerate(inputs)])
    if materialize_grads:
        return tuple(zeros_like(t) if g is None else g for t, g in zip(inputs, found, strict=True))
    if not allow_unused and any(g is None for g in found):
        at = next(i for i, g in enumerate(found) if g is None)
        raise AutogradError(
            f"The differentiated Tensor at index {at} appears to not have been used in the graph. Set "
            f"allow_unused=True if this is the desired behavior."
        )
    return tuple(found)


def _as_list(gradients: Any, count: int) -> list[Any]:
    if gradients is None:
        return [None] * count
    given = [gradients] if isinstance(gradients, Tensor) else list(gradients)
    if len(given) != count:
        raise AutogradError(f"got {count} tensors and {len(given)} gradients")
    return given


def _root_gradients(tensors: Sequence[Tensor], gradients: Sequence[Any], create_graph: bool) -> list[Tensor]:
    """The gradient to start from at each root: the given one, checked, or 1 for a tensor of one element."""
    result = []
    for i, (tensor, gradient) in enumerate(zip(tensors, gradients, strict=True)):
        if gradient is None:
            if tensor.requires_grad and tensor.numel() != 1:
                raise AutogradError("grad can be implicitly created only for scalar outputs")
            if tensor.requires_grad and not tensor.dtype.is_floating_point:
                raise AutogradError(
                    f"grad can be implicitly created only for real scalar outputs but got {tensor.dtype}"
                )
            gradient = ones_like(alias(tensor))
        elif not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        elif gradient._shape != tensor._shape:
            raise AutogradError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {gradient.shape} and output[{i}] has a shape of "
                f"{tensor.shape}."
            )
        elif not create_graph and gradient.requires_grad:
            gradient = gradient.detach()
        if gradient.dtype is not tensor.dtype:
            gradient = gradient.to(tensor.dtype)
        result.append(gradient)
    return result


def _roots(tensors: Sequence[Tensor]) -> list[Edge]:
    edges = []
    for i, tensor in enumerate(tensors):
        edge = gradient_edge(tensor)
        if edge is None:
            raise AutogradError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
    return edges


def _input_edge(index: int, tensor: Tensor) -> Edge:
    edge = gradient_edge(tensor)
    if edge is None:
        raise AutogradError(f"One of the differentiated Tensors does not require grad: the one at index {index}")
    return edge


class _Hooks:
    """Autograd's implementation of `core.hooks.VariableHooks`."""

    def grad_fn(self, tensor: Tensor) -> Node | None:
        meta = tensor._autograd_meta
        if meta is None:
            return None
        if meta.base is not None and meta.seen_version != tensor._version:
            refresh_view(tensor, meta)
        return meta.grad_fn  # type: ignore[no-any-return]

    def is_leaf(self, tensor: Tensor) -> bool:
        return self.grad_fn(tensor) is None

    def backward(
        self, tensor: Tensor, gradient: Any, retain_graph: bool | None, create_graph: bool, inputs: Any
    ) -> None:
        backward([tensor], None if gradient is None else [gradient], retain_graph, create_graph, inputs)

    def requires_grad_(self, tensor: Tensor, requires_grad: bool) -> None:
        if not isinstance(requires_grad, bool):
            raise TypeError(f"requires_grad must be a bool, got {requires_grad!r}")
        if requires_grad and tensor.is_inference() and not is_inference_mode_enabled():
            raise AutogradError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        meta = tensor._autograd_meta
        if meta is not None and meta.grad_fn is not None:  # without updating a view to its current base
            if requires_grad:
                return
            raise AutogradError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and tensor.dtype.category < FLOATING:
            raise AutogradError("Only Tensors of floating point and complex dtype can require gradients")
        if tensor._autograd_meta is None:
            if not requires_grad:
                return
            tensor._autograd_meta = AutogradMeta()
        tensor._autograd_meta.requires_grad = requires_grad

    def get_grad(self, tensor: Tensor) -> Tensor | None:
        meta = tensor._autograd_meta
        if meta is None:
            return None
        if meta.grad is None and meta.grad_fn is not None and not meta.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
                stacklevel=3,
            )
        return meta.grad  # type: ignore[no-any-return]

    def set_grad(self, tensor: Tensor, grad: object) -> None:
        if grad is not None:
            if not isinstance(grad, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}"
                )
            if grad is tensor:
                raise AutogradError("can't assign Variable as its own grad")
            if grad._shape != tensor._shape:
                raise AutogradError(
                    f"attempting to assign a gradient of size '{list(grad._shape)}' to a tensor of size "
                    f"'{list(tensor._shape)}'. Please ensure that the gradient and the tensor are the same size"
                )
            if grad.dtype is not tensor.dtype:
                raise AutogradError(
                    f"attempting to assign a gradient with dtype '{C_NAMES[grad.dtype.name]}' to a tensor with "
                    f"grad_dtype '{tensor.dtype.scalar_name}'. The gradient must match the tensor's grad_dtype "
                    f"(defaults to the tensor's dtype)"
                )
            if grad.device is not tensor.device:
                raise AutogradError(
                    f"attempting to assign a gradient with device type '{grad.device}' to a tensor with device type "
                    f"'{tensor.device}'. Please ensure that the gradient and the tensor are on the same device"
                )
        if tensor._autograd_meta is None:
            if grad is None:
                return
            tensor._autograd_meta = AutogradMeta()
        tensor._autograd_meta.grad = grad

    def retain_grad(self, tensor: Tensor) -> None:
        edge = gradient_edge(tensor)
        if edge is None:
            raise AutogradError("can't retain_grad on Tensor that has requires_grad=False")
        meta = tensor._autograd_meta
        if meta.grad_fn is None or meta.retains_grad:
            return
        meta.retains_grad = True
        node, output_nr = edge
        node.some_hooks().kept[output_nr] = weakref.ref(meta)

    def retains_grad(self, tensor: Tensor) -> bool:
        meta = tensor._autograd_meta
        return meta is not None and bool(meta.retains_grad)

    def register_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> HookHandle:
        edge = gradient_edge(tensor)
        if edge is None:
            raise AutogradError("cannot register a hook on a tensor that doesn't require gradient")
        node, output_nr = edge
        meta = tensor._autograd_meta
        if meta.grad_fn is None:  # a leaf's hooks live as long as the leaf, and its node for as long as a graph
            meta.hooks = meta.hooks if meta.hooks is not None else []
            node.some_hooks().of_tensors = meta.hooks
        return HookHandle(node.some_hooks().of_tensors, (output_nr, hook))

    def register_post_accumulate_grad_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> HookHandle:
        if not tensor.requires_grad or self.grad_fn(tensor) is not None:
            raise AutogradError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        meta = tensor._autograd_meta
        meta.post_accumulate_hooks = meta.post_accumulate_hooks if meta.post_accumulate_hooks is not None else []
        return HookHandle(meta.post_accumulate_hooks, hook)

    def base(self, tensor: Tensor) -> Tensor | None:
        meta = tensor._autograd_meta
        return None if meta is None else meta.base


class GradientEdge(NamedTuple):
    """Where a tensor's gradient arrives: a node, and the number of the tensor among its results."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which a tensor's gradient arrives; a leaf's node is its AccumulateGrad."""
    edge = gradient_edge(tensor)
    if edge is None:
        raise AutogradError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


_hooks: VariableHooks = _Hooks()
hooks.set_variable_hooks(_hooks)
