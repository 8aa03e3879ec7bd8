"""Can a program written for PyTorch catch our errors?"""

from __future__ import annotations

import builtins

import pytest

from glasstorch.core import errors

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, BaseException) and kind.__module__ == errors.__name__
]

# What PyTorch raises in each case.
BUILTINS = {
    "RuntimeError": {
        "ShapeError", "DtypeError", "IndexValueError", "DeviceError", "OverlapError", "ArgumentError",
        "IntegerDivisionError", "AutogradError", "InplaceError", "StorageError", "RegistrationError",
        "LinAlgError", "AcceleratorError", "OutOfMemoryError", "UnsynchronizedAccessError",
    },
    "IndexError": {"DimensionError"},
    "NotImplementedError": {"DtypeNotImplementedError", "NoDataError", "MissingKernelError"},
    "TypeError": {"ArgumentTypeError"},
    "ValueError": {"ArgumentValueError", "SchemaError"},
}  # fmt: skip

# PyTorch raises the first; Python has an error of its own for the case, which programs catch too.
BOTH = {
    "HostMemoryError": (RuntimeError, MemoryError),
    "FileError": (RuntimeError, OSError),
    "MissingFileError": (RuntimeError, FileNotFoundError),
}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.__name__ not in BOTH], ids=lambda kind: kind.__name__)
def test_an_error_is_the_builtin_that_pytorch_raises_and_says_what_it_means(kind: type[Exception]) -> None:
    (base,) = kind.__bases__
    assert base is getattr(builtins, base.__name__)
    assert kind.__name__ in BUILTINS[base.__name__]
    assert (kind.__doc__ or "").endswith(".")


def test_every_error_is_named_here() -> None:
    assert {kind.__name__ for kind in KINDS} == set().union(*BUILTINS.values(), BOTH)


@pytest.mark.parametrize("name", BOTH)
def test_where_python_has_an_error_of_its_own_both_are_caught(name: str) -> None:
    kind = getattr(errors, name)
    assert all(issubclass(kind, base) for base in BOTH[name])
    assert kind.__doc__.endswith(".")
