"""Are medians, modes and the largest elements PyTorch's, with NaN, nothing, numbers and refusals?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN = float("nan")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int64")
RANDOM = np.random.default_rng(11)


def both(require: Require, make: Callable[[Any], Any]) -> tuple[Any, Any]:
    return make(glasstorch), make(require("torch"))


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize(
    "data", [[NAN, 1.0, NAN, 3.0], [NAN, NAN], [3.0, 1.0, 2.0, 0.0], [[1.0, NAN], [NAN, NAN]], 5.0], ids=str
)
def test_missing_numbers_win_or_are_passed_by(require: Require, name: str, data: Any) -> None:
    for dim in ((), (0,), (-1, True)):
        ours, theirs = both(require, lambda t, dim=dim: getattr(t, name)(t.tensor(data), *dim))
        for a, b in zip(ours, theirs, strict=True) if dim else [(ours, theirs)]:
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("dtype", ["float32", "int64", "int32", "uint8", "int8", "bool"])
def test_of_nothing(require: Require, dtype: str) -> None:
    for name in ("median", "nanmedian"):
        ours, theirs = both(require, lambda t, name=name: getattr(t, name)(t.empty(0, dtype=getattr(t, dtype))))
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    for name, arguments in (("median", (1,)), ("mode", ()), ("kthvalue", (1,)), ("topk", (2,))):
        ours, theirs = both(require, lambda t, n=name, a=arguments: getattr(t, n)(t.empty(0, 3), *a))
        assert [tuple(r.shape) for r in ours] == [tuple(r.shape) for r in theirs]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("topk", (400, -1)), ("topk", (40, 0, False)), ("topk", (3, -1, True, False)), ("kthvalue", (700,)),
     ("median", (-1,)), ("mode", (0,))],
)  # fmt: skip
def test_large_tensors(require: Require, dtype: str, name: str, arguments: Any) -> None:
    data = np.round(RANDOM.normal(size=(60, 3000)) * 30)
    torch = require("torch")
    x, y = (library.from_numpy(data).to(getattr(library, dtype)) for library in (glasstorch, torch))
    values, places = getattr(glasstorch, name)(x, *arguments)
    wanted = getattr(torch, name)(y, *arguments)[0].double().numpy()
    found = values.to(glasstorch.float64).numpy()
    if arguments[-1] is False and len(arguments) == 4:  # in no order
        found, wanted = np.sort(found), np.sort(wanted)
    np.testing.assert_array_equal(found, wanted)
    dim = arguments[1] if name != "kthvalue" and len(arguments) > 1 else arguments[0] if name != "kthvalue" else -1
    at = places if name == "topk" else places.unsqueeze(dim)
    held = x.gather(dim, at).to(glasstorch.float64).numpy()
    np.testing.assert_array_equal(held.reshape(values.shape), values.to(glasstorch.float64).numpy())


@pytest.mark.parametrize("largest", [False, True])
def test_missing_numbers_are_the_largest_of_many(require: Require, largest: bool) -> None:
    data = RANDOM.normal(size=(4, 3000))
    data[:, 5::700], data[1] = NAN, NAN
    ours, theirs = both(require, lambda t: t.from_numpy(data).topk(9, largest=largest))
    np.testing.assert_array_equal(ours.values.numpy(), theirs.values.numpy())
    assert ours.indices[0].tolist()[5:] == theirs.indices[0].tolist()[5:]


def test_nothing_is_shared_with_a_number() -> None:
    x = glasstorch.tensor(3.0)
    for name, arguments in (("topk", (1,)), ("kthvalue", (1,)), ("mode", ()), ("median", (0,))):
        values = getattr(glasstorch, name)(x, *arguments)[0]
        values += 1
        assert x.item() == 3


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.ones(2, 3).topk(4),
        lambda t: t.ones(2, 3).topk(-1),
        lambda t: t.ones(2, 3).topk(1, 5),
        lambda t: t.ones(2, 3).bool().topk(1),
        lambda t: t.ones(2, 3, dtype=t.complex64).topk(1),
        lambda t: t.ones(2, 3, dtype=t.uint16).topk(1),
        lambda t: t.topk(t.ones(2, 3), 1, out=(t.empty(2, 1).double(), t.empty(2, 1).long())),
        lambda t: t.ones(2, 3).kthvalue(4),
        lambda t: t.ones(2, 0).kthvalue(1),
        lambda t: t.ones(2, 3).bool().kthvalue(1),
        lambda t: t.kthvalue(t.ones(2, 3), 1, out=(t.empty(2).double(), t.empty(2).long())),
        lambda t: t.kthvalue(t.ones(2, 3), 1, out=(t.empty(2), t.empty(2).int())),
        lambda t: t.ones(2, 3).bool().median(),
        lambda t: t.ones(2, 0).median(1),
        lambda t: t.ones(2, 3, dtype=t.complex64).median(1),
        lambda t: t.median(t.ones(2, 3), 1, out=(t.empty(2).double(), t.empty(2).long())),
        lambda t: t.median(t.ones(2, 3), 1, out=(t.empty(2), t.empty(2).int())),
        lambda t: t.ones(2, 0).mode(),
        lambda t: t.ones(2, 3, dtype=t.complex64).mode(),
        lambda t: t.mode(t.ones(2, 3), 1, out=(t.empty(2).double(), t.empty(2).long())),
        lambda t: t.mode(t.ones(2, 3), 1, out=(t.empty(2), t.empty(2).int())),
    ],
)
def test_a_refusal_has_pytorchs_class_and_begins_with_its_words(require: Require, ask: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), ask, more=True)


def test_a_refusal_says_what_is_accepted() -> None:
    with pytest.raises(RuntimeError, match=r"expected 0 to 3 along dimension 1, got 4"):
        glasstorch.ones(2, 3).topk(4)
    with pytest.raises(RuntimeError, match=r"expected 1 to 3, got 0"):
        glasstorch.ones(2, 3).kthvalue(0)
