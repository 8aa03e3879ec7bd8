"""Which functions of nested containers does torch.utils._pytree offer?

Mirrors: torch/utils/_pytree.py
Differs: re-exports of core/pytree.py and the files that it names, and an old name.
"""

from __future__ import annotations

from collections.abc import Callable
from warnings import warn

from glasstorch.core.pytree import _broadcast_to_and_flatten as _broadcast_to_and_flatten
from glasstorch.core.pytree import arg_tree_leaves as arg_tree_leaves
from glasstorch.core.pytree import map_only as map_only
from glasstorch.core.pytree import tree_all as tree_all
from glasstorch.core.pytree import tree_all_only as tree_all_only
from glasstorch.core.pytree import tree_any as tree_any
from glasstorch.core.pytree import tree_any_only as tree_any_only
from glasstorch.core.pytree import tree_flatten as tree_flatten
from glasstorch.core.pytree import tree_flatten_with_path as tree_flatten_with_path
from glasstorch.core.pytree import tree_is_leaf as tree_is_leaf
from glasstorch.core.pytree import tree_iter as tree_iter
from glasstorch.core.pytree import tree_leaves as tree_leaves
from glasstorch.core.pytree import tree_leaves_with_path as tree_leaves_with_path
from glasstorch.core.pytree import tree_map as tree_map
from glasstorch.core.pytree import tree_map_ as tree_map_
from glasstorch.core.pytree import tree_map_only as tree_map_only
from glasstorch.core.pytree import tree_map_only_ as tree_map_only_
from glasstorch.core.pytree import tree_map_with_path as tree_map_with_path
from glasstorch.core.pytree import tree_structure as tree_structure
from glasstorch.core.pytree import tree_unflatten as tree_unflatten
from glasstorch.core.pytree_json import (
    DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL as DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL,
)
from glasstorch.core.pytree_json import EnumEncoder as EnumEncoder
from glasstorch.core.pytree_json import enum_object_hook as enum_object_hook
from glasstorch.core.pytree_json import treespec_dumps as treespec_dumps
from glasstorch.core.pytree_json import treespec_loads as treespec_loads
from glasstorch.core.pytree_json import treespec_pprint as treespec_pprint
from glasstorch.core.pytree_keys import GetAttrKey as GetAttrKey
from glasstorch.core.pytree_keys import KeyPath as KeyPath
from glasstorch.core.pytree_keys import MappingKey as MappingKey
from glasstorch.core.pytree_keys import SequenceKey as SequenceKey
from glasstorch.core.pytree_keys import key_get as key_get
from glasstorch.core.pytree_keys import keystr as keystr
from glasstorch.core.pytree_nodes import BUILTIN_TYPES as BUILTIN_TYPES
from glasstorch.core.pytree_nodes import CONSTANT_NODES as CONSTANT_NODES
from glasstorch.core.pytree_nodes import NO_SERIALIZED_TYPE_NAME_FOUND as NO_SERIALIZED_TYPE_NAME_FOUND
from glasstorch.core.pytree_nodes import SERIALIZED_TYPE_TO_PYTHON_TYPE as SERIALIZED_TYPE_TO_PYTHON_TYPE
from glasstorch.core.pytree_nodes import STANDARD_DICT_TYPES as STANDARD_DICT_TYPES
from glasstorch.core.pytree_nodes import SUPPORTED_NODES as SUPPORTED_NODES
from glasstorch.core.pytree_nodes import SUPPORTED_SERIALIZED_TYPES as SUPPORTED_SERIALIZED_TYPES
from glasstorch.core.pytree_nodes import ConstantNode as ConstantNode
from glasstorch.core.pytree_nodes import Context as Context
from glasstorch.core.pytree_nodes import DumpableContext as DumpableContext
from glasstorch.core.pytree_nodes import FlattenFn as FlattenFn
from glasstorch.core.pytree_nodes import FromDumpableContextFn as FromDumpableContextFn
from glasstorch.core.pytree_nodes import NodeDef as NodeDef
from glasstorch.core.pytree_nodes import PyTree as PyTree
from glasstorch.core.pytree_nodes import ToDumpableContextFn as ToDumpableContextFn
from glasstorch.core.pytree_nodes import UnflattenFn as UnflattenFn
from glasstorch.core.pytree_nodes import _deregister_pytree_node as _deregister_pytree_node
from glasstorch.core.pytree_nodes import _register_namedtuple as _register_namedtuple
from glasstorch.core.pytree_nodes import _register_pytree_node as _register_pytree_node
from glasstorch.core.pytree_nodes import is_constant_class as is_constant_class
from glasstorch.core.pytree_nodes import register_constant as register_constant
from glasstorch.core.pytree_nodes import register_dataclass as register_dataclass
from glasstorch.core.pytree_nodes import register_pytree_node as register_pytree_node
from glasstorch.core.pytree_spec import LeafSpec as LeafSpec
from glasstorch.core.pytree_spec import PyTreeSpec as PyTreeSpec
from glasstorch.core.pytree_spec import TreeSpec as TreeSpec
from glasstorch.core.pytree_spec import treespec_dict as treespec_dict
from glasstorch.core.pytree_spec import treespec_leaf as treespec_leaf
from glasstorch.core.pytree_spec import treespec_tuple as treespec_tuple
from glasstorch.core.tuple_kinds import is_namedtuple as is_namedtuple
from glasstorch.core.tuple_kinds import is_namedtuple_class as is_namedtuple_class
from glasstorch.core.tuple_kinds import is_namedtuple_instance as is_namedtuple_instance
from glasstorch.core.tuple_kinds import is_structseq as is_structseq
from glasstorch.core.tuple_kinds import is_structseq_class as is_structseq_class
from glasstorch.core.tuple_kinds import is_structseq_instance as is_structseq_instance
from glasstorch.core.unknown_names import refuse_unknown_names


def _is_leaf(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """The old name of `tree_is_leaf`."""
    warn(
        "torch.utils._pytree._is_leaf is private and will be removed in a future release. Please use "
        "torch.utils._pytree.tree_is_leaf instead.",
        FutureWarning,
        stacklevel=2,
    )
    return tree_is_leaf(tree, is_leaf)


__all__ = [
    "PyTree",
    "Context",
    "FlattenFn",
    "UnflattenFn",
    "DumpableContext",
    "ToDumpableContextFn",
    "FromDumpableContextFn",
    "PyTreeSpec",
    "TreeSpec",
    "LeafSpec",
    "keystr",
    "key_get",
    "register_pytree_node",
    "tree_is_leaf",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_unflatten",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_structure",
    "tree_map",
    "tree_map_with_path",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_all",
    "tree_any",
    "tree_all_only",
    "tree_any_only",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
]

__getattr__ = refuse_unknown_names("glasstorch.utils._pytree")
