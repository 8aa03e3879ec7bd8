"""Is a kernel that autograd makes in place given the row that its operator needs?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glasstorch.core.errors import SchemaError
from glasstorch.operators.gen import emit_inplace_or_view
from glasstorch.operators.gen.emit_autograd import emit_operators
from glasstorch.operators.gen.model import NativeFunction

Read = Callable[[str], list[NativeFunction]]


def declared(arguments: str, autogen: str = "made_, made.out", returns: str = "Tensor") -> str:
    return f"- func: made({arguments}) -> {returns}\n  shape: pointwise.unary\n  autogen: {autogen}\n  doc: Makes.\n"


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("row(")]


@pytest.fixture
def in_place(derivatives: Callable[..., Any], functions: Read) -> Callable[[str, str], str]:
    """What is written for the in-place form of `made`, from its arguments and a formula for self."""

    def emitted(arguments: str, formula: str) -> str:
        text = declared(arguments)
        formulas = derivatives(f"- op: made\n  {formula}\n", text)
        return [text for text, _ in emit_operators(functions(text), formulas, frozenset())][-1].strip()

    return emitted


@pytest.mark.parametrize(
    ("arguments", "formula", "row"),
    [
        ("Tensor self", "self: grad", "alone_of_one"),
        ("Tensor self", "self: grad * self", "alone_of_one, save=old_self"),
        ("Tensor self", "self: grad * result", "alone_of_one, keep=new_self"),
        ("Tensor self, Tensor other", "self, other: grad, grad", "two_of_two"),
        ("Tensor self, Tensor a, Tensor b", "self, a, b: grad, grad, grad", "three_of_three"),
        ("Tensor self, Tensor? a, Tensor? b", "self, a, b: grad, grad, grad", "optional_of_three"),
        ("Tensor self, int n, Tensor other", "self: grad\n  other: grad", "third_of_three"),
        ("Tensor self, int n, int m, Tensor other", "self: grad\n  other: grad", "fourth_of_four"),
    ],
)
def test_a_row_names_a_maker_and_what_it_is_told(
    in_place: Callable[[str, str], str], arguments: str, formula: str, row: str
) -> None:
    assert in_place(arguments, formula) == f'in_place(AUTOGRAD, "made_", MadeBackward0, {row})'


@pytest.mark.parametrize(
    ("arguments", "concerned"),
    [
        ("Tensor self, Tensor? other", "Tensor(a!) self (number 0) and Tensor? other (number 1) of two"),
        ("Tensor self, int n, Tensor? other", "Tensor(a!) self (number 0) and Tensor? other (number 2) of three"),
        (
            "Tensor self, int n, int m, int o, Tensor other",
            "Tensor(a!) self (number 0) and Tensor other (number 4) of five",
        ),
    ],
)
def test_a_form_without_a_maker_says_which_is_missing(
    in_place: Callable[[str, str], str], arguments: str, concerned: str
) -> None:
    with pytest.raises(SchemaError) as refused:
        in_place(arguments, "self: grad\n  other: grad")
    assert f"made_ has gradients for {concerned}: in_place.py has no maker for these; it has " in str(refused.value)
    assert "alone_of_one" in str(refused.value)


def test_what_else_a_node_saves_is_written_below_its_row(in_place: Callable[[str, str], str]) -> None:
    assert in_place(
        "Tensor self, Tensor other, int n", "self: grad * other * n\n  other: grad * self"
    ).splitlines() == [
        '@in_place_saving(AUTOGRAD, "made_", MadeBackward0, two_of_three)',
        "def made_(node: Any, self: Any, other: Any, n: Any) -> None:",
        "    edge_self, edge_other = node.next_edges",
        "    node.saved_other = SavedVariable(other) if edge_self else None",
        "    node.saved_self = SavedVariable(self.clone()) if edge_other else None",
        "    node.n = n",
    ]


def test_a_fact_of_the_result_is_one_of_the_tensor_that_is_written_to(in_place: Callable[[str, str], str]) -> None:
    assert "    node.result_shape = self._shape" in in_place("Tensor self", "self: grad.expand(result.shape)")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("Tensor self", ["writes_first_of_one", "writes_last_of_two"]),
        ("Tensor self, int n", ["writes_first_of_two", "writes_last_of_three"]),
        (
            "Tensor self, int a, int b, int c, int d, int e, int f",
            ["writes_several, 0", "writes_several, 7"],
        ),
    ],
)
def test_a_form_that_writes_is_made_for_its_number_of_arguments(
    functions: Read, arguments: str, expected: list[str]
) -> None:
    text = emit_inplace_or_view.emit(functions(declared(arguments)), "")
    assert rows(text) == [f'row("made_", {expected[0]})', f'row("made.out", {expected[1]})']


def test_several_results_are_each_written(functions: Read) -> None:
    text = emit_inplace_or_view.emit(functions(declared("Tensor self", "made.out", "(Tensor a, Tensor b)")), "")
    assert rows(text) == ['row("made.out", writes_several_of_three, 1, 2)']


def test_a_view_of_more_arguments_than_there_is_a_maker_for_is_refused(functions: Read) -> None:
    declaration = "- func: seen(Tensor(a) self, int b, int c, int d, int e, int f) -> Tensor(a)\n  doc: Shows.\n"
    with pytest.raises(
        SchemaError, match=r"native_functions.yaml:1: seen needs views_first_of_six in inplace_or_view.py"
    ):
        emit_inplace_or_view.emit(functions(declaration), "")
