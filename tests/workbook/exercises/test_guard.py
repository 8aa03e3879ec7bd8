"""What does the guard refuse, and what does it leave alone?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from workbook.exercises.guard import ASKED, Guard, GuardError, OutOfReach
from workbook.exercises.report import Refusal

READ, WRITE = os.O_RDONLY, os.O_WRONLY | os.O_CREAT


@pytest.fixture
def told() -> list[Refusal]:
    """What the guard has written down."""
    return []


@pytest.fixture
def guard(tmp_path: Path, told: list[Refusal]) -> Guard:
    """A guard that is not in force: the test asks it."""
    for name in ("temporary", "solutions"):
        (tmp_path / name).mkdir()
    return Guard(tmp_path / "temporary", tmp_path / "solutions", tmp_path / "temporary" / "answer.py", told.append)


@pytest.mark.parametrize(
    ("event", "arguments", "came"),
    [
        ("open", ("{}/a.txt", "w", WRITE), "it tried to write to {}/a.txt, outside its temporary folder"),
        ("open", ("{}/a.txt", "r+", os.O_RDWR), "it tried to write to {}/a.txt"),
        ("open", ("{}/temporary/../a.txt", None, WRITE), "it tried to write to {}/a.txt"),
        ("open", ("{}/temporary/groups/77", "w", WRITE), "it tried to write to {}/temporary/groups/77"),
        ("os.remove", ("{}/a.txt", -1), "it tried to delete {}/a.txt"),
        ("os.rmdir", ("{}/a", -1), "it tried to delete {}/a"),
        ("shutil.rmtree", ("{}/a", None), "it tried to delete {}/a"),
        ("os.rename", ("{}/temporary/a", "{}/b", -1, -1), "it tried to rename {}/b"),
        ("os.truncate", ("{}/a.txt", 0), "it tried to write to {}/a.txt"),
        ("os.mkdir", ("{}/a", 0o777, -1), "it tried to make {}/a"),
        ("os.symlink", ("{}/temporary/a", "{}/b", -1), "it tried to make {}/b"),
        ("os.chmod", ("{}/a", 0, -1), "it tried to change the permissions of {}/a"),
        ("open", ("{}/solutions/02/solution.py", "r", READ), "it tried to read the solution"),
        ("open", (b"%b/solutions/02/__pycache__/solution.pyc", "r", READ), "it tried to read the solution"),
        ("subprocess.Popen", ("ls", [], None, None), "it tried to start another program (subprocess.Popen)"),
        ("os.system", (b"ls",), "it tried to start another program (os.system)"),
        ("os.fork", (), "it tried to start another program (os.fork)"),
        ("os.kill", (1, 9), "it tried to send a signal to a process"),
    ],
)
def test_what_hurts_is_refused(guard: Guard, tmp_path: Path, event: str, arguments: Any, came: str) -> None:
    with pytest.raises(GuardError) as info:
        guard.hear(event, filled(arguments, tmp_path))
    assert info.value.refusal.came.startswith(came.replace("{}", str(tmp_path.resolve())))
    assert info.value.refusal.asked == ASKED


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("{}/temporary/a.txt", "w", WRITE)),
        ("open", ("{}/a.txt", "r", READ)),
        ("open", (3, "w", WRITE)),
        ("open", (os.devnull, "w", WRITE)),
        ("open", ("{}/library/__pycache__/a.cpython-311.pyc.123", "wb", WRITE)),
        ("os.mkdir", ("{}/library/__pycache__", 0o777, -1)),
        ("os.rename", ("{}/temporary/a", "{}/temporary/b", -1, -1)),
        ("os.truncate", (4, 0)),
        ("sqlite3.connect", (":memory:",)),
        ("import", ("os", None, None, None, None)),
    ],
)
def test_what_does_not_is_left_alone(guard: Guard, tmp_path: Path, event: str, arguments: Any) -> None:
    guard.hear(event, filled(arguments, tmp_path))


def filled(arguments: tuple[Any, ...], folder: Path) -> list[Any]:
    """The arguments with the test's folder in their paths."""
    texts = {str: lambda text: text.replace("{}", str(folder)), bytes: lambda text: text.replace(b"%b", bytes(folder))}
    return [texts.get(type(argument), lambda same: same)(argument) for argument in arguments]


def test_a_link_out_of_the_folder_leads_out(guard: Guard, tmp_path: Path) -> None:
    (tmp_path / "temporary" / "link").symlink_to(tmp_path)
    with pytest.raises(GuardError):
        guard.hear("open", [str(tmp_path / "temporary" / "link" / "a.txt"), "w", WRITE])


def test_what_the_answer_did_is_written_down_with_its_line(guard: Guard, tmp_path: Path, told: list[Refusal]) -> None:
    text = "\ntry:\n    guard.hear('os.kill', [1, 9])\nexcept OSError:\n    pass\n"
    exec(compile(text, str(tmp_path / "temporary" / "answer.py"), "exec"), {"guard": guard})
    assert told == [Refusal(asked=ASKED, came="it tried to send a signal to a process", line=3)]


def test_what_somebody_else_did_is_refused_and_not_blamed_on_the_answer(guard: Guard, told: list[Refusal]) -> None:
    with pytest.raises(PermissionError):
        guard.hear("os.kill", [1, 9])
    assert told == []


def test_a_module_out_of_reach_is_as_good_as_not_installed() -> None:
    finder = OutOfReach("torch", "because")
    for name in ("torch", "torch.nn"):
        with pytest.raises(ModuleNotFoundError, match="because"):
            finder.find_spec(name)
    assert finder.find_spec("torchlike") is None  # type: ignore[func-returns-value]
