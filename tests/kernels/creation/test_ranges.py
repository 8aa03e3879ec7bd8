"""Are ranges and spaced numbers those that PyTorch counts?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.core.dtype import DTYPES

Make = Callable[[Any], Any]

MADE: dict[str, tuple[Make, list[Any]]] = {
    "arange of a complex number that is real": (lambda t: t.arange(0, 2 + 0j), [0.0, 1.0]),
    "arange of a bool": (lambda t: t.arange(True), [0]),
    "arange with a number as tensor": (lambda t: t.arange(t.tensor(2.5)), [0.0, 1.0, 2.0]),
    "linspace": (lambda t: t.linspace(-1, 1, 3), [-1.0, 0.0, 1.0]),
    "linspace by name": (lambda t: t.linspace(end=1, start=0, steps=2, dtype=t.float64), [0.0, 1.0]),
    "linspace of one number is its start": (lambda t: t.linspace(5, 9, 1), [5.0]),
    "linspace of none": (lambda t: t.linspace(5, 9, 0), []),
    "linspace downwards": (lambda t: t.linspace(2, 0, 3), [2.0, 1.0, 0.0]),
    "linspace of integers loses the fraction": (lambda t: t.linspace(0, 3, 5, dtype=t.int64), [0, 0, 1, 2, 3]),
    "linspace of integers below 0": (lambda t: t.linspace(-3, 0, 5, dtype=t.int8), [-3, -2, -1, 0, 0]),
    "linspace of one bool": (lambda t: t.linspace(7, 9, 1, dtype=t.bool), [True]),
    "linspace in half": (lambda t: t.linspace(0, 1, 3, dtype=t.float16), [0.0, 0.5, 1.0]),
    "linspace of complex numbers": (lambda t: t.linspace(0j, 3 + 2j, 3), [0j, 1.5 + 1j, 3 + 2j]),
    "linspace from a tensor": (lambda t: t.linspace(t.tensor(1), 3, 3), [1.0, 2.0, 3.0]),
    "linspace between tensors": (lambda t: t.linspace(t.tensor(1), t.tensor(2.0), 2), [1.0, 2.0]),
    "linspace to a complex tensor": (lambda t: t.linspace(0, t.tensor(2j), 2), [0j, 2j]),
    "linspace in a given matrix": (lambda t: t.linspace(0, 3, 4, out=t.ones(2, 2).t()).flatten(), [0.0, 1.0, 2.0, 3.0]),
    "linspace from a tensor in a given tensor": (lambda t: t.linspace(t.tensor(1), 2, 2, out=t.ones(3)), [1.0, 2.0]),
    "logspace": (lambda t: t.logspace(0, 2, 3), [1.0, 10.0, 100.0]),
    "logspace of another base": (lambda t: t.logspace(0, 3, 4, 2, dtype=t.int32), [1, 2, 4, 8]),
    "logspace of one number": (lambda t: t.logspace(3, 9, 1, base=2), [8.0]),
    "logspace from a tensor": (lambda t: t.logspace(t.tensor(0), 1, 2), [1.0, 10.0]),
    "logspace of a negative base": (lambda t: t.logspace(1, 2, 2, -2.0), [-2.0, 4.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_is_counted(torch: Any, name: str) -> None:
    make, expected = MADE[name]
    result = make(torch)
    assert result.tolist() == expected
    assert [type(v) for v in result.tolist()] == [type(v) for v in expected]
    assert not result.requires_grad


TOO_SMALL = "step must be nonzero"
REFUSED: dict[str, tuple[Make, type[Exception], str]] = {
    "a step below 1 in int64": (lambda t: t.arange(0, 64, 0.5, out=t.empty(0).long()), ValueError, TOO_SMALL),
    "a range of complex numbers": (lambda t: t.arange(1j), RuntimeError, "to type double without overflow"),
    "a range beyond int64": (lambda t: t.arange(2**63), RuntimeError, "to type int64_t without overflow"),
    "infinitely many integers": (lambda t: t.arange(0, math.inf, dtype=t.int32), RuntimeError, "unsupported range"),
    "an integer that no int64 is": (lambda t: t.arange(0, 1e30, 1e29, dtype=t.int32), RuntimeError, "type int64_t"),
    "too many numbers": (lambda t: t.arange(0, 1, 1e-30), RuntimeError, "invalid size, possible overflow"),
    "fewer than no steps": (lambda t: t.linspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
    "fewer than no powers": (lambda t: t.logspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
    "half a step": (lambda t: t.linspace(0, 1, 1.5), TypeError, r"linspace\(\) received an invalid combination"),
    "no steps": (lambda t: t.linspace(0, 1), TypeError, "linspace"),
    "real numbers between complex ones": (
        lambda t: t.linspace(0j, 1, 3, dtype=t.float32), RuntimeError, "inferred dtype c10::complex<float> can't be"),
    "a start of two numbers": (
        lambda t: t.linspace(t.ones(2), 3, 3), RuntimeError, "0-dimensional start and end tensors, but got start with"),
    "an end of two numbers": (lambda t: t.logspace(0, t.ones(2), 3), RuntimeError, "only supports 0-dimensional"),
    "a base that is no number": (lambda t: t.logspace(0, 1, 3, "e"), TypeError, "logspace"),
    "another dtype than out": (
        lambda t: t.linspace(0, 1, 2, dtype=t.float64, out=t.empty(0)), RuntimeError, "does not match dtype of out"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch)


COUNTED: dict[str, Callable[[Any, Any], Any]] = {
    "arange": lambda t, d: t.arange(1, 6, 2, dtype=d),
    "linspace": lambda t, d: t.linspace(1, 5, 3, dtype=d),
    "linspace of one": lambda t, d: t.linspace(1, 5, 1, dtype=d),
    "logspace": lambda t, d: t.logspace(0, 2, 3, 1.0, dtype=d),
    "logspace of one": lambda t, d: t.logspace(1, 2, 1, dtype=d),
    "eye": lambda t, d: t.eye(3, 2, dtype=d),
    "tril_indices": lambda t, d: t.tril_indices(2, 3, dtype=d),
    "triu_indices": lambda t, d: t.triu_indices(2, 3, dtype=d),
    "full": lambda t, d: t.full((2,), -1, dtype=d),
    "full of a complex number": lambda t, d: t.full((2,), 1 + 1j, dtype=d),
    "full of a complex number that is real": lambda t, d: t.full((2,), 1 + 0j, dtype=d),
    "scalar_tensor": lambda t, d: t.scalar_tensor(3, dtype=d),
    "empty_permuted": lambda t, d: t.empty_permuted((2, 3), (1, 0), dtype=d).zero_(),
    "ones": lambda t, d: t.ones(2, dtype=d),
    "zeros that require grad": lambda t, d: t.zeros(2, dtype=d, requires_grad=True),
}


@pytest.mark.parametrize("name", COUNTED)
def test_every_dtype_is_counted_in_or_refused_as_by_torch(name: str) -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    for dtype in DTYPES:
        said = []
        for library in (ours, theirs):
            try:
                result = COUNTED[name](library, getattr(library, dtype.name))
                said.append((tuple(result.stride()), repr(result)))
            except (RuntimeError, TypeError) as error:
                said.append((type(error).__mro__[-4:], str(error)))
        assert said[0] == said[1], dtype


def test_spaced_numbers_are_torch_s_to_two_units_in_the_last_place() -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    random = np.random.default_rng(3)
    for number in range(400):
        name = ("float32", "float64", "float16", "int64", "uint8", "int8")[number % 6]
        start, end = (float(n) for n in random.uniform(-100, 100, 2))
        if name == "uint8":
            start, end = abs(start), abs(end)
        steps = int(random.integers(2, 200))
        if name.startswith("float") or number % 2:
            given = start, end, steps
        else:
            given = int(start), int(end), steps
        ours_, theirs_ = (t.linspace(*given, dtype=getattr(t, name)).numpy() for t in (ours, theirs))
        if name.startswith("float"):
            largest = np.abs(theirs_).max()
            assert np.abs(ours_ - theirs_).max() <= 2 * np.spacing(largest)
        else:
            assert (ours_ == theirs_).all(), given


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64", "complex64", "uint8", "int8", "int64"])
def test_powers_are_torch_s(name: str) -> None:
    theirs = pytest.importorskip("torch")
    import glasstorch as ours

    random = np.random.default_rng(4)
    for _ in range(100):
        start, end = (float(n) for n in random.uniform(0 if name == "uint8" else -3, 5, 2))
        given = start, end, int(random.integers(2, 60)), float(random.uniform(1.5, 3))
        made = [t.logspace(*given, dtype=getattr(t, name)) for t in (ours, theirs)]
        mine, torch_s = (np.array(x.tolist()) for x in made)
        allowed = 4e-16 * np.abs(torch_s) if name == "float64" else 0
        assert (np.abs(mine - torch_s) <= allowed).all(), given


def test_a_resized_range_warns_of_rounding(torch: Any) -> None:
    with pytest.warns(UserWarning, match=r"out tensor of shape \[2\] is 2 which does not match the computed number"):
        assert tuple(torch.arange(3, out=torch.ones(2)).shape) == (3,)
    assert torch.arange(4, out=torch.ones(2, 2)).tolist() == [[0, 1], [2, 3]]


def test_spaced_numbers_keep_the_strides_of_a_given_tensor(torch: Any) -> None:
    out = torch.zeros(4, 2)[:, 0]
    result = torch.linspace(0, 3, 4, out=out)
    assert result is out
    assert (out.tolist(), tuple(out.stride())) == ([0, 1, 2, 3], (2,))


def test_numbers_without_data_have_sizes() -> None:
    import glasstorch as torch  # PyTorch loads a second of Python for its answer

    made = [
        torch.linspace(0, 1, 5, device="meta"),
        torch.logspace(0, 1, 4, device="meta"),
        torch.eye(2, 3, device="meta"),
        torch.arange(3, device="meta"),
        torch.tril_indices(3, 3, device="meta"),
    ]
    assert [tuple(x.shape) for x in made] == [(5,), (4,), (2, 3), (3,), (2, 6)]
    assert all(x.is_meta for x in made)
