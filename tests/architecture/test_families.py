"""Has a family of operators one name everywhere?"""

from __future__ import annotations

import pytest

from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators import families
from glasstorch.operators.gen.model import DERIVATIVES, NATIVE_FUNCTIONS, load_functions, load_rows
from tests.architecture.families import (
    SERVE_ALL,
    elsewhere,
    family_of,
    files,
    strangers,
)

cuda.register_kernels()
FUNCTIONS = load_functions()


def test_the_table_has_between_twenty_and_twenty_five_families() -> None:
    assert len(set(families.NAMES)) == len(families.FAMILIES)
    assert 20 <= len(families.FAMILIES) <= 25


def test_the_sections_of_the_operator_table_are_the_families_in_their_order() -> None:
    assert [row["family"] for row in load_rows(NATIVE_FUNCTIONS) if "family" in row] == list(families.NAMES)


def test_the_sections_of_the_derivatives_are_the_families_that_have_rows_there() -> None:
    family = {function.name: function.family for function in FUNCTIONS}
    rows = load_rows(DERIVATIVES)
    with_rows = {family[row["op"]] for row in rows if "op" in row}
    assert [row["family"] for row in rows if "family" in row] == [name for name in families.NAMES if name in with_rows]


def test_every_operator_knows_its_family() -> None:
    known = {function.name: registry.find(f"aten::{function.name}").family for function in FUNCTIONS}
    assert known == {function.name: function.family for function in FUNCTIONS}
    assert set(known.values()) == set(families.NAMES)


def test_every_operator_is_computed_in_files_of_its_family() -> None:
    wrong = [line for function in FUNCTIONS for line in elsewhere(registry.find(f"aten::{function.name}"))]
    assert not wrong, "\n".join(wrong)


def test_every_file_of_the_rooms_is_of_a_family_or_serves_all() -> None:
    assert strangers() == []
    assert sorted(set(SERVE_ALL) - set(files())) == []


@pytest.mark.parametrize(
    ("file", "family"),
    [
        ("kernels/cpu/pointwise/binary.py", "pointwise"),
        ("kernels/cuda/reductions.cu", "reductions"),
        ("kernels/views.py", "views"),
        ("kernels/creation/windows.py", "creation"),
        ("operators/composite/views/pieces.py", "views"),
    ],
)
def test_the_family_of_a_file_is_its_name_or_its_folders(file: str, family: str) -> None:
    assert file in files()
    assert family_of(file) == family
