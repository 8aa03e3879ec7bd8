"""What do the forms of an optimizer's step have in common?

# Note [Forms of a step]
A step has up to three forms. `_single_tensor_adam` is the definition: it updates one parameter after the other.
`_multi_tensor_adam` (`foreach=True`) does each operation for all parameters before the next. `_fused_adam`
(`fused=True`) is one operator for all. A function without an underscore (`adam`) chooses among them.

Mirrors: torch/optim/optimizer.py (_default_to_fused_or_foreach, _get_value, _to_scalar, _view_as_real,
    _get_scalar_dtype, _get_capturable_supported_devices, _use_grad_for_differentiable), torch/utils/_foreach_utils.py
Differs: foreach operators here take tensors of several dtypes and devices, and so parameters are not grouped for them.
    Without `foreach` and `fused` the single form runs on all devices, and for Adam on the CPU the fused one, which
    gives the same bits. `capturable` steps are those of the single form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import set_grad_enabled
from glasstorch.core.dtype import dtype, float32, float64, get_default_dtype
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import tensor

Function = TypeVar("Function", bound=Callable[..., Any])

Tensors = list[Tensor]
CAPTURABLE_ON = ["cuda"]  # where a step may be recorded in a graph
FUSED_ON = ["cpu"]  # where fused operators have kernels


def _use_grad_for_differentiable(step: Function) -> Function:
    """A decorator: the step is recorded if the optimizer is `differentiable`, and not otherwise."""

    @functools.wraps(step)
    def wrapped(self: Any, *arguments: Any, **keywords: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *arguments, **keywords)

    return wrapped  # type: ignore[return-value]


def _get_value(number: Any) -> Any:
    """The Python number that a tensor of one element holds; a number itself."""
    return number.item() if isinstance(number, Tensor) else number


def _to_scalar(option: Any) -> Any:
    """A tensor of one element without dimensions; a number itself."""
    return option.squeeze() if isinstance(option, Tensor) and option.dim() else option


def _get_scalar_dtype(is_fused: bool | None = None) -> dtype:
    """The dtype in which steps are counted."""
    return float64 if not is_fused and get_default_dtype() is float64 else float32


def _default_to_fused_or_foreach(params: Tensors, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Whether a step is fused, and whether it is of the multi form, for an optimizer that was not told.

    Fused if that is asked for and all tensors can be; of the multi form only where all lie on a CUDA device.
    """
    if differentiable:
        return False, False
    plain = all(type(p).__name__ in ("Tensor", "Parameter") for p in params)
    fused = use_fused and plain and all(p.device.type in FUSED_ON and p.is_floating_point() for p in params)
    return fused, not fused and plain and all(p.device.type in CAPTURABLE_ON for p in params)


def _stack_if_compiling(numbers: Any) -> Any:
    """The numbers as they are: nothing compiles a step."""
    return numbers


def _view_as_real(params: Tensors, *state_and_grads: Tensors) -> None:
    """Replace complex tensors in the lists by views of them as pairs of real ones."""
    for number, parameter in enumerate(params):
        if parameter.is_complex():
            for tensors in (params, *state_and_grads):
                tensors[number] = f.view_as_real(tensors[number])


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The kinds of devices on which a step may be recorded in a graph."""
    return list(CAPTURABLE_ON)


def new_scalar(value: float, parameter: Tensor, group: dict[str, Any]) -> Tensor:
    """A number of a parameter's state; it lies on the CPU unless the step is captured or fused."""
    fused = group.get("fused")
    device = parameter.device if group.get("capturable") or fused else "cpu"
    if device == "cpu":  # a constant, which a fake tensor remembers
        return tensor(value, dtype=_get_scalar_dtype(fused), device=device)
    return f.full((), value, dtype=_get_scalar_dtype(fused), device=device)


def check_steps(numbers: Sequence[Any], name: str = "state_steps") -> None:
    if not all(isinstance(number, Tensor) for number in numbers):
        raise RuntimeError(f"API has changed, `{name}` argument must contain a list of singleton tensors")


def check_capturable(
    capturable: bool, params: Tensors, *numbers: Tensors, words: str = "params and state_steps"
) -> None:
    """All that a captured step reads lies on a device that records graphs."""
    if not capturable:
        return
    for parameter, *others in zip(params, *numbers, strict=True):
        kinds = {parameter.device.type, *(number.device.type for number in others)}
        if len(kinds) > 1 or parameter.device.type not in CAPTURABLE_ON:
            raise AssertionError(f"If capturable=True, {words} must be on supported devices: {CAPTURABLE_ON}.")


def check_fused(parameter: Tensor) -> None:
    """A fused step takes floating point parameters on a device that has a kernel."""
    if parameter.device.type not in FUSED_ON or not parameter.is_floating_point():
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of "
            f"supported devices: {FUSED_ON} but {parameter.dtype} and {parameter.device.type}"
        )


def check_multi(differentiable: bool, grad_scale: Tensor | None = None, found_inf: Tensor | None = None) -> None:
    """What a step of the multi form cannot do."""
    check_scales(grad_scale, found_inf)
    if differentiable:
        raise AssertionError("_foreach ops don't support autograd")


def check_scales(grad_scale: Tensor | None, found_inf: Tensor | None) -> None:
    """Only fused steps undo the scaling of gradients."""
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Expected grad_scale and found_inf to be None")


def in_reals(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Complex tensors as pairs of real ones: their parts are updated separately."""
    return tuple(f.view_as_real(tensor) if tensor.is_complex() else tensor for tensor in tensors)


def lists_in_reals(*lists: Tensors) -> list[Tensors]:
    """`in_reals` for lists of tensors."""
    return [list(in_reals(*tensors)) for tensors in lists]


def towards(grads: Tensors, maximize: bool) -> Tensors:
    """The gradients, or minus them where an objective is maximized."""
    return list(f._foreach_neg(grads)) if maximize and grads else grads


def with_decay(grads: Tensors, params: Tensors, weight_decay: Any) -> Tensors:
    """The gradients with a multiple of the parameters added."""
    return list(f._foreach_add(grads, params, alpha=weight_decay)) if weight_decay != 0 else grads


def with_values(like: Tensor, values: Tensor) -> Tensor:
    """A coalesced sparse tensor with other values at the same places. (PyTorch: _make_sparse)"""
    return f._sparse_coo_tensor_unsafe(like._indices(), values, like._shape, is_coalesced=True)
