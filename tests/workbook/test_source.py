"""Does `workbook source` find ours and PyTorch's, and keep what an exercise asks for until that has passed?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workbook.exercises.copies import clone_with_repair
from tests.workbook.exercises.tree import make_clone
from workbook import source
from workbook.book.nodes import NODE
from workbook.book.withheld import library
from workbook.commands import CommandError
from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, ExerciseError, find
from workbook.exercises.repair import MADE, make_copy
from workbook.source import show_source

ROOT = Path(__file__).parents[2]
Output = pytest.CaptureFixture[str]
Show = Callable[..., str]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose only exercise asks for `contiguous_strides`."""
    root = make_clone(tmp_path, "02-tensor-storage/01_contiguous_strides")
    (root / "tests" / "truth").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "truth" / "source_map.yaml", root / "tests" / "truth")
    return root


@pytest.fixture
def show(clone: Path, capsys: Output) -> Show:
    """What the command prints in the clone."""

    def shown(name: str, entry: str | None = None, *, anyway: bool = False) -> str:
        assert show_source(clone, name, entry, anyway=anyway, paged=False) == 0
        return capsys.readouterr().out

    return shown


@pytest.mark.parametrize("name", ["glasstorch.core.geometry.is_contiguous", "is_contiguous"])
def test_a_function_is_printed_with_its_place(name: str, show: Show) -> None:
    text = (library() / "core" / "geometry.py").read_text(encoding="utf-8")
    line = text[: text.index("def is_contiguous")].count("\n") + 1
    first, _, rest = show(name).partition("\n\n")
    assert first.endswith(f"glasstorch/core/geometry.py:{line}, is_contiguous")
    assert rest.startswith("def is_contiguous(shape: Shape, strides: Shape")


def test_what_an_exercise_asks_for_is_refused_with_signature_contract_and_exercise(show: Show) -> None:
    for name in ("contiguous_strides", "glasstorch.core.geometry.contiguous_strides"):
        with pytest.raises(ExerciseError) as refused:
            show(name)
        said = str(refused.value)
        assert said.startswith("contiguous_strides opens once 02.1 About contiguous_strides has passed")
        assert "    def contiguous_strides(shape: Shape) -> Shape:\n" in said
        assert '"""Row-major strides: that of the last dimension is 1' in said
        assert "start 02.1" in said
        assert f"source {name} --anyway" in said
        assert "step *= " not in said


def test_it_opens_when_insisted_on_and_when_the_exercise_has_passed(clone: Path, show: Show) -> None:
    assert "step *= size or 1" in show("contiguous_strides", anyway=True)
    states.note(clone, find(clone, "02.1"), states.passed("hash"))
    assert "step *= size or 1" in show("contiguous_strides")


def test_a_module_opens_without_what_is_asked_for_and_says_how_that_opens(show: Show) -> None:
    text = show("glasstorch.core.geometry")
    assert "def has_internal_overlap(" in text
    assert "...  # you write this in 02.1" in text
    assert "step *= size or 1" not in text
    assert "contiguous_strides opens once 02.1 has passed.\n  to see it all the same:" in text
    assert "step *= size or 1" in show("glasstorch.core.geometry", anyway=True)


def test_an_operator_is_its_kernel_its_rows_and_its_place_in_pytorch(show: Show) -> None:
    for name in ("torch.add", "aten::add.Tensor", "Tensor.add", "add"):
        text = show(name)
        assert '"add.Tensor": Formula(' in text
        assert '"mul.Tensor"' not in text
        assert "operators/native_functions.yaml, add.Tensor\n\n- func: add.Tensor(Tensor self, " in text
        assert "operators/derivatives.yaml, add.Tensor\n\n- op: add.Tensor\n  self: grad" in text
        assert "aten/src/ATen/native/native_functions.yaml, add.Tensor\n    the single list of operators" in text


def test_a_registered_row_is_the_kernel_of_an_operator(show: Show) -> None:
    assert "scans.py:" in show("torch.cumsum")
    assert 'register_scan("cumsum", np.add)\n\noperators/native' in show("torch.cumsum")


def test_pytorchs_python_source_stands_below_ours(require: Callable[[str], Any], show: Show) -> None:
    require("torch")
    for name in ("torch.nn.Linear", "Linear", "glasstorch.nn.modules.linear.Linear"):
        ours, _, theirs = show(name).partition("\n\nPyTorch 2.13.0")
        assert "nn/modules/linear.py:" in ours
        assert "class Linear(Module):" in ours
        assert ", torch/nn/modules/linear.py:" in theirs
        assert 'class Linear(Module):\n    r"""' in theirs


def test_what_only_pytorch_has_is_shown(require: Callable[[str], Any], show: Show) -> None:
    require("torch")
    text = show("torch.while_loop")
    assert text.startswith("glasstorch has no torch.while_loop.\n\nPyTorch 2.13.0")
    assert "def while_loop(" in text


def test_without_torch_the_source_map_names_the_place(monkeypatch: pytest.MonkeyPatch, show: Show) -> None:
    monkeypatch.setattr(source, "find_spec", lambda name: None)
    text = show("torch.nn.Module")
    assert "class Module" in text
    assert "PyTorch 2.13.0" not in text
    assert "torch/nn/modules/module.py, class Module" in text


def test_what_the_source_map_does_not_name_is_found_by_what_ours_mirrors(show: Show) -> None:
    assert "In PyTorch's source\n\nMirrors: c10/core/TensorImpl.h" in show("has_internal_overlap")


def test_a_row_and_a_definition_in_cuda_are_shown_by_file_and_name(show: Show) -> None:
    assert show("operators/derivatives.yaml", "mul.Tensor").startswith(
        "operators/derivatives.yaml, mul.Tensor\n\n- op: mul.Tensor\n"
    )
    assert "static __device__ State together(" in show("kernels/cuda/rows.cuh", "together")
    with pytest.raises(CommandError, match=r"derivatives\.yaml has no row for 'mul\.Tens'"):
        show("operators/derivatives.yaml", "mul.Tens")
    with pytest.raises(CommandError, match="the library has no file nowhere"):
        show("nowhere", "mul")
    with pytest.raises(CommandError, match="the library has no file"):
        show("../../pyproject.toml", "project")


def test_a_formula_that_an_exercise_asks_for_is_left_out_of_its_row(clone: Path, show: Show) -> None:
    facts = clone / "exercises" / "02-tensor-storage" / "01_contiguous_strides" / "exercise.toml"
    text = facts.read_text(encoding="utf-8").replace('"function"', '"formula"')
    facts.write_text(
        text.replace('"glasstorch.core.geometry:contiguous_strides"', '"mul.Tensor.other"'), encoding="utf-8"
    )
    for shown in (show("torch.mul"), show("operators/derivatives.yaml", "mul.Tensor")):
        assert "  self: grad * conjugate(other)\n  other: ...  # you write this in 02.1\n" in shown
        assert "mul.Tensor.other opens once 02.1 has passed." in shown


def test_many_definitions_are_listed_by_their_dotted_names(show: Show) -> None:
    with pytest.raises(CommandError) as refused:
        show("forward")
    assert "definitions are called 'forward'\n  name one of them:\n    glasstorch." in str(refused.value)
    one = str(refused.value).splitlines()[2].strip()
    assert "def forward(" in show(one)


@pytest.mark.parametrize("name", ["", " ", ".", "torch.", "glasstorch.", "aten::", "Tensor..add"])
def test_what_is_not_a_name_is_refused(name: str, show: Show) -> None:
    with pytest.raises(CommandError, match="is not a name\n  accepted: view_strides, torch"):
        show(name)


def test_a_long_list_of_definitions_is_cut(show: Show) -> None:
    with pytest.raises(CommandError, match=r"\d+ definitions are called '__init__'(.*\n){22}    \.\.\. and \d+ more$"):
        show("__init__")


def test_the_package_itself_is_its_facade(show: Show) -> None:
    for name in ("glasstorch", "torch"):
        assert "glasstorch/__init__.py:1\n\n" in show(name)


def test_words_lead_to_files_and_an_unknown_name_is_an_error(show: Show) -> None:
    assert "devices/allocator.py" in show("caching allocator")
    with pytest.raises(CommandError, match=r"there is no glasstorch\.core\.nothing: glasstorch\.core has no nothing"):
        show("glasstorch.core.nothing")
    with pytest.raises(CommandError, match=r"there is no operator or function 'torch\.nothing'"):
        show("torch.nothing")
    with pytest.raises(CommandError, match="has no Python source\n  accepted: the name of a module"):
        show("glasstorch.core.keys.ALL_BACKENDS")


# --- nodes and overloads ------------------------------------------------------------------------------------------


def test_a_generated_node_is_its_class_its_operators_rows_and_pytorchs_formula(
    require: Callable[[str], Any], show: Show
) -> None:
    require("torch")
    text = show("AddBackward0")
    assert "autograd_kernels.py:" in text
    assert "class AddBackward0(Node):" in text
    assert "operators/native_functions.yaml, add.Tensor\n\n- func: add.Tensor(Tensor self, " in text
    assert "operators/derivatives.yaml, add.Tensor\n\n- op: add.Tensor\n  self: grad" in text
    assert "PyTorch's tools/autograd/derivatives.yaml, add.Tensor\n\n- name: add.Tensor(Tensor self, " in text


def test_without_torch_the_formula_of_pytorch_is_named_by_file_and_entry(
    monkeypatch: pytest.MonkeyPatch, show: Show
) -> None:
    monkeypatch.setattr(source, "find_spec", lambda name: None)
    title, _, address = show("AddBackward0").rpartition("\n\n")
    assert title.endswith("PyTorch's tools/autograd/derivatives.yaml, add.Tensor")
    assert address.startswith("https://github.com/pytorch/pytorch/blob/")
    assert address.endswith("/tools/autograd/derivatives.yaml\n")


def test_every_generated_node_is_made_from_a_row_of_the_formulas() -> None:
    text = (library() / source.FORMULAS).read_text(encoding="utf-8")
    nodes = NODE.findall((library() / source.NODES).read_text(encoding="utf-8"))
    assert list(source.node_operators()) == nodes
    for node, operator in source.node_operators().items():
        assert f"- op: {operator}\n" in text, node


def test_the_rows_of_a_form_are_those_that_it_is_made_from(show: Show) -> None:
    for name in ("add.out", "aten::add.out", "aten.add_.Tensor", "torch.ops.aten.add_.Tensor"):
        text = show(name)
        assert text.count("- func: ") == text.count("- op: ") == 1
        assert "- func: add.Tensor(" in text


def test_a_formula_that_an_exercise_asks_for_is_not_shown_in_pytorchs_words_either(clone: Path, show: Show) -> None:
    facts = clone / "exercises" / "02-tensor-storage" / "01_contiguous_strides" / "exercise.toml"
    text = facts.read_text(encoding="utf-8").replace('"function"', '"formula"')
    facts.write_text(text.replace('"glasstorch.core.geometry:contiguous_strides"', '"hypot.self"'), encoding="utf-8")
    for name in ("HypotBackward0", "torch.hypot"):
        assert "hypot opens there once 02.1 has passed." in show(name)
        assert "- name: hypot(" not in show(name)
    assert "opens there" not in show("torch.hypot", anyway=True)


def test_an_unknown_name_is_told_the_nearest_and_what_is_accepted(show: Show) -> None:
    for name, near in (("HypotBackward7", "HypotBackward0"), ("aten::add.Tenso", "add.Tensor")):
        with pytest.raises(CommandError, match=rf"the nearest names: {near}.*\n  accepted: view_strides, torch\.add"):
            show(name)


def test_a_file_of_the_library_is_its_module_and_an_entry_of_it_a_definition(show: Show) -> None:
    for path in ("core/geometry.py", "reference/glasstorch/core/geometry.py", "faulty/glasstorch/core/geometry.py"):
        assert "def has_internal_overlap(" in show(path)
        assert show(path, "is_contiguous").partition("\n\n")[2].startswith("def is_contiguous(")
    with pytest.raises(CommandError, match=r"the library has no file core/geometr\.py"):
        show("core/geometr.py")


def test_a_table_or_a_file_in_cuda_is_shown_whole(show: Show) -> None:
    text = show("operators/derivatives.yaml")
    assert text.startswith("operators/derivatives.yaml\n\n# ")
    assert "\n- op: add.Tensor\n" in text
    assert show("kernels/cuda/rows.cuh").startswith("kernels/cuda/rows.cuh\n\n")
    with pytest.raises(CommandError, match=r"the library has no file operators/derivative\.yaml\n  accepted: "):
        show("operators/derivative.yaml")


def test_a_whole_table_leaves_out_what_an_exercise_asks_for(clone: Path, show: Show) -> None:
    facts = clone / "exercises" / "02-tensor-storage" / "01_contiguous_strides" / "exercise.toml"
    changed = facts.read_text(encoding="utf-8").replace('"function"', '"formula"')
    facts.write_text(
        changed.replace('"glasstorch.core.geometry:contiguous_strides"', '"mul.Tensor.other"'), encoding="utf-8"
    )
    text = show("operators/derivatives.yaml")
    assert "  other: ...  # you write this in 02.1\n" in text
    assert "mul.Tensor.other opens once 02.1 has passed." in text


# --- while a repair is worked on ------------------------------------------------------------------------------------

INTACT, FAULTY = "shape[-1] * ratio), split, offset * ratio)", "shape[-1] * ratio), split, offset)"
NOTE = (
    "You work on 02.4 Repair: a slice, saved: all that is shown of the library is from your copy, which has\none fault"
)


@pytest.fixture
def repair(tmp_path: Path) -> Exercise:
    """A clone with a repair whose copy is made; its fault is in `view_dtype`."""
    exercise = clone_with_repair(tmp_path)
    (tmp_path / "tests" / "truth").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "truth" / "source_map.yaml", tmp_path / "tests" / "truth")
    return exercise


def shown_in(repair: Exercise, capsys: Output, name: str, *, anyway: bool = False) -> str:
    """What the command prints in the clone of a repair."""
    assert show_source(repair.folder.parents[2], name, None, anyway=anyway, paged=False) == 0
    return capsys.readouterr().out


def work_on(exercise: Exercise) -> None:
    """Begin an exercise, and its copy of the library if it is a repair."""
    if exercise.is_repair:
        make_copy(exercise)
    states.note(exercise.folder.parents[2], exercise, states.begun)


def test_a_repair_that_is_worked_on_shows_its_copy_whatever_is_asked_for(repair: Exercise, capsys: Output) -> None:
    names = ("view_dtype", "view.dtype", "kernels/views.py", "is_contiguous", "torch.add", "operators/derivatives.yaml")
    assert INTACT in shown_in(repair, capsys, "view_dtype")  # before it is started, nothing is said of it
    work_on(repair)
    for name in names[:3]:
        text = shown_in(repair, capsys, name)
        assert FAULTY in text
        assert INTACT not in text
    for name in names:
        text = shown_in(repair, capsys, name)
        assert text.count(NOTE) == 1
        assert f"source {name} --anyway" in text
    assert INTACT in shown_in(repair, capsys, "view_dtype", anyway=True)


def test_ours_is_shown_again_once_another_exercise_is_worked_on_or_the_copy_is_gone(
    repair: Exercise, capsys: Output
) -> None:
    work_on(repair)
    work_on(find(repair.folder.parents[2], "02.1"))
    said = shown_in(repair, capsys, "view_dtype")
    assert INTACT in said
    assert NOTE not in said
    work_on(repair)
    assert FAULTY in shown_in(repair, capsys, "view_dtype")
    shutil.rmtree(repair.faulty)
    assert INTACT in shown_in(repair, capsys, "view_dtype")


def test_a_copy_of_another_library_is_told(repair: Exercise, capsys: Output) -> None:
    work_on(repair)
    (repair.faulty / MADE).write_text("another\n")
    assert show_source(repair.folder.parents[2], "view_dtype", None, anyway=False, paged=False) == 0
    assert "the library has changed since" in capsys.readouterr().err


def test_a_file_of_the_copy_that_is_no_text_is_told_with_the_way_back(repair: Exercise, capsys: Output) -> None:
    work_on(repair)
    file = repair.faulty / "glasstorch" / "kernels" / "views.py"
    file.write_bytes(file.read_bytes() + b"# \xe9\n")
    for name in ("view_dtype", "kernels/views.py"):
        with pytest.raises(
            ExerciseError, match=r"faulty/glasstorch/kernels/views\.py cannot be read: not UTF-8\n"
        ) as told:
            shown_in(repair, capsys, name)
        assert "faulty 02.4" in str(told.value)
    assert INTACT in shown_in(repair, capsys, "view_dtype", anyway=True)


def test_what_the_reader_changed_in_the_copy_is_shown_with_its_lines(repair: Exercise, capsys: Output) -> None:
    work_on(repair)
    file = repair.faulty / "glasstorch" / "kernels" / "views.py"
    text = file.read_text(encoding="utf-8")
    line = "    old, new = self.dtype.itemsize, dtype.itemsize\n"
    text = "# mine\n# mine\n" + text.replace(line, f"{line}    print(old, new)\n")
    file.write_text(text, encoding="utf-8")
    number = text[: text.index('@EVERY_BACKEND.impl("view.dtype")')].count("\n") + 1
    said = shown_in(repair, capsys, "view_dtype")
    assert f"faulty/glasstorch/kernels/views.py:{number}, view_dtype" in said
    assert f"{line}    print(old, new)\n" in said


def test_what_an_exercise_asks_for_is_withheld_in_the_copy_too(repair: Exercise, capsys: Output) -> None:
    work_on(repair)
    with pytest.raises(ExerciseError, match=r"contiguous_strides opens once 02\.1"):
        shown_in(repair, capsys, "contiguous_strides")


def test_a_repair_that_has_passed_shows_the_library_again(repair: Exercise, capsys: Output) -> None:
    work_on(repair)
    states.note(repair.folder.parents[2], repair, states.passed("hash"))
    text = shown_in(repair, capsys, "view_dtype")
    assert INTACT in text
    assert "You work on" not in text


def test_it_is_paged_when_that_is_asked_for(clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    paged: list[str] = []
    monkeypatch.setattr(source.pydoc, "pager", paged.append)
    assert show_source(clone, "is_contiguous", None, anyway=False, paged=True) == 0
    assert "def is_contiguous(" in paged[0]
    assert capsys.readouterr().out == ""
