"""Is an exercise well formed: are its parts there, and do they fit each other?

The reader's files are not looked at. What each rung says of the stub, the solution and the wrong answers is judged
in dev.py.
"""

from __future__ import annotations

import ast
import doctest
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path

from workbook.exercises import wrong
from workbook.exercises.catalogue import MENDED, MINUTES, Exercise, ExerciseError, read_text
from workbook.exercises.fault import Fault, plant, read_fault
from workbook.exercises.process import environment, python, temporary_folder
from workbook.exercises.report import RUNGS
from workbook.exercises.rungs import CODE

HINTS = 3  # at least
WRONG_ANSWERS = 2  # at least
FORMAT = "format_name: percent"
SETTINGS = ("pyproject.toml", "ruff.toml")  # where ruff is told how a file should look
SHOWN = re.compile(r"\bshow\(\s*[\"']([\w.]+)[\"']")  # what a section prints of the library
PAGE = 79  # columns of code that fit on a page of the site


def form_problems(root: Path, exercise: Exercise, every: Sequence[Exercise]) -> list[str]:
    """What must be fixed, one sentence for each problem; `every` are all exercises, in order.

    The program of a repair is run once all files are in order.
    """
    files = [exercise.start, exercise.check, exercise.hints_file, exercise.lab_source, exercise.solution]
    files += [exercise.symptom, exercise.fault] if exercise.is_repair else []
    if missing := [path for path in files if not path.is_file()]:
        return [f"{path.name} is missing" for path in missing]
    parts: tuple[Callable[[], Iterator[str]], ...] = (
        lambda: facts_problems(root, exercise, every),
        lambda: hint_problems(exercise),
        lambda: stub_problems(exercise),
        lambda: check_problems(exercise),
        lambda: wrong_answer_problems(exercise),
        lambda: lab_problems(exercise),
        lambda: fault_problems(root, exercise, every) if exercise.is_repair else iter(()),
        lambda: style_problems(root, exercise),
    )
    found = [
        f"{path.name} still says WRITE" for path in (exercise.facts, *files) if re.search(r"\bWRITE:", read_text(path))
    ]
    for part in parts:
        try:
            found += part()
        except SyntaxError as error:
            found.append(f"{Path(error.filename or '?').name}, line {error.lineno}: {error.msg}")
        except ExerciseError as error:
            found.append(str(error))
    return found or ([*symptom_problems(exercise)] if exercise.is_repair else [])


def facts_problems(root: Path, exercise: Exercise, every: Sequence[Exercise]) -> Iterator[str]:
    """Whether everything that exercise.toml names exists: the section, the earlier exercises, the library's tests."""
    if not (root / "chapters" / f"{exercise.section}.md").is_file():
        yield f'exercise.toml: section = "{exercise.section}", but there is no chapters/{exercise.section}.md'
    least, most = MINUTES[exercise.difficulty]
    if not least <= exercise.minutes <= most:
        yield (
            f"exercise.toml: {exercise.minutes} minutes with difficulty {exercise.difficulty}; "
            f"accepted: {least} to {most}, or another difficulty"
        )
    order = [other.identity for other in every]
    before = order[: order.index(exercise.identity)]
    for need in exercise.needs:
        if need not in before:
            yield f"exercise.toml: needs {need}, which is not among those before it: {', '.join(before) or 'none'}"
    for test in exercise.tests:
        file = test.partition("::")[0]
        if file.endswith(".py") and not (root / file).is_file():
            yield f"exercise.toml: [carries] tests names {file}, which does not exist"


def hint_problems(exercise: Exercise) -> Iterator[str]:
    """Whether there are enough hints, and none is empty."""
    hints = exercise.hints()
    if len(hints) < HINTS:
        yield f"hints.md: {len(hints)} hints (`## Hint 1` ...); at least {HINTS} are wanted, from a nudge to nearly all"
    for number, hint in enumerate(hints, 1):
        if not hint:
            yield f"hints.md: hint {number} is empty"


# --- the stub and the solution ---


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(read_text(path), str(path))


def signatures(tree: ast.Module) -> dict[str, str]:
    """The public functions, classes and methods of a module, each with its first line."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found[node.name] = first_line(node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found[node.name] = f"class {node.name}({', '.join(map(ast.unparse, node.bases))})"
            methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
            found |= {f"{node.name}.{method.name}": first_line(method) for method in methods}
    return found


def first_line(function: ast.FunctionDef) -> str:
    """A function without its body."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"def {function.name}({ast.unparse(function.args)}){returns}"


def first_cell(text: str) -> str:
    """The kind of the first cell of a module that is opened as a notebook."""
    import jupytext

    cells = jupytext.reads(text, fmt="py:percent").cells
    return str(cells[0].cell_type) if cells else ""


def stub_problems(exercise: Exercise) -> Iterator[str]:
    """Whether the stub is unfinished, states the task, and agrees with the solution."""
    text, tree = read_text(exercise.start), parsed(exercise.start)
    if FORMAT not in text or first_cell(text) != "markdown":
        yield f"start.py: as a notebook, it does not begin with text; its head needs `# jupyter:` with `{FORMAT}`"
    heading = f"# # {exercise.identity} {exercise.title}"
    if heading not in text.splitlines():
        yield f"start.py: the heading `{heading}` is missing"
    if not any(isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node) for node in ast.walk(tree)):
        yield "start.py: nothing raises NotImplementedError, so it cannot be distinguished from an answer"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > PAGE:
            yield f"start.py, line {number}: {len(line)} columns; its page on the site shows {PAGE}"
    stub, solution = signatures(tree), signatures(parsed(exercise.solution))
    for piece in exercise.pieces:
        if piece.answer not in stub:
            yield f"start.py: there is no {piece.answer}, which exercise.toml grafts"
    for name, line in stub.items():
        if solution.get(name) != line and not (exercise.is_repair and name == MENDED and name in solution):
            yield f"{name}: the stub has `{line}`, the solution has {solution.get(name, 'nothing of that name')}"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in stub and not ast.get_docstring(node):
            yield f"start.py: {node.name} has no docstring"
    if exercise.is_repair:  # its example is the program that fails
        if exercise.symptom.name not in text:
            yield f"start.py: the program that fails, {exercise.symptom.name}, is not named"
        if not {'FILE = ""', "LINE = 0"} <= {ast.unparse(node).replace("'", '"') for node in tree.body}:
            yield 'start.py: it has to have `FILE = ""` and `LINE = 0`'
    else:
        yield from example_problems(exercise, tree)


def example_problems(exercise: Exercise, stub: ast.Module) -> Iterator[str]:
    """Whether there are examples in the stub's docstrings, and the solution returns what they show."""
    names: dict[str, object] = {"__name__": "answer"}
    exec(compile(read_text(exercise.solution), str(exercise.solution), "exec", dont_inherit=True), names)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    count = 0
    for node in ast.walk(stub):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        test = parser.get_doctest(ast.get_docstring(node) or "", names, node.name, str(exercise.start), node.lineno)
        count += len(test.examples)
        said: list[str] = []
        if runner.run(test, out=said.append, clear_globs=False).failed:
            got = " ".join("".join(said).split("Failed example:", 1)[1].split())
            yield f"start.py: an example of {node.name} is not what the solution gives: {got}"
    if not count:
        yield "start.py: no docstring has an example, as doctest reads them"


# --- the check, the wrong answers, the lab sheet ---


def check_problems(exercise: Exercise) -> Iterator[str]:
    """Whether each test of the check states what it asks."""
    tests = [node for node in parsed(exercise.check).body if getattr(node, "name", "").startswith("test_")]
    if not tests:
        yield f"{exercise.check.name}: no test"
    for test in tests:
        if isinstance(test, ast.FunctionDef) and not ast.get_docstring(test):
            yield f"{exercise.check.name}: {test.name} has no docstring; it is what the reader sees as `asked`"


def wrong_answer_problems(exercise: Exercise) -> Iterator[str]:
    """Whether there are enough wrong answers, stored correctly, each saying what is wrong and what refuses it."""
    paths = exercise.wrong_answers()
    if len(paths) < WRONG_ANSWERS:
        yield f"{len(paths)} wrong answers (wrong_*.diff beside the solution); at least {WRONG_ANSWERS} are wanted"
    for path in paths:
        try:
            yield from said_of(exercise, path, wrong.whole(exercise, path))
        except ExerciseError as error:
            yield str(error)


def said_of(exercise: Exercise, path: Path, text: str) -> Iterator[str]:
    """What must be fixed in one wrong answer, given its whole text."""
    if wrong.stored(exercise, path.stem, text) != (path, read_text(path)):
        yield f"{path.name} is not in its stored form: run `workbook dev wrong {exercise.identity}`"
    docstring, code = wrong.parts(text, path)
    if code == wrong.parts(read_text(exercise.solution), exercise.solution)[1]:
        yield f"{path.name}: it is the solution"
    if not docstring.partition("Refused by:")[0].strip():
        yield f"{path.name}: its first line does not say what is wrong with it"
    if (rung := wrong.said_rung(docstring)) not in RUNGS:
        yield f"{path.name}: `Refused by: {rung}`; it has to name a rung: {' | '.join(RUNGS)}"


def lab_problems(exercise: Exercise) -> Iterator[str]:
    """Whether the lab sheet begins as it should, and its notebook matches its text."""
    from workbook.book.errors import BookError
    from workbook.book.notebook_checks import check_in_step

    try:
        notebook = check_in_step(exercise.lab_source)
    except BookError as error:
        yield str(error)
        return
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "code"), "")
    own = "torch = library()" if exercise.is_repair else "from answer import"
    for line in ("%load_ext autoreload", "%autoreload 2", own):
        if line not in first:
            yield f"lab.md: the first code cell has no `{line}`"


# --- the fault of a repair ---


def fault_problems(root: Path, exercise: Exercise, every: Sequence[Exercise]) -> Iterator[str]:
    """Whether the fault applies and stands nowhere in the book."""
    fault = read_fault(exercise)
    for other in every:
        if any(piece.target == fault.piece.target for piece in other.pieces):
            yield f"fault.diff: {fault.function} is what {other.identity} asks for"
    target = f"{fault.module}.{fault.function}."
    for section in sorted((root / "chapters").glob("*/*.md")):
        for shown in SHOWN.findall(read_text(section)):
            if target.startswith(f"{shown}.") and f"{shown}.".startswith(f"{fault.module}."):
                yield f"fault.diff: {fault.function} is printed in {section.parent.name}/{section.name}"
    yield from names_of_the_fault(exercise, fault)


def symptom_problems(exercise: Exercise) -> Iterator[str]:
    """Whether the program that shows the fault fails with it, and only with it."""
    with temporary_folder() as folder:
        plant(read_fault(exercise), folder / "faulty")
        for library, wanted in ((None, 0), (folder / "faulty", 1)):
            command = python(str(exercise.symptom))
            settings = environment(CODE, folder, library)
            done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
            if done.returncode != wanted:
                where = "with the fault" if library else "without the fault"
                last = (done.stderr.strip().splitlines() or ["nothing on standard error"])[-1]
                yield f"symptom.py: on the library {where} it ends with {done.returncode}, not {wanted}: {last}"


def names_of_the_fault(exercise: Exercise, fault: Fault) -> Iterator[str]:
    """The places before the last hint that name the file with the fault, or the function in it."""
    file = Path(fault.file)
    for test in exercise.tests:
        if file.stem in test.rpartition("/")[2]:
            yield f"exercise.toml: [carries] tests names {test}, which tells that the fault is in {file.name}"
    texts = {path.name: read_text(path) for path in (exercise.start, exercise.symptom, exercise.lab_source)}
    texts |= {f"hints.md, hint {number}": hint for number, hint in enumerate(exercise.hints()[:HINTS], 1)}
    texts |= {"exercise.toml": f"{exercise.title} {exercise.asks}"}
    for where, text in texts.items():
        for name in (fault.file, fault.module, fault.function.rpartition(".")[2]):
            if re.search(rf"(?<![\w/.]){re.escape(name)}\b", text):
                yield f"{where}: {name} tells where the fault is"


def style_problems(root: Path, exercise: Exercise) -> Iterator[str]:
    """What ruff finds in the exercise's files, without the reader's own."""
    symptom = [exercise.symptom] if exercise.is_repair else []
    yield from ruff_problems(root, [exercise.start, exercise.check, exercise.solution, *symptom])
    with suppress(ExerciseError), wrong.written_out(exercise) as answers:  # one that does not apply is told elsewhere
        for folder, name in product({answer.parent for answer in answers}, SETTINGS):
            if (root / name).is_file():
                shutil.copyfile(root / name, folder / name)
        yield from ruff_problems(root, answers)


def ruff_problems(root: Path, files: Sequence[Path]) -> Iterator[str]:
    """What ruff finds in these files."""
    for arguments in (("check",), ("format", "--check")):
        command = [sys.executable, "-m", "ruff", *arguments, "--quiet", "--output-format=concise", *map(str, files)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            yield from (f"ruff {arguments[0]}: {line}" for line in (done.stdout + done.stderr).splitlines())
