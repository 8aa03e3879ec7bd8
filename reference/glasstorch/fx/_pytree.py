"""How are arguments taken apart as a specification says, whatever else they could be taken apart into?

Mirrors: torch/fx/_pytree.py
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from glasstorch.core.pytree import tree_flatten
from glasstorch.core.pytree_nodes import PyTree
from glasstorch.core.pytree_spec import TreeSpec

FlattenFnSpec = Callable[[PyTree, TreeSpec], list[Any]]
FlattenFnExactMatchSpec = Callable[[PyTree, TreeSpec], bool]

SUPPORTED_NODES: dict[Any, FlattenFnSpec] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[Any, FlattenFnExactMatchSpec | None] = {}


def register_pytree_flatten_spec(
    cls: Any,
    flatten_fn_spec: FlattenFnSpec,
    flatten_fn_exact_match_spec: FlattenFnExactMatchSpec | None = None,
) -> None:
    """Say how `tree_flatten_spec` takes a class of containers apart: a list of as many children as the spec has."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: Any) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: PyTree, spec: TreeSpec) -> list[Any]:
    """The leaves of a container, taken apart as far as `spec` goes; RuntimeError if it is another container."""
    if spec.is_leaf():
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        children = SUPPORTED_NODES[spec.type](pytree, spec)
        pairs = zip(children, spec.children(), strict=False)
        return [leaf for child, child_spec in pairs for leaf in tree_flatten_spec(child, child_spec)]
    leaves, found = tree_flatten(pytree)
    if spec != found:
        raise RuntimeError(f"Real spec {found} of object {pytree} is different from expected spec {spec}. ")
    return leaves


def _values(container: Any, spec: TreeSpec) -> list[Any]:
    return [container[key] for key in spec.context]


def _items(container: Any, spec: TreeSpec) -> list[Any]:
    return [container[i] for i in range(spec.num_children)]


def _as_long(container: Any, spec: TreeSpec) -> bool:
    return len(container) == spec.num_children


register_pytree_flatten_spec(dict, _values, _as_long)
for kind in (list, tuple, namedtuple):  # noqa: PYI024  # the function stands for the classes that it makes
    register_pytree_flatten_spec(kind, _items, _as_long)
