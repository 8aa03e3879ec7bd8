"""Is a planted fault found where it is, and is an answer told what is true of the place that it names?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from workbook.exercises import fault as faults
from workbook.exercises.answer_file import NotStarted, Refused
from workbook.exercises.catalogue import MENDED, Exercise, ExerciseError, Piece, exercises, find
from workbook.exercises.difference import DifferenceError
from workbook.exercises.fault import MOST, OURS, Fault, judge, place_of, plant, read_fault, stated

ROOT = Path(__file__).parents[3]
REPAIRS = [exercise for exercise in exercises(ROOT) if exercise.is_repair]
each = pytest.mark.parametrize("exercise", REPAIRS, ids=lambda exercise: exercise.identity)

INTACT = '''\
"""A module."""

LIMIT = 3


class Counter:
    """Counts."""

    def up(self, n):
        """Add."""
        if n > LIMIT:
            n = LIMIT
        self.total = max(
            self.total,
            n,
        )
        return self.total


def twice(n):
    return n + n
'''


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fault:
    """A fault in a library of two files."""
    library = tmp_path / "library" / "glasstorch"
    (library / "core").mkdir(parents=True)
    (library / "core" / "counter.py").write_text(INTACT)
    (library / "core" / "other.py").write_text("def other():\n    return 1\n")
    monkeypatch.setattr(faults, "OURS", library)
    text = INTACT.replace("n = LIMIT\n", "n = 0\n")
    function, lines = place_of(INTACT, text)
    return Fault("core/counter.py", function, lines, text)


def answered(tmp_path: Path, file: str, line: int, mended: str = "") -> Path:
    """An answer that names a place."""
    path = tmp_path / "answer.py"
    path.write_text(f"FILE = {file!r}\nLINE = {line}\n{mended}\n")
    return path


def refused(fault: Fault, answer: Path) -> Refused:
    """Why it is refused."""
    with pytest.raises(Refused) as caught:
        judge(fault, answer)
    return caught.value


def up(limit: str = "n = LIMIT", head: str = "def mended(self, n):", more: str = "") -> str:
    """The function with the fault, mended or not."""
    rest = "    self.total = max(self.total, n)\n    return self.total\n"
    return f"{head}\n    if n > LIMIT:\n        {limit}\n{more}{rest}"


# --- the faults that are shipped ---


@each
def test_a_shipped_fault_is_in_one_function_and_the_solution_names_its_place(exercise: Exercise) -> None:
    fault = read_fault(exercise)
    assert fault.text != (OURS / fault.file).read_text(encoding="utf-8")
    assert fault.piece == Piece("function", f"{fault.module}:{fault.function}", MENDED)
    assert fault.about.endswith(".")
    said = stated(exercise.solution)
    assert (said.file, said.line in fault.lines) == (fault.file, True)
    judge(fault, exercise.solution)
    with pytest.raises(NotStarted):
        judge(fault, exercise.start)


@each
def test_nothing_that_a_reader_sees_names_the_place(exercise: Exercise) -> None:
    # the check file and the first three hints, above all; the last hint may
    fault = read_fault(exercise)
    seen = [path.read_text(encoding="utf-8") for path in exercise.folder.iterdir() if path.suffix in (".py", ".toml")]
    seen += [exercise.lab_source.read_text(encoding="utf-8"), *exercise.hints()[:3]]
    name = fault.function.rpartition(".")[2]
    for text in seen:
        assert fault.file not in text
        assert fault.module not in text
        assert f"{fault.function}" not in text or name == "result_type"  # which programs call by this name
    assert fault.file in exercise.hints()[-1]


@each
def test_a_fault_survives_its_json(exercise: Exercise) -> None:
    fault = read_fault(exercise)
    assert Fault.from_json(fault.as_json()) == fault


def test_a_planted_fault_is_the_only_difference(tmp_path: Path) -> None:
    fault = read_fault(REPAIRS[0])
    plant(fault, tmp_path / "faulty")
    files = [path.relative_to(OURS) for path in OURS.rglob("*.*") if path.is_file() and path.suffix != ".pyc"]
    copy = tmp_path / "faulty" / "glasstorch"
    differ = [file.as_posix() for file in files if (copy / file).read_bytes() != (OURS / file).read_bytes()]
    assert differ == [fault.file]


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        ("About.\n", "names no file below glasstorch/"),
        ("About.\n\n--- core/gone.py\n+++ core/gone.py\n", "`--- core/gone.py` names no file below glasstorch/"),
        ("About.\n\n--- core/device.py\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", r"hunk 1 .* does not apply"),
    ],
)
def test_a_damaged_fault_is_named(tmp_path: Path, diff: str, said: str) -> None:
    from dataclasses import replace

    exercise = replace(find(ROOT, "02.4"), solutions=tmp_path)
    exercise.fault.write_text(diff)
    with pytest.raises(ExerciseError, match=rf"fault\.diff: (?s:.*){said}"):
        read_fault(exercise)


# --- where a fault is ---


@pytest.mark.parametrize(
    ("old", "new", "function", "lines"),
    [
        ("n = LIMIT\n", "n = 0\n", "Counter.up", (12,)),
        ("if n > LIMIT", "if n < LIMIT", "Counter.up", (11,)),
        ("            n,\n", "            0,\n", "Counter.up", (13, 14, 15, 16)),
        ("            n = LIMIT\n", "            n = LIMIT\n            n = 0\n", "Counter.up", (13,)),
        ("        if n > LIMIT:\n            n = LIMIT\n", "", "Counter.up", tuple(range(9, 16))),
        ("    return n + n\n", "    return n * n\n", "twice", (21,)),
    ],
)
def test_a_place_is_a_statement_or_where_one_is_missing_the_function(
    old: str, new: str, function: str, lines: tuple[int, ...]
) -> None:
    assert INTACT.count(old) == 1
    assert place_of(INTACT, INTACT.replace(old, new)) == (function, lines)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("n = LIMIT\n", "n = 0\n"), ("return n + n", "return n")], "it changes 2 functions"),
        ([("LIMIT = 3", "LIMIT = 4")], "line 3 is in no function"),
        ([], "it changes 0 functions"),
    ],
)
def test_a_fault_lies_in_one_function(changes: list[tuple[str, str]], said: str) -> None:
    text = INTACT
    for old, new in changes:
        text = text.replace(old, new, 1)
    with pytest.raises(DifferenceError, match=said):
        place_of(INTACT, text)


# --- what an answer states ---


@pytest.mark.parametrize(
    "file", ["core/counter.py", "faulty/glasstorch/core/counter.py", "./core\\counter.py", " core/counter.py"]
)
def test_a_file_may_be_named_from_several_folders(tmp_path: Path, file: str) -> None:
    assert stated(answered(tmp_path, file, 3)).file == "core/counter.py"


@pytest.mark.parametrize(
    ("text", "came"),
    [
        ("", "answer.py has neither FILE nor LINE"),
        ("FILE = 'a.py'\n", "FILE = 'a.py'"),
        ("FILE = 'a.py'\nLINE = '3'\n", "FILE = 'a.py', LINE = '3'"),
        ("FILE = 'a.py'\nLINE = True\n", "FILE = 'a.py', LINE = True"),
        ("FILE = 3\nLINE = 3\n", "FILE = 3, LINE = 3"),
        ("FILE, LINE = 'a.py', 3\n", "answer.py has neither FILE nor LINE"),
        ("FILE = ", "SyntaxError: invalid syntax"),
    ],
)
def test_what_does_not_name_a_place_is_refused(fault: Fault, tmp_path: Path, text: str, came: str) -> None:
    path = tmp_path / "answer.py"
    path.write_text(text)
    assert refused(fault, path).refusal.came == came


def test_an_answer_that_names_no_place_is_not_started(fault: Fault, tmp_path: Path) -> None:
    with pytest.raises(NotStarted) as caught:
        judge(fault, answered(tmp_path, "", 0))
    assert caught.value.came == "answer.py does not say yet where the fault is: FILE and LINE are as in the stub"


@pytest.mark.parametrize(
    ("file", "line", "came", "because"),
    [
        ("core/gone.py", 1, "FILE = 'core/gone.py', LINE = 1", "this file does not exist in faulty/glasstorch/"),
        ("../glasstorch/core/other.py", 1, "FILE = ", "this file does not exist"),
        ("core", 1, "FILE = 'core'", "this file does not exist"),
        ("core/other.py", 9, "FILE = 'core/other.py', LINE = 9", ""),
        ("core/other.py", 2, "line 2 of core/other.py: return 1", "this file has no fault"),
        ("core/counter.py", 21, "line 21 of core/counter.py: return n + n", "in this file, but in another part of it"),
        (
            "core/counter.py",
            2,
            "line 2 of core/counter.py: (an empty line)",
            "in this file, but in another part of it",
        ),
        ("core/counter.py", 11, "line 11 of core/counter.py: if n > LIMIT:", "in `Counter.up`, but not at this line"),
    ],
)
def test_a_wrong_place_is_told_what_is_true_of_it(
    fault: Fault, tmp_path: Path, file: str, line: int, came: str, because: str
) -> None:
    told = refused(fault, answered(tmp_path, file, line, up())).refusal
    assert told.came.startswith(came)
    assert because in told.because
    assert "line 12" not in f"{told}"
    if file != "core/counter.py":
        assert "counter" not in f"{told}"


# --- the mend ---


@pytest.mark.parametrize("mended", ["", "def mended():\n    raise NotImplementedError\n"])
def test_the_right_place_is_confirmed_before_anything_is_mended(fault: Fault, tmp_path: Path, mended: str) -> None:
    told = refused(fault, answered(tmp_path, "core/counter.py", 12, mended)).refusal
    assert told.came == "the place is right, but `mended` is not written yet"


@pytest.mark.parametrize(
    "mended",
    [
        up(),
        up(head='def mended(self, n):\n    """Other words."""'),
        up("n = LIMIT  # the most\n"),
        up("n = min(n, LIMIT)"),
        up(more="    n = int(n)\n"),
    ],
)
def test_a_mend_of_a_few_lines_is_taken(fault: Fault, tmp_path: Path, mended: str) -> None:
    judge(fault, answered(tmp_path, "core/counter.py", 12, mended))


def test_the_function_as_it_stands_is_refused(fault: Fault, tmp_path: Path) -> None:
    told = refused(
        fault, answered(tmp_path, "core/counter.py", 12, up("n = 0", "@cached\ndef mended(self, n):"))
    ).refusal
    assert told.came == "the function with the fault, unchanged"


def test_a_rewritten_function_is_refused(fault: Fault, tmp_path: Path) -> None:
    more = "".join(f"    n = n + {i}\n" for i in range(MOST))
    told = refused(fault, answered(tmp_path, "core/counter.py", 12, up(more=more))).refusal
    assert told.came == f"{MOST + 1} of its 5 lines differ (comments and layout do not count)"
    assert told.accepted == f"a change of {MOST} lines at most"
    assert told.line == 3


def test_functions_in_functions_belong_to_the_outer_one() -> None:
    tree = ast.parse("def outer():\n    def inner():\n        return 1\n    return inner\n")
    assert faults.function_at(tree, 3)[0] == "outer"
