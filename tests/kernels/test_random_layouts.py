"""Do pointwise operators and copies lay out, resize, refuse and compute as PyTorch's, on tensors of any geometry?

Each example is a call: an operator, tensors of random sizes, strides, offsets and dtypes, some of them on one storage,
and how the result is to be had (a new tensor, in place, out=). Both libraries make the same call. (Hypothesis would
draw them: it costs four times what the calls do. A failure prints its call.)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import builtin

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "uint8", "bool", "complex64"]
UNARY = ["neg", "abs", "exp", "sqrt", "sigmoid", "relu", "bitwise_not", "reciprocal", "tanh"]
UNARY += ["floor", "trunc", "sign", "sgn", "logical_not", "atan", "log1p"]
BINARY = ["add", "sub", "mul", "div", "maximum", "pow", "eq", "lt", "bitwise_and", "atan2"]
BINARY += ["copysign", "hypot", "logaddexp", "logical_and", "minimum", "ge", "bitwise_xor"]
# Whose refusal depends on the values: what they are is not defined where memory overlaps, but of a number beside.
CHECKS_VALUES = ["remainder", "floor_divide", "fmod"]
OTHERS = ["where", "clamp", "addcmul", "lerp", "masked_fill", "clone", "copy"]
NO_INPLACE = ("where", "clone", "maximum", "minimum", "logaddexp")  # PyTorch has no such form
NO_OUT = ("masked_fill", "clone", "copy", "relu")  # nor these
NUMBERED = ["add", "sub", "mul", "div", "pow", "eq", "lt", "ge", "bitwise_and", "bitwise_xor", "copysign"]
NUMBERED += CHECKS_VALUES

# What PyTorch refuses in other words (clamp), or computes less exactly (pow).
OTHERWISE = (("bool", "clamp"), ("complex64", "pow"))
VALUES = np.random.RandomState(0).randint(0, 9, 10_000)

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]  # sizes, strides, offset


@dataclass
class Call:
    """A call that both libraries can make."""

    op: str
    form: str  # new, inplace or out
    storages: list[tuple[str, int]] = field(default_factory=list)  # dtype, number of elements
    tensors: list[tuple[int, Geometry]] = field(default_factory=list)  # which storage, and where in it
    args: list[int] = field(default_factory=list)
    numbers: tuple[float, ...] = ()
    out: int | None = None

    def tensor(self, dtype: str, geometry: Geometry, storage: int | None = None) -> int:
        """Add a tensor, on a storage of its own or on one that is there; its number."""
        if storage is None:
            self.storages.append((dtype, 0))
            storage = len(self.storages) - 1
        dtype, size = self.storages[storage]
        self.storages[storage] = (dtype, max(size, geometry[2] + span(geometry)))
        self.tensors.append((storage, geometry))
        return len(self.tensors) - 1


def span(geometry: Geometry) -> int:
    shape, strides, _ = geometry
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def places(geometry: Geometry) -> set[int]:
    """Where in the storage the elements lie."""
    shape, strides, offset = geometry
    return {offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)}


# Drawing --------------------------------------------------------------------------------------------------------


def draw_geometry(random: Random, shape: tuple[int, ...]) -> Geometry:
    """Sizes, strides and an offset: row-major, permuted, channels last, stepped, expanded, or anything at all."""
    kind = random.choice(["row-major", "row-major", "permuted", "channels last", "stepped", "expanded", "any"])
    if kind == "any":
        return shape, tuple(random.randint(0, 7) for _ in shape), random.randint(0, 3)
    order = list(reversed(range(len(shape))))
    if kind == "channels last" and len(shape) == 4:
        order = [1, 3, 2, 0]
    elif kind != "row-major":
        random.shuffle(order)
    strides, step = [0] * len(shape), 1
    for dim in order:
        strides[dim] = step * (random.choice([1, 2, 4, 8]) if kind == "stepped" else 1)
        step *= max(shape[dim], 1)
    if kind == "expanded":
        strides = [random.choice([0, s]) for s in strides]
    if random.random() < 0.2:  # the stride of a dimension of size 1 may be anything
        strides = [random.randint(0, 30) if n == 1 else s for n, s in zip(shape, strides, strict=True)]
    return shape, tuple(strides), random.randint(0, 3)


def draw_shape(random: Random) -> tuple[int, ...]:
    sizes = [1, 2, 2, 3, 4, 0] if random.random() < 0.2 else [1, 2, 2, 3, 4]
    return tuple(random.choice(sizes) for _ in range(random.choice([0, 1, 1, 2, 2, 3, 4, 4])))


def draw_fitting(random: Random, shape: tuple[int, ...], may_clash: bool = True) -> tuple[int, ...]:
    """A shape that mostly broadcasts with another."""
    kind = random.random()
    if kind < 0.6:
        return shape
    if kind < 0.9 or not may_clash:
        fitting = tuple(1 if random.random() < 0.4 else n for n in shape)
        return fitting[random.randint(0, len(fitting)) :] if random.random() < 0.4 else fitting
    return tuple(random.choice([1, 2, 3]) for _ in range(random.randint(0, 3)))


def draw_call(random: Random) -> Call:
    op = random.choice(random.choice([UNARY, BINARY, BINARY, CHECKS_VALUES, OTHERS]))
    forms = ["new", "new", *["inplace"] * (op not in NO_INPLACE), *["out"] * (op not in NO_OUT)]
    call = Call(op, "inplace" if op == "copy" else random.choice(forms))
    dtype = random.choice([d for d in DTYPES if (d, op) not in OTHERWISE])
    shape = draw_shape(random)

    def another(dtype: str | None = None) -> int:
        geometry = draw_geometry(random, draw_fitting(random, shape, op != "masked_fill"))
        if dtype is None and op not in CHECKS_VALUES and random.random() < 0.3:
            return call.tensor("", geometry, 0)  # on the storage of the first
        real = DTYPES[:-1] if op == "pow" else DTYPES
        return call.tensor(dtype or random.choice([call.storages[0][0], random.choice(real)]), geometry)

    first = call.tensor(dtype, draw_geometry(random, shape))
    beside_number = op in NUMBERED and (random.random() < 0.2 or (op in CHECKS_VALUES and call.form != "new"))
    if op in UNARY or op in ("clone", "clamp") or beside_number:
        call.args = [first]
    elif op == "where":
        call.args = [another("bool"), first, another(dtype)]
    elif op == "masked_fill":
        call.args = [first, another("bool")]
    else:
        call.args = [first, first if random.random() < 0.05 else another()]
        call.args += [another()] * (op == "addcmul")
    call.numbers = {"clamp": (-1, 2), "lerp": (0.5,), "masked_fill": (1,)}.get(op, ())
    if beside_number:
        call.numbers = (random.choice([2, 3, 0.5, True]),)
    if call.form == "out":
        if random.random() < 0.25 and op != "where":
            call.out = random.choice(call.args)
        else:
            shapes = [call.tensors[i][1][0] for i in call.args]
            try:
                wanted = tuple(np.broadcast_shapes(*shapes))
            except ValueError:
                wanted = shape
            geometry = draw_geometry(random, draw_fitting(random, wanted))
            wanted_dtype = random.choice([dtype, dtype, random.choice(DTYPES)]) if op != "where" else dtype
            call.out = call.tensor(wanted_dtype, geometry, random.choice([None, None, 0]) if op != "where" else None)
    return call


# Calling and comparing ------------------------------------------------------------------------------------------


def made(library: Any, call: Call) -> tuple[list[Any], list[Any]]:
    """The storages, as one-dimensional tensors, and the tensors."""
    storages = []
    for number, (dtype, size) in enumerate(call.storages):
        values = VALUES[number : number + size]
        values = values % 4 + 1 if dtype == "uint8" else values % 2 if dtype == "bool" else values - 4
        storages.append(library.from_numpy(values).to(getattr(library, dtype), copy=True))
    tensors = [library.as_strided(storages[storage], *geometry) for storage, geometry in call.tensors]
    return storages, tensors


def outcome(library: Any, call: Call) -> tuple[Any, list[Any]]:
    """What can be told of the result, or of the error; and the values of the result and of every storage."""
    storages, tensors = made(library, call)
    args = [*(tensors[i] for i in call.args), *call.numbers]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if call.form == "inplace":
                result = getattr(args[0], call.op + "_")(*args[1:])
            elif call.out is not None:
                result = getattr(library, call.op)(*args, out=tensors[call.out])
            else:
                result = getattr(library, call.op)(*args)
        except (RuntimeError, IndexError, NotImplementedError, ValueError) as error:
            return (builtin(error), str(error).partition("\n")[0]), []
    warned = {str(w.message).partition(" ")[0] for w in caught} - {"Casting"}  # which is said once
    facts = (tuple(result.shape), tuple(result.stride()), result.storage_offset(), str(result.dtype), warned)
    return facts, [t.to(library.complex128).clone().numpy().ravel() for t in (result, *storages)]


def is_defined(call: Call, shape: Sequence[int]) -> bool:
    """Whether the values are: every element is written once, and none before it is read."""
    if call.form == "new":
        return True
    written = call.args[0] if call.out is None else call.out
    storage, geometry = call.tensors[written]
    if geometry[0] != tuple(shape) or len(places(geometry)) != int(np.prod(geometry[0])):
        return False
    others = [call.tensors[i] for i in call.args if call.tensors[i] != (storage, geometry)]
    return not any(on == storage and places(geometry) & places(where) for on, where in others)


TOLERANCE = {"torch.float16": 2e-2, "torch.bfloat16": 4e-2}


def check(call: Call, torch: Any) -> None:
    ours, our_values = outcome(glasstorch, call)
    if ours[0] is RuntimeError and ours[1].startswith("complex32"):
        return  # float16 and complex64 have no common dtype here
    theirs, their_values = outcome(torch, call)
    assert ours == theirs, call
    if our_values and is_defined(call, ours[0]):
        tolerance = TOLERANCE.get(ours[3], 1e-5)
        for mine, wanted in zip(our_values, their_values, strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance, err_msg=str(call))


@pytest.mark.parametrize("seed", range(10))
def test_a_call_on_any_tensors_ends_as_in_torch(require: Any, seed: int) -> None:
    random, torch = Random(seed), require("torch")
    for _ in range(700):
        check(draw_call(random), torch)


@pytest.mark.slow
def test_many_more_calls_end_as_in_torch(require: Any) -> None:
    random, torch = Random(-1), require("torch")
    for _ in range(100_000):
        check(draw_call(random), torch)


def test_the_calls_that_are_drawn_are_refused_resized_and_computed() -> None:
    random, found = Random(0), {"computed": 0, "resized": 0, "overlap": 0, "sizes": 0, "defined": 0}
    for _ in range(500):
        call = draw_call(random)
        facts, values = outcome(glasstorch, call)
        found["computed"] += bool(values)
        found["resized"] += bool(values) and "An" in facts[4]
        found["defined"] += bool(values) and is_defined(call, facts[0])
        found["overlap"] += not values and "single memory location" in facts[1]
        found["sizes"] += not values and "must match" in facts[1]
    assert found["computed"] > 300
    assert found["defined"] > 200
    assert min(found.values()) >= 5, found
