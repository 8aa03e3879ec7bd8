"""What is a module, and how does it find its parameters?

Mirrors: torch/nn/modules/module.py
Differs: no `compile`; no `xpu`, `ipu` and `mtia`, which no device here answers to.

A module keeps three dictionaries: parameters, buffers and child modules. Assigning an attribute puts the value into
the right one; everything else a module does is a walk through these dictionaries.
"""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, Self

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype, float16, float32, float64
from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.nn.modules import conversion, state
from glasstorch.nn.modules.calling import Call
from glasstorch.nn.modules.global_hooks import (
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_buffer_registration_hooks,
    _global_forward_hooks,
    _global_forward_pre_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from glasstorch.nn.modules.hooks import Hook, _WrappedHook, add_hook, as_hooks_want
from glasstorch.nn.modules.state import _IncompatibleKeys as _IncompatibleKeys
from glasstorch.nn.parameter import Buffer, Parameter
from glasstorch.operators.generated import functions as operators
from glasstorch.python_forms.tensor_types import typename

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# The dictionaries of hooks that every module has.
HOOKS = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


# What `compile` calls, which is in a layer above: `torch.compile`.
_compile: list[Callable[..., Any]] = []


class Module:
    """The base class of all layers and networks: a subclass calls `super().__init__()` and defines `forward`."""

    dump_patches = False
    # The version of what `state_dict` saves; a class that changes it reads the older ones in `_load_from_state_dict`.
    _version = 1
    _compiled_call_impl: Callable[..., Any] | None = None  # what a call runs since `compile`
    call_super_init = False  # whether `__init__` goes on to the next class of a multiple inheritance

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Module | None]
    _is_full_backward_hook: bool | None  # None until the first backward hook is registered
    _backward_pre_hooks: OrderedDict[int, Hook]
    _backward_hooks: OrderedDict[int, Hook]
    _forward_hooks: OrderedDict[int, Hook]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _state_dict_hooks: OrderedDict[int, Hook]
    _state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_post_hooks: OrderedDict[int, Hook]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if not self.call_super_init and args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        # Not through our own __setattr__, which needs these to be there.
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for hooks in HOOKS:
            own[hooks] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- running -------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Call the module itself, so that hooks run too."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _global_forward_hooks
            or _global_forward_pre_hooks
            or _global_backward_hooks
            or _global_backward_pre_hooks
        ):
            return Call(self, args, kwargs).run()
        return self.forward(*args, **kwargs)

    _wrapped_call_impl = __call__

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """A call that does not run by graphs."""
        return Call(self, args, kwargs).run() if self._has_hooks() else self.forward(*args, **kwargs)

    def _has_hooks(self) -> bool:
        """Whether a call runs hooks, the module's or those of all modules."""
        return any(
            (
                self._forward_hooks, self._forward_pre_hooks, self._backward_hooks, self._backward_pre_hooks,
                _global_forward_hooks, _global_forward_pre_hooks, _global_backward_hooks, _global_backward_pre_hooks,
            )
        )  # fmt: skip

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """From now on run a call of this module by graphs; the arguments are those of `torch.compile`."""
        self._compiled_call_impl = _compile[0](self._call_impl, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled_call_impl"}

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Run `hook(module, args)` before every `forward`; what it returns replaces the args."""
        handle = add_hook(self._forward_pre_hooks, hook, prepend, self._forward_pre_hooks_with_kwargs)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Run `hook(module, args, output)` after every `forward`; what it returns replaces the output.

        With `with_kwargs` the hook also receives the keyword arguments, after `args`; with `always_call` it runs even
        where `forward` raises an error.
        """
        marks = (self._forward_hooks_with_kwargs, self._forward_hooks_always_called)
        handle = add_hook(self._forward_hooks, hook, prepend, *marks)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run `hook(module, grad_output)` when the gradients of the outputs are known; it may return others."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run `hook(module, grad_input, grad_output)` when the gradients of the inputs are known.

        What it returns replaces `grad_input`. Both are tuples, with None for arguments that are not tensors.
        """
        self._refuse_both_kinds_of_backward_hooks(full=True)
        return add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Deprecated in PyTorch: the hook sees the gradients of the last operator only."""
        self._refuse_both_kinds_of_backward_hooks(full=False)
        return add_hook(self._backward_hooks, hook)

    def _refuse_both_kinds_of_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is not None and self._is_full_backward_hook is not full:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = full

    # ---- registering parameters, buffers and modules -------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter: it becomes an attribute and part of `parameters()`. None reserves the name."""
        self._check_name("parameter", name, self.__dict__.get("_parameters"))
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                "forward() method."
            )
        if param is not None:
            param = as_hooks_want(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer, a tensor that is not trained, such as a running mean. A persistent one is in `state_dict()`."""
        self._check_name("buffer", name, self.__dict__.get("_buffers"))
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = as_hooks_want(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Make another module a child of this one, reachable as an attribute."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self.__dict__.get("_modules"))
        self._modules[name] = as_hooks_want(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: str, registered: Mapping[str, Any] | None) -> None:
        """Refuse an invalid name, and one that another attribute of this module has."""
        if registered is None:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in registered:
            raise KeyError(f"attribute '{name}' already exists")

    # ---- attributes ----------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # Called only if normal attribute lookup has failed.
        for registered in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(registered)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._require_init(own, "parameters")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._require_init(own, "module")
            self._forget(name, keep="_modules")
            self._modules[name] = as_hooks_want(_global_module_registration_hooks, self, name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                self._refuse(value, f"parameter '{name}'", "torch.nn.Parameter or None")
            self._parameters[name] = None
        elif name in own.get("_modules", ()):
            if value is not None:
                self._refuse(value, f"child module '{name}'", "torch.nn.Module or None")
            self._modules[name] = as_hooks_want(_global_module_registration_hooks, self, name, None)
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                self._refuse(value, f"buffer '{name}'", "torch.nn.Buffer, torch.Tensor or None")
            self._assign_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _assign_buffer(self, name: str, value: Tensor | None) -> None:
        persistent = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
        if "persistent" in inspect.signature(self.register_buffer).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:  # a subclass has its own `register_buffer`, from before there were others
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        for registered in (self._parameters, self._buffers, self._modules):
            if name in registered:
                del registered[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def _require_init(self, own: dict[str, Any], kind: str) -> None:
        if "_modules" not in own:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")

    def _refuse(self, value: object, place: str, accepted: str) -> NoReturn:
        raise TypeError(f"cannot assign '{typename(value)}' as {place} ({accepted} expected)")

    def _forget(self, name: str, keep: str) -> None:
        """Remove other entries of this name, so that the attribute is the new parameter or module."""
        self.__dict__.pop(name, None)
        for registered in ("_parameters", "_buffers", "_modules"):
            if registered != keep:
                self.__dict__[registered].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __dir__(self) -> list[str]:
        own = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        # The children of a Sequential are named "0", "1" and so on, which are not valid attribute names.
        return sorted({name for name in own if not name[:1].isdigit()})

    # ---- walking -------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it with their names, parents first; a shared one comes once."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(seen, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The child modules, with their names."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The child modules."""
        for _, child in self.named_children():
            yield child

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with names such as `layer.weight`; a shared one comes once, under its first name."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters: what an optimizer is given."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their names."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """What `get_members_fn` gives for this module and all below it, by path; a shared tensor comes once."""
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for module_prefix, module in modules if recurse else [(prefix, self)]:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{module_prefix}.{name}" if module_prefix else name, member

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path such as `encoder.layer`; this one for an empty path."""
        module = self
        for name in target.split(".") if target else []:
            child = _attribute(module, name)
            if not isinstance(child, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
            module = child
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted path, where `strict` demands that one is there; ValueError for an empty path."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(_attribute(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path; AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found = _attribute(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found: Tensor = _attribute(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    # ---- changing all of it --------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` on every module below, then on this one; returns this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every parameter, of its gradient and of every buffer by the result of `fn`."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        conversion.apply_to_own_tensors(self, fn)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move to a device, or cast floating point and complex tensors, in place; returns this module.

        Called as `to(device)`, `to(dtype)`, `to(device, dtype)`, or `to(tensor)`, which takes both from a tensor;
        `memory_format=` applies to parameters and buffers of four and five dimensions.
        """
        target = conversion.target_of(*args, **kwargs)
        return self._apply(lambda tensor: conversion.converted(tensor, target))

    def to_empty(self, *, device: Device | str | None, recurse: bool = True) -> Self:
        """Move to a device without the values: all parameters and buffers are uninitialised."""
        return self._apply(lambda tensor: operators.empty_like(tensor, device=device), recurse=recurse)

    def type(self, dst_type: dtype | str) -> Self:
        """Cast all parameters and buffers, whatever their dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Cast floating point parameters and buffers to float32."""
        return self._apply(lambda tensor: tensor.to(float32) if tensor.is_floating_point() else tensor)

    def double(self) -> Self:
        """Cast floating point parameters and buffers to float64."""
        return self._apply(lambda tensor: tensor.to(float64) if tensor.is_floating_point() else tensor)

    def half(self) -> Self:
        """Cast floating point parameters and buffers to float16."""
        return self._apply(lambda tensor: tensor.to(float16) if tensor.is_floating_point() else tensor)

    def bfloat16(self) -> Self:
        """Cast floating point parameters and buffers to bfloat16."""
        return self._apply(lambda tensor: tensor.bfloat16() if tensor.is_floating_point() else tensor)

    def cpu(self) -> Self:
        """Move to the CPU."""
        return self.to("cpu")

    def cuda(self, device: Device | int | None = None) -> Self:
        """Move to a CUDA device, by default the current one."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def share_memory(self) -> Self:
        """Move parameters and buffers to memory that other processes can read."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def train(self, mode: bool = True) -> Self:
        """Set training mode for this module and all below; dropout and batch norm depend on it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode: the same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero unless `set_to_none`."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                if parameter.grad.grad_fn is not None:
                    parameter.grad.detach_()
                else:
                    parameter.grad.requires_grad_(False)
                parameter.grad.zero_()

    # ---- saving and loading --------------------------------------------------------------------------------

    get_extra_state = state.get_extra_state
    set_extra_state = state.set_extra_state

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Every parameter and persistent buffer by name; they share storage with the module's own.

        They are detached unless `keep_vars` is set. The dictionary is `destination`, or a new one, whose `_metadata`
        has the version of each module.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            by_position = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = by_position["destination"] if destination is None else destination
            prefix = prefix or by_position.get("prefix", "")
            keep_vars = keep_vars or by_position.get("keep_vars", False)
        return state.collect(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy values from a `state_dict()` into the parameters and buffers of the same names.

        With `strict`, missing and unexpected names are an error. With `assign`, the given tensors replace the
        module's own. After an error the module is as it was before.
        """
        return state.load(self, state_dict, strict, assign)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add what belongs to this module and not to its children; a subclass may save it in another form."""
        state.save_own(self, destination, prefix, keep_vars)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what belongs to this module and not to its children; a subclass may read older versions here."""
        state.load_own(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Run `hook(module, prefix, keep_vars)` before `state_dict` collects this module's values."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Run `hook(module, state_dict, prefix, local_metadata)` after `state_dict`; it changes the dictionary."""
        hook._from_public_api = True
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """As `register_state_dict_post_hook`, and what the hook returns replaces the dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Run `hook(module, *arguments)` before this module's `_load_from_state_dict`, with its arguments."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Hook, with_module: bool = False) -> RemovableHandle:
        return add_hook(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Run `hook(module, incompatible_keys)` after this module and its children are loaded; it may change both."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        # What a module that was pickled by an older version does not have.
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)
        for hooks in HOOKS:
            self.__dict__.setdefault(hooks, OrderedDict())

    def _replicate_for_data_parallel(self) -> Self:
        """A copy of the module without parameters, which `nn.parallel.replicate` gives it as plain tensors."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = self._buffers.copy()
        replica._modules = self._modules.copy()
        replica.__dict__["_is_replica"] = True
        return replica

    # ---- printing ------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The text between the parentheses of `repr`; a subclass describes its sizes here."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        body = "".join(f"\n  {line}" for line in lines + children)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


def _attribute(module: Module, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)
