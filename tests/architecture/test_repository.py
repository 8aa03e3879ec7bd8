"""Does the repository hold for everybody: no path of one machine, no host of a package registry?"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_no_file_names_a_registry_or_a_path_of_one_machine(require: Callable[[str], str]) -> None:
    git = [require("git"), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is not a git clone")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    found = {}
    for path in paths:
        content = path.read_bytes() if path.is_file() else b""
        if b"\0" not in content and (problems := unwanted(content.decode("utf-8", "replace"))):
            found[str(path.relative_to(ROOT))] = problems
    assert len(paths) > 10
    assert found == {}


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
