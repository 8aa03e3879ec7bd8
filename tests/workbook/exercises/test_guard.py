"""What does the guard refuse, and what does it leave alone?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbook.exercises.guard import ASKED, CHANGES, COMPILERS, SIGNALS, STARTS, Guard, GuardError, OutOfReach
from workbook.exercises.report import Refusal

INSIDE = object()  # stands for a descriptor of a folder in the temporary one
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


# Event, its arguments, what is refused. {} is the test's folder, FOLDER a descriptor of it; it is not the current one.
FOLDER = object()
HURTS: list[tuple[str, tuple[Any, ...], str]] = [
    ("open", ("{}/a.txt", "w", WRITE), "it tried to write to {}/a.txt, outside its temporary folder"),
    ("open", ("{}/a.txt", "r+", os.O_RDWR), "it tried to write to {}/a.txt"),
    ("open", ("{}/temporary/../a.txt", None, WRITE), "it tried to write to {}/a.txt"),
    ("open", ("{}/temporary/groups/77", "w", WRITE), "it tried to write to {}/temporary/groups/77"),
    ("open", ("{}/solutions/02/solution.py", "r", READ), "it tried to read the solution"),
    ("open", (b"%b/solutions/02/__pycache__/solution.pyc", "r", READ), "it tried to read the solution"),
    ("os.remove", ("{}/a", -1), "it tried to delete {}/a"),
    ("os.remove", (os.devnull, -1), f"it tried to delete {os.devnull}"),
    ("os.remove", ("a", FOLDER), "it tried to delete {}/a"),
    ("os.remove", (b"a", FOLDER), "it tried to delete {}/a"),
    ("os.remove", ("temporary/../a", FOLDER), "it tried to delete {}/a"),
    ("os.rmdir", ("{}/a", -1), "it tried to delete {}/a"),
    ("os.rmdir", ("a", FOLDER), "it tried to delete {}/a"),
    ("os.rmdir", ("{}/temporary/..", -1), "it tried to delete {},"),
    ("shutil.rmtree", ("{}/a", None), "it tried to delete {}/a"),
    ("shutil.rmtree", ("a", FOLDER), "it tried to delete {}/a"),
    ("os.rename", ("{}/temporary/a", "{}/b", -1, -1), "it tried to rename {}/b"),
    ("os.rename", ("{}/a", "{}/temporary/b", -1, -1), "it tried to rename {}/a"),
    ("os.rename", ("a", "{}/temporary/b", FOLDER, -1), "it tried to rename {}/a"),
    ("os.rename", ("a", "b", -1, FOLDER), "it tried to rename {}/b"),
    ("os.truncate", ("{}/a", 0), "it tried to write to {}/a"),
    ("os.mkdir", ("{}/a", 0o777, -1), "it tried to make {}/a"),
    ("os.mkdir", ("a", 0o777, FOLDER), "it tried to make {}/a"),
    ("os.link", ("{}/a", "{}/temporary/b", -1, -1), "it tried to create a link to {}/a"),
    ("os.link", ("a", "b", FOLDER, -1), "it tried to create a link to {}/a"),
    ("os.link", ("{}/temporary/a", "{}/b", -1, -1), "it tried to make {}/b"),
    ("os.link", ("a", "b", -1, FOLDER), "it tried to make {}/b"),
    ("os.symlink", ("{}/temporary/a", "{}/b", -1), "it tried to make {}/b"),
    ("os.symlink", ("a", "b", FOLDER), "it tried to make {}/b"),
    ("os.chmod", ("{}/a", 0, -1), "it tried to change the permissions of {}/a"),
    ("os.chmod", ("a", 0, FOLDER), "it tried to change the permissions of {}/a"),
    ("os.chmod", (FOLDER, 0, -1), "it tried to change the permissions of {},"),
    ("os.chown", ("{}/a", 0, 0, -1), "it tried to change the owner of {}/a"),
    ("os.chown", ("a", 0, 0, FOLDER), "it tried to change the owner of {}/a"),
    ("os.utime", ("{}/a", (1, 2), None, -1), "it tried to change the times of {}/a"),
    ("os.utime", ("a", (1, 2), None, FOLDER), "it tried to change the times of {}/a"),
    ("shutil.move", ("{}/a", "{}/temporary/b"), "it tried to move {}/a"),
    ("shutil.move", ("{}/temporary/a", "{}/b"), "it tried to move {}/b"),
    ("sqlite3.connect", ("{}/a",), "it tried to write to {}/a"),
    *((event, (), f"it tried to start another program ({event})") for event in (
        "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
        "os.startfile", "os.startfile/2", "pty.spawn", "_winapi.CreateProcess",
    )),
    *((event, (), "it tried to send a signal to a process") for event in (
        "os.kill", "os.killpg", "signal.pthread_kill",
    )),
]  # fmt: skip


@pytest.fixture
def folder(guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A descriptor of the test's folder; the current one is the guard's temporary folder."""
    monkeypatch.chdir(tmp_path / "temporary")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


@pytest.mark.parametrize(("event", "arguments", "came"), HURTS)
def test_what_hurts_is_refused(
    guard: Guard, tmp_path: Path, folder: int, event: str, arguments: Any, came: str
) -> None:
    with pytest.raises(GuardError) as info:
        guard.hear(event, [folder if one is FOLDER else one for one in filled(arguments, tmp_path)])
    assert info.value.refusal.came.startswith(came.replace("{}", str(tmp_path.resolve())))
    assert info.value.refusal.asked == ASKED


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("{}/temporary/a.txt", "w", WRITE)),
        ("open", ("{}/a.txt", "r", READ)),
        ("open", (3, "w", WRITE)),
        ("os.remove", ("a", INSIDE)),
        ("os.remove", ("../a", INSIDE)),
        ("os.remove", ("{}/temporary/a", 1 << 20)),
        ("os.chmod", (INSIDE, 0, -1)),
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
    (tmp_path / "temporary" / "inner").mkdir()
    inside = os.open(tmp_path / "temporary" / "inner", os.O_RDONLY)
    try:
        guard.hear(event, [inside if one is INSIDE else one for one in filled(arguments, tmp_path)])
    finally:
        os.close(inside)


def test_the_table_of_what_hurts_leaves_no_event_out() -> None:
    assert {event for event, _, _ in HURTS} == {"open", *CHANGES, *STARTS, *SIGNALS}


def test_a_folder_that_cannot_be_found_out_is_refused(guard: Guard) -> None:
    with pytest.raises(GuardError, match="it tried to delete victim, and its path cannot be determined"):
        guard.hear("os.remove", ["victim", 1 << 20])


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("os.remove", ("{}", -1)),
        ("os.rmdir", ("{}", -1)),
        ("shutil.rmtree", ("{}", None)),
        ("os.rename", ("{}", "b", -1, -1)),
        ("os.rename", ("b", "{}", -1, -1)),
        ("os.mkdir", ("{}", 0o777, -1)),
        ("os.link", ("b", "{}", -1, -1)),
        ("os.symlink", ("b", "{}", -1)),
        ("shutil.move", ("{}", "b")),
    ],
)
def test_a_link_itself_is_changed_where_it_stands(
    guard: Guard, tmp_path: Path, folder: int, event: str, arguments: Any
) -> None:
    outward, inward = tmp_path / "temporary" / "outward", tmp_path / "inward"
    outward.symlink_to(tmp_path / "a")
    inward.symlink_to(tmp_path / "temporary" / "a")
    guard.hear(event, filled(arguments, outward))
    with pytest.raises(GuardError, match="inward"):
        guard.hear(event, filled(arguments, inward))


def test_a_file_is_written_where_its_link_leads(guard: Guard, tmp_path: Path) -> None:
    outward, inward = tmp_path / "temporary" / "outward", tmp_path / "inward"
    outward.symlink_to(tmp_path / "a")
    inward.symlink_to(tmp_path / "temporary" / "a")
    guard.hear("open", [str(inward), "w", WRITE])
    with pytest.raises(GuardError, match="a, outside"):
        guard.hear("open", [str(outward), "w", WRITE])


@pytest.mark.parametrize(
    ("flags", "came"), [(os.O_WRONLY, "it tried to write to {}/solutions/a"), (READ, "it tried to read the solution")]
)
def test_a_file_is_opened_in_the_folder_that_the_call_names(
    guard: Guard, tmp_path: Path, folder: int, flags: int, came: str
) -> None:
    opening = guard.opening(os.open)
    with pytest.raises(GuardError) as info:
        opening("solutions/a", flags, dir_fd=folder)
    assert info.value.refusal.came.startswith(came.replace("{}", str(tmp_path.resolve())))
    os.close(opening("temporary/a", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=folder))
    os.close(opening("a", READ))


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


@pytest.mark.parametrize("module", COMPILERS)
def test_the_librarys_compilers_may_do_what_an_answer_may_not(guard: Guard, tmp_path: Path, module: str) -> None:
    def hear() -> None:
        guard.hear("subprocess.Popen", ())
        guard.hear("os.mkdir", (str(tmp_path / "cache"), 0o777, -1))

    compiler: dict[str, Any] = {"__name__": module, "hear": hear}
    exec("def compiled():\n    hear()", compiler)
    compiler["compiled"]()
    compiler["hear"] = lambda: exec(compile("called()", guard.answer, "exec"), {"called": hear})
    with pytest.raises(GuardError):  # an answer that the compiler calls is an answer
        compiler["compiled"]()


def test_a_module_out_of_reach_is_as_good_as_not_installed() -> None:
    finder = OutOfReach("torch", "because")
    for name in ("torch", "torch.nn"):
        with pytest.raises(ModuleNotFoundError, match="because"):
            finder.find_spec(name)
    assert finder.find_spec("torchlike") is None  # type: ignore[func-returns-value]
