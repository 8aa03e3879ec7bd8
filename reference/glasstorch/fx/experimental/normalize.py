"""How do calls that mean the same come to look the same?

Mirrors: torch/fx/experimental/normalize.py
Differs: an argument's type is taken from the node that gives it; PyTorch takes that of the call. A call such as
    `torch.add(x, y, alpha=2)` is not written as `x + y`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.fx._names import at
from glasstorch.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Transformer
from glasstorch.fx.node import Argument, Node, Target, map_aggregate
from glasstorch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module
from glasstorch.fx.passes.tools_common import ARITHMETIC
from glasstorch.fx.proxy import Proxy


class NormalizeArgs(Transformer):
    """Makes a graph whose calls have all their arguments, defaults too, by the names of the parameters.

    Without `normalize_to_only_use_kwargs`, those given by position stay so. Which overload of an operator is called is
    decided by the classes that `ShapeProp` noted; a call for which they do not decide stays as it is.
    """

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Proxy, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        """The new node's proxy; the node has the old one's type and `meta`."""
        if n.op == "call_function":
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            kinds = map_aggregate(n.args, _type_of)
            named = {name: _type_of(arg) for name, arg in n.kwargs.items()}
            made = self.call_function(n.target, args, kwargs, tuple(map(create_type_hint, kinds)), named)
        else:
            made = super().run_node(n)
        if n.op != "output":
            self.node_map[made] = n
            made.node.meta, made.node.type = n.meta, n.type
        return made

    def call_function(
        self,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Any],
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
    ) -> Any:
        """The call with its arguments by name, if the types decide which they are."""
        found = normalize_function(
            target,
            args,
            kwargs,
            arg_types,
            kwarg_types,
            self.normalize_to_only_use_kwargs,
        )
        return super().call_function(target, *(found or (args, kwargs)))

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The call with its arguments by name, if the module is one of `torch.nn`."""
        found = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        return super().call_module(target, *(found or (args, kwargs)))


def _type_of(argument: Any) -> Any:
    return argument.meta.get("type") if isinstance(argument, Node) else type(argument)


@cache
def _operators() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Python's arithmetic and comparisons by the functions of `torch` that they call for tensors."""
    asked = Tensor._asked_as  # by the name of an operator's method; that in place has the full name of the function
    found = {}
    for operator in ARITHMETIC:
        name = operator.__name__
        function = at((asked.get(f"__i{name}__") or asked[f"__{name}__"]).strip("_"))
        found[function] = operator
    return found


class NormalizeOperators(AnnotateTypesWithSchema):
    """Makes a graph in which `torch.add(x, y)` and its like are `x + y`; calls with more arguments stay as they are."""

    @property
    def binary_magic_method_remap(self) -> dict[Callable[..., Any], Callable[..., Any]]:
        """Which of Python's operators stands for which function."""
        return _operators()

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The call of a Python operator instead, if there is one for the function."""
        if target in self.binary_magic_method_remap and len(args) == 2 and not kwargs:
            target = self.binary_magic_method_remap[target]
        return super().call_function(target, args, kwargs)
