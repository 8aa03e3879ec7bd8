"""Do operators take PyTorch's own samples for COO tensors, and its strided ones made sparse, as PyTorch does?"""

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
# Their samples are refused: the functions of torch.masked work on strided tensors only.
NOT_HERE = ("masked.sum", "masked.prod", "masked.amax", "masked.amin", "masked.mean")
RANDOM = ("randn_like",)


def carried(value: Any) -> Any:
    """An argument of a sample as glasstorch's."""
    kind = type(value).__name__
    if kind == "Tensor":
        if value.is_sparse:
            parts = carried(value.detach()._indices()), carried(value.detach()._values())
            return glasstorch.sparse_coo_tensor(*parts, tuple(value.shape), is_coalesced=value.is_coalesced())
        array = np.array(value.detach().tolist(), dtype=str(value.dtype).removeprefix("torch."))
        return glasstorch.from_numpy(array.reshape(tuple(value.shape)))
    if kind == "dtype":
        return DTYPE[str(value)]
    if kind in ("layout", "memory_format"):
        return getattr(glasstorch, str(value).removeprefix("torch."))
    if isinstance(value, list | tuple):
        return type(value)(carried(one) for one in value)
    if isinstance(value, dict):
        return {name: carried(one) for name, one in value.items()}
    return str(value) if kind == "device" else value


def answer(function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
    """Layout, sizes, dtype and elements of a result, or that there was an error."""
    try:
        result = function(*arguments, **keywords)
    except (RuntimeError, TypeError, IndexError, ValueError):
        return "an error"
    if not hasattr(result, "layout"):
        return result
    dense = result.detach().to_dense() if result.is_sparse else result.detach()
    return str(result.layout), tuple(result.shape), str(result.dtype), np.array(dense.tolist())


def alike(ours: Any, theirs: Any, random: bool) -> bool:
    """Whether two answers agree; the elements of random tensors do not have to."""
    if not (isinstance(ours, tuple) and isinstance(theirs, tuple)):
        return bool(ours == theirs) if type(ours) is type(theirs) else False
    return ours[:3] == theirs[:3] and (random or np.allclose(ours[3], theirs[3], rtol=1e-5, atol=1e-6, equal_nan=True))


def samples(torch: Any) -> Iterator[tuple[Any, Any]]:
    """Each operator's sparse samples, and its strided ones with a sparse input where it says that it takes them."""
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        if op.name in NOT_HERE:
            continue
        with contextlib.suppress(NotImplementedError, RuntimeError, SkipTest):
            yield from list(zip(repeat(op), op.sample_inputs_sparse(torch.sparse_coo, "cpu", torch.float64)))
        if op.supports_sparse:
            for sample in op.sample_inputs("cpu", torch.float64):
                if sample.input.ndim:
                    sample.input = sample.input.detach().to_sparse()
                    yield op, sample


@pytest.mark.slow
def test_ninety_eight_of_a_hundred_samples_agree(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    count, differing = 0, Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op, sample in samples(torch):
            arguments = (sample.input, *sample.args)
            function: Any = glasstorch
            for name in op.name.split("."):
                function = getattr(function, name)
            theirs = answer(op, arguments, sample.kwargs)
            ours = answer(function, carried(arguments), carried(sample.kwargs))
            count += 1
            if not alike(ours, theirs, op.name in RANDOM):  # PyTorch loses elements where it repeats a sparse dimension
                strided = [one.to_dense() if hasattr(one, "to_dense") else one for one in arguments]
                right = answer(op, strided, sample.kwargs)
                differing[op.name] += not (isinstance(ours, tuple) and np.allclose(ours[3], right[3]))
    assert count >= 120
    assert differing.total() <= count // 50, +differing
