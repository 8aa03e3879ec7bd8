"""How are a node's arguments kept from being changed behind the graph's back?

Mirrors: torch/fx/immutable_collections.py
Differs: nothing.

A graph counts who uses each node. If a list in `node.args` could be changed in place, that count would be wrong, so
lists and dicts are stored as these two classes.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from glasstorch.core.pytree_keys import MappingKey, SequenceKey
from glasstorch.core.pytree_nodes import register_pytree_node

__all__ = ["immutable_dict", "immutable_list"]

Item = TypeVar("Item")
Key = TypeVar("Key")

HELP = """
If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args
""".strip()


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. {HELP}")


class immutable_list(list[Item]):
    """A list that cannot be changed, and that has a hash if its elements have one."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


class immutable_dict(dict[Key, Item]):
    """A dict that cannot be changed, and that has a hash if its values have one."""

    __delitem__ = __ior__ = __setitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()),)


register_pytree_node(
    immutable_list,
    lambda items: (list(items), None),
    lambda leaves, _: immutable_list(leaves),
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
    flatten_with_keys_fn=lambda items: ([(SequenceKey(i), item) for i, item in enumerate(items)], None),
)
register_pytree_node(
    immutable_dict,
    lambda items: (list(items.values()), list(items)),
    lambda leaves, keys: immutable_dict(zip(keys, leaves, strict=True)),
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
    flatten_with_keys_fn=lambda items: ([(MappingKey(key), item) for key, item in items.items()], list(items)),
)
