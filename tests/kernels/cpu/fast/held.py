"""How is a fast function's result held to the plain one's?

"bits" means every bit of every result, its dtype, its sizes and strides, and the error if there is one. A bound means
units in the last place, at the size of the largest number that was rounded on the way, of the difference to the plain
kernel's result for the same arguments in float64. Where the arguments are float64 already, the plain result itself is
the measure, and its own roundings are allowed for by doubling the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import glasstorch
from glasstorch import Tensor
from glasstorch.dispatch.fast import FAST
from tests.kernels.cpu.fast.plainly import counted, plainly

EXACT = {one.over: one.exact for one in FAST}

WIDER = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "complex64": "complex128"}


class Call(NamedTuple):
    """A call of a function on tensors and other arguments.

    `scale`, if given, is called with the arguments as float64 tensors: the largest number that is rounded on the way to
    each element of the (first) result, for instance the sum of the absolute values for a sum. Without it, that is the
    largest absolute value among the results.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = {}  # noqa: RUF012
    scale: Callable[..., Any] | None = None


def outcome(call: Call) -> Any:
    """The result of a call on copies of its tensors, or the type and text of its error."""
    try:
        return call.function(*map(copied, call.args), **{k: copied(v) for k, v in call.kwargs.items()})
    except Exception as error:  # noqa: BLE001 - whichever it is, both must raise it
        return type(error), str(error)


def copied(value: Any) -> Any:
    """A tensor with memory of its own and the same strides, in lists too; an expanded one stays itself."""
    if isinstance(value, Tensor):
        if any(size > 1 and not step for size, step in zip(value.shape, value.stride(), strict=True)):
            return value
        return glasstorch.empty_strided(value.shape, value.stride(), dtype=value.dtype).copy_(value)
    return [copied(v) for v in value] if isinstance(value, list) else value


def widened(value: Any) -> Any:
    """A tensor in float64 or complex128."""
    if isinstance(value, Tensor):
        return value.to(getattr(glasstorch, WIDER.get(value.dtype.name, value.dtype.name)))
    return [widened(v) for v in value] if isinstance(value, list) else value


def tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from tensors(one)


def check_same(found: Any, plain: Any, what: str) -> None:
    """Two outcomes agree in every bit, and in everything that can be asked of a tensor."""
    if isinstance(plain, Tensor):
        assert isinstance(found, Tensor), f"{what}: {found}, plainly a tensor"
        facts = [(t.dtype, tuple(t.shape), t.stride()) for t in (found, plain)]
        assert facts[0] == facts[1], f"{what}: {facts[0]}, plainly {facts[1]}"
        assert bits(found) == bits(plain), f"{what}:\n{found}\nplainly\n{plain}"
    elif isinstance(plain, tuple | list) and not (plain and isinstance(plain[0], type)):
        assert len(found) == len(plain), what
        for one, other in zip(found, plain, strict=True):
            check_same(one, other, what)
    else:
        assert (type(found), repr(found)) == (type(plain), repr(plain)), what


def bits(tensor: Tensor) -> bytes:
    """The bits of the elements, in row-major order; every NaN counts as the same one."""
    array = (
        (tensor.float() if tensor.dtype.name == "bfloat16" else tensor)
        .detach()
        .resolve_conj()
        .resolve_neg()
        .contiguous()
        .numpy()
    )
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.tobytes()


def check(call: Call, what: str) -> list[str]:
    """Hold the outcome of a call, as it is run, to the plain kernels'; returns what was reached that is fast."""
    with counted() as calls:
        found = outcome(call)
    reached = [over for over, number in calls.items() if number]
    bounds = [EXACT[over] for over in reached if EXACT[over] != "bits"]
    what = f"{what}, by {', '.join(reached)}"
    with plainly():
        plain = outcome(call)
        if not bounds or any(isinstance(one, tuple) and one and isinstance(one[0], type) for one in (found, plain)):
            check_same(found, plain, what)
            return reached
        wide = call._replace(
            args=tuple(map(widened, call.args)), kwargs={k: widened(v) for k, v in call.kwargs.items()}
        )
        measure = outcome(wide)
        scale = None if call.scale is None else call.scale(*wide.args, **wide.kwargs)
    found, plain, measure = (list(tensors(one)) for one in (found, plain, measure))
    assert len(found) == len(plain) == len(measure), what
    for one, other, best in zip(found, plain, measure, strict=True):
        facts = [(t.dtype, tuple(t.shape), t.stride()) for t in (one, other)]
        assert facts[0] == facts[1], f"{what}: {facts[0]}, plainly {facts[1]}"
        if one.dtype.is_floating_point or one.dtype.is_complex:
            bound = max(float(bound) for bound in bounds)
            within(one, best, bound if best.dtype is not one.dtype else 2 * bound, scale, what)
        else:
            check_same(one, other, what)
    return reached


def within(one: Tensor, best: Tensor, bound: float, scale: Any, what: str) -> None:
    """Whether each element is within a number of units in the last place of what it should be."""
    found, wanted = (np.asarray(t.detach().to(best.dtype).numpy()) for t in (one, best))
    real = found.real.dtype
    dtype = one.dtype.to_real() if one.dtype.is_complex else one.dtype
    with np.errstate(all="ignore"):
        finite = np.isfinite(wanted)
        sizes = np.abs(wanted) if scale is None else np.broadcast_to(np.abs(scale.detach().numpy()), wanted.shape)
        largest = np.max(sizes[finite], initial=0.0) if scale is None else sizes
        units = np.maximum(largest, glasstorch.finfo(dtype).tiny) * (glasstorch.finfo(dtype).eps)
        error = np.where(finite & np.isfinite(found), np.abs(found - wanted) / units, 0).astype(real)
    beyond = ~finite & ~((found == wanted) | (np.isnan(found) & np.isnan(wanted)))
    overflown = finite & ~np.isfinite(found) & (np.abs(wanted) <= glasstorch.finfo(dtype).max)
    assert not (beyond | overflown).any(), f"{what}: {found}, expected {wanted}"
    assert error.max(initial=0) <= bound, f"{what}: an error of {error.max()} units in the last place, allowed {bound}"
