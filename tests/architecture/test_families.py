"""Has a family of operators one name everywhere?"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from glasstorch.dispatch.operator import registry
from glasstorch.kernels import cuda
from glasstorch.operators import families
from glasstorch.operators.gen.model import DERIVATIVES, NATIVE_FUNCTIONS, load_functions, load_rows
from tests.architecture.families import (
    ROOMS,
    SERVE_ALL,
    elsewhere,
    family_of,
    files,
    strangers,
)

cuda.register_kernels()
FUNCTIONS = load_functions()
TESTS = Path(__file__).parents[1]
TESTS_OF_ALL = {
    "autograd/formulas/test_conventions.py": "what a derivative is where there are several",
    "kernels/test_random_layouts.py": "pointwise operators and copies on tensors of any geometry",
    "kernels/cpu/fast/test_held.py": "every fast kernel beside its plain one",
    "kernels/cpu/test_every_dtype.py": "every operator on every dtype",
    "kernels/cuda/test_carried.py": "what threads of a block put together",
    "kernels/cuda/test_compiled_kernels.py": "every CUDA kernel as NVRTC compiles it",
    "kernels/cuda/test_stored_dtypes.py": "dtypes that no CUDA kernel computes in",
}


def test_the_table_has_between_twenty_and_forty_families() -> None:
    assert len(set(families.NAMES)) == len(families.FAMILIES)
    assert 20 <= len(families.FAMILIES) <= 40


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


def test_the_samples_of_an_operator_stand_in_the_file_of_its_family() -> None:
    rows = {name: import_module(f"tests.agreement.rows.{name}").ROWS for name in families.NAMES if has_samples(name)}
    wrong = [(row.op, name) for name, found in rows.items() for row in found if family_in_table(row.op) != name]
    assert not wrong
    assert sum(map(len, rows.values())) > len(FUNCTIONS) // 4


SAMPLES_OF_ALL = ("aliases", "shared")  # rows made of others' rows, and what rows are made with


def test_every_file_of_samples_is_of_a_family_or_serves_all() -> None:
    found = {path.stem for path in (TESTS / "agreement" / "rows").glob("*.py")} - {"__init__"}
    assert found - set(families.NAMES) == set(SAMPLES_OF_ALL)


def has_samples(name: str) -> bool:
    return (TESTS / "agreement" / "rows" / f"{name}.py").is_file()


def family_in_table(operator: str) -> str:
    return registry.find(f"aten::{operator}").family


def test_every_file_of_tests_of_the_rooms_is_of_a_family_or_serves_all() -> None:
    found = {
        path.relative_to(TESTS).as_posix()
        for room in ROOMS
        for path in (TESTS / room).rglob("test_*.py")
        if family_of(path.relative_to(TESTS).as_posix()).removeprefix("test_") not in families.NAMES
    }
    assert found - set(TESTS_OF_ALL) == {file for file in found if file.replace("test_", "") in SERVE_ALL}
    assert set(TESTS_OF_ALL) <= found
