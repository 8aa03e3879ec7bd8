"""How does a user ask for gradients?

Mirrors: torch/autograd/__init__.py (backward, grad), torch/autograd/graph.py, torch/csrc/autograd/python_variable.cpp
Differs: a batched tensor has no `item()`, in a pass with `is_grads_batched` as elsewhere under vmap.
"""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd import tensor_hooks, view_functions
from glasstorch.autograd.engine import execute
from glasstorch.autograd.engine_modes import increment_version as increment_version
from glasstorch.autograd.engine_modes import region_activation_memory_budget as region_activation_memory_budget
from glasstorch.autograd.engine_modes import set_override_stale_capture_stream as set_override_stale_capture_stream
from glasstorch.autograd.engine_modes import (
    set_warn_on_accumulate_grad_stream_mismatch as set_warn_on_accumulate_grad_stream_mismatch,
)
from glasstorch.autograd.history import AutogradMeta, grad_accumulator, gradient_edge, requires_grad
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.autograd.multi_grad_hook import register_multi_grad_hook as register_multi_grad_hook
from glasstorch.autograd.node import Edge, Node
from glasstorch.autograd.saved_hooks import disable_saved_tensors_hooks as disable_saved_tensors_hooks
from glasstorch.autograd.saved_hooks import save_on_cpu as save_on_cpu
from glasstorch.autograd.saved_hooks import saved_tensors_hooks as saved_tensors_hooks
from glasstorch.autograd.saved_mutation import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
from glasstorch.autograd.tangents import tangent_of
from glasstorch.autograd.views import refresh_view
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function
from glasstorch.core import hooks
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import FLOATING
from glasstorch.core.dtype import dtype as dtype_
from glasstorch.core.errors import AutogradError
from glasstorch.core.geometry import Shape, Size
from glasstorch.core.inference import is_inference_mode_enabled
from glasstorch.core.keys import FUNCTIONALITY_BIT, WRAPPED
from glasstorch.core.layout import preserve_format
from glasstorch.core.plain_types import someone
from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.operators.generated.functions import ones, ones_like, zeros_like
from glasstorch.operators.shapes.result import C_NAMES

if TYPE_CHECKING:
    from glasstorch.core.hooks import VariableHooks

TRANSFORMED = FUNCTIONALITY_BIT["FuncTorchDynamicLayerFrontMode"]


class GradientEdge(NamedTuple):
    """Where a tensor's gradient arrives: a node, and the number of the tensor among its results."""

    node: Node
    output_nr: int


Outputs = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


def backward(
    tensors: Outputs,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradients of leaves and add them to their `.grad`.

    `grad_tensors` are the gradients of `tensors`, of the same shapes; one may be None for a tensor of one element. The
    graph is freed on the way unless `retain_graph` (which follows `create_graph`). With `inputs`, only theirs are
    computed. `grad_variables` is the old name of `grad_tensors`.
    """
    if active_keys.get()[0] & TRANSFORMED:
        raise AutogradError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms."
        )
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise AutogradError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _inputs(inputs, "backward")
    if someone.answers and has_torch_function(asked := _tensor_like(tensors, wanted or ())):
        handle_torch_function(
            backward,
            asked,
            _as_tuple(tensors),
            grad_tensors=grad_tensors,
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=None if wanted is None else tuple(wanted),
        )
        return
    tensors = _outputs(tensors)
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
    if wanted is not None:
        for tensor in wanted:
            if isinstance(tensor, Tensor):
                tensor.retain_grad()
        only = input_edges(wanted)
    execute(roots_of(tensors), gradients, keep, create_graph, only=only)


def grad(
    outputs: Outputs,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of outputs with respect to inputs, as a tuple; no `.grad` is touched.

    An input that the outputs do not depend on is an error, or None with `allow_unused`, or zeros with
    `materialize_grads`. A dict of inputs gives a dict of gradients. With `is_grads_batched`, `grad_outputs` have a
    batch as their first dimension, and so has what is returned. `only_inputs` is deprecated, and changes nothing.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    wanted = _inputs(inputs, "grad")
    if allow_unused is None:
        allow_unused = materialize_grads
    if someone.answers and has_torch_function(asked := _tensor_like(outputs, wanted)):
        answer = handle_torch_function(
            grad,
            asked,
            _as_tuple(outputs),
            tuple(wanted),
            grad_outputs=grad_outputs,
            retain_graph=retain_graph,
            create_graph=create_graph,
            only_inputs=only_inputs,
            allow_unused=allow_unused,
            is_grads_batched=is_grads_batched,
            materialize_grads=materialize_grads,
        )
        return dict(zip(inputs, answer, strict=True)) if type(inputs) is dict else answer
    outputs = _outputs(outputs)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    given = _as_list(grad_outputs, len(outputs))
    keep = create_graph if retain_graph is None else retain_graph

    def differentiate(gradients: Sequence[Any]) -> list[Any]:
        may_be_unused = bool(allow_unused or materialize_grads)
        return differentiated(roots_of(outputs), gradients, keep, create_graph, input_edges(wanted), may_be_unused)

    if is_grads_batched:
        found = _of_batches(outputs, given, create_graph, differentiate)
    else:
        found = differentiate(_root_gradients(outputs, given, create_graph))
    if materialize_grads:
        if any(g is None and not isinstance(t, Tensor) for g, t in zip(found, wanted, strict=True)):
            raise AutogradError("materialize_grads cannot be used when the given input is a GradientEdge")
        found = [
            zeros_like(t, requires_grad=create_graph) if g is None else g for g, t in zip(found, wanted, strict=True)
        ]
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else tuple(found)


def differentiated(
    roots: Sequence[Edge],
    gradients: Sequence[Any],
    keep: bool,
    create_graph: bool,
    inputs: Sequence[Edge],
    may_be_unused: bool,
) -> list[Any]:
    """The gradients that arrive at some edges; None at one that the roots do not reach, if that is allowed."""
    found = execute(roots, gradients, keep, create_graph, inputs)
    if not may_be_unused and any(g is None for g in found):
        raise AutogradError(
            f"The differentiated Tensor at index {[g is None for g in found].index(True)} appears to not have been "
            f"used in the graph. Set allow_unused=True if this is the desired behavior."
        )
    return found


def _of_batches(
    outputs: Sequence[Tensor | GradientEdge],
    gradients: Sequence[Any],
    create_graph: bool,
    differentiate: Callable[[Sequence[Any]], list[Any]],
) -> list[Any]:
    """The gradients of a batch of starts, from one pass over the graph that vmap maps over the batch."""
    used: list[bool] = []

    def vjp(*starts: Any) -> tuple[Any, ...]:
        found = differentiate(starts)
        used[:] = [grad is not None for grad in found]
        return tuple(grad for grad in found if grad is not None)

    starts = _root_gradients(outputs, gradients, create_graph, batched=True)
    of_used = iter(hooks.transforms().vmap(vjp)(*starts))
    return [next(of_used) if is_used else None for is_used in used]


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    """Outputs, or one: a tensor, an object that answers like one, or an edge."""
    return (outputs,) if _is_one(outputs) else tuple(outputs)


def _is_one(outputs: Any) -> bool:
    return isinstance(outputs, GradientEdge) or hasattr(outputs, "__torch_function__")


def _tensor_like(outputs: Any, inputs: Sequence[Any]) -> list[Any]:
    """The arguments that may answer in place of the function."""
    return [one for one in (*_as_tuple(outputs), *inputs) if hasattr(one, "__torch_function__")]


def _outputs(outputs: Outputs) -> list[Tensor | GradientEdge]:
    found = [outputs] if isinstance(outputs, Tensor | GradientEdge) else list(outputs)
    for output in found:
        if not isinstance(output, Tensor | GradientEdge):
            raise AssertionError("Expected output to be a torch.Tensor")
    return found


def _inputs(inputs: Any, function: str) -> list[Any]:
    """Tensors or edges, from one of them, from several or from a dict's values; there must be one."""
    if _is_one(inputs):
        return [inputs]
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            f"not supported."
        )
    found = list(inputs.values() if type(inputs) is dict else inputs)
    if not found:
        raise AutogradError(f"`inputs` argument to `{function}()` cannot be empty.")
    return found


def _as_list(gradients: Any, count: int) -> list[Any]:
    if gradients is None:
        return [None] * count
    given = [gradients] if isinstance(gradients, Tensor) else list(gradients)
    if len(given) < count:
        raise AutogradError(f"got {count} tensors and {len(given)} gradients")
    return given[:count]


def _root_gradients(
    outputs: Sequence[Tensor | GradientEdge], gradients: Sequence[Any], create_graph: bool, batched: bool = False
) -> list[Tensor]:
    """The gradient to start from at each root: the given one, checked, or 1 for a tensor of one element.

    A batch of gradients is checked by its first; one that is not given has no batch.
    """
    result = []
    for i, (output, gradient) in enumerate(zip(outputs, gradients, strict=True)):
        shape, dtype, place = _metadata(output)
        if gradient is None:
            if not isinstance(output, Tensor) or output.requires_grad:
                if math.prod(shape) != 1:
                    raise AutogradError("grad can be implicitly created only for scalar outputs")
                if not dtype.is_floating_point:
                    raise AutogradError(f"grad can be implicitly created only for real scalar outputs but got {dtype}")
            if batched:
                raise ValueError(
                    "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
                    "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
                )
            if isinstance(output, Tensor):
                gradient = ones_like(output, memory_format=preserve_format if output.requires_grad else None)
            else:
                gradient = ones(shape, dtype=dtype, device=place)
        elif not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        else:
            _check_gradient(i, gradient, gradient[0] if batched else gradient, Size(shape), dtype, batched)
            if not create_graph and gradient.requires_grad:
                gradient = gradient.detach()
        if gradient.dtype is not dtype and not _keeps_dtype(output):
            gradient = gradient.to(dtype)
        result.append(gradient)
    return result


def _check_gradient(number: int, gradient: Tensor, first: Tensor, shape: Size, dtype: dtype_, batched: bool) -> None:
    """Refuse what has not its output's shape, or is complex where that is real."""
    if first.shape != shape:
        if not batched:
            raise AutogradError(
                f"Mismatch in shape: grad_output[{number}] has a shape of {first.shape} and output[{number}] has a "
                f"shape of {shape}."
            )
        raise AutogradError(
            f"If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
            f"The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
            f"mismatch was detected: grad_output[{number}] has a shape of {first.shape[1:]} and output[{number}] has a "
            f"shape of {shape}. If you only want some tensors in `grad_output` to be considered batched, consider "
            f"using vmap."
        )
    if gradient.dtype.is_complex != dtype.is_complex:
        raise AutogradError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{number}] has a dtype of {gradient.dtype} and output[{number}] has a dtype of {dtype}."
        )


def _metadata(output: Tensor | GradientEdge) -> tuple[Shape, dtype_, Device]:
    """The shape, dtype and device of the gradient that arrives at a root."""
    if isinstance(output, Tensor):
        return output._shape, output.dtype, output.device
    metadata = output.node.input_metadata[output.output_nr]
    assert metadata is not None, "the result of an operator that does not require grad has no edge"
    shape, dtype, device = metadata
    return shape, output.node.variable.dtype if dtype is None else dtype, device


def _keeps_dtype(output: Any) -> bool:
    """Whether an output is a leaf whose `grad_dtype` is None."""
    meta = getattr(output, "_autograd_meta", None)
    return meta is not None and meta.grad_dtype is not None and meta.grad_dtype[0] is None


def roots_of(outputs: Sequence[Tensor | GradientEdge]) -> list[Edge]:
    """The edges from which a pass over the outputs' graph starts."""
    edges = []
    for i, output in enumerate(outputs):
        edge = output if isinstance(output, GradientEdge) else gradient_edge(output)
        if edge is None:
            raise AutogradError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
    return edges


def _check_edge(edge: GradientEdge) -> None:
    node, number = edge
    if not isinstance(node, Node):
        raise AutogradError(f"GradientEdge's first object must be an autograd.graph.Node but got {type(node).__name__}")
    if not isinstance(number, int):
        raise TypeError(f"'{type(number).__name__}' object cannot be interpreted as an integer")


def input_edges(inputs: Sequence[Any]) -> list[Edge]:
    """The edges at which the gradients of the inputs arrive."""
    edges = []
    for given in inputs:
        if not isinstance(given, Tensor | GradientEdge):
            raise AutogradError(f"all inputs have to be Tensors or GradientEdges, but got {type(given).__name__}")
        if isinstance(given, GradientEdge):
            _check_edge(given)
        edge = given if isinstance(given, GradientEdge) else gradient_edge(given)
        if edge is None:
            raise AutogradError("One of the differentiated Tensors does not require grad")
        edges.append(edge)
    return edges


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
        backward([tensor], gradient, retain_graph, create_graph, None, inputs)

    def requires_grad_(self, tensor: Tensor, requires_grad: bool, only: str) -> None:
        if not isinstance(requires_grad, bool):
            raise AutogradError("requires_grad must be a bool")
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
            raise AutogradError(f"{only} dtype can require gradients")
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
            meta = tensor._autograd_meta
            wanted = tensor.dtype if meta is None or meta.grad_dtype is None else meta.grad_dtype[0]
            if wanted is not None and grad.dtype is not wanted:
                raise AutogradError(
                    f"attempting to assign a gradient with dtype '{C_NAMES[grad.dtype.name]}' to a tensor with "
                    f"grad_dtype '{wanted.scalar_name}'. The gradient must match the tensor's grad_dtype "
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

    def get_grad_dtype(self, tensor: Tensor) -> dtype_ | None:
        if not tensor.is_leaf:
            raise AutogradError("grad_dtype can only be accessed on leaf tensors.")
        meta = tensor._autograd_meta
        return tensor.dtype if meta is None or meta.grad_dtype is None else meta.grad_dtype[0]

    def set_grad_dtype(self, tensor: Tensor, dtype: object) -> None:
        if dtype is not None and not isinstance(dtype, dtype_):
            raise AutogradError(f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}")
        if not tensor.is_leaf:
            raise AutogradError("grad_dtype can only be set on leaf tensors.")
        if tensor._autograd_meta is None:
            tensor._autograd_meta = AutogradMeta()
        meta = tensor._autograd_meta
        if dtype is not None and meta.grad is not None and meta.grad.dtype is not dtype:
            raise AutogradError(
                f"Cannot set grad_dtype to '{dtype.scalar_name}' because there is already a gradient with dtype "
                f"'c10::{meta.grad.dtype.scalar_name}'. Please clear the gradient (.grad = None) before changing "
                f"grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
            )
        node = grad_accumulator(tensor)
        node.input_metadata = ((tensor._shape, dtype, tensor.device),)
        meta.grad_dtype = dtype, node

    def retain_grad(self, tensor: Tensor) -> None:
        if not requires_grad(tensor):
            raise AutogradError("can't retain_grad on Tensor that has requires_grad=False")
        if active_keys.get()[0] & TRANSFORMED:
            raise AutogradError(
                "You are attempting to call Tensor.retain_grad() inside of a function being transformed by a functorch "
                "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, "
                "jacrev, jacfwd, hessian) or call retain_grad() outside of a function being transformed instead."
            )
        meta = tensor._autograd_meta
        if meta.grad_fn is None or meta.retains_grad:  # a view whose base got its history later counts as a leaf
            return
        edge = gradient_edge(tensor)
        assert edge is not None
        meta.retains_grad = True
        node, output_nr = edge
        node.some_hooks().kept[output_nr] = weakref.ref(meta)

    def retains_grad(self, tensor: Tensor) -> bool:
        meta = tensor._autograd_meta
        return meta is not None and bool(meta.retains_grad)

    def register_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
        return tensor_hooks.register_hook(tensor, hook)

    def register_post_accumulate_grad_hook(self, tensor: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
        return tensor_hooks.register_post_accumulate_hook(tensor, hook)

    def backward_hooks(self, tensor: Tensor) -> Any:
        return tensor_hooks.backward_hooks(tensor)

    def set_backward_hooks(self, tensor: Tensor, hooks: object) -> None:
        tensor_hooks.set_backward_hooks(tensor, hooks)

    def set_post_accumulate_hooks(self, tensor: Tensor, hooks: object) -> None:
        tensor_hooks.set_post_accumulate_hooks(tensor, hooks)

    def base(self, tensor: Tensor) -> Tensor | None:
        meta = tensor._autograd_meta
        return None if meta is None else meta.base

    def view_again(self, view: Tensor, new_base: Tensor, visitors: tuple[Any, ...], *, alike: bool) -> Tensor | None:
        return view_functions.made_again(view, new_base, visitors, alike=alike)

    def base_again(self, view: Tensor, new_view: Tensor) -> None:
        view_functions.base_made_again(view, new_view)

    def is_recorded(self, tensor: Tensor) -> bool:
        return is_grad_enabled() and tensor.requires_grad

    def tangent(self, tensor: Tensor) -> Tensor | None:
        return tangent_of(tensor)

    def may_have_derivative(self, tensor: Tensor) -> bool:
        if tensor.key_set & WRAPPED:  # by a transform, whose levels outside may record what this one does not
            return True
        return tensor._autograd_meta is not None and (tensor.requires_grad or tangent_of(tensor) is not None)

    def becomes_number(self, tensor: Any) -> None:
        if self.is_recorded(tensor):
            warn_once(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider "
                "using tensor.detach() first."
            )


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which a tensor's gradient arrives; a leaf's node is its AccumulateGrad."""
    edge = gradient_edge(tensor) if tensor.requires_grad else None
    if edge is None:
        raise AutogradError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


_hooks: VariableHooks = _Hooks()
hooks.set_variable_hooks(_hooks)


__getattr__ = _refuse_unknown_names(__name__)
