"""How is a module called with other parameters than its own?

Mirrors: torch/nn/utils/stateless.py
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, runtime_checkable

from glasstorch._tensor import Tensor
from glasstorch.core import hooks
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.func.modules import set_functional_call
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parallel.data_parallel import DataParallel

__all__ = ["functional_call"]

Values = dict[str, Tensor]


@runtime_checkable
class _Jitted(Protocol):
    """What is stored as a graph, whose tensors are not looked up by name."""

    def graph_for(self, *args: Any, **kwargs: Any) -> Any: ...


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

    What the module assigns to these names is found in `parameters_and_buffers` afterwards. A value for a parametrized
    tensor goes through the `right_inverse` of its parametrizations; the name of an original reaches that alone.
    """
    if isinstance(module, _Jitted) or (hooks.trace_hooks is not None and hooks.trace_hooks.records_here()):
        raise RuntimeError("The stateless API can't be used with Jitted modules")
    if isinstance(module, DataParallel):
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


set_functional_call(_functional_call)


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: Values,
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """In the `with` block the module has these tensors; `stack_weights` puts its own back in the reverse order."""
    values = _with_tied(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check_names(module, values)
    places = {name: _Place.of(module, name) for name in values}
    before: dict[str, Any] = {}
    try:
        try:
            for name, place in places.items():
                before[name] = place.swap(values[name])
        except Exception:
            for name, tensor in before.items():
                places[name].swap(tensor)
            before = {}
            raise
        yield
    finally:
        names = list(before)
        after = {name: places[name].swap(before[name]) for name in (reversed(names) if stack_weights else names)}
        changed = {name: after[name] for name in parameters_and_buffers if name in after}
        parameters_and_buffers.update(changed)


MISSING: Any = object()  # what an attribute that does not exist is


class _Place(NamedTuple):
    """Where a tensor belongs: the module that it is an attribute of, and the attribute's name."""

    owner: Module
    name: str

    @classmethod
    def of(cls, module: Module, path: str) -> _Place:
        *names, last = path.split(".")
        for position, name in enumerate(names):
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            child = getattr(module, name)
            if not isinstance(child, Module):
                raise TypeError(
                    f"submodule `{'.'.join(names[: position + 1])}`: {child} is not an instance of torch.nn.Module"
                )
            module = child
        if last == "":
            raise KeyError('tensor name can\'t be empty string ""')
        return cls(module, last)

    def swap(self, tensor: Any) -> Any:
        """Put a tensor there and return what was there: MISSING, which may also be given, is the absence of any."""
        owner, name = self
        if tensor is not MISSING:
            _check_is_tensor(tensor, "")
        for held in (owner._parameters, owner._buffers):
            if name in held:
                before: Any = held[name]
                if tensor is MISSING:
                    del held[name]
                else:
                    held[name] = tensor
                return before
        before = getattr(owner, name, MISSING)  # computed by a parametrization, or set by the module's `forward`
        if before is not MISSING:
            _check_is_tensor(before, f"attribute `{name}`: ")
        if tensor is not MISSING:
            setattr(owner, name, tensor)
        elif before is not MISSING:
            delattr(owner, name)
        return before


def _check_is_tensor(value: object, subject: str) -> None:
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(f"{subject}{value} is not an instance of torch.Tensor")


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


__getattr__ = _refuse_unknown_names(__name__)
