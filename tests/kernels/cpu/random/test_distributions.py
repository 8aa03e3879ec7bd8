"""Are random numbers put where PyTorch puts them?"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.core.random.torch_numbers import refusal, same_bits, torch_module

Library = Any
Tensor = Any

LAYOUTS: dict[str, Callable[[Library], Tensor]] = {
    "row-major": lambda t: t.zeros(3, 4),
    "transposed": lambda t: t.zeros(4, 3).t(),
    "permuted": lambda t: t.zeros(2, 3, 4).permute(1, 2, 0),
    "with gaps": lambda t: t.zeros(6, 8)[::2, 1::2],
    "with gaps, transposed": lambda t: t.zeros(8, 6).t()[:, ::2],
    "a scalar": lambda t: t.zeros(()),
    "empty": lambda t: t.zeros(0, 3),
}
DRAWS: dict[str, Callable[[Tensor], Tensor]] = {
    "uniform_": lambda x: x.uniform_(-1, 3),
    "normal_": lambda x: x.normal_(1, 2),
    "random_": lambda x: x.random_(-5, 100),
    "random_ up to": lambda x: x.random_(100),
    "random_ from": lambda x: x.random_(3, None),
    "random_ of all": lambda x: x.random_(),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "bernoulli_ even": lambda x: x.bernoulli_(),
    "exponential_": lambda x: x.exponential_(0.5),
    "cauchy_": lambda x: x.cauchy_(1, 2),
    "geometric_": lambda x: x.geometric_(0.1),
    "log_normal_": lambda x: x.log_normal_(),
}
DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"),
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("draw", DRAWS)
def test_the_numbers_follow_the_order_in_memory(require: Callable[[str], Any], layout: str, draw: str) -> None:
    results = []
    for library in (require("glasstorch"), require("torch")):
        library.manual_seed(7)
        x = LAYOUTS[layout](library)
        assert DRAWS[draw](x) is x
        results.append((x.tolist(), library.rand(1).item()))
    assert results[0] == results[1]


def strided(library: Library, shape: list[int], dtype: str, choice: random.Random) -> Tensor:
    """A tensor of zeros whose dimensions lie in memory in any order, with or without gaps."""
    order = choice.sample(range(len(shape)), len(shape))
    gap = choice.choice([1, 1, 2, 3])
    strides, step = [0] * len(shape), gap
    for dim in order:
        strides[dim] = step
        step *= max(shape[dim], 1)
    offset = choice.randrange(3)
    return library.zeros(offset + step + 1, dtype=getattr(library, dtype)).as_strided(shape, strides, offset)


def compare_random_tensors(seed: int, count: int) -> None:
    """Fill tensors of random sizes, dtypes and strides in both libraries; every bit must be the same."""
    torch, ours = torch_module(), pytest.importorskip("glasstorch")
    choice = random.Random(seed)
    filled = 0
    for _ in range(count):
        name, dtype = choice.choice(list(DRAWS)), choice.choice(DTYPES)
        shape = [choice.choice([0, 1, 2, 3, 5, 7, 16, 17]) for _ in range(choice.choice([0, 1, 2, 2, 3, 4]))]
        if choice.random() < 0.1:
            shape = [choice.randrange(10_001)]
        made = choice.randrange(1 << 30)
        what = f"{name} of {dtype}, {shape}, made {made}"
        results = []
        for library in (ours, torch):
            x = strided(library, shape, dtype, random.Random(made))
            library.manual_seed(made)
            results.append(refusal(lambda: DRAWS[name](x)))  # noqa: B023
        (found, refused), (expected, theirs) = results
        if theirs is not None:
            assert isinstance(refused, type(theirs)), f"{what}: {theirs}; ours: {refused}"
            continue
        assert refused is None, f"{what}: {refused}"
        assert same_bits(found.array().copy(), expected.clone(memory_format=torch.contiguous_format)), what
        assert ours.rand(1).item() == torch.rand(1).item(), f"{what}: another number of words was drawn"
        filled += 1
    assert filled > count // 3


def test_every_bit_is_torch_s_in_every_dtype_and_layout() -> None:
    compare_random_tensors(6, 3000)


@pytest.mark.slow
def test_every_bit_is_torch_s_in_every_dtype_and_layout_at_length() -> None:
    compare_random_tensors(7, 100_000)


@pytest.mark.parametrize("size", [*range(40), 623, 624, 625, 10_000])
def test_sizes_of_all_kinds_are_torch_s(size: int) -> None:
    torch, ours = torch_module(), pytest.importorskip("glasstorch")
    for dtype in ("float32", "float64", "bfloat16", "complex64"):
        for library in (ours, torch):
            library.manual_seed(size)
        for name in ("rand", "randn"):
            found, expected = (getattr(library, name)(size, dtype=getattr(library, dtype)) for library in (ours, torch))
            assert same_bits(found.array(), expected), (name, dtype)


def test_probabilities_are_read_in_the_order_in_which_the_tensor_is_filled(require: Callable[[str], Any]) -> None:
    results = []
    for library in (require("glasstorch"), require("torch")):
        drawn = []
        for dtype in ("float32", "float64", "float16", "bfloat16"):
            p = (library.arange(12, dtype=library.float32) / 11).reshape(3, 4).to(getattr(library, dtype))
            for x, chances in (
                (library.zeros(3, 4), p),
                (library.zeros(4, 3).t(), p),
                (library.zeros(3, 4), p.t().contiguous().t()),
                (library.zeros(2, 3, 4, dtype=library.int64), p),
                (library.zeros(3, 4, dtype=library.bool)[:, ::2], p[:, :1]),
                (library.zeros(0, 4), p[:1]),
            ):
                library.manual_seed(3)
                drawn.append(x.bernoulli_(chances).tolist())
        results.append(drawn)
    assert results[0] == results[1]


def test_a_generator_draws_beside_the_default_stream(torch: Any) -> None:
    torch.manual_seed(0)
    expected = torch.rand(2).tolist()
    torch.manual_seed(0)
    own = [torch.Generator().manual_seed(0) for _ in range(5)]
    assert torch.rand(2, generator=own[0]).tolist() == expected
    assert torch.zeros(2).uniform_(generator=own[1]).tolist() == expected
    torch.randn(2, generator=own[2])
    torch.randint(9, (2,), generator=own[3])
    torch.randint(-9, 9, (2,), generator=own[4])
    for name, arguments in (
        ("exponential_", ()),
        ("cauchy_", ()),
        ("geometric_", (0.5,)),
        ("log_normal_", ()),
        ("random_", ()),
        ("random_", (5,)),
        ("bernoulli_", (0.5,)),
        ("bernoulli_", (torch.ones(2),)),
    ):
        getattr(torch.zeros(2), name)(*arguments, generator=own[0])
    assert torch.rand(2).tolist() == expected


def test_what_cannot_be_drawn(torch: Any) -> None:
    overlapping = torch.zeros(1).expand(3)
    for draw in DRAWS.values():
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
            draw(overlapping)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers"):
        overlapping.bernoulli_(torch.ones(3))
    with pytest.raises(RuntimeError, match="'from' to be less than 'to', but got from=5 >= to=3"):
        torch.randint(5, 3, (2,))
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch.rand(3, dtype=torch.int64)
    with pytest.raises(RuntimeError, match=r"normal expects std >= 0\.0, but found std -1"):
        torch.zeros(2, dtype=torch.complex64).normal_(0, -1)
    with pytest.raises(NotImplementedError, match="\"bernoulli_tensor_cpu_p_\" not implemented for 'Long'"):
        torch.zeros(2).bernoulli_(torch.tensor([0, 1]))
    with pytest.raises(RuntimeError, match=r"expanded size of the tensor \(3\) must match the existing size \(2\)"):
        torch.zeros(3).bernoulli_(torch.ones(2))


def test_integers_are_int64_unless_told(torch: Any) -> None:
    assert torch.randint(3, (2,)).dtype is torch.int64
    assert torch.randint(0, 3, (2,), dtype=torch.float32).dtype is torch.float32
    assert torch.randint(3, (2,), dtype=None).dtype is torch.int64


def test_drawing_counts_as_a_write_and_stops_the_gradient(torch: Any) -> None:
    for draw in DRAWS.values():
        leaf = torch.ones(3, requires_grad=True)
        x = leaf * 2
        draw(x)
        assert x._version == 1
        (x * 5 + leaf).sum().backward()
        assert leaf.grad.tolist() == [1, 1, 1]
