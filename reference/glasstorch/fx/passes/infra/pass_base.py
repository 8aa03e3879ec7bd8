"""What is a pass?

Mirrors: torch/fx/passes/infra/pass_base.py
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from glasstorch.fx.graph_module import GraphModule
from glasstorch.nn.modules.module import Module

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """What a pass gives: the module, which may be another one, and whether anything was changed."""

    graph_module: Module
    modified: bool


class PassBase(ABC):
    """A pass over a module's graph, usable as a function of the module. A subclass defines `call`."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        """The result of `call`, between the two checks."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """What the pass does."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027  # nothing, unless a subclass says more
        """Raise an error if the pass cannot be run on the module."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027  # nothing, unless a subclass says more
        """Raise an error if the module is not as the pass should have left it."""
