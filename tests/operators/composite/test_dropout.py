"""Does dropout draw the elements that PyTorch draws?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]

FUNCTIONS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout")
SHAPES = ((7, 5), (3, 4, 5), (2, 3, 4, 5), (2, 3, 2, 3, 2))
DTYPES = ("float32", "float64", "float16", "bfloat16")
NUMBERS = np.random.default_rng(0)


def tensor(library: Any, array: Any, dtype: str, transposed: bool = False) -> Any:
    made = library.tensor(array.tolist()).to(getattr(library, dtype))
    return made.transpose(0, -1) if transposed else made


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_elements_are_dropped(name: str, dtype: str, in_place: bool, require: Require) -> None:
    torch = require("torch")
    for shape in SHAPES:
        if name == "dropout1d" and len(shape) > 3:
            continue
        array = NUMBERS.standard_normal(shape)
        for transposed in (False, True):
            results = []
            for library in (glasstorch, torch):
                x = tensor(library, array, dtype, transposed)
                library.manual_seed(5)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of dropout for images, about other sizes
                    made = getattr(library.nn.functional, name)(x, 0.3, training=True, inplace=in_place)
                assert made is x or not in_place or name.endswith(("1d", "2d", "3d"))
                results.append((made.to(library.float64).tolist(), library.rand(3).tolist()))
            assert results[0] == results[1], (shape, transposed)


@pytest.mark.parametrize("train", [True, False, None])
@pytest.mark.parametrize("p", [0.0, 0.4, 1.0])
def test_native_dropout_gives_pytorchs_mask_and_gradient(p: float, train: bool | None, require: Require) -> None:
    array, found = NUMBERS.standard_normal((4, 6)), []
    for library in (glasstorch, require("torch")):
        x = tensor(library, array, "float32").requires_grad_()
        library.manual_seed(1)
        result, mask = library.native_dropout(x, p, train)
        result.sum().backward()
        found.append((result.tolist(), mask.tolist(), x.grad.tolist(), result is x))
    assert found[0] == found[1]


def test_an_empty_input_is_its_own_result() -> None:
    x = glasstorch.empty(0, 3)
    assert glasstorch.dropout(x, 0.5, True) is x
    result, mask = glasstorch.native_dropout(x, 0.5, True)
    assert result.shape == mask.shape == x.shape
    assert mask.dtype is glasstorch.float32


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.dropout(t.ones(2), 1.5, True),
        lambda t: t.feature_dropout(t.ones(2), 0.5, True),
        lambda t: t.dropout(t.ones(2, dtype=t.int64), 0.5, True),
        lambda t: t.nn.functional.dropout(t.ones(2), -0.1),
        lambda t: t.nn.functional.dropout1d(t.ones(2)),
        lambda t: t.nn.functional.dropout1d(t.ones(2, 2, 2, 2)),
        lambda t: t.nn.functional.feature_alpha_dropout(t.ones(2), 0.5, True),
    ],
)
def test_refusals_are_pytorchs(call: Callable[[Any], Any], require: Require) -> None:
    same_refusal(require("torch"), call)


@pytest.mark.parametrize(("name", "dims"), [("dropout2d", 3), ("dropout2d", 5), ("dropout3d", 3)])
def test_other_sizes_are_accepted_with_pytorchs_warning(name: str, dims: int, require: Require) -> None:
    told = []
    for library in (glasstorch, require("torch")):
        with pytest.warns(UserWarning, match=name) as caught:
            getattr(library.nn.functional, name)(library.ones(*[2] * dims))
        told.append([str(warning.message) for warning in caught])
    assert told[0] == told[1]
