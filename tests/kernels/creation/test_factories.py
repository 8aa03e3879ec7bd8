"""Do factory functions make what PyTorch's make, and refuse what it refuses?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[[Any], Any]

MADE: dict[str, tuple[Make, list[Any]]] = {
    "zeros": (lambda t: t.zeros(2, dtype=t.int32), [0, 0]),
    "zeros of a list": (lambda t: t.zeros([2]), [0.0, 0.0]),
    "ones": (lambda t: t.ones((2,), dtype=t.bool), [True, True]),
    "full of an int": (lambda t: t.full((2,), 3), [3, 3]),
    "full of a bool": (lambda t: t.full((1,), True), [True]),
    "full truncates": (lambda t: t.full((1,), 3.5, dtype=t.int64), [3]),
    "full wraps a negative number": (lambda t: t.full((1,), -1, dtype=t.uint8), [255]),
    "full of infinity": (lambda t: t.full((1,), -float("inf")), [-float("inf")]),
    "scalar_tensor is a float": (lambda t: t.scalar_tensor(3)[None], [3.0]),
    "arange": (lambda t: t.arange(3), [0, 1, 2]),
    "arange of floats": (lambda t: t.arange(0.5, 2), [0.5, 1.5]),
    "arange downwards": (lambda t: t.arange(5, 0, -2), [5, 3, 1]),
    "arange of nothing": (lambda t: t.arange(2, 2), []),
    "arange truncates for int64": (lambda t: t.arange(0.5, 5.5, 1.5, dtype=t.int64), [0, 1, 2, 3, 4]),
    "arange counts in floats for int32": (lambda t: t.arange(0.5, 5.5, 1.5, dtype=t.int32), [0, 1, 2, 3]),
    "arange past 2**53": (lambda t: t.arange(2**60, 2**60 + 2), [2**60, 2**60 + 1]),
    "arange in half": (lambda t: t.arange(0, 0.6, 0.3, dtype=t.float16).double(), [0.0, 0.300048828125]),
    "zeros_like": (lambda t: t.zeros_like(t.ones(2)), [0.0, 0.0]),
    "ones_like in another dtype": (lambda t: t.ones_like(t.zeros(2), dtype=t.int64), [1, 1]),
    "full_like truncates": (lambda t: t.full_like(t.zeros(1, dtype=t.int64), 2.7), [2]),
    "new_zeros": (lambda t: t.ones(2, dtype=t.int64).new_zeros(1), [0]),
    "new_ones": (lambda t: t.zeros(2).new_ones((1,), dtype=t.bool), [True]),
    "new_full": (lambda t: t.zeros(2, dtype=t.int64).new_full((1,), 2.5), [2]),
    "zeros in a given tensor": (lambda t: t.zeros(2, out=t.ones(3, dtype=t.int64)), [0, 0]),
    "ones in a given tensor": (lambda t: t.ones(2, out=t.empty(0)), [1.0, 1.0]),
    "full in a given tensor": (lambda t: t.full((2,), 2.5, out=t.empty(0, dtype=t.int64)), [2, 2]),
    "arange in a given tensor": (lambda t: t.arange(3, out=t.empty(0)), [0.0, 1.0, 2.0]),
    "arange in a given column": (lambda t: t.arange(1, 3, out=t.zeros(2, 1)).flatten(), [1.0, 2.0]),
    "full of a complex number": (lambda t: t.full((2,), 1 - 2j), [1 - 2j, 1 - 2j]),
    "eye": (lambda t: t.eye(2), [[1.0, 0.0], [0.0, 1.0]]),
    "eye that is wide": (lambda t: t.eye(1, 3, dtype=t.int64), [[1, 0, 0]]),
    "eye that is high": (lambda t: t.eye(3, 1, dtype=t.bool), [[True], [False], [False]]),
    "eye of nothing": (lambda t: t.eye(0, 3), []),
    "eye in a given tensor": (lambda t: t.eye(2, out=t.ones(3, 3, dtype=t.int64)), [[1, 0], [0, 1]]),
    "eye in a given transpose": (lambda t: t.eye(2, 3, out=t.ones(3, 2).t()), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "tril_indices": (lambda t: t.tril_indices(2, 3, 1), [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]]),
    "tril_indices below": (lambda t: t.tril_indices(3, 2, offset=-1), [[1, 2, 2], [0, 0, 1]]),
    "triu_indices": (lambda t: t.triu_indices(2, 2, dtype=t.int32), [[0, 0, 1], [0, 1, 1]]),
    "triu_indices of nothing": (lambda t: t.triu_indices(2, 2, 5), [[], []]),
    "a dtype beside out that is its own": (lambda t: t.zeros(1, out=t.ones(1), dtype=t.float32), [0.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_is_made(torch: Any, name: str) -> None:
    make, expected = MADE[name]
    result = make(torch)
    assert result.tolist() == expected
    assert [type(v) for v in result.tolist()] == [type(v) for v in expected]


REFUSED: dict[str, tuple[Make, type[Exception], str]] = {
    "a negative size": (lambda t: t.empty(2, -1), RuntimeError, r"negative dimension -1: \[2, -1\]"),
    "channels last in 2-d": (lambda t: t.empty(2, 3, memory_format=t.channels_last), RuntimeError, "required rank 4"),
    "preserve": (lambda t: t.empty(2, memory_format=t.preserve_format), RuntimeError, "unsupported .* format"),
    "strides of another length": (lambda t: t.empty_strided((2, 3), (1,)), RuntimeError, r"\(2\) must match .* \(1\)"),
    "negative strides": (lambda t: t.empty_strided((2,), (-1,)), RuntimeError, r"sizes=\[2\] and strides=\[-1\]"),
    "a step of 0": (lambda t: t.arange(0, 5, 0), RuntimeError, "step must be nonzero"),
    "the wrong direction": (lambda t: t.arange(5, 0), RuntimeError, "inconsistent with step sign"),
    "an endless range": (lambda t: t.arange(0, float("inf")), RuntimeError, "unsupported range: 0 -> inf"),
    "a range of bools": (lambda t: t.arange(2, dtype=t.bool), NotImplementedError, "not implemented for 'Bool'"),
    "a float beyond float32": (lambda t: t.full((1,), 1e300), RuntimeError, "to type float without overflow"),
    "NaN as an integer": (lambda t: t.full((1,), float("nan"), dtype=t.int64), RuntimeError, "to type int64_t"),
    "an int beyond uint8": (lambda t: t.full((1,), 256, dtype=t.uint8), RuntimeError, "to type uint8_t"),
    "an int far below uint8": (lambda t: t.full((1,), -256, dtype=t.uint8), RuntimeError, "to type uint8_t"),
    "pinned memory": (lambda t: t.empty(2, pin_memory=True), RuntimeError, "pin_memory=True requires"),
    "another dtype than out": (lambda t: t.zeros(2, out=t.empty(0), dtype=t.int64), RuntimeError, "dtype Long does"),
    "a matrix below 0": (lambda t: t.eye(-1), RuntimeError, "n must be greater or equal to 0, got -1"),
    "a matrix of rows below 0": (lambda t: t.eye(2, -3), RuntimeError, "m must be greater or equal to 0, got -3"),
    "rows below 0": (lambda t: t.tril_indices(-1, 2), RuntimeError, "row must be non-negative, got-1"),
    "columns below 0": (lambda t: t.triu_indices(1, -2), RuntimeError, "col must be non-negative, got-2"),
    "an order of too many": (lambda t: t.empty_permuted((2,), (0, 1)), RuntimeError, r"len\(physical_layout\) = 2"),
    "an order of one twice": (lambda t: t.empty_permuted((2, 3), (0, 0)), RuntimeError, "Duplicate dim not allowed"),
    "an order of none": (lambda t: t.empty_permuted((2,), (3,)), RuntimeError, "Dimension out of range"),
    "an order from the end": (lambda t: t.empty_permuted((2,), (-1,)), RuntimeError, "but got -1 at index 0"),
    "gradients of integers": (lambda t: t.zeros(2, dtype=t.int64, requires_grad=True), RuntimeError, "floating point"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch: Any, name: str) -> None:
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make(torch)


LIKE: dict[str, tuple[Make, tuple[int, ...]]] = {
    "a transpose": (lambda t: t.zeros(2, 3).t(), (1, 3)),
    "a transpose with gaps": (lambda t: t.zeros(4, 6).t()[::2], (1, 3)),
    "an expanded row": (lambda t: t.zeros(3).expand(4, 3), (3, 1)),
    "an expanded column": (lambda t: t.zeros(3, 1).expand(3, 4), (4, 1)),
    "channels last": (lambda t: t.empty(2, 3, 4, 5, memory_format=t.channels_last), (60, 1, 15, 3)),
}


@pytest.mark.parametrize("name", LIKE)
def test_like_keeps_the_order_in_memory(torch: Any, name: str) -> None:
    make, strides = LIKE[name]
    assert tuple(torch.empty_like(make(torch)).stride()) == strides
    assert tuple(torch.zeros_like(make(torch)).stride()) == strides


def test_like_can_be_told_an_order(torch: Any) -> None:
    x = torch.zeros(2, 3, 4, 5)
    assert tuple(torch.ones_like(x, memory_format=torch.channels_last).stride()) == (60, 1, 15, 3)
    assert tuple(torch.ones_like(x.transpose(0, 1), memory_format=torch.contiguous_format).stride()) == (40, 20, 5, 1)


def test_a_storage_is_just_large_enough_for_its_strides(torch: Any) -> None:
    assert torch.empty_strided((2, 3), (1, 1)).untyped_storage().nbytes() == 16
    assert tuple(torch.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()) == (1, 2)


def test_dimensions_can_be_laid_out_in_a_given_order(torch: Any) -> None:
    assert tuple(torch.empty_permuted((2, 3, 5), (1, 2, 0)).stride()) == (1, 10, 2)
    assert tuple(torch.empty_permuted((2, 3), (1, 0), dtype=torch.int64).stride()) == (1, 2)
    assert tuple(torch.empty_permuted((), ()).stride()) == ()
    assert tuple(torch.empty_permuted((1, 0, 4), (2, 0, 1)).stride()) == (1, 1, 1)


def test_a_fresh_tensor_is_at_version_0_and_a_given_one_is_not(torch: Any) -> None:
    x = torch.ones(2)
    fresh = [torch.zeros(2), torch.full((2,), 1.0), torch.zeros_like(x), x.new_ones(2), torch.arange(2), torch.rand(2)]
    assert [f._version for f in fresh] == [0] * 6
    torch.zeros(2, out=x)
    assert x._version == 1


def test_a_factory_makes_a_leaf_that_requires_grad(torch: Any) -> None:
    for x in (torch.zeros(2, requires_grad=True), torch.zeros_like(torch.ones(2), requires_grad=True)):
        assert x.requires_grad
        assert x.is_leaf


def test_a_resized_out_tensor_warns(torch: Any) -> None:
    out = torch.zeros(2, dtype=torch.int64)
    with pytest.warns(UserWarning, match="resized"):
        torch.arange(3, out=out)
    assert out.tolist() == [0, 1, 2]


def test_draws_can_be_written_to_a_given_tensor(torch: Any) -> None:
    for draw in (
        lambda **out: torch.rand(3, **out),
        lambda **out: torch.randn(3, **out),
        lambda **out: torch.randint(9, (3,), **out),
        lambda **out: torch.randint(-5, 9, (3,), **out),
        lambda **out: torch.randperm(3, **out),
    ):
        torch.manual_seed(1)
        expected = draw()
        torch.manual_seed(1)
        out = torch.empty(0, dtype=expected.dtype)
        assert draw(out=out) is out
        assert out.tolist() == expected.tolist()
    assert tuple(torch.empty(2, 3, out=torch.zeros(0)).shape) == (2, 3)


TOO_LARGE: dict[str, tuple[Make, type[Exception], str]] = {
    "a size beyond int64": (lambda t: t.zeros(2**63), TypeError, "at pos 1 with error .Overflow when unpacking"),
    "a second size beyond int64": (lambda t: t.empty((0, 2**63)), TypeError, "unpack the object at pos 2 with error"),
    "a size beyond int64 without data": (lambda t: t.empty(2**63, device="meta"), TypeError, "Overflow when unpacking"),
    "bytes beyond int64": (lambda t: t.empty(2**63 - 1), RuntimeError, r"overflowed with sizes=\[92233720368547758"),
    "a product beyond int64": (
        lambda t: t.ones(2**40, 2**40), RuntimeError, r"overflowed with sizes=\[1099511627776, 1099511627776\]"),
    "bytes beyond int64 without data": (
        lambda t: t.empty(2**61, device="meta"), RuntimeError, r"overflowed with sizes=\[2305843009213693952\]"),
    "a range beyond int64's bytes": (
        lambda t: t.arange(2**62), RuntimeError, r"overflowed with sizes=\[4611686018427387904\]"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_no_int64_can_count_is_refused(torch: Any, name: str) -> None:
    make, error, message = TOO_LARGE[name]
    with pytest.raises(error, match=message):
        make(torch)


def test_the_most_that_an_int64_can_count_may_be_without_data(torch: Any) -> None:
    assert tuple(torch.empty(2**61 - 1, device="meta").shape) == (2**61 - 1,)
