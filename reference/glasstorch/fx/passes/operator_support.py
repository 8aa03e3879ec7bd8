"""Which nodes can a backend compute?

Mirrors: torch/fx/passes/operator_support.py
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from glasstorch.core.dtype import dtype
from glasstorch.fx.node import Node
from glasstorch.fx.passes.shape_prop import TensorMetadata
from glasstorch.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target
from glasstorch.nn.modules.module import Module

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]

TargetTypeName = str
SupportedArgumentDTypes = tuple[Sequence[Sequence[dtype] | None], dict[str, Sequence[dtype]]] | None
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]
IsNodeSupported = Callable[[Mapping[str, Module], Node], bool]


class OperatorSupportBase(ABC):
    """Says of a node whether a backend can compute it. `submodules` are those of the node's module, by their paths."""

    @abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether the backend can compute the node."""


class OperatorSupport(OperatorSupportBase):
    """Support by a table: what is called, as `get_node_target` names it, and the dtypes that its arguments may have.

    A row is None where any dtype will do, or a pair: for each positional argument the dtypes, or None, and a dict of
    dtypes for keyword arguments. Arguments that are not listed are not looked at, and nodes that are no calls are
    supported.
    """

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether the table has what the node calls, with the dtypes that `ShapeProp` noted of the arguments."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        row = self._support_dict[target]
        if row is None:
            return True
        by_place, by_name = row
        pairs: Iterable[tuple[Any, Any]] = [
            *zip(node.args, by_place, strict=False),
            *((node.kwargs.get(name), dtypes) for name, dtypes in by_name.items()),
        ]
        return all(
            _get_arg_dtype(argument) in dtypes
            for argument, dtypes in pairs
            if dtypes is not None and isinstance(argument, Node)
        )


class _FunctionalOperatorSupport(OperatorSupportBase):
    def __init__(self, decide: IsNodeSupported) -> None:
        self.decide = decide

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        return self.decide(submodules, node)


def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """Support as a function of the submodules and the node decides."""
    return _FunctionalOperatorSupport(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Support of what all of these support."""
    return create_op_support(
        lambda submodules, node: all(one.is_node_supported(submodules, node) for one in op_support)
    )


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Support of what at least one of these supports."""
    return create_op_support(
        lambda submodules, node: any(one.is_node_supported(submodules, node) for one in op_support)
    )


class OpSupports:
    """Single rules, to be put together with `chain` and `any_chain`."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: dtype) -> OperatorSupportBase:
        """Support of nodes none of whose arguments has this dtype."""
        return create_op_support(
            lambda submodules, node: all(_get_arg_dtype(source) != dtype for source in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Support of nodes with other names than these."""
        return create_op_support(lambda submodules, node: node.name not in disallow_set)


def _get_arg_dtype(arg: Node) -> Any:
    """The dtype of a node's result, or the class of one that is no tensor, as `ShapeProp` noted it."""
    if not isinstance(arg, Node):
        raise AssertionError(f"Expected torch.fx.Node, got {type(arg)}")
    noted = arg.meta.get("tensor_meta")
    return noted.dtype if isinstance(noted, TensorMetadata) else arg.meta["type"]
