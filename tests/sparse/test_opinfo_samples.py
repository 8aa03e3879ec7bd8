"""Do operators take PyTorch's own samples for sparse tensors, and its strided ones made sparse, as PyTorch does?"""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest

import glasstorch
from glasstorch.core.dtype import DTYPES

DTYPE = {str(dtype): dtype for dtype in DTYPES}
LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
UNREADABLE = "a tensor whose parts do not fit together"  # of PyTorch's CSR maxima of a matrix without elements
RANDOM = ("randn_like", "empty_like", "normal_", "rand_like")


def carried(value: Any) -> Any:
    """An argument of a sample as glasstorch's."""
    kind = type(value).__name__
    if kind == "Tensor":
        return carried_tensor(value.detach())
    if kind == "dtype":
        return DTYPE[str(value)]
    if kind in ("layout", "memory_format"):
        return getattr(glasstorch, str(value).removeprefix("torch."))
    if isinstance(value, list | tuple):
        return type(value)(carried(one) for one in value)
    if isinstance(value, dict):
        return {name: carried(one) for name, one in value.items()}
    return str(value) if kind == "device" else value


def carried_tensor(value: Any) -> Any:
    """A tensor of PyTorch as one of glasstorch, of the same layout."""
    if value.is_sparse:
        parts = carried(value._indices()), carried(value._values())
        return glasstorch.sparse_coo_tensor(*parts, tuple(value.shape), is_coalesced=value.is_coalesced())
    layout = str(value.layout).removeprefix("torch.")
    if layout in LAYOUTS:
        names = ("crow_indices", "col_indices") if layout.endswith("r") else ("ccol_indices", "row_indices")
        parts = tuple(carried(getattr(value, name)()) for name in (*names, "values"))
        return glasstorch.sparse_compressed_tensor(*parts, tuple(value.shape), layout=getattr(glasstorch, layout))
    array = np.array(value.tolist(), dtype=str(value.dtype).removeprefix("torch."))
    return glasstorch.from_numpy(array.reshape(tuple(value.shape)))


def answer(function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
    """Layout, sizes, dtype and elements of a result, or that there was an error, or that it cannot be read."""
    try:
        result = function(*arguments, **keywords)
    except (RuntimeError, TypeError, IndexError, ValueError, AssertionError):
        return "an error"
    if not hasattr(result, "layout"):
        return result
    dense = result.detach()
    try:
        dense = dense if str(dense.layout) == "torch.strided" else dense.to_dense()
    except RuntimeError:
        return UNREADABLE
    return str(result.layout), tuple(result.shape), str(result.dtype), np.array(dense.tolist())


def alike(ours: Any, theirs: Any, random: bool) -> bool:
    """Whether two answers agree; the elements of random tensors do not have to."""
    if not (isinstance(ours, tuple) and isinstance(theirs, tuple)):
        return bool(ours == theirs) if type(ours) is type(theirs) else False
    return ours[:3] == theirs[:3] and (random or np.allclose(ours[3], theirs[3], rtol=1e-5, atol=1e-6, equal_nan=True))


def own_samples(torch: Any, layout: Any) -> Iterator[tuple[Any, Any]]:
    """The samples of a layout that PyTorch's database has for operators that are here."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        if function_of(op) is not None:
            with contextlib.suppress(NotImplementedError, RuntimeError, SkipTest):
                yield from list(zip(repeat(op), op.sample_inputs_sparse(layout, "cpu", torch.float64)))


def converted_samples(torch: Any, layout: Any) -> Iterator[tuple[Any, Any]]:
    """The strided samples of the operators that say that they take a layout, with an input made sparse."""
    from torch.testing._internal.common_methods_invocations import op_db

    name = str(layout).removeprefix("torch.sparse_")
    flag = "supports_sparse" if name == "coo" else f"supports_sparse_{name}"
    for op in op_db:
        if getattr(op, flag) and function_of(op) is not None:
            for sample in op.sample_inputs("cpu", torch.float64):
                least = 1 if name == "coo" else 2
                if isinstance(sample.input, torch.Tensor) and sample.input.ndim >= least:
                    blocksize = (1, 1) if name.startswith("b") else None
                    with contextlib.suppress(RuntimeError):
                        sample.input = sample.input.detach().to_sparse(layout=layout, blocksize=blocksize)
                        yield op, sample


def function_of(op: Any) -> Any:
    """The function of glasstorch that an entry of the database is about; None where there is none."""
    found: Any = glasstorch
    for name in op.name.split("."):
        found = getattr(found, name, None)
    return found


def compared(samples: Iterator[tuple[Any, Any]]) -> tuple[int, Counter[str]]:
    """How many samples there are, and how many of each operator have another answer here."""
    count, differing = 0, Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op, sample in samples:
            arguments = (sample.input, *sample.args)
            theirs = answer(op, arguments, sample.kwargs)
            if theirs == UNREADABLE:
                continue
            ours = answer(function_of(op), carried(arguments), carried(sample.kwargs))
            count += 1
            if not alike(ours, theirs, op.name in RANDOM):  # PyTorch loses elements where it repeats a sparse dimension
                strided = [one.to_dense() if hasattr(one, "to_dense") else one for one in arguments]
                right = answer(op, strided, sample.kwargs)
                differing[op.name] += not (
                    isinstance(ours, tuple) and isinstance(theirs, tuple) and np.allclose(ours[3], right[3])
                )
    return count, differing


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ninety_eight_of_a_hundred_samples_of_a_layout_agree(require: Callable[[str], Any], layout: str) -> None:
    torch = require("torch")
    torch.manual_seed(0)
    count, differing = compared(own_samples(torch, getattr(torch, layout)))
    assert count >= 20
    assert differing.total() <= count // 50, +differing


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ninety_eight_of_a_hundred_strided_samples_made_sparse_agree(
    require: Callable[[str], Any], layout: str
) -> None:
    torch = require("torch")
    torch.manual_seed(0)
    count, differing = compared(converted_samples(torch, getattr(torch, layout)))
    assert count >= 40
    assert differing.total() <= count // 50, +differing
