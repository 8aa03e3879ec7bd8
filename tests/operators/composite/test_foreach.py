"""Do operators on lists of tensors do what PyTorch's do, on the inputs of PyTorch's own database of them?

The database is ForeachFuncInfo (torch/testing/_internal/common_methods_invocations.py), with lists of three tensors.
Compared are results, in-place results, refusals and gradients; second derivatives are checked against differences.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import builtin, same_refusal

Require = Callable[[str], Any]

UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round"
)
UNARY += " rsqrt sigmoid sign sin sinh sqrt tan tanh trunc zero clone"
OTHERS = "add sub mul div clamp_min clamp_max minimum maximum pow copy addcmul addcdiv max norm lerp mm"
NAMES = [f"_foreach_{name}" for name in f"{UNARY} {OTHERS}".split()]
DTYPES = ["float32", "float64", "int64", "bool", "complex64", "float16", "bfloat16"]


@functools.cache
def database() -> dict[str, Any]:
    from torch.testing._internal import common_methods_invocations as known

    kinds = ("unary", "binary", "pointwise", "reduce", "other")
    return {info.name: info for kind in kinds for info in getattr(known, f"foreach_{kind}_op_db")}


def test_the_database_has_no_more_operators(require: Require) -> None:
    require("torch")
    assert set(database()) == set(NAMES)


def ours(value: Any) -> Any:
    """Tensors, dtypes and memory formats of PyTorch as ours, in lists too."""
    if isinstance(value, list | tuple):
        return type(value)(map(ours, value))
    if isinstance(value, dict):
        return {key: ours(one) for key, one in value.items()}
    if type(value).__name__ in ("dtype", "memory_format"):
        return getattr(glasstorch, str(value).removeprefix("torch."))
    if not hasattr(value, "detach"):
        return value
    plain = value.detach()
    is_half = plain.dtype.itemsize == 2 and plain.is_floating_point()
    made = glasstorch.from_numpy((plain.float() if is_half else plain).numpy().copy())
    return made.to(ours(value.dtype)).requires_grad_(value.requires_grad)


def samples(name: str, dtype: str, **options: Any) -> Iterator[Any]:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        info = database()[name]
        yield from info.sample_inputs("cpu", getattr(torch, dtype), num_input_tensors=[3], **options)


def outcome(library: Any, name: str, input: Any, args: Any, kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(library, name)(input, *args, **kwargs)
        except (RuntimeError, TypeError, ValueError) as error:
            return error


def close(mine: Any, theirs: Any, where: str) -> None:
    assert type(mine) is type(theirs), where
    for a, b in zip(mine, theirs, strict=True):
        assert str(a.dtype) == str(b.dtype), where
        left, right = (t.detach() if not t.is_floating_point() else t.detach().double() for t in (a, b))
        tolerance = 1e-2 if "16" in str(a.dtype) else 2e-5
        np.testing.assert_allclose(left.numpy(), right.numpy(), rtol=tolerance, atol=tolerance, err_msg=where)


def copies(value: Any) -> Any:
    """A list of tensors that may be written to."""
    is_list = isinstance(value, list | tuple) and value and hasattr(value[0], "clone")
    return [tensor.clone() for tensor in value] if is_list else value


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_pytorch(name: str, dtype: str, require: Require) -> None:
    torch = require("torch")
    for sample in samples(name, dtype):
        for form in (name, f"{name}_"):
            if not hasattr(torch, form):
                continue
            given = sample.input, list(sample.args), dict(sample.kwargs)
            mine_given = [copies(part) if i == 0 else part for i, part in enumerate(map(ours, given))]
            theirs = outcome(torch, form, copies(given[0]), *given[1:])
            mine = outcome(glasstorch, form, *mine_given)
            where = f"{form} {[tuple(t.shape) for t in sample.input] if isinstance(sample.input, list) else ''}"
            if isinstance(theirs, Exception):
                assert isinstance(mine, builtin(theirs)), where
            else:
                assert not isinstance(mine, Exception), (where, mine)
                close(mine, theirs, where)


@pytest.mark.parametrize("name", NAMES)
def test_has_pytorchs_gradients(name: str, require: Require) -> None:
    torch = require("torch")
    if not database()[name].supports_autograd or not hasattr(torch, name):
        return
    for sample in samples(name, "float64", requires_grad=True):
        found = []
        for library, convert in ((glasstorch, ours), (torch, lambda value: value)):
            given = [convert(part) for part in (sample.input, list(sample.args), dict(sample.kwargs))]
            results = outcome(library, name, *given)
            if isinstance(results, Exception):
                found.append(None)
                continue
            leaves = [t for part in given[:2] for t in tensors_in(part) if t.requires_grad]
            total = sum((result * (i + 1)).sum() for i, result in enumerate(results) if result.requires_grad)
            if not leaves or not hasattr(total, "backward"):
                found.append([])
                continue
            try:
                found.append(library.autograd.grad(total, leaves, allow_unused=True))
            except (RuntimeError, IndexError):  # PyTorch's own, for a tensor that holds the numbers
                if library is glasstorch:
                    raise
                found[0] = None
                found.append(None)
        mine, theirs = found
        assert (mine is None) == (theirs is None), name
        for a, b in zip(mine or [], theirs or [], strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_have_gradients(name: str, dtype: str, require: Require) -> None:
    torch = require("torch")
    info = database()[name]
    if not info.supports_autograd or not hasattr(torch, name) or getattr(torch, dtype) not in info.backward_dtypes:
        return
    for sample in samples(name, dtype, requires_grad=True):
        input, args, kwargs = (ours(part) for part in (sample.input, list(sample.args), dict(sample.kwargs)))
        leaves = [t for part in (input, args) for t in tensors_in(part) if t.requires_grad and t.numel()]
        for leaf in leaves if dtype == "float64" else ():
            leaf.data = leaf.detach().sigmoid() * 0.6 + 0.2  # roots, powers and arcs are defined and smooth there
        places = {id(tensor): i for i, tensor in enumerate(leaves)}

        def results(*now: Any, given: Any = (input, args), kwargs: Any = kwargs, places: Any = places) -> Any:
            def put(value: Any) -> Any:
                if isinstance(value, list):
                    return [put(one) for one in value]
                return now[places[id(value)]] if id(value) in places else value

            found = outcome(glasstorch, name, *map(put, given), kwargs)
            return () if isinstance(found, Exception) else tuple(r for r in found if r.requires_grad)

        if leaves and results(*leaves):
            assert glasstorch.autograd.gradgradcheck(results, leaves, fast_mode=True), sample


def tensors_in(value: Any) -> Iterator[Any]:
    if hasattr(value, "requires_grad"):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from tensors_in(one)


REFUSED: list[Callable[[Any], Any]] = [
    lambda t: t._foreach_add([], 1),
    lambda t: t._foreach_zero_([]),
    lambda t: t._foreach_add([t.ones(2), t.ones(3)], [t.ones(2)]),
    lambda t: t._foreach_add([t.ones(2), t.ones(3)], [1.0, 2.0, 3.0]),
    lambda t: t._foreach_mul([t.ones(2)], t.ones(1)),
    lambda t: t._foreach_addcmul([t.ones(2)], [t.ones(2)], [], 1),
    lambda t: t._foreach_addcmul([t.ones(2)], [t.ones(2)], [t.ones(2)], [1.0, 2.0]),
    lambda t: t._foreach_addcmul([t.ones(2)], [t.ones(2)], [t.ones(2)], t.ones(3)),
    lambda t: t._foreach_addcmul([t.ones(2)], [t.ones(2)], [t.ones(2)], t.ones(1, 1)),
    lambda t: t._foreach_addcdiv([t.ones(2)] * 2, [t.ones(2)] * 2, [t.ones(2)] * 2, t.ones(4)[::2]),
    lambda t: t._foreach_lerp([t.ones(2)], [t.ones(2)], [1.0, 2.0]),
    lambda t: t._foreach_max([t.ones(0)]),
    lambda t: t._foreach_mm([t.ones(2, 2)] * 2, [t.ones(2, 2)]),
    lambda t: t._foreach_pow(2.0, []),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refuses_in_pytorchs_words(number: int, require: Require) -> None:
    same_refusal(require("torch"), REFUSED[number])


def test_half_of_a_gradient_goes_to_a_tensor_that_is_as_large_as_the_number(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (result,) = torch._foreach_maximum([x], 2.0)
    assert torch.autograd.grad(result.sum(), x)[0].tolist() == [0, 0.5, 1]
    (result,) = torch._foreach_minimum([x], [2.0])
    assert torch.autograd.grad(result.sum(), x)[0].tolist() == [1, 0.5, 0]


def test_powers_are_summed(torch: Any) -> None:
    (result,) = torch._foreach_powsum([torch.tensor([1.0, -2.0, 3.0])], 3)
    assert result.item() == 36
