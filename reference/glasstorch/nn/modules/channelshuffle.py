"""Which layer exchanges the channels of groups?

Mirrors: torch/nn/modules/channelshuffle.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.nn import functional as F
from glasstorch.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """The first channels of all `groups` of (N, C, ...) come first, then the second ones."""

    __constants__ = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
