"""How is a module called with other parameters than its own?

Mirrors: torch/nn/utils/stateless.py
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.nn.modules.module import Module

__all__ = ["functional_call"]

Values = dict[str, Tensor]


def functional_call(
    module: Module,
    parameters_and_buffers: Values,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module as if its parameters and buffers of these names were these tensors; deprecated in PyTorch."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(
    module: Module,
    parameters_and_buffers: Values,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """With `tie_weights`, a tensor that the module has under two names stands for both. `strict` wants all names.

    What the module assigns to its parameters and buffers is found in `parameters_and_buffers` afterwards.
    """
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


@contextmanager
def _reparametrize_module(module: Module, given: Values, tie_weights: bool, strict: bool) -> Iterator[None]:
    values = _with_tied(module, given) if tie_weights else dict(given)
    if strict:
        _check_names(module, values)
    places = {name: place for name in values if (place := _place_of(module, name)) is not None}
    before = {name: held[last] for name, (held, last) in places.items()}
    try:
        for name, (held, last) in places.items():
            held[last] = values[name]
        yield
    finally:
        after = {name: held[last] for name, (held, last) in places.items()}
        for name, (held, last) in places.items():
            held[last] = before[name]
        given.update({name: after[name] for name in given if name in after})


def _place_of(module: Module, name: str) -> tuple[dict[str, Any], str] | None:
    """The dictionary that holds a parameter or buffer, and its name there; None for a name that is neither."""
    path, _, last = name.rpartition(".")
    try:
        owner = module.get_submodule(path)
    except AttributeError:
        raise KeyError(
            f"functional_call: {type(module).__name__} has no module `{path}`, which `{name}` names"
        ) from None
    for held in (owner._parameters, owner._buffers):
        if last in held:
            return held, last
    return None


def _with_tied(module: Module, given: Values) -> Values:
    """The values with those of tied tensors under each of their names; two values for one tensor are refused."""
    names_of: dict[int, list[str]] = {}
    for named in (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)):
        for name, tensor in named:
            names_of.setdefault(id(tensor), []).append(name)
    values = dict(given)
    for names in names_of.values():
        found = {id(given[name]): given[name] for name in names if name in given}
        if len(found) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for tensor in found.values():
            values.update(dict.fromkeys(names, tensor))
    return values


def _check_names(module: Module, values: Values) -> None:
    own = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    own |= {name for name, _ in module.named_buffers(remove_duplicate=False)}
    errors = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", values.keys() - own), ("Missing", own - values.keys()))
        if names
    ]
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t{listed}")
