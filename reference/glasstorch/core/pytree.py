"""How is a function applied to every leaf of nested containers?

Mirrors: torch/utils/_pytree.py
Differs: which types are containers is in core/pytree_nodes.py, their structure in core/pytree_spec.py, and how that is
    written as text in core/pytree_json.py.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from glasstorch.core.pytree_keys import KeyPath
from glasstorch.core.pytree_nodes import SUPPORTED_NODES, PyTree, node_type
from glasstorch.core.pytree_spec import LEAF, TreeSpec

IsLeaf = Callable[[PyTree], bool] | None
OnlyTypes = type[Any] | tuple[type[Any], ...] | types.UnionType


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a value is a leaf: of no type that is registered, or what `is_leaf` says is one. None is a leaf."""
    if is_leaf is not None and is_leaf(tree):
        return True
    return node_type(tree) not in SUPPORTED_NODES


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves from left to right, and the structure.

    >>> leaves, spec = tree_flatten({"a": 1, "b": (2, 3)})
    >>> leaves
    [1, 2, 3]
    >>> spec.unflatten("xyz")
    {'a': 'x', 'b': ('y', 'z')}
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, is_leaf, leaves)


def _flatten(tree: PyTree, is_leaf: IsLeaf, leaves: list[Any]) -> TreeSpec:
    kind = node_type(tree)
    node = None if is_leaf is not None and is_leaf(tree) else SUPPORTED_NODES.get(kind)
    if node is None:
        leaves.append(tree)
        return LEAF
    children, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, is_leaf, leaves) for child in children])


def tree_unflatten(leaves: Iterable[Any] | TreeSpec, treespec: TreeSpec | Iterable[Any]) -> PyTree:
    """A tree of a structure with these leaves; the two may be given in either order."""
    if isinstance(treespec, TreeSpec):
        return treespec.unflatten(cast("Iterable[Any]", leaves))
    if isinstance(leaves, TreeSpec):
        return leaves.unflatten(treespec)
    raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, one by one."""
    node = None if is_leaf is not None and is_leaf(tree) else SUPPORTED_NODES.get(node_type(tree))
    if node is None:
        yield tree
        return
    for child in node.flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves from left to right."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure without the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of arguments."""
    return [leaf for argument in (*args, *kwargs.values()) for leaf in tree_iter(argument)]


# Paths ----------------------------------------------------------------------------------------------------------------


def _with_paths(path: KeyPath, tree: PyTree, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    kind = node_type(tree)
    node = None if is_leaf is not None and is_leaf(tree) else SUPPORTED_NODES.get(kind)
    if node is None:
        yield path, tree
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to "
            f"register_pytree_node."
        )
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_paths((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """Each leaf with the path to it from the root: a tuple of keys."""
    return list(_with_paths((), tree, is_leaf))


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Each leaf with its path, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """As `tree_map`; the function is called with the path of the leaf first."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten([func(path, leaf, *more) for (path, leaf), *more in zip(found, *others, strict=True)])


# Functions of leaves --------------------------------------------------------------------------------------------------


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """A tree of the same structure whose leaves are what a function returns for those of this one.

    With further trees, which must begin with the same structure, the function gets what they have in the same place.

    >>> tree_map(lambda x, more: x + sum(more), {"x": 7, "y": (42, 64)}, {"x": [1, 2], "y": ([], [3])})
    {'x': 10, 'y': (42, 67)}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(list(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests))))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call a function for each leaf, as `tree_map` does, for what it does to it; returns the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *(spec.flatten_up_to(rest) for rest in rests)), maxlen=0)
    return tree


def map_only(type_or_types_or_pred: OnlyTypes | Callable[[Any], bool], /) -> Callable[..., Any]:
    """A decorator: the function is called for values of these types, or that a function accepts; others stay."""
    accepts: Callable[[Any], bool]
    if isinstance(type_or_types_or_pred, type | tuple | types.UnionType):
        kinds = type_or_types_or_pred
        accepts = lambda value: isinstance(value, kinds)  # noqa: E731
    elif callable(type_or_types_or_pred):
        accepts = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def decorated(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(func)
        def wrapped(value: Any) -> Any:
            return func(value) if accepts(value) else value

        return wrapped

    return decorated


def tree_map_only(
    type_or_types_or_pred: OnlyTypes | Callable[[Any], bool],
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """As `tree_map`, for leaves of these types alone, or that a function accepts; the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: OnlyTypes | Callable[[Any], bool],
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """As `tree_map_`, for leaves of these types alone, or that a function accepts."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a function accepts every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a function accepts some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: OnlyTypes, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether a function accepts every leaf of these types."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: OnlyTypes, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether a function accepts some leaf of these types."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """The leaves of a tree, each as often as a larger structure has leaves in its place; None if it does not fit.

    >>> _broadcast_to_and_flatten((0, 1), tree_structure(([5, 5], 5)))
    [0, 0, 1]
    """
    found: list[Any] = []
    whole = treespec.unflatten([0] * treespec.num_leaves)
    try:
        tree_map_(
            lambda leaf, part: found.extend([leaf] * tree_structure(part, is_leaf).num_leaves),
            tree,
            whole,
            is_leaf=is_leaf,
        )
    except ValueError:
        return None
    return found
