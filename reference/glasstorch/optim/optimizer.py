"""What do all optimizers have in common?

Mirrors: torch/optim/optimizer.py
Differs: loading a state copies it. The lists that a step works on are gathered here, by the names of a parameter's
    state, where each of PyTorch's optimizers has a method `_init_group`.
"""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import enable_grad
from glasstorch.core.dtype import float32
from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.dispatch.record_block import recorded_as
from glasstorch.operators.generated import functions as operators
from glasstorch.optim.forms import Tensors, check_fused, new_scalar
from glasstorch.optim.forms import _default_to_fused_or_foreach as _default_to_fused_or_foreach
from glasstorch.optim.forms import _get_capturable_supported_devices as _get_capturable_supported_devices
from glasstorch.optim.forms import _get_scalar_dtype as _get_scalar_dtype
from glasstorch.optim.forms import _get_value as _get_value
from glasstorch.optim.forms import _stack_if_compiling as _stack_if_compiling
from glasstorch.optim.forms import _to_scalar as _to_scalar
from glasstorch.optim.forms import _use_grad_for_differentiable as _use_grad_for_differentiable
from glasstorch.optim.forms import _view_as_real as _view_as_real
from glasstorch.optim.hooks import Hooks, hooked, register
from glasstorch.optim.hooks import _global_optimizer_post_hooks as _global_optimizer_post_hooks
from glasstorch.optim.hooks import _global_optimizer_pre_hooks as _global_optimizer_pre_hooks
from glasstorch.optim.hooks import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from glasstorch.optim.hooks import register_optimizer_step_pre_hook as register_optimizer_step_pre_hook
from glasstorch.python_forms.tensor_types import typename

ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _RequiredParameter:
    """The placeholder for an option without a default, which each parameter group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Final = _RequiredParameter()


HOOKS: Final = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class Optimizer:
    """Parameter groups with their options, and the state of each parameter between steps.

    A subclass passes `defaults`, the options of a group that does not set its own, and defines `step`.
    """

    param_groups: list[dict[str, Any]]
    state: defaultdict[Tensor, dict[str, Any]]
    defaults: dict[str, Any]
    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._prepare_hooks()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {typename(params)}"
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _prepare_hooks(self) -> None:
        """Give this optimizer the hooks that it lacks, and let its class's `step` run those of steps."""
        for name in HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        kind = type(self)
        if not getattr(kind.step, "hooked", False):
            kind.step = hooked(kind.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare_hooks()
        self.defaults.setdefault("differentiable", False)

    def _fill(self, **options: Any) -> None:
        """Give groups that an older program saved the options that it did not know, and steps as tensors."""
        for group in self.param_groups:
            for name, default in options.items():
                group.setdefault(name, default)
            for parameter in group["params"]:
                remembered = self.state.get(parameter, {})
                for name in ("step", "eta", "mu", "mu_product"):
                    if name in remembered and not isinstance(remembered[name], Tensor):
                        remembered[name] = new_scalar(float(remembered[name]), parameter, group)

    # ---- steps ---------------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; a `closure` recomputes loss and gradients before."""
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def _loss(self, closure: Callable[[], Any] | None) -> Any:
        """The result of the closure, run with gradients enabled; None without a closure."""
        if closure is None:
            return None
        with enable_grad():
            return closure()

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """What is remembered of a parameter before its first step."""
        return {}

    _takes_sparse = False  # whether a parameter of `_gathered` may have a sparse gradient

    def _refusal_of_sparse(self) -> str:
        return f"{type(self).__name__} does not support sparse gradients"

    def _gathered(self, group: dict[str, Any], *names: str) -> list[Tensors]:
        """The parameters of a group that have gradients, the gradients, and what is remembered under each name.

        A parameter that cannot be updated is refused here, before any other has been.
        """
        params, grads, states = [], [], []
        for parameter in group["params"]:
            grad = parameter.grad
            if grad is None:
                continue
            if grad.is_sparse and not self._takes_sparse:
                raise RuntimeError(self._refusal_of_sparse())
            remembered = self.state[parameter]
            if not remembered:
                if group.get("fused"):
                    check_fused(parameter)
                remembered.update(self._new_state(parameter, group))
            params.append(parameter)
            grads.append(grad)
            states.append(remembered)
        return [params, grads, *([remembered[name] for remembered in states] for name in names)]

    @recorded_as(lambda self, *_: f"Optimizer.zero_grad#{type(self).__name__}.zero_grad")
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero unless `set_to_none`."""
        cleared = []
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                    continue
                parameter.grad = parameter.grad.detach()
                cleared.append(parameter.grad)
        if cleared:
            operators._foreach_zero_(cleared)

    # ---- groups --------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters: `{"params": [...]}` and the options that differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        self._read_parameters(param_group)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        parameters = param_group["params"]
        if len(parameters) != len(set(parameters)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                "an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if not set(parameters).isdisjoint(group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
            if ("param_names" in group) != ("param_names" in param_group):
                kind = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {kind} to the optimizer"
                )
        self.param_groups.append(param_group)

    def _read_parameters(self, group: dict[str, Any]) -> None:
        """Convert the caller's `params` into a list of leaf tensors and, for named ones, a list of names."""
        given = group["params"]
        if isinstance(given, Tensor):
            given = [given]
        elif isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of "
                "tensors in sets will change between runs. Please use a list instead."
            )
        given = list(given)
        names = [item[0] for item in given if isinstance(item, tuple)]
        parameters = [item[1] if isinstance(item, tuple) else item for item in given]
        if names and len(names) != len(parameters):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        for parameter in parameters:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(parameter)}")
            if not (self.defaults.get("differentiable") or parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        group["params"] = parameters
        if names:
            group["param_names"] = names

    # ---- saving and loading --------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Groups and state, with each parameter replaced by its index in the order of the groups."""
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        numbers: dict[Tensor, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(parameter, len(numbers))
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append({**options, "params": [numbers[p] for p in group["params"]]})
        saved: dict[str, Any] = {
            "state": {numbers.get(key, key): value for key, value in self.state.items()},
            "param_groups": groups,
        }
        for post_hook in self._optimizer_state_dict_post_hooks.values():
            replaced = post_hook(self, saved)
            saved = saved if replaced is None else replaced
        return saved

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a `state_dict()` of an optimizer with the same number of parameters in each group.

        Tensors are copied, to each parameter's dtype and device.
        """
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = pre_hook(self, state_dict)
            state_dict = state_dict if replaced is None else replaced
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for theirs, ours in zip(saved, self.param_groups, strict=True):
            if len(theirs["params"]) != len(ours["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
        parameters = {
            index: (parameter, theirs)
            for theirs, ours in zip(saved, self.param_groups, strict=True)
            for index, parameter in zip(theirs["params"], ours["params"], strict=True)
        }
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, remembered in state_dict["state"].items():
            if key in parameters:
                parameter, group = parameters[key]
                state[parameter] = _fitted(remembered, parameter, group)
            else:
                state[key] = copy.deepcopy(remembered)
        for theirs, ours in zip(saved, self.param_groups, strict=True):
            theirs["params"] = ours["params"]
            if "param_names" in ours:
                theirs.setdefault("param_names", ours["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for post_hook in self._optimizer_load_state_dict_post_hooks.values():
            post_hook(self)

    # ---- hooks ---------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs before each step, and may return other arguments."""
        return register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs after each step."""
        return register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs before `state_dict` reads the state."""
        return register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` may change what `state_dict` returns, or return another."""
        return register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` may change what is loaded, or return another."""
        return register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs after a state has been loaded."""
        return register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def __repr__(self) -> str:
        texts = []
        for number, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            texts.append(f"\nParameter Group {number}\n" + "".join(options))
        return f"{type(self).__name__} ({''.join(texts)})"


def _fitted(value: Any, parameter: Tensor, group: dict[str, Any], name: Any = None) -> Any:
    """A copy of what is remembered of a parameter, in its dtype and on its device.

    The step count keeps its dtype, except that captured and fused steps count in float32 on the device.
    """
    if isinstance(value, Tensor):
        value = value.detach()
        if name == "step":
            if not (group.get("capturable") or group.get("fused")):
                return value.clone()
            return value.to(parameter.device, float32, copy=True)
        if not parameter.is_floating_point():
            return value.to(parameter.device, copy=True)
        return value.to(parameter.device, parameter.dtype, copy=True)
    if isinstance(value, dict):
        return {key: _fitted(part, parameter, group, key) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_fitted(part, parameter, group) for part in value)
    return copy.deepcopy(value)
