"""Does every class have the path in a file that it has in torch?"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.serialization import names
from tests.serialization.exchange import saved

NEVER_SAVED = ("LinearCrossEntropyOptions", "UninitializedTensorMixin")  # an argument, and a base of classes
SPACES = ("nn", "optim", "optim.lr_scheduler", "nn.utils", "nn.parameter")


def classes(library: Any, space: str) -> dict[str, type]:
    """The classes of a public module."""
    for part in space.split("."):
        library = getattr(library, part)
    return {name: getattr(library, name) for name in dir(library) if isinstance(getattr(library, name), type)}


@pytest.mark.parametrize("space", SPACES)
def test_every_class_is_named_as_in_torch_and_found_by_that_name(require: Callable[[str], Any], space: str) -> None:
    ours, torchs = classes(glasstorch, space), classes(require("torch"), space)
    differ = {}
    for name in ours.keys() & torchs.keys():
        expected = torchs[name].__module__, torchs[name].__qualname__
        if expected[0].startswith("torch") and (
            names.written(ours[name]) != expected or names.found(*expected) is not ours[name]
        ):
            differ[name] = names.written(ours[name]), expected
    assert {name: places for name, places in differ.items() if name not in NEVER_SAVED} == {}


def test_every_public_function_of_nn_functional_is_found(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    for name in dir(torch.nn.functional):
        function = getattr(torch.nn.functional, name)
        ours = getattr(glasstorch.nn.functional, name, None)
        if callable(ours) and getattr(function, "__module__", "") == "torch.nn.functional" and not name.startswith("_"):
            assert names.found("torch.nn.functional", name) is ours


def test_what_torch_does_not_have_keeps_its_own_path() -> None:
    assert names.written(names.written) == ("glasstorch.serialization.names", "written")
    assert names.written(len) is None
    assert names.written(glasstorch.relu) == ("torch", "relu")


@pytest.mark.parametrize("place", [("torch.nn", "Nothing"), ("torch.nothing", "Linear"), ("torch", "nn.Nothing")])
def test_a_name_that_is_missing_is_said(place: tuple[str, str]) -> None:
    with pytest.raises(AttributeError, match=rf"the file names {place[0]}\.{place[1]}, which is not in glasstorch"):
        names.found(*place)


def test_the_path_before_1_7_is_known() -> None:
    assert names.found("torch.tensor", "Tensor") is glasstorch.Tensor


def test_types_of_storages_and_tensors(torch: Any) -> None:
    kind = torch.serialization.StorageType("FloatStorage")
    assert (str(kind), kind.dtype) == ("StorageType(dtype=torch.float32)", torch.float32)
    with pytest.raises(KeyError, match='pickle storage type "NoStorage" is not recognized'):
        torch.serialization.StorageType("NoStorage")
    assert torch.serialization.normalize_storage_type(torch.FloatStorage) is torch.FloatStorage
    assert torch.serialization.normalize_storage_type(torch.UntypedStorage) is torch.UntypedStorage


def test_the_type_of_tensors_of_a_storage() -> None:
    storage = glasstorch.TypedStorage(
        wrap_storage=glasstorch.ones(2).untyped_storage(), dtype=glasstorch.float32, _internal=True
    )
    assert glasstorch.serialization.storage_to_tensor_type(storage) is glasstorch.FloatTensor


def test_classes_of_a_program_are_pickled_as_they_are() -> None:
    file = saved(glasstorch, [Outer.Inner(), Outer])
    loaded = glasstorch.load(file, weights_only=False)
    assert (type(loaded[0]), loaded[1]) == (Outer.Inner, Outer)
    again = io.BytesIO()
    glasstorch.save(Outer.Inner(), again, pickle_protocol=4)
    assert type(glasstorch.load(io.BytesIO(again.getvalue()), weights_only=False)) is Outer.Inner


class Outer:
    """A class with a class in it."""

    class Inner:
        """The inner one."""
