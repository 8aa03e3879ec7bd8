"""How is a weight computed from lengths and directions before each call of its module?

Mirrors: torch/nn/utils/weight_norm.py
Differs: `parametrizations.weight_norm` is the newer form, which computes it whenever it is read.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter, UninitializedParameter
from glasstorch.operators.generated import functions as operators

__all__ = ["WeightNorm", "weight_norm", "remove_weight_norm"]

SomeModule = TypeVar("SomeModule", bound=Module)


class WeightNorm:
    """The hook that computes a weight: with `name` "weight", from the parameters weight_g and weight_v."""

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The directions, brought to their lengths."""
        g, v = (getattr(module, self.name + suffix) for suffix in ("_g", "_v"))
        return operators._weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Replace a parameter by lengths and directions, and register the hook; a second one is refused."""
        warnings.warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
            stacklevel=3,
        )
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(operators.norm_except_dim(weight, 2, hook.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the computed weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: SomeModule, name: str = "weight", dim: int | None = 0) -> SomeModule:
    """Train the lengths and the directions of a parameter's vectors apart; deprecated in PyTorch.

    There is a length for each index of `dim`, or one in all where it is None. The weight is computed before each call
    of the module, by a hook. Returns the module, changed in place.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: SomeModule, name: str = "weight") -> SomeModule:
    """Undo `weight_norm`: the weight becomes a parameter with its value. Returns the module, changed in place."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
