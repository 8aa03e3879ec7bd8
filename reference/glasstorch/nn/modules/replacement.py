"""How does a parameter of a module take other contents: in place, swapped, or as another parameter?

Mirrors: torch/__future__.py, torch/nn/modules/module.py (Module._apply)
Differs: parameters of fake tensors are overwritten through `.data` like any other.
"""

from __future__ import annotations

from collections.abc import Callable

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.autograd.swap_tensors import swap_tensors
from glasstorch.core.keys import SPARSE
from glasstorch.dispatch.python_fallback import is_taken_apart
from glasstorch.nn.parameter import Parameter

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]


class _Chosen:
    """What a program chose for the whole process."""

    overwrites = False
    swaps = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Choose whether a module that is converted gets new parameters; else its parameters get new data."""
    _Chosen.overwrites = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether a module that is converted gets new parameters: not unless that was chosen."""
    return _Chosen.overwrites


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Choose whether parameters swap with what a conversion or a state dict gives (`torch.utils.swap_tensors`).

    This one counts where new parameters were chosen too.
    """
    _Chosen.swaps = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether parameters are swapped: not unless that was chosen."""
    return _Chosen.swaps


def replaced(parameter: Parameter, fn: Callable[[Tensor], Tensor], where: str) -> Parameter:
    """The parameter with its data, and its gradient's, replaced by the result of `fn`.

    It stays the same object, so that optimizers that hold it see the change; not where new parameters were chosen, nor
    where it cannot hold the new data, such as those of the meta device. `where` is its path, for errors.
    """
    with no_grad():
        contents = fn(parameter)
    if _Chosen.swaps or is_taken_apart(type(contents)):
        return _swapped(parameter, contents, fn, where)
    gradient = parameter.grad
    kept = parameter
    if _may_hold(parameter, contents):
        parameter.data = contents
    else:
        kept = Parameter(contents, parameter.requires_grad)
    if gradient is not None:
        with no_grad():
            new_gradient = fn(gradient)
        if kept is parameter and _may_hold(gradient, new_gradient):
            gradient.data = new_gradient
        else:
            kept.grad = new_gradient.requires_grad_(gradient.requires_grad)
    return kept


def _may_hold(tensor: Tensor, contents: Tensor) -> bool:
    """Whether a tensor is to be given the contents of another as its `.data`."""
    same_kind = tensor.is_meta == contents.is_meta and not (tensor.key_set ^ contents.key_set) & SPARSE
    return same_kind and not _Chosen.overwrites


def _swapped(parameter: Parameter, contents: Tensor, fn: Callable[[Tensor], Tensor], where: str) -> Parameter:
    gradient = parameter.grad
    try:
        parameter.grad = None  # a swap moves the gradient with what it belongs to
        swap_tensors(parameter, Parameter(contents, parameter.requires_grad))
    except Exception as error:
        parameter.grad = gradient
        raise RuntimeError(f"_apply(): Couldn't swap {where}") from error
    if gradient is not None:
        with no_grad():
            new_gradient = fn(gradient)
        new_gradient.requires_grad_(gradient.requires_grad)
        try:
            swap_tensors(gradient, new_gradient)
        except Exception as error:
            raise RuntimeError(f"_apply(): Couldn't swap {where}.grad") from error
        parameter.grad = gradient
    return parameter
