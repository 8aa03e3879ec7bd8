"""Does a Python function compute the elements that it computes under PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

Call = Callable[[Any, Any], Any]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "uint8", "bool", "complex64"])
def test_apply_replaces_each_element(torch: Any, dtype: str) -> None:
    x = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(torch, dtype)).t()
    seen: list[Any] = []
    kind = {"bool": bool, "complex64": complex, "int64": int, "uint8": int}.get(dtype, float)
    assert x.apply_(lambda n: seen.append(type(n)) or 1 - n) is x
    assert x.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert set(seen) == {kind}


def test_what_is_no_integer_loses_its_fraction(torch: Any) -> None:
    assert torch.tensor([1, 2, -3]).apply_(lambda n: n / 2).tolist() == [0, 1, -1]
    assert torch.ones(2).apply_(lambda n: torch.tensor(2.5)).tolist() == [2.5, 2.5]
    assert torch.tensor(3.0).apply_(lambda n: n + 1).item() == 4


def test_map_reads_other_tensors_broadcast(torch: Any) -> None:
    x, row, column = torch.ones(2, 3), torch.tensor([1.0, 2, 3]), torch.tensor([[10.0], [20.0]])
    assert x.map_(row, lambda a, b: a + b).tolist() == [[2, 3, 4], [2, 3, 4]]
    assert x.map2_(row, column, lambda a, b, c: a * b + c).tolist() == [[12, 16, 22], [22, 26, 32]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda t, x: x.requires_grad_().apply_(abs), RuntimeError, r"Can't call apply_\(\) on Variable that requires"),
        (lambda t, x: x.map_(t.ones(2, requires_grad=True), max), RuntimeError, r"Can't call map_\(\) on Variable"),
        (lambda t, x: x.map2_(x, t.ones(2, requires_grad=True), max), RuntimeError, r"Can't call map2_\(\) on Var"),
        (lambda t, x: x.map_(t.ones(2, 2), max), RuntimeError, "expand"),
        (lambda t, x: x.map_(t.ones(2, dtype=t.int64), max), TypeError, "map_: expected torch.FloatTensor"),
        (lambda t, x: x.map_(3, max), TypeError, "must be Tensor, not int"),
        (lambda t, x: x.apply_(str), TypeError, "str"),
        (lambda t, x: x.apply_(3), TypeError, "function|callable"),
        (lambda t, x: x.apply_(lambda: 3), TypeError, "takes 0 positional arguments but 1 was given"),
    ],
)
def test_what_is_no_function_of_numbers_is_refused(torch: Any, call: Call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(torch, torch.ones(2))


def test_nothing_is_computed_where_there_are_no_elements(torch: Any) -> None:
    x = torch.ones(2, device="meta")
    assert x.apply_(lambda n: 1 / 0) is x


def test_the_refusal_of_what_is_no_function_says_of_how_many_numbers_it_should_be() -> None:
    with pytest.raises(TypeError, match=r"^map_: expected a function of 2 number\(s\), got 3$"):
        glasstorch.ones(2).map_(glasstorch.ones(2), 3)
