"""What do all optimizers have in common?

Mirrors: torch/optim/optimizer.py
Differs: no hooks; loading a state copies it. `foreach` and `fused` choose kernels in PyTorch, and have no effect here:
    each parameter is updated on its own, by the formulas of PyTorch's single-tensor functions.
"""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import enable_grad

Parameters = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    """The placeholder for an option without a default, which each parameter group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Final = _Required()


class Optimizer:
    """Parameter groups with their options, and the state of each parameter between steps.

    A subclass passes `defaults`, the options of a group that does not set its own, and defines `step`.
    """

    param_groups: list[dict[str, Any]]
    state: defaultdict[Tensor, dict[str, Any]]
    defaults: dict[str, Any]

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got a {type(params).__name__}"
            )
        if defaults.get("differentiable"):
            raise NotImplementedError("differentiable=True: the steps of an optimizer are not recorded in glasstorch")
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; a `closure` recomputes loss and gradients before."""
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def _loss(self, closure: Callable[[], Any] | None) -> Any:
        """The result of the closure, run with gradients enabled; None without a closure."""
        if closure is None:
            return None
        with enable_grad():
            return closure()

    def _gradients(self) -> Iterator[tuple[Tensor, Tensor, dict[str, Any]]]:
        """Every parameter that has a gradient, with the gradient and the options of its group."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    yield parameter, parameter.grad, group

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero unless `set_to_none`."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad = parameter.grad.detach()
                    parameter.grad.zero_()

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
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is " + type(parameter).__name__
                )
            if not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        group["params"] = parameters
        if names:
            group["param_names"] = names

    # ---- saving and loading --------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Groups and state, with each parameter replaced by its index in the order of the groups."""
        numbers: dict[Tensor, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(parameter, len(numbers))
            groups.append({**group, "params": [numbers[p] for p in group["params"]]})
        return {
            "state": {numbers.get(key, key): value for key, value in self.state.items()},
            "param_groups": groups,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a `state_dict()` of an optimizer with the same number of parameters in each group.

        Tensors are copied, to each parameter's dtype and device.
        """
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)}, and this optimizer has {len(self.param_groups)}"
            )
        for number, (theirs, ours) in enumerate(zip(saved, self.param_groups, strict=True)):
            if len(theirs["params"]) != len(ours["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                    f"group: group {number} has {len(theirs['params'])} parameters there and "
                    f"{len(ours['params'])} here"
                )
        parameters = {
            index: parameter
            for theirs, ours in zip(saved, self.param_groups, strict=True)
            for index, parameter in zip(theirs["params"], ours["params"], strict=True)
        }
        self.state = defaultdict(dict)
        for key, remembered in state_dict["state"].items():
            if key in parameters:
                parameter = parameters[key]
                self.state[parameter] = {name: _fitted(value, parameter, name) for name, value in remembered.items()}
            else:
                self.state[key] = copy.deepcopy(remembered)
        for theirs, ours in zip(saved, self.param_groups, strict=True):
            ours.update({name: value for name, value in theirs.items() if name != "params"})

    def __repr__(self) -> str:
        texts = []
        for number, group in enumerate(self.param_groups):
            options = [f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"]
            texts.append(f"\nParameter Group {number}\n" + "".join(options))
        return f"{type(self).__name__} ({''.join(texts)})"


def _fitted(value: Any, parameter: Tensor, name: str) -> Any:
    """A copy of a value from a parameter's state, in the parameter's dtype; the step count keeps its own."""
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    if name == "step" or not parameter.is_floating_point():
        return value.detach().clone()
    return value.detach().to(parameter.device, parameter.dtype, copy=True)
