"""Which random calls reach the short paths of pointwise operators?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch.kernels.cpu.pointwise import loops
from glasstorch.kernels.structured import FORMS
from tests.agreement.oracles import operator
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, WHOLE, laid_out, one_of, sizes_of, tensor
from tests.kernels.cpu.fast.held import Call

OTHERS = (*WHOLE, "bool", *HALVES, "complex64", "complex128", "uint16")
NUMBERS = (0, 1, -3, 2, 0.5, 1e30, True)
SLOW = ("special_", "igamma", "erf", "lgamma", "digamma", "xlogy", "sinc", "i0")


def drawn_dtype(rng: np.random.Generator) -> str:
    """Mostly one of the floats that short paths are for."""
    return one_of(rng, FLOATS if rng.integers(2) else OTHERS)


def drawn_sizes(rng: np.random.Generator, name: str) -> list[int]:
    """None, few or many elements; of a slow function not many."""
    total = one_of(rng, [0, 8, 8, 300, 3_000, 3_000] + ([] if name.startswith(SLOW) else [40_000]))
    return sizes_of(rng, total, int(rng.integers(1, 4))) if total else one_of(rng, [[0], [2, 0], []])


def other_of(rng: np.random.Generator, like: torch.Tensor) -> Any:
    """Mostly a tensor of the same dtype and sizes; else of others that broadcast, a wrapped number, or the same one."""
    way, dtype = rng.integers(10), like.dtype.name
    if way == 0:
        return like
    if way == 1:
        return laid_out(rng, like.shape, drawn_dtype(rng))
    if way == 2:
        return tensor(rng, like.shape[1:], dtype, 0.01)
    if way == 3:
        return torch.tensor(one_of(rng, [0, 1, -3, 0.5, 1e30]))
    return laid_out(rng, like.shape, dtype, one_of(rng, [0, 0.01]))


def on_one(name: str, rng: np.random.Generator) -> Call:
    return Call(operator(name), (laid_out(rng, drawn_sizes(rng, name), drawn_dtype(rng), one_of(rng, [0, 0.01])),))


def on_two(name: str, rng: np.random.Generator) -> Call:
    x = laid_out(rng, drawn_sizes(rng, name), drawn_dtype(rng), one_of(rng, [0, 0.01]))
    alpha = {"alpha": one_of(rng, [1, 2, 0.5, True])} if name[:3] in ("add", "sub") and rng.integers(2) else {}
    other = other_of(rng, x)
    if not name.startswith("heaviside") and rng.integers(4) == 0:  # which takes no number
        other = one_of(rng, NUMBERS)
        if not name.partition(".")[0].endswith("_") and rng.integers(2):  # on the left, as in `1 - x`
            x, other = other, x
    return Call(operator(name), (x, other), alpha)


def with_number(name: str, rng: np.random.Generator) -> Call:
    x = laid_out(rng, drawn_sizes(rng, name), drawn_dtype(rng), 0.01)
    number = one_of(rng, NUMBERS)
    is_first = name.endswith("Scalar_Tensor") or name == "pow.Scalar"
    return Call(operator(name), (number, x) if is_first else (x, number))


def numbered(name: str, rng: np.random.Generator) -> Call:
    """`addcmul` and `addcdiv` have a third tensor, and name their number."""
    adds = name.startswith("addc")
    x = laid_out(rng, drawn_sizes(rng, name), drawn_dtype(rng), 0.01)
    others = [laid_out(rng, x.shape, x.dtype.name, 0.01) for _ in range(1 + adds)]
    number = one_of(rng, [0, 1, -3, 0.3, 0.7, np.nan])
    return Call(operator(name), (x, *others), {"value": number}) if adds else Call(operator(name), (x, *others, number))


def divide_mode(rng: np.random.Generator) -> Call:
    call = on_two("div.Tensor_mode", rng)
    return call._replace(kwargs={"rounding_mode": one_of(rng, [None, "floor", "trunc", "trunc", "up"])})


def round_decimals(rng: np.random.Generator) -> Call:
    return on_one("round.decimals", rng)._replace(kwargs={"decimals": one_of(rng, [0, 1, 3, -1, 40])})


def power(rng: np.random.Generator) -> Call:
    name = "pow.Tensor_Scalar"
    x = laid_out(rng, drawn_sizes(rng, name), drawn_dtype(rng), 0.01)
    return Call(operator(name), (x, one_of(rng, [0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, True, 2j, -1j])))


def choice(rng: np.random.Generator) -> Call:
    """Of two tensors, or of a tensor and a number on either side."""
    sizes, dtype = drawn_sizes(rng, "where"), drawn_dtype(rng)
    mask = laid_out(rng, sizes, "bool")
    sides = [laid_out(rng, sizes, dtype, 0.01), one_of(rng, [torch.tensor(0), torch.tensor(0.5), torch.tensor(3)])]
    if rng.integers(2):
        sides[1] = laid_out(rng, sizes, dtype, 0.01)
    if rng.integers(2):
        sides.reverse()
    return Call(operator("where.self"), (mask, *sides))


def choosing(rng: np.random.Generator) -> Call:
    """An operator that selects by a mask, of many elements."""
    sizes, dtype = sizes_of(rng, one_of(rng, [300, 3_000, 40_000]), 2), drawn_dtype(rng)
    x, mask = laid_out(rng, sizes, dtype, 0.01), laid_out(rng, sizes, "bool")
    way = rng.integers(3)
    if way == 0:
        return Call(torch.where, (mask, x, laid_out(rng, sizes, dtype, 0.01)))
    if way == 1:
        return Call(torch.Tensor.masked_fill, (x, mask, one_of(rng, [0, 1, 3])))
    return Call(operator("threshold_backward"), (x, laid_out(rng, sizes, dtype, 0.01), one_of(rng, [0, 1])))


def lerp(rng: np.random.Generator) -> Call:
    sizes, dtype = drawn_sizes(rng, "lerp"), one_of(rng, [*FLOATS, *FLOATS, *HALVES, "complex64", "int64"])
    start, end = (laid_out(rng, sizes, dtype, 0.01) for _ in range(2))
    weight = laid_out(rng, one_of(rng, [sizes, sizes, sizes[:0], sizes[-1:]]), dtype, 0.01)
    return Call(operator("lerp.Tensor"), (start, end, weight))


def clamp(rng: np.random.Generator) -> Call:
    x = laid_out(rng, drawn_sizes(rng, "clamp"), drawn_dtype(rng), 0.01)
    return Call(operator("clamp"), (x, *(one_of(rng, [None, 0, 1, -0.5, np.nan, np.inf]) for _ in range(2))))


def with_in_place(draw: Any, name: str) -> dict[str, Any]:
    """The drawings of an operator and of its in-place form."""
    forms = [form for form in FORMS.get(name, ()) if form.partition(".")[0].endswith("_")]
    return {f"aten::{form}": partial(draw, form) for form in (name, *forms)}


CALLS: dict[str, Any] = {
    "cpu.pointwise.steps.choose": choosing,
    "cpu.pointwise.ternary.interpolate_each": lerp,
    "aten::where.self": choice,
    "aten::lerp.Tensor": lerp,
    "aten::clamp": clamp,
    "aten::clamp_min": partial(with_number, "clamp_min"),
    "aten::clamp_max": partial(with_number, "clamp_max"),
    "aten::div.Tensor_mode": divide_mode,
    "aten::round.decimals": round_decimals,
    "aten::pow.Tensor_Scalar": power,
    "aten::pow.Scalar": partial(with_number, "pow.Scalar"),
    "aten::ldexp.Tensor": partial(on_two, "ldexp.Tensor"),
    **with_in_place(on_one, "relu"),
}
for _name in loops.UNARY:
    CALLS |= with_in_place(on_one, _name)
for _name, _row in loops.BINARY.items():
    if "chebyshev" in _name:  # drawn in `polynomials`
        continue
    CALLS |= with_in_place(on_two, _name) if _row.produces is None else {f"aten::{_name}": partial(on_two, _name)}
for _name in loops.WITH_NUMBER:
    CALLS[f"aten::{_name}"] = partial(with_number, _name)
for _name in loops.NUMBERED:
    CALLS |= with_in_place(numbered, _name)
