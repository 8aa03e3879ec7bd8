"""Do chains of random views, conjugates and copies look where PyTorch's look, or fail as PyTorch's fail?

A program is a list of steps; each is a call on what the step before it gave. Both libraries run it on equal storages.
After every step sizes, strides, offset, dtype and bits must agree, and what the tensor says of its memory; or both
refuse, with the same builtin class of error.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasstorch
from tests.refusals import builtin
from tests.strategies import steady

FORMATS = ("contiguous_format", "channels_last", "channels_last_3d")
DTYPES = ("float32", "float64", "int64", "complex64", "uint8", "int16", "int32", "bool")
STEPS = 25  # of a program
LARGEST = 3000  # elements of a tensor that a program goes on with


class Step(NamedTuple):
    """One call: its text, and what it does in either library."""

    text: str
    run: Callable[[Any, Any], Any]


Shape = tuple[int, ...]


def method(name: str, *args: Any, **kwargs: Any) -> Step:
    """`x.name(*args)`, where a name of the library stands for its object."""
    given_ = ", ".join([*map(str, args), *(f"{k}={v}" for k, v in kwargs.items())])

    def run(library: Any, x: Any) -> Any:
        def there(value: Any) -> Any:
            return getattr(library, value) if isinstance(value, str) else value

        return getattr(x, name)(*map(there, args), **{k: there(v) for k, v in kwargs.items()})

    return Step(f"x.{name}({given_})", run)


def attribute(name: str) -> Step:
    return Step(f"x.{name}", lambda library, x: getattr(x, name))


def function(name: str, *args: Any) -> Step:
    return Step(f"{name}(x, {', '.join(map(str, args))})", lambda library, x: getattr(library, name)(x, *args))


def seen_as(dtype: str) -> Step:
    """`x.view(dtype)`, but floats as integers: PyTorch's loops leave zeros of either sign."""

    def run(library: Any, x: Any) -> Any:
        wanted = getattr(library, dtype)
        is_float = x.dtype.is_floating_point or x.dtype.is_complex
        return x if is_float and not (wanted.is_floating_point or wanted.is_complex) else x.view(wanted)

    return Step(f"x.view({dtype})", run)


# Arguments, mostly such that fit --------------------------------------------------------------------------------


def a_dim(random: Random, shape: Shape, extra: int = 0) -> int:
    ndim = len(shape) + extra
    return random.randint(-ndim - 1, ndim) if random.random() < 0.1 else random.randint(-ndim, max(ndim - 1, 0))


def a_size(random: Random, shape: Shape, dim: int) -> int:
    return shape[dim] if -len(shape) <= dim < len(shape) else random.randint(0, 3)


def another_shape(random: Random, shape: Shape) -> list[int]:
    """Sizes of as many elements, by joining and cutting; now and then others."""
    sizes = list(shape)
    for _ in range(random.randint(0, 3)):
        if sizes and random.random() < 0.5:
            at = random.randrange(len(sizes))
            divisors = [d for d in range(1, sizes[at] + 1) if sizes[at] % d == 0] or [1]
            d = random.choice(divisors)
            sizes[at : at + 1] = [d, sizes[at] // d]
        elif len(sizes) > 1:
            at = random.randrange(len(sizes) - 1)
            sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
    if sizes and random.random() < 0.3:
        sizes[random.randrange(len(sizes))] = -1
    if random.random() < 0.1:
        sizes.append(random.choice([-1, 1, 2, 3]))
    return sizes


def broadcast(random: Random, shape: Shape) -> list[int]:
    sizes = [random.choice([2, 3]) if size == 1 and random.random() < 0.6 else size for size in shape]
    sizes = [-1 if random.random() < 0.2 else size for size in sizes]
    if random.random() < 0.3:
        sizes.insert(0, random.choice([1, 2, -1 if random.random() < 0.2 else 3]))
    if sizes and random.random() < 0.05:
        sizes[random.randrange(len(sizes))] += 1
    return sizes


def order(random: Random, shape: Shape) -> list[int]:
    dims = list(range(len(shape)))
    random.shuffle(dims)
    dims = [d - len(shape) if random.random() < 0.2 else d for d in dims]
    if dims and random.random() < 0.05:
        dims[0] = random.choice([dims[-1], len(shape)])
    return dims


def several(random: Random, shape: Shape) -> list[int]:
    return [a_dim(random, shape) for _ in range(random.randint(0, len(shape)))]


def moved(random: Random, shape: Shape) -> tuple[list[int], list[int]]:
    count = random.randint(0, len(shape))
    return order(random, shape)[:count], order(random, shape)[: count if random.random() < 0.95 else count + 1]


def bound(random: Random, size: int) -> int | None:
    return random.choice([None, 0, 1, -1, random.randint(-size - 1, size + 1)])


def cuts(random: Random, size: int) -> list[int]:
    places = sorted(random.randint(0, size) for _ in range(random.randint(0, 3)))
    sizes = [end - start for start, end in zip([0, *places], [*places, size], strict=True)]
    if random.random() < 0.1:
        sizes[0] += random.choice([-1, 1])
    return sizes


def strided(random: Random, shape: Shape) -> tuple[list[int], list[int], int | None]:
    sizes = [random.choice([0, 1, 1, 2, 2, 3]) for _ in range(random.randint(0, 4))]
    strides = [random.choice([0, 1, 1, 2, 3, 6, -1 if random.random() < 0.05 else 4]) for _ in sizes]
    return sizes, strides, random.choice([None, None, 0, 1, 5, 400 if random.random() < 0.1 else 2])


def a_format(random: Random, preserve: bool = True) -> str:
    return random.choice([*FORMATS, "preserve_format"] if preserve else FORMATS)


def steps(random: Random, shape: Shape) -> list[Step]:
    """The kinds of call there are: each gives one step for a tensor of these sizes."""
    dim, other = a_dim(random, shape), a_dim(random, shape)
    size = a_size(random, shape, dim)
    start, end = bound(random, size), bound(random, size)
    step = random.choice([1, 1, 2, 3, 0 if random.random() < 0.1 else 1])
    numbers, wider = random.randint(0, 4), [abs(size) for size in broadcast(random, shape)]
    return [
        method("view", another_shape(random, shape)),
        method("reshape", another_shape(random, shape)),
        seen_as(random.choice(DTYPES[:-1])),  # bytes that are neither 0 nor 1 are no bool
        method("flatten", dim, other),
        method("unflatten", dim, another_shape(random, (size,))),
        method("ravel"),
        method("expand", broadcast(random, shape)),
        method("broadcast_to", broadcast(random, shape)),
        method("permute", order(random, shape)),
        method("movedim", *moved(random, shape)),
        method("transpose", dim, other),
        method("swapaxes", dim, other),
        method("t"),
        attribute("mT"),
        attribute("mH"),
        method("adjoint"),
        method("squeeze"),
        method("squeeze", dim),
        method("squeeze", several(random, shape)),
        method("unsqueeze", a_dim(random, shape, 1)),
        method("select", dim, random.randint(-size, size)),
        method("narrow", dim, random.randint(-size, size), random.randint(-1 if random.random() < 0.1 else 0, size)),
        method("diagonal", random.randint(-2, 2), dim, other),
        method("unfold", dim, random.randint(0, size), random.randint(0 if random.random() < 0.1 else 1, 3)),
        method("unbind", dim),
        method("chunk", numbers, dim),
        method("split", numbers, dim),
        method("split", cuts(random, size), dim),
        method("tensor_split", numbers, dim),
        method("tensor_split", [random.randint(-size, size) for _ in range(numbers)], dim),
        method("hsplit", numbers),
        method("vsplit", [random.randint(-3, 3) for _ in range(numbers)]),
        method("dsplit", numbers),
        method("as_strided", *strided(random, shape)),
        function("slice_copy", dim, start, end, step),
        Step(f"x[..., {start}:{end}:{step}]", lambda library, x: x[..., start:end:step]),
        Step(f"x[{start}:{end}]", lambda library, x: x[start:end]),
        method("conj"),
        Step("x._neg_view()", lambda library, x: x if x.dtype is library.bool else x._neg_view()),
        attribute("real"),
        attribute("imag"),
        function("view_as_real"),
        function("view_as_complex"),
        method("resolve_conj"),
        method("resolve_neg"),
        method("contiguous", memory_format=a_format(random)),
        method("clone", memory_format=a_format(random)),
        method("to", memory_format=a_format(random)),
        method("to", random.choice(DTYPES), memory_format=a_format(random)),
        method("to", random.choice(DTYPES), copy=random.random() < 0.5),
        Step(f"x.expand_as(empty({wider}))", lambda library, x: x.expand_as(library.empty(wider))),
        function("atleast_2d"),
        function("atleast_3d"),
        method("unsafe_chunk", numbers, dim),
        method("unsqueeze", 0),
        method("conj_physical"),
        method("detach"),
        function("alias_copy"),
        method("sum_to_size", broadcast(random, shape)),
    ]


# What must agree ------------------------------------------------------------------------------------------------


def facts(library: Any, x: Any) -> dict[str, Any]:
    """What a tensor says of where it looks, and how what is made like it would lie."""
    like = library.empty_like(x)
    return {
        "sizes": tuple(x.shape),
        "strides": tuple(x.stride()),
        "offset": x.storage_offset(),
        "dtype": str(x.dtype),
        "bytes": x.untyped_storage().nbytes(),
        "bits": (x.is_conj(), x.is_neg()),
        "contiguous": [x.is_contiguous(memory_format=getattr(library, name)) for name in FORMATS],
        "order": _order(x),
        "like": (tuple(like.shape), tuple(like.stride()), str(like.dtype), like.is_conj(), like.is_neg()),
    }


def _order(x: Any) -> Any:
    try:
        return x.dim_order()
    except (RuntimeError, TypeError) as error:
        return type(error)


def outcome(library: Any, step: Step, x: Any) -> Any:
    """A list of tensors, or the builtin class of the error."""
    try:
        made = step.run(library, x)
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        return builtin(error)
    return list(made) if isinstance(made, tuple | list) else [made]


def values(x: Any) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = x.detach().resolve_conj().resolve_neg().numpy()
    return found


def start(random: Random, torch: Any) -> tuple[Any, Any, str]:
    """One storage, seen by either library through one geometry."""
    dtype = random.choice(DTYPES)
    ndim = random.randint(0, 5)
    shape = [random.choice([1, 1, 2, 2, 3, 4, 0 if random.random() < 0.2 else 2]) for _ in range(ndim)]
    made = []
    for library in (glasstorch, torch):
        numbers = library.arange(int(np.prod(shape)), dtype=library.int64).to(getattr(library, dtype))
        made.append(numbers.reshape(shape))
    return *made, f"x = arange({int(np.prod(shape))}).to({dtype}).reshape({shape})"


def check_program(seed: int, torch: Any) -> None:
    """Run one random program in both libraries, and compare after every step."""
    random = Random(seed)
    ours, theirs, text = start(random, torch)
    program = [text]
    for _ in range(STEPS):
        step = random.choice(steps(random, tuple(theirs.shape)))
        found, wanted = outcome(glasstorch, step, ours), outcome(torch, step, theirs)
        shown = "\n".join([*program, step.text])
        if isinstance(wanted, type):
            assert found is wanted, f"{shown}\n{found}, expected {wanted}"
            continue
        assert isinstance(found, list), f"{shown}\n{found}, expected {wanted}"
        assert len(found) == len(wanted), shown
        for one, other in zip(found, wanted, strict=True):
            said, expected = facts(glasstorch, one), facts(torch, other)
            differs = {what: (said[what], expected[what]) for what in said if said[what] != expected[what]}
            assert not differs, f"{shown}\n{differs}"
            np.testing.assert_array_equal(values(one), values(other), err_msg=shown)
        at = random.randrange(len(wanted)) if wanted else 0
        if wanted and wanted[at].numel() <= LARGEST and wanted[at].dim() <= 7:
            program.append(f"{step.text}" + (f"[{at}]" if len(wanted) > 1 else ""))
            ours, theirs = found[at], wanted[at]


@pytest.fixture(scope="module")
def torch(require: Callable[[str], Any]) -> Any:
    return require("torch")


@pytest.mark.filterwarnings("ignore")  # that imaginary parts are discarded, and that 0-dim tensors are transposed
@settings(steady, max_examples=400)
@given(st.integers(0, 2**32))
def test_a_program_of_views_gives_what_it_gives_in_pytorch(torch: Any, seed: int) -> None:
    check_program(seed, torch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_many_programs_of_views_give_what_they_give_in_pytorch(torch: Any) -> None:
    for seed in range(4_000):
        check_program(seed, torch)
