"""Does the book count PyTorch's operators as PyTorch declares them?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glasstorch.dispatch.operator import registry
from workbook.book.errors import BookError
from workbook.book.project import TRUTH
from workbook.book.pytorch_operators import (
    COMPOSED,
    HERE,
    MISSING,
    TABLE,
    Facts,
    facts_of_wheel,
    family_of,
    pytorch_operators,
    report,
    status,
    table,
    text_of,
)

ROOT = Path(__file__).parents[2]
ROWS = {facts.name: facts for facts in table(ROOT)}

# Operators of PyTorch's declarations that a program here uses by another overload or by Python code.
EXAMPLES = {
    "add.Tensor": HERE,
    "convolution": HERE,
    "__lshift__.Scalar": COMPOSED,
    "_cudnn_rnn": MISSING,
    "_nested_tensor_size": MISSING,
}


def test_the_table_is_what_the_wheel_says(require: Callable[[str], Any]) -> None:
    require("torchgen")
    assert (ROOT / TRUTH / TABLE).read_text(encoding="utf-8") == text_of(facts_of_wheel())


def test_every_declaration_has_one_line() -> None:
    assert len(ROWS) == len(table(ROOT)) == 2584


def test_a_line_says_where_kernels_are_and_what_tags_and_names_there_are() -> None:
    assert ROWS["add.Tensor"] == Facts("add.Tensor", "", "fm", ROWS["add.Tensor"].dispatch, ("core", "pointwise"))
    assert ROWS["add.Tensor"].dispatch[0] == "via:add.out"
    assert ROWS["linalg_det"].module == "linalg"
    assert ROWS["chunk"].dispatch == (
        "CompositeImplicitAutograd",
        "NestedTensorCPU",
        "NestedTensorCUDA",
        "NestedTensorHPU",
    )
    assert ROWS["_cast_Byte"].dispatch == ("CompositeImplicitAutograd",)


def test_a_line_with_other_columns_is_refused() -> None:
    with pytest.raises(BookError, match="has other columns than"):
        Facts.parse("add\tf")


def test_an_operator_is_here_if_it_is_declared_and_missing_if_no_function_does_its_work() -> None:
    assert {name: status(ROWS[name]) for name in EXAMPLES} == EXAMPLES
    here = {name for name, facts in ROWS.items() if status(facts) == HERE}
    assert here == {name.removeprefix("aten::") for name in registry.operators} & ROWS.keys()


def test_a_family_is_that_of_the_name_here_or_of_what_the_name_is_about() -> None:
    names = ("add.Scalar", "_cudnn_rnn", "_nested_tensor_size", "q_scale")
    assert [family_of(ROWS[name]) for name in names] == [
        *("pointwise", "one device's library", "nested tensors", "quantization"),
    ]


def test_the_page_names_every_operator_that_is_not_here() -> None:
    page = pytorch_operators(ROOT)
    families = report(ROOT)
    counted = {kind: sum(len(of[kind]) for of in families.values()) for kind in (HERE, COMPOSED, MISSING)}
    assert sum(counted.values()) == 2584
    assert f"| **All 2,584** | {counted[MISSING]:,} | {counted[COMPOSED]:,} | {counted[HERE]:,} |" in page
    for of in families.values():
        for facts in of[COMPOSED] + of[MISSING]:
            assert f"<code>{facts.base}</code>" in page
    anchors = set(re.findall(r"\{ #([\w-]+) \}", page))
    assert set(re.findall(r"\(#([\w-]+)\)", page)) == anchors
