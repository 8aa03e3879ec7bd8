"""Has every operator's result on meta PyTorch's sizes, strides and dtype, on samples of PyTorch's own database?

Where PyTorch's kernels for meta and for the CPU disagree about strides, either is accepted. What PyTorch refuses on
meta may be answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import glasstorch
from tests.agreement.opinfo import AREAS, Call, Unequal, counterpart, database, entries, leaves, samples_of
from tests.agreement.opinfo_exceptions import Trial, hold

ENTRIES = entries([area for area in AREAS if area != "internal"])
DTYPES = ("float32", "int64", "bool", "complex64")  # an entry is tried in the first that it takes
MOST = 6  # samples of an entry


def geometry(result: Any, device: str) -> list[Any]:
    """What is known of a result without its elements: of tensors sizes, strides, dtype and device."""
    return [
        (repr(leaf.dtype), tuple(leaf.shape), tuple(leaf.stride()), device or str(leaf.device))
        if hasattr(leaf, "stride")
        else leaf
        for leaf in leaves(result)
    ]


def on_meta(entry: Any, sample: Any, torch: Any) -> None:
    """Both libraries' results for one sample."""
    try:
        theirs = geometry(Call(torch, sample, torch, device="meta").run(entry.op).out, "")
    except (RuntimeError, TypeError, ValueError, IndexError):
        return
    ours = geometry(Call(glasstorch, sample, torch, device="meta").run(counterpart(entry.op, torch)).out, "")
    if ours != theirs and ours != geometry(Call(torch, sample, torch).run(entry.op).out, "meta"):
        raise Unequal(f"{ours}, expected {theirs}")


@pytest.mark.ci
@pytest.mark.parametrize("name", ENTRIES)
def test_sizes_and_strides_without_data(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    entry = database(torch)[name]

    def trials() -> Iterator[Trial]:
        dtype = next((d for d in DTYPES if getattr(torch, d) in entry.dtypes), None)
        for sample in samples_of(entry, getattr(torch, dtype), torch, MOST, grad=False) if dtype else ():
            yield Trial("meta", str(dtype), partial(on_meta, entry, sample, torch))

    hold(name, trials(), every=False)
