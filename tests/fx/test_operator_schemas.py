"""Are arguments named as PyTorch names them?"""

from __future__ import annotations

import typing
import warnings
from collections.abc import Callable
from typing import Any

import pytest

QUESTIONS: dict[str, tuple[Callable[[Any, Any], object], str]] = {
    "an overload by types": (
        lambda t, s: s.normalize_function(t.add, (1, 2), {"alpha": 3}, (t.Tensor, t.Tensor)),
        "ArgsKwargsPair(args=(1, 2), kwargs={'alpha': 3})",
    ),
    "one overload": (
        lambda t, s: s.normalize_function(t.relu, (1,), normalize_to_only_use_kwargs=True),
        "ArgsKwargsPair(args=(), kwargs={'input': 1})",
    ),
    "a Python function": (
        lambda t, s: s.normalize_function(t.nn.functional.softmax, (1,), normalize_to_only_use_kwargs=True),
        "ArgsKwargsPair(args=(), kwargs={'input': 1, 'dim': None, '_stacklevel': 3, 'dtype': None})",
    ),
    "of two functions": (
        lambda t, s: s.normalize_function(t.nn.functional.max_pool2d, (1, 2)),
        (
            "ArgsKwargsPair(args=(1, 2), kwargs={'stride': None, 'padding': 0, 'dilation': 1, 'ceil_mode': False,"
            " 'return_indices': False})"
        ),
    ),
    "an operator": (
        lambda t, s: s.normalize_function(t.ops.aten.add.Tensor, (1, 2), {}),
        "ArgsKwargsPair(args=(1, 2), kwargs={'alpha': 1})",
    ),
    "what fits none": (lambda t, s: s.normalize_function(t.relu, (1, 2, 3)), "None"),
    "any number of arguments": (lambda t, s: s.normalize_function(lambda *args: args, (1,)), "None"),
    "a list of a class": (lambda t, s: s.create_type_hint([int, bool]), "list[int]"),
    "a tuple of two classes": (lambda t, s: s.create_type_hint((int, str)), "tuple[typing.Any, ...]"),
    "nothing": (lambda t, s: s.create_type_hint(()), "tuple[typing.Any, ...]"),
    "no container": (lambda t, s: s.create_type_hint(3), "3"),
    "what is no class": (lambda t, s: s.create_type_hint([3, 4]), "[3, 4]"),
    "types that match": (lambda t, s: [s.type_matches(*pair) for pair in pairs(t)], str([True] * 7 + [False] * 5)),
    "no operator": (lambda t, s: s.get_signature_for_torch_op(len), "None"),
    "an operator's schemas": (lambda t, s: s.get_signature_for_torch_op(t.relu, True)[1][0].name, "aten::relu"),
    "what is pure": (lambda t, s: s.check_for_mutable_operation(t.relu, (1,), {}), "None"),
}


def pairs(t: Any) -> list[tuple[Any, Any]]:
    ints = list[int]
    return [
        (int, int), (ints, int), (list[t.Tensor], list[t.Tensor]), (typing.Optional[int], int),  # noqa: UP045
        (t.Tensor, t.nn.Parameter), (ints, tuple[int, int]), (int, t.dtype),
        (float, int), (ints, list[str]), (ints, tuple[int, str]), (ints, float), (int, ints),
    ]  # fmt: skip


@pytest.mark.parametrize(("ask", "answer"), QUESTIONS.values(), ids=QUESTIONS)
def test_it_answers(torch: Any, ask: Callable[[Any, Any], object], answer: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert str(ask(torch, torch.fx.operator_schemas)) == answer


def test_an_overload_that_types_must_choose_is_refused_without_them(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="the schema match was ambiguous"):
        torch.fx.operator_schemas.normalize_function(torch.add, (1, 2))


def test_a_tracer_can_refuse_operators_that_write(torch: Any) -> None:
    class Careful(torch.fx.Tracer):  # type: ignore[misc,name-defined]
        check_mutable_operations = True

    assert len(Careful().trace(lambda x: torch.relu(x)).nodes) == 3
    with pytest.raises(RuntimeError, match="Tried to trace mutable operation aten::relu_"):
        Careful().trace(lambda x: torch.relu_(x))


def test_arguments_of_a_submodule_that_does_not_exist_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Tried to normalize node with target nope but root did not have that"):
        torch.fx.operator_schemas.normalize_module(torch.nn.Linear(1, 1), "nope", (1,))
