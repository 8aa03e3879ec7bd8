"""Has the namespace every function and attribute of array-api-strict, with the same signature?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import array_api_strict
import pytest

import glasstorch
import glasstorch.array_api

# How array-api-strict itself is set up; no part of the standard.
ITS_OWN = {
    "ArrayAPIStrictFlags",
    "__version__",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}
NAMESPACES = {
    "": (array_api_strict, glasstorch.array_api),
    "linalg.": (array_api_strict.linalg, glasstorch.array_api.linalg),
    "fft.": (array_api_strict.fft, glasstorch.array_api.fft),
}
LATER = [("linalg.", "eig"), ("linalg.", "eigvals")]  # of a later edition, and in no list
NAMES = LATER + [
    (prefix, name) for prefix, (theirs, _) in NAMESPACES.items() for name in theirs.__all__ if name not in ITS_OWN
]
DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
]


def of_both(prefix: str, name: str) -> tuple[Any, Any]:
    theirs, ours = NAMESPACES[prefix]
    return getattr(theirs, name), getattr(ours, name)


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Name, kind and default; a default that only stands for "not given" counts as None, which says the same."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, None if type(p.default).__name__ == "Undef" else p.default) for p in found]


def test_the_extensions_are_there() -> None:
    assert isinstance(glasstorch.array_api.linalg, ModuleType)
    assert isinstance(glasstorch.array_api.fft, ModuleType)


@pytest.mark.parametrize(("prefix", "name"), NAMES, ids=lambda part: part or None)
def test_a_function_has_the_same_signature_and_is_documented(prefix: str, name: str) -> None:
    theirs, ours = of_both(prefix, name)
    if not callable(theirs) or inspect.isclass(theirs) or name in DTYPES:
        return  # the tests below look at these
    assert parameters(ours) == parameters(theirs)
    assert ours.__doc__
    assert ours.__name__ == name


def test_every_name_that_is_not_a_function_is_a_dtype_a_constant_an_extension_or_a_class() -> None:
    others = {name for prefix, name in NAMES if not prefix and not inspect.isfunction(getattr(array_api_strict, name))}
    constants = {"e", "inf", "nan", "newaxis", "pi"}
    assert others <= constants | {
        *DTYPES,
        "Device",
        "__array_api_version__",
        "__array_namespace_info__",
        "linalg",
        "fft",
    }


@pytest.mark.parametrize("name", ["e", "inf", "newaxis", "pi"])
def test_a_constant_is_the_same(name: str) -> None:
    assert getattr(glasstorch.array_api, name) == getattr(array_api_strict, name)


def test_nan_is_not_a_number() -> None:
    assert glasstorch.array_api.nan != glasstorch.array_api.nan


@pytest.mark.parametrize("name", DTYPES)
def test_a_dtype_is_the_librarys(name: str) -> None:
    assert getattr(glasstorch.array_api, name) is getattr(glasstorch, name)


def test_the_namespace_says_which_edition_it_follows() -> None:
    assert glasstorch.array_api.__array_api_version__ == "2024.12"


def test_an_array_knows_its_namespace_in_every_edition_up_to_that() -> None:
    x = glasstorch.tensor([1.0])
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is glasstorch.array_api
    with pytest.raises(ValueError, match=r"2019.12.*expected one of 2021.12"):
        x.__array_namespace__(api_version="2019.12")


def test_an_array_goes_to_a_device() -> None:
    x = glasstorch.tensor([1.0])
    assert x.to_device(x.device) is x
    assert x.to_device("meta").device.type == "meta"
    with pytest.raises(ValueError, match="expected stream=None"):
        x.to_device("cpu", stream=1)


OTHERWISE = {
    "__annotations__": "a detail of the class",
    "__buffer__": "a tensor gives its memory through __array__ and __dlpack__",
    "__imatmul__": "Python computes `x = x @ y` where there is none, as with torch",
    "__slots__": "a detail of the class",
    "__weakref__": "a detail of the class",
}
METHODS = [name for name in dir(array_api_strict.asarray(1)) if name.startswith("__") and name not in dir(object)]


@pytest.mark.parametrize("name", [name for name in METHODS if name not in OTHERWISE])
def test_an_array_has_every_method_of_python_that_the_standard_names(name: str) -> None:
    assert hasattr(glasstorch.Tensor, name)


def test_a_product_may_be_assigned() -> None:
    x = glasstorch.tensor([[1.0, 2.0]])
    x @= glasstorch.tensor([[1.0], [1.0]])
    assert x.tolist() == [[3.0]]


@pytest.mark.parametrize("name", ["T", "mT", "device", "dtype", "ndim", "shape", "size", "to_device"])
def test_an_array_has_every_attribute_of_the_standard(name: str) -> None:
    assert hasattr(glasstorch.tensor([[1.0]]), name)


# The namespace about itself ------------------------------------------------------------------------------------------


def test_the_info_has_the_same_questions() -> None:
    ours, theirs = glasstorch.array_api.__array_namespace_info__(), array_api_strict.__array_namespace_info__()
    questions = [name for name in dir(theirs) if not name.startswith("_")]
    assert {name: parameters(getattr(ours, name)) for name in questions} == {
        name: parameters(getattr(theirs, name)) for name in questions
    }


@pytest.mark.parametrize(
    "kind",
    [None, "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric",
     ("bool", "integral")],
)  # fmt: skip
def test_the_info_lists_the_dtypes_of_a_kind(kind: Any) -> None:
    ours, theirs = glasstorch.array_api.__array_namespace_info__(), array_api_strict.__array_namespace_info__()
    assert ours.dtypes(kind=kind) == {name: getattr(glasstorch, name) for name in theirs.dtypes(kind=kind)}


def test_the_info_names_defaults_devices_and_capabilities() -> None:
    info = glasstorch.array_api.__array_namespace_info__()
    assert info.capabilities() == array_api_strict.__array_namespace_info__().capabilities()
    assert info.default_device() == glasstorch.device("cpu")
    assert info.devices()[0] == info.default_device()
    assert info.default_dtypes() == {
        "real floating": glasstorch.float32,
        "complex floating": glasstorch.complex64,
        "integral": glasstorch.int64,
        "indexing": glasstorch.int64,
    }
