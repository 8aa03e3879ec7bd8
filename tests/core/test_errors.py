"""Can a program written for PyTorch catch our errors, and does it print them as PyTorch's?"""

from __future__ import annotations

import builtins
import copy
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core import errors
from glasstorch.core.errors import AcceleratorError, ArgumentError, Rule, ShapeError
from glasstorch.nn.modules.state import StateDictError

KINDS = {
    name: k for name, k in vars(errors).items() if isinstance(k, type) and issubclass(k, Exception) and name[0] != "_"
}

PLAIN = {"LinAlgError", "AcceleratorError", "OutOfMemoryError", "UnsynchronizedAccessError"}  # classes in PyTorch too

# What PyTorch raises in each case.
BUILTINS = {
    "RuntimeError": {
        "ShapeError", "DtypeError", "IndexValueError", "DeviceError", "OverlapError", "ArgumentError",
        "IntegerDivisionError", "AutogradError", "InplaceError", "StorageError", "RegistrationError",
        "LinAlgError", "AcceleratorError", "OutOfMemoryError", "UnsynchronizedAccessError", "SchemaError",
        "SchemaTextError",
    },
    "IndexError": {"DimensionError"},
    "NotImplementedError": {"DtypeNotImplementedError", "NoDataError", "MissingKernelError"},
    "TypeError": {"ArgumentTypeError"},
    "ValueError": {"ArgumentValueError"},
}  # fmt: skip

# PyTorch raises the first; Python has an error of its own for the case, which programs catch too.
BOTH = {
    "HostMemoryError": (RuntimeError, MemoryError),
    "FileError": (RuntimeError, OSError),
    "MissingFileError": (RuntimeError, FileNotFoundError),
}


@pytest.mark.parametrize("name", [name for name in KINDS if name not in BOTH])
def test_an_error_is_the_builtin_that_pytorch_raises_and_says_what_it_means(name: str) -> None:
    kind = KINDS[name]
    *rule, base = kind.__bases__
    assert rule == ([] if name in PLAIN else [Rule])
    assert base is getattr(builtins, base.__name__)
    assert name in BUILTINS[base.__name__]
    assert (kind.__doc__ or "").endswith(".")
    if name not in PLAIN:
        assert kind.rule == name
        assert (kind.__module__, kind.__qualname__, kind.__name__) == ("builtins", base.__name__, base.__name__)


def test_every_error_is_named_here() -> None:
    assert set(KINDS) == set().union(*BUILTINS.values(), BOTH)


@pytest.mark.parametrize("name", BOTH)
def test_where_python_has_an_error_of_its_own_both_are_caught(name: str) -> None:
    kind = getattr(errors, name)
    assert all(issubclass(kind, base) for base in BOTH[name])
    assert kind.__doc__.endswith(".")
    assert kind.__name__ == BOTH[name][0].__name__


def test_a_traceback_reads_as_in_pytorch_and_the_error_says_which_rule_was_broken() -> None:
    with pytest.raises(ShapeError) as raised:
        glasstorch.zeros(2, 3) @ glasstorch.zeros(2, 3)
    assert traceback.format_exception_only(raised.value)[0].startswith("RuntimeError: mat1 and mat2")
    assert raised.value.rule == "ShapeError"


@pytest.mark.parametrize(
    "error",
    [ShapeError("no"), ArgumentError("one", 2), StateDictError("missing"), AcceleratorError("failed", 700, "E")],
)
def test_an_error_is_what_it_was_after_pickling_and_copying(error: Exception) -> None:
    error.add_note("kept")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert again.args == error.args
        assert vars(again).get("__notes__", ["kept"]) == ["kept"]


PROGRAMS: list[Callable[[Any], object]] = [
    lambda t: t.zeros(2, 3) @ t.zeros(2, 3),
    lambda t: t.zeros(2).sum(3),
    lambda t: t.zeros(2)[5],
    lambda t: t.zeros(2).requires_grad_().add_(1),
    lambda t: t.ones(2).backward(),
    lambda t: t.arange(3) // 0,
    lambda t: t.zeros(3, dtype=t.bool) - t.zeros(3, dtype=t.bool),
    lambda t: t.linalg.inv(t.zeros(2, 2)),
    lambda t: t.zeros(4).view(3),
    lambda t: t.zeros(2, 2).T.view(4),
    lambda t: t.zeros(3).expand(2, 3).add_(1),
    lambda t: t.UntypedStorage.from_file("/no/such/file", False, 10),
    lambda t: t.nn.Linear(2, 3).load_state_dict({}),
    lambda t: t.zeros(2, device="meta").tolist(),
    lambda t: t.zeros(1).random_(5, 3),
    lambda t: t.add(t.zeros(1), "text"),
    lambda t: t.zeros(2).index_select(0, t.tensor([7])),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_the_name_that_it_prints_with_pytorch(
    require: Callable[[str], Any], program: Callable[[Any], object]
) -> None:
    names = []
    for library in (glasstorch, require("torch")):
        with pytest.raises(Exception) as raised:
            program(library)
        names.append(type(raised.value).__name__)
    assert names[0] == names[1]
