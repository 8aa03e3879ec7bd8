"""How are a module's values saved and loaded?

Mirrors: torch/nn/modules/module.py (state_dict, load_state_dict, _load_from_state_dict)
Differs: where loading raises an error, the module is as it was before, where PyTorch keeps what was loaded until then.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import inference_mode, no_grad
from glasstorch.autograd.swap_tensors import swap_tensors
from glasstorch.core.errors import Rule
from glasstorch.nn.modules.replacement import get_swap_module_params_on_conversion
from glasstorch.nn.parameter import Parameter
from glasstorch.nn.uninitialized import is_lazy

EXTRA_STATE = "_extra_state"  # the last part of the name of what `get_extra_state` returns


class _IncompatibleKeys(NamedTuple):
    """The names that did not match when values were loaded."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class StateDictError(Rule, RuntimeError):
    """The loaded values do not fit the module."""


# ---- saving ---------------------------------------------------------------------------------------------------------


def collect(module: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """Every parameter, persistent buffer and extra state of a module and of its children, by dotted path."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in module._state_dict_hooks.values():
        replaced = hook(module, destination, prefix, metadata)
        if replaced is None:
            continue
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("state_dict post-hook must return None")
        destination = replaced
    return destination


def save_own(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Add what belongs to one module and not to its children."""
    for name, tensor in own_tensors(module):
        destination[prefix + name] = tensor if keep_vars else tensor.detach()
    if type(module).get_extra_state is not get_extra_state:
        destination[prefix + EXTRA_STATE] = module.get_extra_state()


def get_extra_state(self: Any) -> Any:
    """What `state_dict` saves besides tensors: a subclass that has such a thing defines this and `set_extra_state`."""
    raise RuntimeError(f"{type(self).__name__} has no extra state: define `get_extra_state(self)` in it")


def set_extra_state(self: Any, state: Any) -> None:
    """Take what `get_extra_state` returned when the module was saved."""
    raise RuntimeError(f"{type(self).__name__} takes no extra state: define `set_extra_state(self, state)` in it")


def own_tensors(module: Any) -> Iterator[tuple[str, Tensor]]:
    """The parameters and persistent buffers of one module, without its children's."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield name, parameter
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            yield name, buffer


# ---- loading --------------------------------------------------------------------------------------------------------


def load(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> _IncompatibleKeys:
    """Copy, or assign, values to the parameters and buffers of the same names."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    before = _Snapshot(module)
    try:
        return _loaded(module, state_dict, strict, assign)
    except Exception:
        before.restore()
        raise


def _loaded(module: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> _IncompatibleKeys:
    metadata = getattr(state_dict, "_metadata", None)
    values: Any = OrderedDict(state_dict)  # a copy, because a module's own loading may change it
    if metadata is not None:
        values._metadata = metadata
    incompatible = _IncompatibleKeys([], [])
    errors: list[str] = []
    _load_with_children(module, values, "", metadata or {}, assign, incompatible, errors)
    missing, unexpected = incompatible
    if strict and unexpected:
        errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
    if strict and missing:
        errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
    if errors:
        listed = "\n\t".join(errors)
        raise StateDictError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")
    return incompatible


def _load_with_children(
    module: Any,
    values: dict[str, Any],
    prefix: str,
    metadata: Mapping[str, Any],
    assign: bool,
    incompatible: _IncompatibleKeys,
    errors: list[str],
) -> None:
    local_metadata = metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = True
    module._load_from_state_dict(values, prefix, local_metadata, True, *incompatible, errors)
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            own = {key: value for key, value in values.items() if key.startswith(below)}
            _load_with_children(child, own, below, metadata, assign, incompatible, errors)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, incompatible) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def load_own(
    module: Any,
    values: dict[str, Any],
    prefix: str,
    local_metadata: dict[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Load what belongs to one module and not to its children; what does not fit is added to the three lists."""
    for hook in module._load_state_dict_pre_hooks.values():
        hook(values, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    assign = local_metadata.get("assign_to_params_buffers", False)
    own = dict(own_tensors(module))
    for name, tensor in own.items():
        key = prefix + name
        if key in values:
            error = _load_one(module, name, tensor, key, values[key], assign)
            error_msgs += [error] if error else []
        elif strict:
            missing_keys.append(key)
    extra = prefix + EXTRA_STATE
    takes_extra = type(module).set_extra_state is not set_extra_state
    if takes_extra and extra in values:
        module.set_extra_state(values[extra])
    elif takes_extra and strict:
        missing_keys.append(extra)
    if strict:
        for key in values:
            first, dot, _ = key.removeprefix(prefix).partition(".")
            known = module._modules if dot else own
            if key.startswith(prefix) and first not in known and not (takes_extra and key == extra):
                unexpected_keys.append(key)


def _load_one(module: Any, name: str, tensor: Tensor, key: str, value: Any, assign: bool) -> str | None:
    """Load one value; returns what is wrong with it, or None."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
            f"checkpoint but received {type(value)}"
        )
    waits = is_lazy(tensor)  # for the sizes of a value that has none either
    if not waits and tensor.dim() == 0 and tuple(value.shape) == (1,):
        value = value[0]  # checkpoints from before there were tensors without dimensions
    if not waits and value.shape != tensor.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    if tensor.is_meta and not value.is_meta and not assign:
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, "
            "which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their "
            "corresponding key in the module instead of copying them in place?)",
            stacklevel=6,
        )
    try:
        with no_grad():
            _write(module, name, tensor, value, assign)
    except Exception as error:  # noqa: BLE001 (all errors are reported together)
        action = "swapping" if get_swap_module_params_on_conversion() else "copying"
        return (
            f'While {action} the parameter named "{key}", whose dimensions in the model are {tensor.size()} and whose '
            f"dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
        )
    return None


def _write(module: Any, name: str, tensor: Tensor, value: Tensor, assign: bool) -> None:
    if get_swap_module_params_on_conversion():
        _swap(tensor, value, assign)
        return
    if not assign:
        tensor.copy_(value)
        return
    if isinstance(tensor, Parameter) and not isinstance(value, Parameter):
        value = Parameter(value, requires_grad=tensor.requires_grad)
    elif isinstance(tensor, Parameter):
        value.requires_grad_(tensor.requires_grad)
    setattr(module, name, value)


def _swap(tensor: Tensor, value: Tensor, assign: bool) -> None:
    """Let the tensor become what it makes of the value: a subclass of Tensor may say in `module_load` what that is."""
    new = tensor.module_load(value, assign=assign)
    if new is value or new is tensor:
        raise RuntimeError(
            "module_load returned one of self or other, please .detach() the result if returning one of the inputs in "
            "module_load"
        )
    if isinstance(tensor, Parameter) and not isinstance(new, Parameter):
        new = Parameter(new, requires_grad=tensor.requires_grad)
    elif isinstance(tensor, Parameter):
        new.requires_grad_(tensor.requires_grad)
    swap_tensors(tensor, new)


class _Snapshot:
    """What a module and its children held: the entries of their dictionaries, and the contents of the tensors."""

    def __init__(self, module: Any) -> None:
        modules = list(module.modules())
        self.entries = [
            (registered, registered.copy())
            for part in modules
            for registered in (part._parameters, part._buffers, part._modules)
        ]
        own = [tensor for part in modules for _, tensor in own_tensors(part)]
        self.uninitialized = [(tensor, type(tensor), tensor.data) for tensor in own if is_lazy(tensor)]
        tensors = [tensor for tensor in own if not tensor.is_meta and not is_lazy(tensor)]
        self.contents = [(tensor, _version(tensor), tensor.detach().clone()) for tensor in tensors]

    def restore(self) -> None:
        for registered, before in self.entries:
            registered.clear()
            registered.update(before)
        for waiting, kind, empty in self.uninitialized:
            waiting.__class__ = kind
            waiting.data = empty
        with no_grad():
            for tensor, version, before in self.contents:
                if version is None:
                    with inference_mode():
                        tensor.copy_(before)
                elif tensor._version != version:
                    tensor.copy_(before)


def _version(tensor: Tensor) -> int | None:
    """How often the tensor was changed in place; None for an inference tensor, which may keep no count."""
    return None if tensor.is_inference() else tensor._version


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
