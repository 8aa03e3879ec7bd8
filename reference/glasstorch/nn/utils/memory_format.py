"""How do the weights of convolutions come to lie in another order in memory?

Mirrors: torch/nn/utils/memory_format.py
"""

from __future__ import annotations

from typing import TypeVar

from glasstorch.core.layout import memory_format as MemoryFormat
from glasstorch.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from glasstorch.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

SomeModule = TypeVar("SomeModule", bound=Module)
Kinds = tuple[type[Module], ...]


def convert_conv2d_weight_memory_format(module: SomeModule, memory_format: MemoryFormat) -> SomeModule:
    """Copy the weight of each Conv2d and ConvTranspose2d, of the module and below it, into another memory format.

    Other weights of four dimensions stay, unlike with `module.to(memory_format=...)`. Returns the module.
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: SomeModule, memory_format: MemoryFormat) -> SomeModule:
    """Copy the weight of each Conv3d and ConvTranspose3d, of the module and below it, into another memory format.

    Other weights of five dimensions stay, unlike with `module.to(memory_format=...)`. Returns the module.
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))


def _convert(module: SomeModule, memory_format: MemoryFormat, kinds: Kinds) -> SomeModule:
    if isinstance(module, kinds):
        weight = module.weight.detach().clone(memory_format=memory_format)
        # Once more, for sizes of 1: `clone` leaves the strides of a weight that already is in the format.
        module.weight.data = weight.resize_(weight.size(), memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module
