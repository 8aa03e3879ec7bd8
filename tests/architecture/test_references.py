"""Does every name and path in text that points into this repository lead to something?"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.references import (
    DOTTED,
    LIBRARY,
    PACKAGES,
    ROOT,
    files,
    is_among,
    is_name,
    is_path,
    problems,
    texts,
)
from workbook.book.cells import quotation_of, quotation_of_entry
from workbook.book.entries import row
from workbook.exercises.catalogue import REPAIR, exercises

SHOW = re.compile(r"^show\((\"[^)]*\")\)", re.MULTILINE)
MAP = re.compile(r"## The map of the house\n\n```\n(.*?)```", re.DOTALL)
TABLES = {"formula": "operators/derivatives.yaml", "kernel": "operators/native_functions.yaml"}


def test_names_and_paths_in_text_lead_somewhere() -> None:
    assert [problem for path in texts() for problem in problems(path, path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("README.md", "see reference/glasstorch/core/storage.py, core/storage.py and storage.py\n", 0),
        ("README.md", "see core/storge.py\n", 1),
        ("README.md", "see `storge.py`, `glasstorch.core.storage.Storge` and `glasstorch.core.storage.Storage`\n", 2),
        ("README.md", "see `core.storage.Storage`, `core.geometri`, core.x and `nn.Module`\n", 1),
        ("README.md", "see `benchmarks/*.py` and `benchmarks/*.cuh`\n", 1),
        (
            "reference/glasstorch/core/dtype.py",
            '"""What?\n\nMirrors: a/b.py\n    c/d.py\nDiffers: see e/f.py\n"""\n',
            1,
        ),
        ("reference/glasstorch/core/dtype.py", "# hot path: benchmarks/eager.py\n", 0),
        ("reference/glasstorch/core/dtype.py", "# hot path: benchmarks/eagre.py\n", 1),
        ("reference/glasstorch/core/dtype.py", "x = 'core/not_a_comment.py'  # nor.py\n", 1),
        ("reference/glasstorch/operators/native_functions.yaml", "- func: a.py  # see core/geometri.py\n", 1),
        ("tests/core/test_dtype.py", "# torch/csrc/Dtype.cpp, aten/src/ATen/a.yaml, c10/core/a.py\n", 0),
        ("exercises/README.md", "answer.py, decisions/NNNN-title.md, exercises/02.1-strides.md\n", 0),
    ],
)
def test_a_name_that_leads_nowhere_is_found(name: str, text: str, count: int) -> None:
    assert len(problems(ROOT / name, text)) == count


def test_a_name_that_leads_nowhere_is_told_with_its_line() -> None:
    told = problems(ROOT / "README.md", "one\n\nthree, in core/storge.py\n")
    assert told == ["README.md:3: core/storge.py leads nowhere"]


# --- code that names a place ---


HOT = re.compile(r"# hot path\b(?!: benchmarks/\w+\.py\b)")


def test_a_hot_function_names_its_benchmark() -> None:
    # that the benchmark is there is asked of all paths in comments
    unnamed = [path.name for path in LIBRARY.rglob("*.py") if HOT.search(path.read_text(encoding="utf-8"))]
    assert unnamed == []
    assert HOT.search("def f():  # hot path\n")
    assert HOT.search("def f():  # hot path: see below\n")


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """The strings in a Python file, each with its line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_strings_of_the_workbook_and_the_benchmarks_lead_somewhere() -> None:
    # grafts, guards, figures, the hero and the steps of `make test` name modules, folders and files in strings
    rooms = {path.name for path in LIBRARY.iterdir() if path.is_dir()}
    tops = rooms | {
        *PACKAGES,
        *(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name != "site"),
    }
    tops -= {"examples", "cuda"}
    place = re.compile(rf"(?:{'|'.join(sorted(map(re.escape, tops)))})(?:/[\w.*-]+)+/?")
    known = files() | {parent.as_posix() for name in files() for parent in Path(name).parents}
    broken, seen = [], 0
    for file in [*(ROOT / "workbook").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]:
        for line, text in strings(file):
            is_there = True
            if place.fullmatch(text):
                plain = text.rstrip("/")
                starts = ("", "reference/", "reference/glasstorch/", "chapters/")
                is_there = any(is_among(start + plain, frozenset(known)) for start in starts) or is_path(plain, file)
                seen += 1
            elif DOTTED.fullmatch(text):
                is_there = is_name(text)
                seen += 1
            if not is_there:
                broken.append(f"{file.relative_to(ROOT).as_posix()}:{line}: {text!r} leads nowhere")
    assert broken == []
    assert seen > 10


def test_what_chapters_and_lab_sheets_quote_by_name_is_there() -> None:
    broken, seen = [], 0
    for file in [*(ROOT / "chapters").rglob("*.md"), *(ROOT / "exercises").rglob("*.md")]:
        text = file.read_text(encoding="utf-8")
        for call in SHOW.finditer(text):
            seen += 1
            names = ast.literal_eval(f"({call[1]},)")
            try:
                quotation_of(*names) if len(names) == 1 else quotation_of_entry(*names)
            except (ImportError, LookupError, OSError, TypeError, AttributeError) as error:
                line = text.count("\n", 0, call.start()) + 1
                broken.append(f"{file.relative_to(ROOT).as_posix()}:{line}: {error}")
    assert broken == []
    assert seen > 20


def test_what_exercises_replace_and_carry_is_there() -> None:
    broken = []
    for exercise in exercises(ROOT):
        text = exercise.facts.read_text(encoding="utf-8")
        told = f"{exercise.place}/{exercise.facts.name}"

        def at(name: str, told: str = told, text: str = text) -> str:
            number = next((n for n, line in enumerate(text.splitlines(), 1) if f'"{name}"' in line), 1)
            return f"{told}:{number}: {name} leads nowhere"

        replaced = [piece for piece in exercise.pieces if piece.kind != REPAIR]  # where a fault lies, `dev check` tells
        broken += [at(piece.target) for piece in replaced if not is_target(piece.kind, piece.target)]
        tests = [test for test in exercise.tests if not test.startswith("-")]
        broken += [at(test) for test in tests if not is_test(test)]
        carried = " ".join((ROOT / test).read_text(encoding="utf-8") for test in tests if (ROOT / test).is_file())
        broken += [at(words) for words in exercise.tests if words.startswith("-k") and not are_in(words[2:], carried)]
        broken += [at(exercise.section)] * (f"chapters/{exercise.section}.md" not in files())
    assert broken == []


def is_target(kind: str, target: str) -> bool:
    """Whether a graft's counterpart is there: a function of a module, a row of a table, a header of CUDA C++."""
    if kind == "cuda":
        return any(name.startswith("reference/") and name.endswith(f"/{target}") for name in files())
    if kind in TABLES:
        name = target.removeprefix("aten::")
        operator = name.rpartition(".")[0] if kind == "formula" else name
        return bool(row((LIBRARY / TABLES[kind]).read_text(encoding="utf-8").splitlines(keepends=True), operator))
    return is_name(target.replace(":", "."))


def is_test(argument: str) -> bool:
    """Whether an argument for pytest is a file or folder, and the test that it names stands in it."""
    path, _, test = argument.partition("::")
    if not (ROOT / path).exists():
        return False
    return not test or f"def {test.partition('[')[0].rpartition('::')[2]}(" in (ROOT / path).read_text(encoding="utf-8")


def are_in(words: str, carried: str) -> bool:
    """Whether each word of an expression for pytest's `-k` stands in the carried tests."""
    return all(word in carried for word in re.findall(r"\w+", words) if word not in {"not", "or", "and"})


# --- tables that name places ---


def test_the_map_in_the_readme_names_what_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    drawn = MAP.search(text)
    assert drawn is not None
    above, broken, seen = {0: ROOT}, [], 0
    for number, line in enumerate(drawn[1].splitlines(), start=text.count("\n", 0, drawn.start(1)) + 1):
        names, _, said = line.strip().partition("  ")
        depth = len(line) - len(line.lstrip())
        folder = above[max(known for known in above if known <= depth)]
        inside = [folder / name for name in names.split()]
        beside = re.findall(r"(?<![\w`/])[\w-]+(?:/|\.py)(?![\w*])", said)
        if "made by" in said and "ignored by git" in said:
            continue  # a fresh clone does not have it yet
        missing = [path.relative_to(ROOT).as_posix() for path in inside if not path.exists()]
        missing += [name for name in beside if not any((start / name).exists() for start in (*inside, folder, ROOT))]
        broken += [f"README.md:{number}: {name} leads nowhere" for name in missing]
        above = {known: path for known, path in above.items() if known <= depth} | {depth + 4: inside[0]}
        seen += len(inside)
    assert broken == []
    assert seen > 10


def test_the_manifest_names_files() -> None:
    manifest = json.loads((ROOT / "exercises" / "manifest.json").read_text(encoding="utf-8"))
    assert [name for name in manifest if name not in files()] == []


def test_what_pyproject_names_is_there() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    tool, build = settings["tool"], settings["tool"]["hatch"]["build"]
    globs = [
        *tool["ruff"]["lint"]["per-file-ignores"],
        *settings["project"]["license-files"],
        settings["project"]["readme"],
    ]
    broken = [glob for glob in globs if not any(ROOT.glob(glob))]
    places = [
        *tool["ruff"]["src"],
        *tool["mypy"]["files"],
        tool["mypy"]["mypy_path"],
        *tool["pytest"]["ini_options"]["testpaths"],
        *tool["pytest"]["ini_options"]["pythonpath"],
        *build["dev-mode-dirs"],
        *build["targets"]["wheel"]["packages"],
        *(name.removeprefix("/") for name in build["targets"]["sdist"]["include"]),
    ]
    broken += [place for place in places if not (ROOT / place).exists()]
    overridden = [module for override in tool["mypy"]["overrides"] for module in override["module"]]
    ours = [name.removesuffix(".*") for name in overridden if name.startswith(tuple(PACKAGES))]
    scripts = list(settings["project"]["scripts"].values())
    broken += [name for name in [*ours, *scripts] if not is_name(name.replace(":", "."))]
    lines = text.splitlines()
    numbers = [next(number for number, line in enumerate(lines, 1) if name in line) for name in broken]
    told = [f"pyproject.toml:{number}: {name} leads nowhere" for number, name in zip(numbers, broken, strict=True)]
    assert told == []
