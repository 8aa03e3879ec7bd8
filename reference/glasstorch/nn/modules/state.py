"""How are a module's values saved and loaded?

Mirrors: torch/nn/modules/module.py (state_dict, load_state_dict, _load_from_state_dict)
Differs: no hooks and no extra state; the versions of modules are stored and ignored.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.nn.parameter import Parameter


class Module(Protocol):
    """What is asked here of a module."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]

    @property
    def _modules(self) -> Mapping[str, Any]: ...

    def named_modules(self, *, remove_duplicate: bool) -> Iterator[tuple[str, Any]]: ...


class IncompatibleKeys(NamedTuple):
    """The names that did not match when values were loaded."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class StateDictError(RuntimeError):
    """The loaded values do not fit the module."""


def state_dict(
    module: Module, destination: OrderedDict[str, Any] | None, prefix: str, keep_vars: bool
) -> OrderedDict[str, Any]:
    """Every parameter and persistent buffer of a module, by its dotted path."""
    found: OrderedDict[str, Any] = OrderedDict() if destination is None else destination
    for name, tensor in _own_tensors(module):
        found[prefix + name] = tensor if keep_vars else tensor.detach()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    return found


def load_state_dict(module: Module, values: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Copy, or assign, values to the parameters and buffers of the same names."""
    if not isinstance(values, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(values)}.")
    missing: list[str] = []
    errors: list[str] = []
    expected: set[str] = set()
    for path, part in module.named_modules(remove_duplicate=False):
        prefix = path + "." if path else ""
        for name, tensor in _own_tensors(part):
            expected.add(prefix + name)
            if prefix + name not in values:
                missing.append(prefix + name)
            else:
                error = _load_one(part, name, tensor, prefix + name, values[prefix + name], assign)
                errors += [error] if error else []
    unexpected = [name for name in values if name not in expected]
    if strict:
        if unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
    if errors:
        listed = "\n\t".join(errors)
        raise StateDictError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")
    return IncompatibleKeys(missing, unexpected)


def _own_tensors(module: Module) -> Iterator[tuple[str, Tensor]]:
    """The parameters and persistent buffers of one module, without its children's."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield name, parameter
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            yield name, buffer


def _load_one(module: Module, name: str, tensor: Tensor, key: str, value: Any, assign: bool) -> str | None:
    """Load one value; returns what is wrong with it, or None."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
            f"checkpoint but received {type(value)}"
        )
    if value.shape != tensor.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    if not assign:
        with no_grad():
            tensor.copy_(value)
    elif isinstance(tensor, Parameter) and not isinstance(value, Parameter):
        setattr(module, name, Parameter(value, requires_grad=tensor.requires_grad))
    else:
        setattr(module, name, value)
    return None


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
