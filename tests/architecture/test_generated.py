"""How much of the library was written by the generator, and is each such file one that is proved fresh?"""

from __future__ import annotations

from pathlib import Path

from glasstorch.operators.gen.__main__ import MARK, PACKAGE, render

# Generated text is for what a person or an editor reads; the rest is rows and functions that read them.
MOST_LINES = {"Python": 51_000, "C++": 3_000, "stubs": 3_000}
LANGUAGES = {".inc": "C++", ".pyi": "stubs"}


def marked_files() -> list[Path]:
    """The files of the library whose first lines say that the generator wrote them."""
    files = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".pyi", ".cu", ".cuh", ".inc"}]
    return [path for path in files if MARK in path.read_text(encoding="utf-8").partition("\n\n")[0]]


def test_generated_lines_are_few() -> None:
    lines = dict.fromkeys(MOST_LINES, 0)
    for path in marked_files():
        lines[LANGUAGES.get(path.suffix, "Python")] += len(path.read_text(encoding="utf-8").splitlines())
    assert all(lines[language] <= most for language, most in MOST_LINES.items()), lines


def test_every_file_that_says_it_is_generated_is_compared_with_the_declarations() -> None:
    """`gen --check` compares what `render` gives; tests/operators/gen/test_main.py runs it."""
    assert sorted(marked_files()) == sorted(render())


def test_every_file_in_a_folder_of_generated_code_says_so() -> None:
    folders = {path.parent for path in render()}
    inside = {path for folder in folders for path in folder.iterdir() if path.suffix in (".py", ".pyi", ".inc")}
    inside = {path for path in inside if path.name != "__init__.py"}
    assert inside == set(marked_files())
