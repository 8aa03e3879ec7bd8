"""What is a module, and how does it find its parameters?

Mirrors: torch/nn/modules/module.py
Differs: only the hooks around `forward` (no backward, state_dict or global hooks).

A module keeps three dictionaries: parameters, buffers and child modules. Assigning an attribute puts the value into
the right one; everything else a module does is a walk through these dictionaries.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, Self

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import FLOATING, bfloat16, dtype, float16, float32, float64
from glasstorch.nn.modules import state
from glasstorch.nn.modules.hooks import RemovableHandle
from glasstorch.nn.parameter import Parameter


class Module:
    """The base class of all layers and networks: a subclass calls `super().__init__()` and defines `forward`."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Module | None]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]

    def __init__(self) -> None:
        # Not through our own __setattr__, which needs these to be there.
        set_plainly = super().__setattr__
        set_plainly("training", True)
        set_plainly("_parameters", {})
        set_plainly("_buffers", {})
        set_plainly("_non_persistent_buffers_set", set())
        set_plainly("_modules", {})
        set_plainly("_forward_pre_hooks", OrderedDict())
        set_plainly("_forward_pre_hooks_with_kwargs", OrderedDict())
        set_plainly("_forward_hooks", OrderedDict())
        set_plainly("_forward_hooks_with_kwargs", OrderedDict())

    # ---- running -------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Call the module itself, so that hooks run too."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function: define '
            f"`def forward(self, input)` in it"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._forward_pre_hooks and not self._forward_hooks:
            return self.forward(*args, **kwargs)
        for key, hook in list(self._forward_pre_hooks.items()):
            args, kwargs = self._run_pre_hook(hook, key in self._forward_pre_hooks_with_kwargs, args, kwargs)
        result = self.forward(*args, **kwargs)
        for key, hook in list(self._forward_hooks.items()):
            if key in self._forward_hooks_with_kwargs:
                replaced = hook(self, args, kwargs, result)
            else:
                replaced = hook(self, args, result)
            if replaced is not None:
                result = replaced
        return result

    def _run_pre_hook(
        self, hook: Callable[..., Any], with_kwargs: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if not with_kwargs:
            replaced = hook(self, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
            return args, kwargs
        replaced = hook(self, args, kwargs)
        if replaced is None:
            return args, kwargs
        if not (isinstance(replaced, tuple) and len(replaced) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {replaced}."
            )
        return replaced

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Run `hook(module, args)` before every `forward`; what it returns replaces the args."""
        return _register(self._forward_pre_hooks, self._forward_pre_hooks_with_kwargs, hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Run `hook(module, args, output)` after every `forward`; what it returns replaces the output."""
        return _register(self._forward_hooks, self._forward_hooks_with_kwargs, hook, prepend, with_kwargs)

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
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer, a tensor that is not trained, such as a running mean. A persistent one is in `state_dict()`."""
        self._check_name("buffer", name, self.__dict__.get("_buffers"))
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Make another module a child of this one, reachable as an attribute."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self.__dict__.get("_modules"))
        self._modules[name] = module

    register_module = add_module

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
            self._modules[name] = value
        elif name in own.get("_parameters", ()):
            if value is not None:
                self._refuse(value, f"parameter '{name}'", "torch.nn.Parameter or None")
            self._parameters[name] = None
        elif name in own.get("_modules", ()):
            if value is not None:
                self._refuse(value, f"child module '{name}'", "torch.nn.Module or None")
            self._modules[name] = None
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                self._refuse(value, f"buffer '{name}'", "torch.nn.Buffer, torch.Tensor or None")
            self._buffers[name] = value
        else:
            super().__setattr__(name, value)

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

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules():
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
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters: what an optimizer is given."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their names."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self, registered: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for module_prefix, module in modules if recurse else [(prefix, self)]:
            for name, member in module.__dict__[registered].items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{module_prefix}.{name}" if module_prefix else name, member

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path such as `encoder.layer`; this one for an empty path."""
        module = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            child = getattr(module, name)
            if not isinstance(child, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
            module = child
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path; AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._parameters:
            raise AttributeError(f"`{name}` is not an nn.Parameter of {type(module).__name__}")
        found = module._parameters[name]
        if found is None:
            raise AttributeError(f"`{name}` of {type(module).__name__} is None")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = module._buffers.get(name)
        if found is None:
            raise AttributeError(f"`{name}` is not a buffer of {type(module).__name__}")
        return found

    # ---- changing all of it --------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call `fn` on every module below, then on this one; returns this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Self:
        """Replace the data of every parameter, of its gradient and of every buffer by the result of `fn`."""
        for module in self.children():
            module._apply(fn)
        with no_grad():
            for name, parameter in self._parameters.items():
                if parameter is not None:
                    self._parameters[name] = _replaced(parameter, fn)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move to a device, or cast floating point and complex tensors, in place; returns this module.

        Called as `to(device)`, `to(dtype)`, `to(device, dtype)`, or `to(tensor)`, which takes both from a tensor.
        """
        device, target = _parse_to(*args, **kwargs)
        if target is not None and target.category < FLOATING:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={target}"
            )
        if target is not None and target.is_complex:
            warnings.warn(
                "Complex modules are a new feature under active development whose design may change, and some modules "
                "might not work as expected when using complex tensors as parameters or buffers.",
                stacklevel=2,
            )

        def convert(tensor: Tensor) -> Tensor:
            wanted = target if target is not None and tensor.dtype.category >= FLOATING else tensor.dtype
            return tensor.to(device if device is not None else tensor.device, wanted)

        return self._apply(convert)

    def type(self, dst_type: dtype) -> Self:
        """Cast all parameters and buffers, whatever their dtype."""
        return self._apply(lambda tensor: tensor.to(dst_type))

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
        return self._apply(lambda tensor: tensor.to(bfloat16) if tensor.is_floating_point() else tensor)

    def cpu(self) -> Self:
        """Move to the CPU."""
        return self.to("cpu")

    def cuda(self, device: Device | int | None = None) -> Self:
        """Move to a CUDA device, by default the current one."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def train(self, mode: bool = True) -> Self:
        """Set training mode for this module and all below; dropout and batch norm depend on it."""
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, got {mode!r}")
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
                parameter.grad = parameter.grad.detach()
                parameter.grad.zero_()

    # ---- saving and loading --------------------------------------------------------------------------------

    def state_dict(
        self, *, destination: OrderedDict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        """Every parameter and persistent buffer by name; they share storage with the module's own.

        They are detached unless `keep_vars` is set.
        """
        return state.state_dict(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> state.IncompatibleKeys:
        """Copy values from a `state_dict()` into the parameters and buffers of the same names.

        With `strict`, missing and unexpected names are an error. With `assign`, the given tensors replace the
        module's own.
        """
        return state.load_state_dict(self, state_dict, strict, assign)

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


def _replaced(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """The parameter with its data, and its gradient's, replaced by the result of `fn`.

    It stays the same object, so that optimizers that hold it see the change, except to and from the meta device.
    """
    contents = fn(parameter)
    if contents.is_meta == parameter.is_meta:
        parameter.data = contents
        if parameter.grad is not None:
            parameter.grad.data = fn(parameter.grad)
        return parameter
    moved = Parameter(contents, parameter.requires_grad)
    if parameter.grad is not None:
        moved.grad = fn(parameter.grad)
    return moved


def typename(value: object) -> str:
    """The type of a value as PyTorch's messages name it: `torch.FloatTensor`, or module and class."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return f"torch.{value.dtype.scalar_name}Tensor"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _register(
    hooks: OrderedDict[int, Callable[..., Any]],
    with_kwargs_hooks: OrderedDict[int, bool],
    hook: Callable[..., Any],
    prepend: bool,
    with_kwargs: bool,
) -> RemovableHandle:
    handle = RemovableHandle(hooks, with_kwargs_hooks)
    hooks[handle.id] = hook
    if with_kwargs:
        with_kwargs_hooks[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _parse_to(
    *args: Any,
    device: Device | str | None = None,
    dtype: dtype | None = None,
    non_blocking: bool = False,
    tensor: Tensor | None = None,
) -> tuple[Device | None, Any]:
    """The device and the dtype in the arguments of `Module.to`; None for one that is not given."""
    for argument in args[:2]:
        if isinstance(argument, Tensor):
            tensor = argument
        elif isinstance(argument, (str, Device)):
            device = argument
        elif type(argument) is int:
            device = Device("cuda", argument)
        elif argument is not None and not isinstance(argument, bool):
            dtype = argument
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if dtype is not None and not hasattr(dtype, "is_floating_point"):
        raise TypeError(f"to() received an invalid argument {dtype!r}; expected a device, a dtype or a tensor")
    return Device(device) if device is not None else None, dtype
