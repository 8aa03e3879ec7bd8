"""What is the structure of nested containers, without what is in them?

Mirrors: torch/utils/_pytree.py (TreeSpec)
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from glasstorch.core.pytree_nodes import (
    BUILTIN_TYPES,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    ConstantNode,
    Context,
    PyTree,
    node_type,
)


class TreeSpec:
    """The structure of a tree without its leaves: a type and a context for each container, and its children's specs.

    It never changes. Two are equal if they are of the same types, contexts and children.
    """

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    type: Any
    _context: Context
    _children: list[TreeSpec]
    num_nodes: int
    num_leaves: int
    num_children: int

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        if type is None and context is not None:
            raise AssertionError("leaf node should not have a context")
        if type is None and children_specs:
            raise AssertionError("leaf node should not have children")
        put = object.__setattr__
        put(self, "type", type)
        put(self, "_context", context)
        put(self, "_children", children_specs)
        put(self, "num_nodes", 1 + sum(child.num_nodes for child in children_specs))
        put(self, "num_leaves", 1 if type is None else sum(child.num_leaves for child in children_specs))
        put(self, "num_children", len(children_specs))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r}: a TreeSpec never changes")

    def __reduce__(self) -> tuple[Any, ...]:
        return (treespec_leaf, ()) if self.type is None else (TreeSpec, (self.type, self._context, self._children))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        indent += 2
        texts = (",\n" + " " * indent).join(child.__repr__(indent) for child in self._children)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{texts}])"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        mine, others = (
            (str(self.type), self._context, self._children),
            (str(other.type), other._context, other._children),
        )
        return bool(mine == others)

    def __hash__(self) -> int:
        context = self._context
        if self.type is defaultdict:
            context = (context[0], tuple(context[1]))
        elif self.type in (dict, OrderedDict):
            context = tuple(context)
        elif isinstance(context, ConstantNode):
            context = context.value
        elif self.type is not None and self.type not in BUILTIN_TYPES:
            context = None  # that of a type of the program may have no hash
        return hash((self.type, context, tuple(self._children)))

    @property
    def context(self) -> Context:
        """What the outermost container is rebuilt with, besides its children."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The specs of the children, under their old name."""
        warnings.warn(
            "`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a single child, or "
            "`treespec.children()` to get all children.",
            FutureWarning,
            stacklevel=2,
        )
        return self._children

    def is_leaf(self) -> bool:
        """Whether the tree is a leaf."""
        return self.num_nodes == 1 and self.num_leaves == 1

    def children(self) -> list[TreeSpec]:
        """The specs of the children."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """The spec of one child."""
        return self._children[index]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """A tree of this structure with these leaves."""
        found = leaves if isinstance(leaves, list | tuple) else list(leaves)
        if len(found) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(found)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return self._rebuilt(iter(found))

    def _rebuilt(self, leaves: Iterator[Any]) -> PyTree:
        if self.type is None:
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn(
            [child._rebuilt(leaves) for child in self._children], self._context
        )

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """What another tree has in the places of the leaves; ValueError if its structure does not begin like this."""
        subtrees: list[PyTree] = []
        self._collect(tree, subtrees)
        return subtrees

    def _collect(self, tree: PyTree, subtrees: list[PyTree]) -> None:
        if self.is_leaf():
            subtrees.append(tree)
            return
        for child, spec in zip(self._children_in(tree), self._children, strict=True):
            spec._collect(child, subtrees)

    def _children_in(self, tree: PyTree) -> list[PyTree]:
        """The children of another tree's root, which must be of the same type; dicts of all types are alike."""
        kind = node_type(tree)
        builtin = self.type in BUILTIN_TYPES
        dicts = self.type in STANDARD_DICT_TYPES and kind in STANDARD_DICT_TYPES
        if not dicts and kind != self.type:
            word = "Node type" if builtin else "Type"
            raise ValueError(f"{word} mismatch; expected {self.type!r}, but got {kind!r}.")
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        if dicts:
            return self._by_keys(tree)
        if kind is not deque and context != self._context:
            if not builtin:
                raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; expected {self._context!r}, but got {context!r}."
            )
        return children

    def _by_keys(self, tree: PyTree) -> list[PyTree]:
        """The children of a dict in the order of this one's keys, which it must have."""
        keys = self._context[1] if self.type is defaultdict else self._context
        message = ""
        if missing := set(keys).difference(tree):
            message += f"; missing key(s): {missing}"
        if extra := set(tree).difference(keys):
            message += f"; extra key(s): {extra}"
        if message:
            raise ValueError(f"Node keys mismatch{message}.")
        return [tree[key] for key in keys]


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The structure of a leaf, under its old name; ask `treespec.is_leaf()` instead."""

    __slots__ = ()

    def __init__(self) -> None:
        warnings.warn(
            "`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and "
            "treespec.is_leaf()` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(None, None, [])


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    LEAF: Final = LeafSpec()


def treespec_leaf() -> TreeSpec:
    """The structure of a leaf."""
    return LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple whose children have these."""
    children = list(iterable)
    if any(not isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The structure of a dict whose children have these."""
    children = dict(mapping, **kwargs)
    if any(not isinstance(child, TreeSpec) for child in children.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {children!r}.")
    return TreeSpec(dict, list(children), list(children.values()))
