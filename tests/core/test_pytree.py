"""Are trees taken apart, mapped and printed as PyTorch's module does?"""

from __future__ import annotations

import copy
import importlib
import pickle
import time
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType
from typing import Any, NamedTuple

import pytest


class Point(NamedTuple):
    x: Any
    y: Any


class Colour(Enum):
    RED = 1


@dataclass
class Pair:
    one: Any
    two: Any = None
    made: int = field(init=False, default=3)


@dataclass(frozen=True)
class Setting:
    name: str


class Own:
    """A container of the tests."""

    def __init__(self, *children: Any, note: Any = None) -> None:
        self.children = list(children)
        self.note = note


TREES: list[Any] = [
    3,
    None,
    [],
    (),
    {},
    [1, [2, (3,)], None],
    (1, {"b": 2, "a": (3, 4)}),
    Point(1, [2]),
    OrderedDict(z=1, a=2),
    defaultdict(list, a=[1], b=2),
    deque([1, 2], 3),
    {"a": [1, (2, 3)], "b": None, "c": OrderedDict(x=1), "d": [Point(1, 2), {}]},
    {1, 2},
    "text",
]


@pytest.fixture
def pytree(torch: Any) -> Any:
    """`torch.utils._pytree` of either library."""
    return importlib.import_module(f"{torch.__name__}.utils._pytree")


@pytest.fixture
def own(pytree: Any) -> Any:
    """A type that is registered while a test runs, in either library."""
    pytree.register_pytree_node(
        Own,
        lambda one: (one.children, one.note),
        lambda children, note: Own(*children, note=note),
        serialized_type_name="tests.Own",
    )
    yield Own
    pytree._deregister_pytree_node(Own)


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_a_tree_is_its_leaves_and_its_structure(tree: Any, require: Callable[[str], ModuleType]) -> None:
    found = []
    for name in ("torch", "glasstorch"):
        require(name)
        module = importlib.import_module(f"{name}.utils._pytree")
        leaves, spec = module.tree_flatten(tree)
        rebuilt = spec.unflatten(leaves)
        assert rebuilt == tree
        assert type(rebuilt) is type(tree)
        assert list(module.tree_iter(tree)) == module.tree_leaves(tree) == leaves
        assert module.tree_is_leaf(tree) == spec.is_leaf()
        numbers = (spec.num_nodes, spec.num_leaves, spec.num_children, len(spec.children()))
        paths = [(module.keystr(path), leaf) for path, leaf in module.tree_leaves_with_path(tree)]
        assert all(module.key_get(tree, path) == leaf for path, leaf in module.tree_leaves_with_path(tree))
        found.append((leaves, str(spec), repr(spec), numbers, paths, module.treespec_pprint(spec)))
    assert found[0] == found[1]


def test_structures_are_written_alike(require: Callable[[str], ModuleType]) -> None:
    require("torch"), require("glasstorch")
    theirs, ours = (importlib.import_module(f"{name}.utils._pytree") for name in ("torch", "glasstorch"))
    for tree in TREES:
        if "Point" not in repr(tree):
            text = theirs.treespec_dumps(theirs.tree_structure(tree))
            assert ours.treespec_dumps(ours.tree_structure(tree)) == text
            assert ours.treespec_loads(text) == ours.tree_structure(tree)
    assert repr(ours.tree_leaves_with_path([{"a": Point(1, 2)}])) == repr(
        theirs.tree_leaves_with_path([{"a": Point(1, 2)}])
    )


def test_specs_compare_hash_and_stay(pytree: Any) -> None:
    spec = pytree.tree_structure({"a": [1, 2], "b": defaultdict(int, c=1), "d": OrderedDict(e=1)})
    same = pytree.tree_structure({"a": [5, 6], "b": defaultdict(int, c=5), "d": OrderedDict(e=5)})
    assert spec == same
    assert hash(spec) == hash(same)
    assert spec != pytree.tree_structure({"a": (1, 2)})
    assert spec != 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch's own copies of leaves are of the old class
        assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    with pytest.raises(AttributeError):
        spec.num_leaves = 3
    assert (spec.context, spec.child(0).type, [child.num_leaves for child in spec.children()]) == (
        ["a", "b", "d"],
        list,
        [2, 1, 1],
    )
    with pytest.warns(FutureWarning, match="`treespec.children_specs` is deprecated"):
        assert len(spec.children_specs) == 3
    with pytest.warns(FutureWarning, match=r"`isinstance\(treespec, LeafSpec\)` is deprecated"):
        assert pytree.LeafSpec() == pytree.tree_structure(1)


def test_a_function_is_mapped_over_leaves(pytree: Any) -> None:
    assert pytree.tree_map(lambda x: x + 1, {"x": 7, "y": (42, [64])}) == {"x": 8, "y": (43, [65])}
    assert pytree.tree_map(lambda x, y: [x, *y], [5, 6], [[7, 9], [1, 2]]) == [[5, 7, 9], [6, 1, 2]]
    assert pytree.tree_map(type, [(1,), 2], is_leaf=lambda x: isinstance(x, tuple)) == [tuple, int]
    seen: list[Any] = []
    tree = (1, [2])
    assert pytree.tree_map_(lambda x, y: seen.append((x, y)), tree, (3, [4])) is tree
    assert seen == [(1, 3), (2, 4)]
    assert pytree.tree_map_with_path(lambda path, x, y: (pytree.keystr(path), x + y), {"a": [1]}, {"a": [5]}) == {
        "a": [("['a'][0]", 6)]
    }
    named = pytree.tree_map(lambda x: -x, Point(1, Point(2, 3)))
    assert named == Point(-1, Point(-2, -3))


def test_only_some_leaves_are_mapped(pytree: Any) -> None:
    tree = [1, "a", (2.5, None)]
    assert pytree.tree_map_only(int, lambda x: -x, tree) == [-1, "a", (2.5, None)]
    assert pytree.tree_map_only((int, float), lambda x: -x, tree) == [-1, "a", (-2.5, None)]
    assert pytree.tree_map_only(int | float, lambda x: -x, tree) == [-1, "a", (-2.5, None)]
    assert pytree.tree_map_only(lambda x: x is None, lambda x: 0, tree) == [1, "a", (2.5, 0)]
    seen: list[Any] = []
    assert pytree.tree_map_only_(str, seen.append, tree) is tree
    assert seen == ["a"]
    with pytest.raises(TypeError, match="Argument must be a type, a tuple of types, or a callable"):
        pytree.tree_map_only(3, str, tree)
    assert pytree.tree_all(lambda x: x is not Ellipsis, tree)
    assert pytree.tree_any(lambda x: x is None, tree)
    assert pytree.tree_all_only(int, lambda x: x == 1, tree)
    assert not pytree.tree_any_only((int, float), lambda x: x > 3, tree)


MISMATCHES: list[tuple[Any, Any, str]] = [
    ([1, 2], (1, 2), r"Node type mismatch; expected <class 'list'>, but got <class 'tuple'>"),
    ([1, 2], [1], "Node arity mismatch; expected 2, but got 1"),
    ({"a": 1, "b": 2}, {"a": 1, "c": 2}, r"Node keys mismatch; missing key\(s\): {'b'}; extra key\(s\): {'c'}"),
    ({"a": 1}, [1], r"Node type mismatch"),
    (Point(1, 2), (1, 2), r"Node type mismatch; expected <function namedtuple"),
    (Point(1, 2), NamedTuple("Other", [("x", int), ("y", int)])(1, 2), "Node context mismatch for node type"),
]


@pytest.mark.parametrize(("tree", "other", "message"), MISMATCHES)
def test_trees_of_other_structure_are_refused(pytree: Any, tree: Any, other: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pytree.tree_map(lambda x, y: x, tree, other)


def test_dicts_of_all_types_and_deques_of_all_lengths_are_alike(pytree: Any) -> None:
    mapped = pytree.tree_map(lambda x, y: x + y, {"a": 1, "b": 2}, OrderedDict(b=20, a=10))
    assert mapped == {"a": 11, "b": 22}
    assert pytree.tree_map(lambda x, y: x + y, defaultdict(int, a=1), {"a": 2}) == {"a": 3}
    assert pytree.tree_map(lambda x, y: x + y, deque([1], 5), deque([2])) == deque([3])


def test_leaves_must_be_as_many_as_the_structure_holds(pytree: Any) -> None:
    spec = pytree.tree_structure([1, (2,)])
    with pytest.raises(
        ValueError, match=r"`leaves` has length 3 but the spec refers to a pytree that holds 2 items \(Tr"
    ):
        spec.unflatten([1, 2, 3])
    assert pytree.tree_unflatten(iter("ab"), spec) == pytree.tree_unflatten(spec, "ab") == ["a", ("b",)]
    with pytest.raises(
        TypeError, match="Expected `treespec` to be an instance of PyTreeSpec but got item of type <class 'int"
    ):
        pytree.tree_unflatten([1], 3)


def test_a_type_of_the_program_becomes_a_container(pytree: Any, own: Any) -> None:
    tree = [Own(1, Own(2), note=["note"])]
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2]
    rebuilt = pytree.tree_map(str, tree)[0]
    assert (rebuilt.children[0], rebuilt.children[1].children, rebuilt.note) == ("1", ["2"], ["note"])
    assert hash(spec) == hash(pytree.tree_structure(tree))
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    with pytest.raises(ValueError, match="is already registered as pytree node"):
        pytree.register_pytree_node(Own, lambda x: ([], None), lambda values, context: Own())
    with pytest.raises(ValueError, match=r"Did not find a flatten_with_keys_fn for type: .*Own"):
        pytree.tree_leaves_with_path(tree)
    for other, message in (
        ([3], "Type mismatch"),
        ([Own(1)], "arity"),
        ([Own(1, Own(2))], "context mismatch for custom"),
    ):
        with pytest.raises(ValueError, match=message):
            pytree.tree_map(lambda x, y: x, tree, other)


def test_a_type_without_a_name_for_it_is_not_written(pytree: Any) -> None:
    class Nameless:
        pass

    pytree.register_pytree_node(Nameless, lambda x: ([], None), lambda values, context: Nameless())
    with pytest.raises(NotImplementedError, match="No registered serialization name for"):
        pytree.treespec_dumps(pytree.tree_structure(Nameless()))
    pytree._deregister_pytree_node(Nameless)
    with pytest.raises(NotImplementedError, match="Can't serialize TreeSpec of namedtuple class"):
        pytree.treespec_dumps(pytree.tree_structure(Point(1, 2)))
    with pytest.raises(NotImplementedError, match=r"Deserializing tests.Gone in pytree is not registered"):
        pytree.treespec_loads('[1, {"type": "tests.Gone", "context": "null", "children_spec": []}]')
    with pytest.raises(ValueError, match="Unknown protocol 9"):
        pytree.treespec_dumps(pytree.tree_structure(1), 9)
    with pytest.raises(ValueError, match=r"Both to_dumpable_context and from_dumpable_context for"):
        pytree.register_pytree_node(
            Nameless, lambda x: ([], None), lambda values, context: Nameless(), to_dumpable_context=str
        )
    pytree.SUPPORTED_NODES.pop(Nameless, None)


def test_a_named_tuple_and_a_member_of_an_enumeration_can_be_written(pytree: Any, own: Any) -> None:
    class Named(NamedTuple):
        x: int

    pytree._register_namedtuple(Named, serialized_type_name="tests.Named")
    spec = pytree.tree_structure([Named(1)])
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    pytree._deregister_pytree_node(Named)
    spec = pytree.tree_structure(Own(1, note=Colour.RED))
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)).context is Colour.RED
    with pytest.raises(TypeError, match=r"Unable to serialize context. Please make the context json dump-able"):
        pytree.treespec_dumps(pytree.tree_structure(Own(1, note=object())))


def test_dataclasses_are_containers_of_their_fields(pytree: Any) -> None:
    pytree.register_dataclass(Pair)
    leaves, spec = pytree.tree_flatten(Pair(1))
    assert leaves == [1]
    assert spec.unflatten([5]) == Pair(5)
    assert pytree.tree_map(lambda x: -x, Pair([1], 2)) == Pair([-1], -2)
    assert pytree.keystr(pytree.tree_leaves_with_path(Pair([1]))[0][0]) == ".one[0]"
    pytree._deregister_pytree_node(Pair)
    with pytest.raises(ValueError, match=r"Missing fields in `field_names`: {'two'}"):
        pytree.register_dataclass(Pair, field_names=["one"])
    with pytest.raises(ValueError, match=r"Unexpected fields in `field_names`: {'three'}"):
        pytree.register_dataclass(Pair, field_names=["one", "two", "three"])
    pytree.register_dataclass(Pair, field_names=["one"], drop_field_names=["two"])
    assert pytree.tree_leaves(Pair(1, 2)) == [1]
    pytree._deregister_pytree_node(Pair)
    with pytest.raises(ValueError, match="field_names must be specified with a list of all fields"):
        pytree.register_dataclass(Own)


def test_constants_are_part_of_the_structure(pytree: Any) -> None:
    pytree.register_constant(Setting)
    leaves, spec = pytree.tree_flatten([Setting("a"), 1])
    assert (leaves, spec.unflatten([2])) == ([1], [Setting("a"), 2])
    assert spec != pytree.tree_structure([Setting("b"), 1])
    assert hash(spec) == hash(pytree.tree_structure([Setting("a"), 1]))
    assert pytree.is_constant_class(Setting)
    pytree._deregister_pytree_node(Setting)
    assert not pytree.is_constant_class(Setting)
    with pytest.raises(TypeError, match="non-default `__eq__`"):
        pytree.register_constant(Own)
    with pytest.raises(TypeError, match="non-default `__hash__`"):
        pytree.register_constant(Pair)


def test_named_tuples_and_struct_sequences_are_told_apart(pytree: Any) -> None:
    now = time.localtime()
    for value, named, struct in (
        (Point(1, 2), True, False),
        (now, False, True),
        ((1, 2), False, False),
        (3, False, False),
    ):
        assert pytree.is_namedtuple(value) == pytree.is_namedtuple(type(value)) == named
        assert pytree.is_namedtuple_instance(value) == pytree.is_namedtuple_class(type(value)) == named
        assert pytree.is_structseq(value) == pytree.is_structseq(type(value)) == struct
        assert pytree.is_structseq_instance(value) == pytree.is_structseq_class(type(value)) == struct
    assert pytree.tree_leaves(now) == [now]


def test_what_operators_return_is_a_container(torch: Any, pytree: Any) -> None:
    result = torch.ones(2, 3).max(0)
    leaves, spec = pytree.tree_flatten(result)
    assert [leaf.tolist() for leaf in leaves] == [[1, 1, 1], [0, 0, 0]]
    rebuilt = pytree.tree_map(lambda x: x + 1, result)
    assert type(rebuilt) is type(result)
    assert rebuilt.values.tolist() == [2, 2, 2]
    assert (spec.type, spec.num_leaves) == (type(result), 2)


def test_a_size_comes_back_as_a_plain_tuple(torch: Any, pytree: Any) -> None:
    mapped = pytree.tree_map(lambda x: 2 * x, {"shape": torch.Size([2, 3])})
    assert (mapped, type(mapped["shape"])) == ({"shape": (4, 6)}, tuple)


def test_a_smaller_tree_is_spread_over_a_larger_structure(pytree: Any) -> None:
    spec = pytree.tree_structure(([5, 5], {"a": 5}))
    assert pytree._broadcast_to_and_flatten(7, spec) == [7, 7, 7]
    assert pytree._broadcast_to_and_flatten((1, 2), spec) == [1, 1, 2]
    assert pytree._broadcast_to_and_flatten((1, (2,)), spec) is None
    assert pytree.treespec_tuple([pytree.treespec_leaf()]) == pytree.tree_structure((1,))
    assert pytree.treespec_dict(a=pytree.treespec_leaf()) == pytree.tree_structure({"a": 1})
    for make in (pytree.treespec_tuple, lambda values: pytree.treespec_dict(a=values[0])):
        with pytest.raises(ValueError, match="of TreeSpec values, got"):
            make([3])
    assert pytree.arg_tree_leaves([1], 2, a=(3,)) == [1, 2, 3]
