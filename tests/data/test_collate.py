"""Do samples become the batches that PyTorch makes of them?"""

from __future__ import annotations

import collections
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import glasstorch
from glasstorch.data.collate import stacked_at_once
from tests.data.loaders import data_of, plain


class Point(NamedTuple):
    x: Any
    y: Any


class Tagged(dict[str, Any]):
    """A dict with an attribute of its own."""

    tag = "none"


class Fixed(collections.abc.Mapping[str, Any]):
    """A mapping that cannot be changed."""

    def __init__(self, values: Any) -> None:
        self.values_ = dict(values)

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __len__(self) -> int:
        return len(self.values_)

    def __iter__(self) -> Any:
        return iter(self.values_)


SAMPLES: dict[str, Callable[[Any], list[Any]]] = {
    "tensors": lambda torch: [torch.ones(2, 3), torch.zeros(2, 3)],
    "numbers of one tensor": lambda torch: [torch.tensor(1), torch.tensor(2)],
    "ints": lambda torch: [1, 2],
    "bools": lambda torch: [True, False],
    "floats": lambda torch: [1.5, 2.0],
    "texts": lambda torch: ["a", "b"],
    "bytes": lambda torch: [b"a", b"b"],
    "arrays": lambda torch: [np.ones(2, np.float32), np.zeros(2, np.float32)],
    "numbers of NumPy": lambda torch: [np.float32(1.5), np.float32(2)],
    "ints of NumPy": lambda torch: [np.int16(1), np.int16(2)],
    "bools of NumPy": lambda torch: [np.bool_(True), np.bool_(False)],
    "arrays of no dimension": lambda torch: [np.array(3.5), np.array(4.5)],
    "tuples": lambda torch: [(1, "a", 2.0), (3, "b", 4.0)],
    "lists": lambda torch: [[1, [2, 3]], [4, [5, 6]]],
    "dicts": lambda torch: [{"a": 1, "b": (2, 3)}, {"b": (4, 5), "a": 6}],
    "ordered": lambda torch: [collections.OrderedDict(b=1, a=2), collections.OrderedDict(b=3, a=4)],
    "named tuples": lambda torch: [Point(1, "a"), Point(2, "b")],
    "deques": lambda torch: [collections.deque([1, 2]), collections.deque([3, 4])],
    "ranges": lambda torch: [range(2), range(2, 4)],
    "tensors in dicts in lists": lambda torch: [[{"t": torch.ones(1)}], [{"t": torch.zeros(1)}]],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_batches_and_conversions_are_those_of_torch(name: str, require: Callable[[str], ModuleType]) -> None:
    torch, glasstorch = require("torch"), require("glasstorch")
    for function in ("default_collate", "default_convert"):
        found = [getattr(data_of(one), function)(SAMPLES[name](one)) for one in (torch, glasstorch)]
        assert plain(found[0]) == plain(found[1])
        assert type(found[0]) is type(found[1]) or hasattr(found[0], "tolist")


def test_containers_keep_what_is_their_own(torch: Any) -> None:
    data = data_of(torch)
    tagged = Tagged(a=1)
    tagged.tag = "mine"
    for batch in (data.default_collate([tagged, Tagged(a=2)]), data.default_convert(tagged)):
        assert (type(batch), batch.tag) == (Tagged, "mine")
    assert tagged == {"a": 1}
    assert type(data.default_collate([Fixed({"a": 1}), Fixed({"a": 2})])) is Fixed
    assert type(data.default_convert(Fixed({"a": 1}))) is Fixed
    assert type(data.default_collate([Point(1, 2)])) is Point
    assert type(data.default_convert((1, 2))) is list


REFUSED: dict[str, tuple[Callable[[Any], list[Any]], type[Exception], str]] = {
    "objects": (
        lambda torch: [object()],
        TypeError,
        "batch must contain tensors, numpy arrays, numbers, dicts or lists; ",
    ),
    "None": (lambda torch: [None], TypeError, "found <class 'NoneType'>"),
    "arrays of text": (lambda torch: [np.array(["a"])], TypeError, "found <U1"),
    "unequal": (lambda torch: [[1], [1, 2]], RuntimeError, "each element in list of batch should be of equal size"),
    "unequal tensors": (
        lambda torch: [torch.ones(1), torch.ones(2)],
        RuntimeError,
        "stack expects each tensor to be eq",
    ),
    "a key less": (lambda torch: [{"a": 1, "b": 1}, {"a": 1}], KeyError, "b"),
    "nothing": (lambda torch: [], IndexError, "list index out of range"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_collated_is_refused(torch: Any, name: str) -> None:
    samples, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        data_of(torch).default_collate(samples(torch))


def test_arrays_of_text_are_left_as_they_are(torch: Any) -> None:
    text, objects = np.array(["a"]), np.array([object()])
    convert = data_of(torch).default_convert
    assert convert(text) is text
    assert convert(objects) is objects
    assert convert("abc") == "abc"
    assert plain(convert(np.float64(2)))[2] == 2


def test_a_table_adds_types_of_its_own(torch: Any) -> None:
    module = data_of(torch)._utils.collate

    def pair(samples: list[Any], *, collate_fn_map: Any) -> Any:
        return "pairs", module.collate([one.x for one in samples], collate_fn_map=collate_fn_map)

    class Child(Point):
        __slots__ = ()

    table = {Point: pair, **module.default_collate_fn_map}
    assert plain(module.collate([Child(1, 2), Child(3, 4)], collate_fn_map=table)[1])[2] == [1, 3]
    with pytest.raises(TypeError, match="found <class 'int'>"):
        module.collate([1])
    module.default_collate_fn_map[Point] = pair
    try:
        assert data_of(torch).default_collate([Point(1, 2)])[0] == "pairs"
    finally:
        del module.default_collate_fn_map[Point]


PARTS: list[Callable[[], Any]] = [
    lambda: glasstorch.rand(3, 4),
    lambda: glasstorch.rand(4, 3).t(),
    lambda: glasstorch.rand(8)[::2],
    lambda: glasstorch.arange(3),
    lambda: glasstorch.rand(3) > 0.5,
    lambda: glasstorch.rand(3).bfloat16(),
    lambda: glasstorch.rand(3, dtype=glasstorch.complex64),
    lambda: glasstorch.rand(2, 0),
    lambda: glasstorch.rand(4).expand(2, 4),
    lambda: glasstorch.rand(()),
    lambda: glasstorch.arange(8)[3],
    lambda: glasstorch.tensor(True),
    lambda: glasstorch.rand(()).bfloat16(),
    lambda: glasstorch.rand(3, dtype=glasstorch.complex128)[1],
]


@pytest.mark.parametrize("make", PARTS)
def test_what_is_stacked_at_once_is_what_stack_returns(make: Callable[[], Any]) -> None:
    batch = [make() for _ in range(5)]
    fast, slow = stacked_at_once(batch), glasstorch.stack(batch, 0)
    assert fast is not None
    assert plain(fast) == plain(slow)
    assert (fast.stride(), fast.key_set, fast.is_leaf) == (slow.stride(), slow.key_set, slow.is_leaf)
    fast.zero_()
    assert plain(slow) == plain(glasstorch.stack(batch, 0))


def test_where_an_operator_must_be_called_it_is() -> None:
    x = glasstorch.rand(3)
    for batch in (
        [x, x.double()],
        [x, glasstorch.rand(4)],
        [x, glasstorch.nn.Parameter(x)],
        [x, x.clone().requires_grad_()],
        [x, x.clone().requires_grad_()[:]],
        [glasstorch.rand(2, dtype=glasstorch.complex64).conj()],
        [glasstorch.rand(5000)],
        [x.to("meta")],
    ):
        assert stacked_at_once(batch) is None
    with glasstorch.inference_mode():
        assert data_of(glasstorch).default_collate([x, x]).is_inference()
    traced = glasstorch.jit.trace(lambda x: data_of(glasstorch).default_collate([x, x]), (x,))
    assert traced(x + 1).tolist() == [(x + 1).tolist()] * 2
