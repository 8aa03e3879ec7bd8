"""Do the out= forms of random factories resize and fill the tensor given, as PyTorch's do?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.core.random.torch_numbers import refusal, torch_module
from tests.refusals import builtin

Library = Any

CALLS: dict[str, Callable[[Library, Any], Any]] = {
    "rand": lambda t, out: t.rand(2, 3, out=out),
    "rand of a generator": lambda t, out: t.rand((2, 3), generator=t.Generator().manual_seed(4), out=out),
    "randn": lambda t, out: t.randn(5, 4, out=out),
    "randn of a generator": lambda t, out: t.randn(3, generator=t.Generator().manual_seed(4), out=out),
    "randint": lambda t, out: t.randint(9, (5,), out=out),
    "randint of a generator": lambda t, out: t.randint(9, (5,), generator=t.Generator().manual_seed(4), out=out),
    "randint between": lambda t, out: t.randint(3, 9, (5,), out=out),
    "randint between, of a generator": (
        lambda t, out: t.randint(3, 9, (5,), generator=t.Generator().manual_seed(4), out=out)
    ),
    "randperm": lambda t, out: t.randperm(6, out=out),
    "randperm of a generator": lambda t, out: t.randperm(6, generator=t.Generator().manual_seed(4), out=out),
    "normal": lambda t, out: t.normal(1.0, 2.0, (3, 2), out=out),
    "normal with means": lambda t, out: t.normal(t.arange(6.0).reshape(3, 2), 0.5, out=out),
    "normal with deviations": lambda t, out: t.normal(1, t.arange(6.0), out=out),
    "normal with both": lambda t, out: t.normal(t.zeros(3, 1), t.ones(2), out=out),
    "bernoulli": lambda t, out: t.bernoulli(t.arange(6.0).reshape(2, 3) / 5, out=out),
    "multinomial": lambda t, out: t.multinomial(t.arange(6.0), 3, out=out),
}
OUTS: dict[str, Callable[[Library], Any]] = {
    "empty": lambda t: t.empty(0),
    "empty float64": lambda t: t.empty(0, dtype=t.float64),
    "empty int64": lambda t: t.empty(0, dtype=t.int64),
    "of sizes that some results have": lambda t: t.zeros(3, 2),
    "transposed": lambda t: t.zeros(2, 3).t(),
    "too large": lambda t: t.zeros(50),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_out_form_gives_what_torch_s_gives(name: str) -> None:
    torch, ours = torch_module(), pytest.importorskip("glasstorch")
    for kind, make in OUTS.items():
        told = []
        for library in (ours, torch):
            library.manual_seed(21)
            out = make(library)
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                result, refused = refusal(lambda: CALLS[name](library, out))  # noqa: B023
            if refused is None:
                assert result is out
                told.append((tuple(out.shape), out.stride(), out.tolist(), [w.category for w in warned]))
            else:
                told.append(builtin(refused))
        assert told[0] == told[1], kind
