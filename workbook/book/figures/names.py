"""Which names did the caller of a figure give to its tensors?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasstorch import Tensor


def tensors_by_name(*scopes: Mapping[str, object]) -> dict[str, Tensor]:
    """The tensors among these variables, and the parameters of modules among them as `model.0.weight`.

    The first scope goes first, and variables before parameters. Names that begin with an underscore are left out:
    a notebook keeps its outputs under such names.
    """
    from glasstorch import Tensor, nn

    found: dict[str, Tensor] = {}
    modules: dict[str, nn.Module] = {}
    for scope in scopes:
        for name, value in scope.items():
            if name.startswith("_"):
                continue
            if isinstance(value, Tensor):
                found.setdefault(name, value)
            elif isinstance(value, nn.Module):
                modules.setdefault(name, value)
    for name, module in modules.items():
        for place, parameter in module.named_parameters():
            found.setdefault(f"{name}.{place}", parameter)
    return found
