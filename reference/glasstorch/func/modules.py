"""How is a module used as a function of its parameters?

Mirrors: torch/_functorch/functional_call.py, torch/_functorch/batch_norm_replacement.py
Differs: what calls a module with other parameters stands above, in nn/utils/stateless.py, which registers itself here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.operators.generated import functions as f

Values = dict[str, Tensor]

_call: Callable[..., Any]


def set_functional_call(function: Callable[..., Any]) -> None:
    """Called once by nn/utils/stateless.py."""
    global _call
    _call = function


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Values | Sequence[Values],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module as if its parameters and buffers of these names were these tensors.

    With `tie_weights`, a tensor that the module has under two names stands for both. `strict` wants all names.
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        values = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        values = _joined(parameter_and_buffer_dicts)
    else:
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return _call(module, values, args, kwargs, tie_weights=tie_weights, strict=strict)


def _joined(dicts: Sequence[Values]) -> Values:
    """The values of several dictionaries, which must not have names in common."""
    if not all(isinstance(one, dict) for one in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for one in dicts for name in one]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: value for one in dicts for name, value in one.items()}


def stack_module_state(models: Sequence[Any]) -> tuple[Values, Values]:
    """The parameters and the buffers of modules of one class, stacked by name, for a vmap over the modules.

    The stacked parameters are leaves of their own, which an optimizer can change.
    """
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(model.training) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(states: Sequence[Values]) -> Values:
    return {name: _stacked_leaf([state[name] for state in states], name) for name in states[0]}


def _stacked_leaf(tensors: list[Tensor], name: str) -> Tensor:
    """The tensors stacked: a leaf that requires grad if all of them do."""
    wanted = {tensor.requires_grad for tensor in tensors}
    if len(wanted) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    stacked = f.stack(tensors)
    return stacked.detach().requires_grad_() if wanted == {True} else stacked


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Take the running statistics away from all batch norms in a module, in place: they cannot follow a vmap.

    They then always use the statistics of the batch. Returns the module.
    """
    for module in root.modules():
        if any(base.__name__ == "_BatchNorm" for base in type(module).__mro__) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
