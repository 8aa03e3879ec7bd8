"""Which types do the signatures of functions and layers tell of a graph's nodes?

Mirrors: torch/fx/experimental/schema_type_annotation.py
Differs: of attributes, tensors, numbers and texts get a type; TorchScript's types for containers are not looked for.
"""

from __future__ import annotations

import inspect
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.fx._names import at, qualified_name
from glasstorch.fx._symbolic_trace import _annotations_of
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Transformer
from glasstorch.fx.node import Argument, Target
from glasstorch.fx.proxy import Proxy

__all__ = ["AnnotateTypesWithSchema"]


class AnnotateTypesWithSchema(Transformer):
    """Makes a graph whose nodes have types, if they had none and the type is known.

    Calls of functions of `torch.nn.functional` and of layers of `torch.nn` get what their signatures say that they
    return, fetched attributes what they are. The arguments switch each of the three off.
    """

    def __init__(
        self,
        module: GraphModule,
        annotate_functionals: bool = True,
        annotate_modules: bool = True,
        annotate_get_attrs: bool = True,
    ) -> None:
        super().__init__(module)
        self.annotate_functionals = annotate_functionals
        self.annotate_modules = annotate_modules
        self.annotate_get_attrs = annotate_get_attrs

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The call, with the type that the function says it returns."""
        known = self.annotate_functionals and qualified_name(target).startswith("torch.nn.functional.")
        return _typed(super().call_function(target, args, kwargs), _returned(target) if known else None)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The call, with the type that the layer says it returns."""
        called = self.fetch_attr(target)
        known = self.annotate_modules and any(value is type(called) for value in vars(at("nn")).values())
        return _typed(super().call_module(target, args, kwargs), _returned(called.forward) if known else None)

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The node that fetches an attribute, with the attribute's type."""
        made = super().get_attr(target, args, kwargs)
        value = self.fetch_attr(target) if self.annotate_get_attrs else None
        if isinstance(value, Tensor):
            return _typed(made, Tensor)
        return _typed(made, type(value) if isinstance(value, bool | int | float | str) else None)


def _typed(made: Any, kind: Any) -> Any:
    if isinstance(made, Proxy) and not made.node.type:
        made.node.type = kind
    return made


def _returned(function: Any) -> Any:
    """What a function is annotated to return; of one that chooses between two, if both return the same."""
    kinds = [_annotations_of(inspect.unwrap(one)).get("return") for one in getattr(function, "choices", (function,))]
    return kinds[0] if all(kind == kinds[0] for kind in kinds) else None
