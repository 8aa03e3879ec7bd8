"""Which types are containers of a tree, and how is each taken apart and put together again?

Mirrors: torch/utils/_pytree.py (register_pytree_node, register_dataclass, register_constant)
Differs: in Python alone; there is no second registry in C++ to keep equal.
"""

from __future__ import annotations

import dataclasses
import importlib
import threading
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, NamedTuple, TypeVar

from glasstorch.core.geometry import Size
from glasstorch.core.pytree_keys import GetAttrKey, MappingKey, SequenceKey
from glasstorch.core.return_types import NamedResults
from glasstorch.core.tuple_kinds import is_namedtuple_class

PyTree = Any
Context = Any  # what a container is rebuilt with, besides its children
DumpableContext = Any  # a context that JSON can hold
FlattenFn = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], PyTree]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]
FlattenWithKeysFn = Callable[[PyTree], tuple[list[tuple[Any, Any]], Context]]

NO_SERIALIZED_TYPE_NAME_FOUND: Final = "NO_SERIALIZED_TYPE_NAME_FOUND"
NAMED_TUPLE: Final[Any] = namedtuple  # noqa: PYI024  # under which PyTorch registers all classes of named tuples
T = TypeVar("T")


# The registry ---------------------------------------------------------------------------------------------------------


class NodeDef(NamedTuple):
    """How a type of containers is taken apart and put together again."""

    type: Any
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None


class SerializeNodeDef(NamedTuple):
    """How a type of containers, and its contexts, are written as JSON."""

    typ: Any
    serialized_type_name: str
    to_dumpable_context: ToDumpableContextFn | None
    from_dumpable_context: FromDumpableContextFn | None


SUPPORTED_NODES: Final[dict[Any, NodeDef]] = {}
SUPPORTED_SERIALIZED_TYPES: Final[dict[Any, SerializeNodeDef]] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: Final[dict[str, Any]] = {}
CONSTANT_NODES: Final[set[type]] = set()
_lock = threading.RLock()


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Make a type a container; ValueError if it is one already.

    `flatten_fn` gives the children and a context, from which `unflatten_fn` makes the container again.
    `flatten_with_keys_fn` gives pairs of a key and a child, which paths need. The others are for JSON.
    """
    with _lock:
        if cls in SUPPORTED_NODES:
            raise ValueError(f"{cls} is already registered as pytree node.")
        _register(
            cls,
            flatten_fn,
            unflatten_fn,
            serialized_type_name,
            to_dumpable_context,
            from_dumpable_context,
            flatten_with_keys_fn,
        )


def _register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    to_str_fn: Any = None,
    maybe_from_str_fn: Any = None,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """The old name of `register_pytree_node`, which replaces what was registered."""
    warnings.warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated. Please use "
        "`torch.utils._pytree.register_pytree_node` instead.",
        FutureWarning,
        stacklevel=2,
    )
    if to_str_fn is not None or maybe_from_str_fn is not None:
        warnings.warn(
            "`to_str_fn` and `maybe_from_str_fn` is deprecated. Please use `to_dumpable_context` and "
            "`from_dumpable_context` instead.",
            FutureWarning,
            stacklevel=2,
        )
    with _lock:
        if cls in SUPPORTED_NODES:
            warnings.warn(
                f"{cls} is already registered as pytree node. Overwriting the previous registration.", stacklevel=2
            )
        _register(
            cls,
            flatten_fn,
            unflatten_fn,
            serialized_type_name,
            to_dumpable_context,
            from_dumpable_context,
            flatten_with_keys_fn,
        )


def _register(
    cls: Any,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    name = serialized_type_name or NO_SERIALIZED_TYPE_NAME_FOUND
    with _lock:
        if cls in SUPPORTED_NODES:
            message = f"{cls} is already registered as pytree node. Overwriting the previous registration."
            warnings.warn(message, stacklevel=3)
        SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
        SUPPORTED_SERIALIZED_TYPES[cls] = SerializeNodeDef(cls, name, to_dumpable_context, from_dumpable_context)
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def _deregister_pytree_node(cls: type[Any]) -> None:
    """Make a type a leaf again. KeyError if it is no container."""
    with _lock:
        del SUPPORTED_NODES[cls]
        del SERIALIZED_TYPE_TO_PYTHON_TYPE[SUPPORTED_SERIALIZED_TYPES.pop(cls).serialized_type_name]
        CONSTANT_NODES.discard(cls)


def node_type(tree: PyTree) -> Any:
    """The type under which a container is registered: `namedtuple` for all named tuples."""
    kind = type(tree)
    if kind in PLAIN:
        return kind
    return NAMED_TUPLE if is_namedtuple_class(kind) else kind


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a dataclass a container of its fields, or another class whose constructor takes `field_names`.

    Fields that are None are no children. Those of a dataclass that are left out must be in `drop_field_names`.
    """
    if dataclasses.is_dataclass(cls):
        own = [field.name for field in dataclasses.fields(cls) if field.init]
        if field_names is not None:
            _check_fields(set(own) - set(drop_field_names or ()), set(field_names))
    elif field_names is None:
        raise ValueError(
            f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a "
            f"dataclass."
        )
    names = own if field_names is None else field_names

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        values = {name: getattr(obj, name) for name in names}
        present = [name for name in names if values[name] is not None]
        return [values[name] for name in present], [present, [name for name in names if values[name] is None]]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        present, missing = context
        return cls(**dict(zip(present, values, strict=True)), **dict.fromkeys(missing))

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[Any, Any]], Context]:
        values, (present, _) = flatten(obj)
        return list(zip(map(GetAttrKey, present), values, strict=True)), present

    _register(cls, flatten, unflatten, serialized_type_name, flatten_with_keys_fn=flatten_with_keys)


def _check_fields(expected: set[str], given: set[str]) -> None:
    """Refuse names that are not those of a dataclass's fields."""
    message = ""
    if missing := expected - given:
        message += (
            f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, please "
            f"add them to `field_names`, otherwise please add them to `drop_field_names`.\n"
        )
    if unexpected := given - expected:
        message += (
            f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, or add them to "
            f"`drop_field_names`.\n"
        )
    if message:
        raise ValueError(f"field_names does not include all dataclass fields.\n{message}")


@dataclasses.dataclass(frozen=True, slots=True)
class ConstantNode(Generic[T]):
    """The context of a constant: the object itself."""

    value: T


def register_constant(cls: type[Any]) -> None:
    """Make a type a container without children: its instances are part of a tree's structure.

    The type must compare and hash by value.
    """
    for method, absent in (("__eq__", object.__eq__), ("__hash__", None)):
        if getattr(cls, method) is absent:
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `{method}` implementation.")

    def flatten(constant: Any) -> tuple[list[Any], Context]:
        return [], ConstantNode(constant)

    with _lock:
        _register(cls, flatten, lambda _, context: context.value, flatten_with_keys_fn=flatten)
        CONSTANT_NODES.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Whether a type was registered by `register_constant`."""
    return cls in CONSTANT_NODES


# Python's own containers ----------------------------------------------------------------------------------------------


def _sequence_keys(values: Iterable[Any]) -> Iterator[SequenceKey[Any]]:
    return map(SequenceKey, range(len(list(values))))


def _with_keys(flatten: FlattenFn, keys: Callable[[Any], Iterable[Any]]) -> FlattenWithKeysFn:
    """A way to take a container apart with keys, from one without and one to list the keys of its children."""

    def flatten_with_keys(tree: PyTree) -> tuple[list[tuple[Any, Any]], Context]:
        values, context = flatten(tree)
        return list(zip(keys(tree), values, strict=True)), context

    return flatten_with_keys


def _name_of_namedtuple(cls: Any) -> str:
    known = SUPPORTED_SERIALIZED_TYPES.get(cls)
    if known is None or known.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a serializated_type_name. "
            f"Please register using `_register_namedtuple`."
        )
    return known.serialized_type_name


def _namedtuple_of_name(name: str) -> Any:
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a serializated name."
        )
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[name]


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Give a class of named tuples a name, by which it is written as JSON."""
    flatten, unflatten, keys, dump, load = _BUILTIN[NAMED_TUPLE]
    _register(cls, flatten, unflatten, serialized_type_name, dump, load, _with_keys(flatten, keys))


def _dumped_default(context: Context) -> DumpableContext:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _loaded_default(dumped: DumpableContext) -> Context:
    module = importlib.import_module(dumped["default_factory_module"])
    return [getattr(module, dumped["default_factory_name"]), dumped["dict_context"]]


Row = tuple[FlattenFn, UnflattenFn, Callable[[Any], Iterable[Any]], Any, Any]
_BUILTIN: Final[dict[Any, Row]] = {  # how it is taken apart, put together; the keys; how its context is written, read
    tuple: (lambda x: (list(x), None), lambda values, _: tuple(values), _sequence_keys, None, None),
    list: (lambda x: (x, None), lambda values, _: list(values), _sequence_keys, None, None),
    dict: (
        lambda x: (list(x.values()), list(x)),
        lambda values, keys: dict(zip(keys, values, strict=True)),
        lambda x: map(MappingKey, x),
        None,
        None,
    ),
    NAMED_TUPLE: (
        lambda x: (list(x), type(x)),
        lambda values, cls: cls(*values),
        lambda x: map(GetAttrKey, x._fields),
        _name_of_namedtuple,
        _namedtuple_of_name,
    ),
    OrderedDict: (
        lambda x: (list(x.values()), list(x)),
        lambda values, keys: OrderedDict(zip(keys, values, strict=True)),
        lambda x: map(MappingKey, x),
        None,
        None,
    ),
    defaultdict: (
        lambda x: (list(x.values()), [x.default_factory, list(x)]),
        lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
        lambda x: map(MappingKey, x),
        _dumped_default,
        _loaded_default,
    ),
    deque: (
        lambda x: (list(x), x.maxlen),
        lambda values, maxlen: deque(values, maxlen=maxlen),
        _sequence_keys,
        None,
        None,
    ),
}
BUILTIN_TYPES: Final = frozenset(_BUILTIN)
STANDARD_DICT_TYPES: Final = frozenset((dict, OrderedDict, defaultdict))
PLAIN: Final = frozenset((tuple, list, dict, int, float, str, bool, type(None)))  # no named tuples, for certain


def _register_builtin_types() -> None:
    for kind, (flatten, unflatten, keys, dump, load) in _BUILTIN.items():
        module = "builtins" if kind in (tuple, list, dict) else "collections"
        name = f"{module}.{kind.__name__}"
        _register(kind, flatten, unflatten, name, dump, load, _with_keys(flatten, keys))
    _register_sequence(Size, tuple, "torch.Size")  # as in PyTorch: the leaves may have become what no size is
    results: list[type[Any]] = NamedResults.__subclasses__()
    for result in results:
        _register_sequence(result, result)


def _register_sequence(cls: type[Any], unflattened: type[Any], name: str | None = None) -> None:
    """Make a class of tuples a container; `unflattened` is called with all elements at once."""
    _register(
        cls,
        lambda x: (list(x), None),
        lambda values, _: unflattened(values),
        name,
        flatten_with_keys_fn=_with_keys(lambda x: (list(x), None), _sequence_keys),
    )


_register_builtin_types()
