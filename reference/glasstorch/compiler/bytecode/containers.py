"""What do the methods of lists, tuples, dicts and sets do?

Mirrors: torch/_dynamo/variables/lists.py, torch/_dynamo/variables/dicts.py
Differs: keys of dicts and items of sets are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from glasstorch.compiler.bytecode.operations import (
    binary,
    contains,
    delete_item,
    equal,
    items_of,
    order,
    store_item,
    subscript,
)
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Group,
    Iterating,
    Mapping,
    Sequence,
    Value,
    View,
    as_key,
    describe,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made

Method = Callable[..., Value]
NONE: Final = Constant(None)
# Methods of sets that change nothing, and those that do.
READING_OF_SETS: Final = (
    "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint", "copy",
    "__len__", "__contains__",
)  # fmt: skip
CHANGING_OF_SETS: Final = (
    "add", "discard", "remove", "update", "clear", "intersection_update", "difference_update",
    "symmetric_difference_update",
)  # fmt: skip


def container_method(
    recorder: Recorder, owner: Sequence | Mapping | Group | View, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """What a method of a container gives."""
    kind: Any = owner.kind if isinstance(owner, Sequence | Mapping) else set
    table = OF_DICTS if isinstance(owner, Mapping) else OF_LISTS if kind is list else OF_TUPLES
    if isinstance(owner, View):
        return _of_view(recorder, owner, name, args)
    if isinstance(owner, Group):
        return _of_set(recorder, owner, name, args)
    if name not in table:
        if isinstance(owner, Sequence) and not kwargs:
            return made(evaluated(getattr(known(owner), name), *map(known, args)))
        raise Unsupported(f"{name}() of a {kind.__name__}")
    method, changes = table[name]
    if changes:
        recorder.effects.change(owner)
    return method(recorder, owner, *args, **kwargs)


# Lists -----------------------------------------------------------------------------------------------------------


def _append(recorder: Recorder, owner: Sequence, item: Value) -> Value:
    owner.items.append(item)
    return NONE


def _extend(recorder: Recorder, owner: Sequence, items: Value) -> Value:
    owner.items.extend(list(items_of(recorder, items)) if items is owner else items_of(recorder, items))
    return NONE


def _insert(recorder: Recorder, owner: Sequence, place: Value, item: Value) -> Value:
    evaluated(owner.items.insert, known(place), item)
    return NONE


def _pop(recorder: Recorder, owner: Sequence, *place: Value) -> Value:
    found: Value = evaluated(owner.items.pop, *map(known, place))
    return found


def _clear(recorder: Recorder, owner: Sequence | Mapping) -> Value:
    owner.items.clear()
    return NONE


def _reverse(recorder: Recorder, owner: Sequence) -> Value:
    owner.items.reverse()
    return NONE


def _sort(recorder: Recorder, owner: Sequence, *, key: Value = NONE, reverse: Value = Constant(False)) -> Value:  # noqa: B008  # a constant
    items = order(recorder, owner.items, key, known(reverse))
    owner.items[:] = items
    return NONE


def _place(recorder: Recorder, owner: Sequence, item: Value, *limits: Value) -> int:
    start, stop, _ = slice(*map(known, limits), *[None] * (2 - len(limits))).indices(len(owner.items))
    for i in range(start, stop):
        if equal(recorder, owner.items[i], item):
            return i
    raise Raised(
        ValueError(f"{known(item)!r} is not in list" if owner.kind is list else "tuple.index(x): x not in tuple")
    )


def _index(recorder: Recorder, owner: Sequence, item: Value, *limits: Value) -> Value:
    return Constant(_place(recorder, owner, item, *limits))


def _remove(recorder: Recorder, owner: Sequence, item: Value) -> Value:
    places = [i for i, other in enumerate(owner.items) if equal(recorder, other, item)][:1]
    if not places:
        raise Raised(ValueError("list.remove(x): x not in list"))
    del owner.items[places[0]]
    return NONE


def _count(recorder: Recorder, owner: Sequence, item: Value) -> Value:
    return Constant(sum(equal(recorder, other, item) for other in owner.items))


def _copy_of_list(recorder: Recorder, owner: Sequence) -> Value:
    return Sequence(list(owner.items), owner.kind)


def _contains(recorder: Recorder, owner: Sequence, item: Value) -> Value:
    return Constant(any(equal(recorder, other, item) for other in owner.items))


def _length(recorder: Recorder, owner: Sequence | Mapping) -> Value:
    return Constant(len(owner.items))


def _iterate(recorder: Recorder, owner: Value) -> Value:
    return Iterating(items_of(recorder, owner))


def _add(recorder: Recorder, owner: Value, other: Value) -> Value:
    return binary(recorder, lambda a, b: a + b, owner, other)


def _replace(recorder: Recorder, owner: Sequence, /, **new: Value) -> Value:
    kind: Any = owner.kind
    items = dict(zip(kind._fields, owner.items, strict=True))
    if not new.keys() <= items.keys():
        raise Unsupported("_replace() of a field that there is none of")
    return Sequence([*{**items, **new}.values()], kind)


def _as_dict(recorder: Recorder, owner: Sequence) -> Value:
    kind: Any = owner.kind
    return Mapping(dict(zip(kind._fields, owner.items, strict=True)))


# Dicts -----------------------------------------------------------------------------------------------------------


def _get(recorder: Recorder, owner: Mapping, key: Value, default: Value = NONE) -> Value:
    return evaluated(owner.items.get, as_key(key), default)  # type: ignore[no-any-return]


def _pop_key(recorder: Recorder, owner: Mapping, key: Value, *default: Value) -> Value:
    return evaluated(owner.items.pop, as_key(key), *default)  # type: ignore[no-any-return]


def _pop_item(recorder: Recorder, owner: Mapping, last: Value = Constant(True)) -> Value:  # noqa: B008  # a constant
    if not known(last) and owner.items:
        key = next(iter(owner.items))
        item = owner.items.pop(key)
    else:
        key, item = evaluated(owner.items.popitem)
    return Sequence([made(key), item], tuple)


def _set_default(recorder: Recorder, owner: Mapping, key: Value, default: Value = NONE) -> Value:
    return evaluated(owner.items.setdefault, as_key(key), default)  # type: ignore[no-any-return]


def update(recorder: Recorder, owner: Mapping, other: Value | None = None, /, **named: Value) -> Value:
    """Add the items of another dict, or of pairs, to a dict."""
    if isinstance(other, Mapping):
        owner.items.update(other.items)
    elif other is not None:
        for pair in items_of(recorder, other):
            parts = list(items_of(recorder, pair))
            if len(parts) != 2:
                raise Unsupported(f"update() of a dict with {describe(pair)}")
            owner.items[evaluated(_hashed, as_key(parts[0]))] = parts[1]
    owner.items.update(named)
    return NONE


def _hashed(key: Any) -> Any:
    hash(key)
    return key


def _copy_of_dict(recorder: Recorder, owner: Mapping) -> Value:
    return Mapping(dict(owner.items), owner.kind, owner.factory)


def _keys(recorder: Recorder, owner: Mapping) -> Value:
    return View(owner, "keys")


def _values(recorder: Recorder, owner: Mapping) -> Value:
    return View(owner, "values")


def _items(recorder: Recorder, owner: Mapping) -> Value:
    return View(owner, "items")


def _has_key(recorder: Recorder, owner: Mapping, key: Value) -> Value:
    return Constant(evaluated(owner.items.__contains__, as_key(key)))


def _move_to_end(recorder: Recorder, owner: Mapping, key: Value, last: Value = Constant(True)) -> Value:  # noqa: B008  # a constant
    if owner.kind is dict:
        raise Unsupported("move_to_end() of a dict")
    item = evaluated(owner.items.pop, as_key(key))
    others = {} if known(last) else dict(owner.items)
    if not known(last):
        owner.items.clear()
    owner.items[as_key(key)] = item
    owner.items.update(others)
    return NONE


# Sets ------------------------------------------------------------------------------------------------------------


def _of_view(recorder: Recorder, owner: View, name: str, args: list[Value]) -> Value:
    if name == "__iter__":
        return Iterating(items_of(recorder, owner))
    if name == "__len__":
        return Constant(len(owner.owner.items))
    if name == "__contains__":
        return Constant(contains(recorder, owner, args[0]))
    raise Unsupported(f"{name} of a view of a dict")


def _of_set(recorder: Recorder, owner: Group, name: str, args: list[Value]) -> Value:
    if name == "__iter__":
        return Iterating(items_of(recorder, owner))
    if name not in READING_OF_SETS and name not in CHANGING_OF_SETS and name != "pop":
        raise Unsupported(f"{name}() of a set")
    if name not in READING_OF_SETS:
        recorder.effects.change(owner)
    single = name in ("add", "discard", "remove", "__contains__")
    given = [as_key(arg) if single else [as_key(item) for item in items_of(recorder, arg)] for arg in args]
    return made(evaluated(getattr(owner.items, name), *given))


OF_TUPLES: Final[dict[str, tuple[Method, bool]]] = {
    "index": (_index, False), "count": (_count, False), "__contains__": (_contains, False),
    "__len__": (_length, False), "__iter__": (_iterate, False), "__getitem__": (subscript, False),
    "__add__": (_add, False), "_replace": (_replace, False), "_asdict": (_as_dict, False),
}  # fmt: skip
OF_LISTS: Final[dict[str, tuple[Method, bool]]] = {
    **OF_TUPLES, "append": (_append, True), "extend": (_extend, True), "insert": (_insert, True), "pop": (_pop, True),
    "clear": (_clear, True), "reverse": (_reverse, True), "sort": (_sort, True), "remove": (_remove, True),
    "copy": (_copy_of_list, False), "__setitem__": (store_item, False), "__delitem__": (delete_item, False),
}  # fmt: skip
OF_DICTS: Final[dict[str, tuple[Method, bool]]] = {
    "get": (_get, False), "pop": (_pop_key, True), "popitem": (_pop_item, True), "setdefault": (_set_default, True),
    "update": (update, True), "copy": (_copy_of_dict, False), "keys": (_keys, False), "values": (_values, False),
    "items": (_items, False), "clear": (_clear, True), "__contains__": (_has_key, False), "__len__": (_length, False),
    "__iter__": (_iterate, False), "__getitem__": (subscript, False), "__setitem__": (store_item, False),
    "__delitem__": (delete_item, False), "move_to_end": (_move_to_end, True),
}  # fmt: skip

__all__ = ["container_method", "update"]
