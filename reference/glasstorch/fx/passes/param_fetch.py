"""Which attributes of a layer must a lowering know?

Mirrors: torch/fx/passes/param_fetch.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.fx.graph_module import GraphModule
from glasstorch.nn.modules.activation import ReLU
from glasstorch.nn.modules.batchnorm import BatchNorm2d
from glasstorch.nn.modules.conv import Conv2d
from glasstorch.nn.modules.linear import Linear
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.pooling import AdaptiveAvgPool2d, MaxPool2d
from glasstorch.python_forms.tensor_types import typename

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]


def default_matching(name: str, target_version: int) -> str:
    """The name that an attribute has in another version of its class: the same."""
    return name


# For each class: the version that the row was written for, its attributes, and how they are called in another version.
module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    Linear: (1, ["weight", "bias"], default_matching),
    Conv2d: (
        1,
        ["weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"],
        default_matching,
    ),
    BatchNorm2d: (2, ["weight", "bias", "running_mean", "running_var", "eps"], default_matching),
    AdaptiveAvgPool2d: (1, [], default_matching),
    MaxPool2d: (
        1,
        ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"],
        default_matching,
    ),
    ReLU: (1, ["inplace"], default_matching),
}


def extract_attrs_for_lowering(mod: Module) -> dict[str, Any]:
    """The attributes of a layer that `module_fetch_book` lists, and its class's name as `"name"`.

    RuntimeError is raised if the book does not have the class, or only an older version of it.
    """
    if type(mod) not in module_fetch_book:
        raise RuntimeError(
            f"{typename(mod)} is not in the module_fetch_book yet, please add it to the module_fetch_book, open an "
            "issue and @842974287 or report a bug to AIACC team directly."
        )
    version, names, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(
            f"Fetcher version {version} try to fetch {typename(mod)} version {mod._version}, please upgrade the "
            "module_fetch_book, open an issue and @842974287 or report a bug to AIACC team directly."
        )
    return {"name": typename(mod)} | {name: getattr(mod, matching(name, mod._version)) for name in names}


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Note each layer's attributes in `attrs_for_lowering` of the node that calls it, in submodules' graphs too."""
    for node in fx_module.graph.nodes:
        if node.op != "call_module":
            continue
        called = fx_module.get_submodule(node.target)
        if isinstance(called, GraphModule):
            lift_lowering_attrs_to_nodes(called)
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(called)
