"""Is what an exercise asks for left out wherever source is quoted, and nothing else?"""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from workbook.book import withheld
from workbook.book.cells import Shown, quotation_of, quotation_of_entry, show
from workbook.book.withheld import Asked, all_asked, asked_by, library, masked, place_of, tokens_of_cuda
from workbook.exercises.catalogue import Exercise, Piece, exercises, find

STRIDES = find(ROOT, "02.1")


def code_of(shown: Shown) -> str:
    """The only block of a quotation."""
    ((_, text),) = shown.blocks
    return text


def outline(exercise: Exercise, piece: Piece) -> dict[str, str]:
    """What stands in place of each symbol that a piece asks for."""
    found = {}
    for asked in asked_by(exercise, piece):
        place = place_of(asked, (library() / asked.file).read_text(encoding="utf-8"))
        assert place is not None
        found[asked.symbol] = place.outline
    return found


def test_of_a_withheld_function_signature_docstring_and_exercise_are_shown() -> None:
    shown = quotation_of("glasstorch.core.geometry.contiguous_strides")
    assert shown.role == "quote withheld"
    assert shown.caption == "glasstorch/core/geometry.py, contiguous_strides"
    assert code_of(shown) == (
        "@lru_cache(maxsize=4096)\n"
        "def contiguous_strides(shape: Shape) -> Shape:\n"
        '    """Row-major strides: that of the last dimension is 1; a size of 0 counts as 1.\n'
        "\n"
        "    >>> contiguous_strides((2, 3, 4))\n"
        "    (12, 4, 1)\n"
        '    """\n'
        "    ...  # you write this in 02.1"
    )
    assert shown.note == (
        "You write this in [02.1 Row-major strides](../exercises/02.1-strides.md): `workbook start 02.1`."
    )
    markdown = shown._repr_mimebundle_()[0]["text/markdown"]
    assert markdown.endswith(f"```\n\n{shown.note}")
    assert repr(shown).endswith("\n\nYou write this in 02.1 Row-major strides: workbook start 02.1.")


def test_a_class_is_quoted_without_its_withheld_member_and_with_all_others() -> None:
    text = code_of(quotation_of("glasstorch.dispatch.operator.DispatchTable"))
    assert "        self.operator = operator\n" in text
    assert "    def __missing__(self, keys: int) -> Boxed:\n" in text
    assert "registry.generation" not in text
    assert "        ...  # you write this in 03.3\n" in text
    assert "    def resolved(self, keys: int) -> Boxed:\n" in text


def test_a_module_is_quoted_without_its_withheld_functions_and_with_all_others() -> None:
    text = code_of(quotation_of("glasstorch.core.geometry"))
    source = (library() / "core" / "geometry.py").read_text(encoding="utf-8")
    for name, here in (("contiguous_strides", False), ("overlap_status", False), ("has_internal_overlap", True)):
        body = inspect.getsource(getattr(sys.modules["glasstorch.core.geometry"], name))
        assert body in source
        assert (body in text) is here
        assert f"def {name}(" in text


def test_a_frame_of_what_is_asked_for_does_not_open_it() -> None:
    def inner_frame() -> object:
        from glasstorch.core import geometry

        class Sizes(tuple[int, ...]):
            def __reversed__(self) -> object:  # called by the function itself
                return frames.append(sys._getframe(1)) or reversed(tuple(self))

        frames: list[object] = []
        geometry.contiguous_strides.__wrapped__(Sizes((2, 3)))  # past its cache, which may know the sizes
        return frames[0]

    shown = quotation_of(inner_frame())
    assert "step" not in code_of(shown)
    assert code_of(shown).endswith("...  # you write this in 02.1")


def test_what_no_exercise_asks_for_is_quoted_whole() -> None:
    shown = quotation_of("glasstorch.core.geometry.has_internal_overlap")
    assert (shown.role, shown.note) == ("quote", "")
    assert code_of(shown) in (library() / "core" / "geometry.py").read_text(encoding="utf-8")


def test_cuda_is_quoted_with_what_the_stub_gives_and_without_the_rest() -> None:
    text = code_of(quotation_of_entry("kernels/cuda/rows.cuh", "Rows"))
    assert "static __device__ int member() { return threadIdx.x; }" in text
    assert "// The combined state of all members of the line" in text
    assert "shuffled" not in text
    assert text.endswith(
        "State together(State state, const Combine& combine, State* shared) {\n    // you write this in 05.1\n  }\n};"
    )
    assert quotation_of_entry("kernels/cuda/rows.cuh", "members").role == "quote"


def test_a_formula_is_withheld_in_its_row_and_in_the_node_made_of_it() -> None:
    found = outline(STRIDES, Piece("formula", "mul.Tensor.other", "mine"))
    assert found["mul.Tensor.other"] == "  other: ...  # you write this in 02.1\n"
    assert found["MulBackward0"].startswith("class MulBackward0(Node):\n")
    assert set(found) == {"mul.Tensor.other", "MulBackward0"}


def test_a_kernel_is_withheld_with_the_node_that_it_makes() -> None:
    found = outline(STRIDES, Piece("kernel", "aten::sigmoid", "mine", "Autograd"))
    assert set(found) == {"sigmoid", "SigmoidBackward0"}
    assert found["sigmoid"].splitlines()[1:] == [
        "def sigmoid(keys: int, self: Any) -> Any:",
        "    ...  # you write this in 02.1",
    ]


def test_of_a_header_only_what_the_stub_does_not_give_is_asked_for(tmp_path: Path) -> None:
    given = "struct Rows { static __device__ int member() { return threadIdx.x; } };"
    (tmp_path / "start.py").write_text(f'FRAME = """{given}"""\n', encoding="utf-8")
    asked = asked_by(replace(STRIDES, folder=tmp_path), Piece("cuda", "rows.cuh", "rows"))
    assert [one.symbol for one in asked] == ["members", "line", "together"]
    (tmp_path / "start.py").unlink()
    asked = asked_by(replace(STRIDES, folder=tmp_path), Piece("cuda", "rows.cuh", "rows"))
    assert [one.symbol for one in asked] == ["member", "members", "line", "together"]


def test_tokens_of_cuda_do_not_depend_on_spaces_and_comments() -> None:
    assert tokens_of_cuda("int  a=b ;// c\n/* d */") == tokens_of_cuda("int a = b;") == "int a = b ;"


@pytest.mark.parametrize("asked", all_asked(ROOT), ids=lambda asked: f"{asked.exercise.identity} {asked.symbol}")
def test_every_symbol_that_an_exercise_asks_for_is_found_and_has_a_contract(asked: Asked) -> None:
    place = place_of(asked, (library() / asked.file).read_text(encoding="utf-8"))
    assert place is not None
    assert asked.marker in place.outline
    if asked.piece.kind in ("function", "policy"):
        assert place.outline.count('"""') == 2, "a withheld function needs a docstring: it is the contract"


def test_every_exercise_that_names_what_it_replaces_asks_for_a_symbol() -> None:
    asking = {asked.exercise.identity for asked in all_asked(ROOT)}
    naming = [exercise for exercise in exercises(ROOT) if any(piece.target for piece in exercise.pieces)]
    assert asking == {exercise.identity for exercise in naming}
    assert list(asked_by(STRIDES, replace(STRIDES.pieces[0], target=""))) == []


def test_lines_keep_their_numbers() -> None:
    file = library() / "core" / "geometry.py"
    assert len(masked(file)) == len(file.read_text(encoding="utf-8").splitlines())


def test_without_a_clone_nothing_is_withheld(tmp_path: Path) -> None:
    assert all_asked(tmp_path) == ()


def test_a_reader_who_asks_by_the_object_gets_the_outline_too(capsys: pytest.CaptureFixture[str]) -> None:
    from glasstorch.core.keys import highest_key

    show(highest_key)
    printed = capsys.readouterr().out
    assert "...  # you write this in 03.1" in printed
    assert "bit_length" not in printed


def test_an_identity_that_begins_another_one_is_not_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = next(one for one in exercises(ROOT) if one.identity == "02.1")
    file = library() / "core" / "geometry.py"
    (place,) = (one for one in withheld.places(file) if one.asked.exercise.identity == "02.1")
    assert withheld.asked_in(file, f"...  # {place.asked.marker}\n") == [place.asked]
    longer = place._replace(asked=place.asked._replace(exercise=replace(exercise, identity="02.10")))
    assert withheld.asked_in(file, f"...  # {longer.asked.marker}\n") == []
