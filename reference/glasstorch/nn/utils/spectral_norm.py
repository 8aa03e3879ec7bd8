"""How is a weight divided by its largest singular value before each call of its module?

Mirrors: torch/nn/utils/spectral_norm.py
Differs: `remove_spectral_norm` also takes away the hook of `load_state_dict`, which PyTorch, looking for it without its
    wrapper, leaves behind. `parametrizations.spectral_norm` is the newer form, which divides at each reading.
"""

from __future__ import annotations

from typing import Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.layout import contiguous_format
from glasstorch.nn import functional as F
from glasstorch.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter, UninitializedParameter
from glasstorch.operators.generated import functions as operators

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "spectral_norm",
    "remove_spectral_norm",
]

SomeModule = TypeVar("SomeModule", bound=Module)


class SpectralNorm:
    """The hook that computes a weight: with `name` "weight", weight_orig divided by its estimated spectral norm.

    The buffers weight_u and weight_v estimate the singular vectors of the largest singular value. In training each call
    changes them in place, by iterations of the power method.
    """

    # Before version 1 the weight itself was saved as well, and v was not.
    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """A row for each index of `dim`."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The original divided by u @ matrix @ v."""
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(operators.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(operators.mv(matrix, v), dim=0, eps=self.eps, out=u)
                # Copies, since the graph saves them: the next call changes the buffers before this one's backward.
                u = u.clone(memory_format=contiguous_format)
                v = v.clone(memory_format=contiguous_format)
        return weight / operators.dot(u, operators.mv(matrix, v))  # type: ignore[no-any-return]

    def remove(self, module: Module) -> None:
        """Make the computed weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat: Tensor, u: Tensor, target_sigma: Tensor) -> Tensor:
        """The v with u = normalize(matrix @ v) and u @ matrix @ v = target_sigma."""
        inverse = weight_mat.t().mm(weight_mat).pinverse()
        v = operators.linalg_multi_dot([inverse, weight_mat.t(), u.unsqueeze(1)]).squeeze(1)
        return v.mul_(target_sigma / operators.dot(u, operators.mv(weight_mat, v)))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace a parameter by its original and estimates, and register the hooks; a second one is refused."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            rows, columns = hook.reshape_weight_to_matrix(weight).size()
            u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        # A plain attribute: deep copies, `to` and initialization find a tensor even before the first call.
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Makes the v that what was saved before version 1 lacks, from the weight that it has."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version", None)
        if version is not None and version >= 1:
            return
        name = prefix + self.fn.name
        complete = all(name + suffix in state_dict for suffix in ("_orig", "_u", "_v"))
        if version is None and complete and name not in state_dict:
            return  # the version was lost, as in a copy of the dictionary
        missing = [name + suffix for suffix in ("_orig", "", "_u") if name + suffix not in state_dict]
        if missing:
            if strict:
                missing_keys.extend(missing)
            return
        with no_grad():
            original, weight = state_dict[name + "_orig"], state_dict.pop(name)
            matrix = self.fn.reshape_weight_to_matrix(original)
            sigma = (original / weight).mean()
            state_dict[name + "_v"] = self.fn._solve_v_and_rescale(matrix, state_dict[name + "_u"], sigma)


class SpectralNormStateDictHook:
    """Writes the version into the metadata of `state_dict`."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(
    module: SomeModule,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> SomeModule:
    """Divide a parameter, before each call of the module, by an estimate of its largest singular value.

    It is a matrix with a row for each index of `dim`, by default 1 for transposed convolutions and 0 for others. In
    training each call improves the estimate by iterations of the power method. Returns the module, changed in place.
    """
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: SomeModule, name: str = "weight") -> SomeModule:
    """Undo `spectral_norm`: the weight becomes a parameter with its value. Returns the module, changed in place."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    others = (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    )
    for hooks, kind in others:
        for key, registered in hooks.items():
            held = getattr(registered, "hook", registered)  # hooks of load_state_dict are wrapped
            if isinstance(held, kind) and held.fn.name == name:
                del hooks[key]
                break
    return module
