"""Does the repository hold for everybody: no path of one machine, no host of a package registry?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pathspec import GitIgnoreSpec

ROOT = Path(__file__).parents[2]
# In pieces, so that this file does not find itself.
HOSTS = (
    "py" + "pi.org",
    "python" + "hosted.org",
    "registry." + "npmjs",
    "registry." + "yarnpkg",
    "deb." + "debian",
)
FOLDERS = ("work", "root", "farm", "home/[a-z]+", "Users/[A-Za-z]+")
UNWANTED = re.compile("|".join([*map(re.escape, HOSTS), *(rf"(?<![\w./~-])/{folder}/" for folder in FOLDERS)]))


def unwanted(text: str) -> list[str]:
    """What in the text belongs to one machine or one registry, each with its line number."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"line {number}: {found.group()}" for number, line in lines if (found := UNWANTED.search(line))]


def kept(root: Path) -> Iterator[Path]:
    """The files that no .gitignore leaves out; the folder need not be a clone, and `.git` is a file in a worktree."""
    lists = [root / ".gitignore", *root.glob("*/.gitignore")]
    rules = [(path.parent, GitIgnoreSpec.from_lines(path.read_text().splitlines())) for path in lists]

    def ignored(path: Path, end: str) -> bool:
        return any(
            spec.match_file(f"{path.relative_to(folder)}{end}") for folder, spec in rules if folder in path.parents
        )

    for name, folders, files in os.walk(root):
        folders[:] = [inner for inner in folders if inner != ".git" and not ignored(Path(name, inner), "/")]
        yield from (path for path in (Path(name, file) for file in files if file != ".git") if not ignored(path, ""))


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    paths = list(kept(ROOT))
    assert {ROOT / "README.md", ROOT / "site" / ".gitignore", Path(__file__)} <= set(paths)
    found = {}
    for path in paths:
        content = path.read_bytes()
        if b"\0" not in content and (problems := unwanted(content.decode("utf-8", "replace"))):
            found[str(path.relative_to(ROOT))] = problems
    assert found == {}


def test_what_is_ignored_is_not_read(tmp_path: Path) -> None:
    places = [
        "a.py",
        "b/c.txt",
        "b/__pycache__/c.pyc",
        ".git/config",
        "submodule/.git",
        "site/index.html",
        "site/.gitignore",
        "d.egg-info/e",
    ]
    for place in places:
        (tmp_path / place).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / place).write_text("")
    (tmp_path / ".gitignore").write_text("__pycache__/\n*.egg-info/\n/digits.pt\n")
    (tmp_path / "site" / ".gitignore").write_text("*\n!.gitignore\n")
    found = {path.relative_to(tmp_path).as_posix() for path in kept(tmp_path)}
    assert found == {".gitignore", "a.py", "b/c.txt", "site/.gitignore"}


@pytest.mark.parametrize(
    "text",
    [
        "index = https://" + HOSTS[0] + "/simple",
        '"resolved": "https://' + HOSTS[2] + '.org/katex"',
        "File /" + "root/project/a.py",
        "(/" + "work/main)",
        "/" + "Users/jane/glass",
    ],
)
def test_such_a_name_is_found(text: str) -> None:
    assert len(unwanted(text)) == 1


@pytest.mark.parametrize("text", ["frame/work/a", "~/work/glass", "https://example.org/home/page", "./root/file"])
def test_an_ordinary_path_is_left_alone(text: str) -> None:
    assert unwanted(text) == []
