"""Does `.venv` come about, stay when it is good, and get mended when it is not?

A small project stands in for the real one: it declares no dependencies and builds itself, so that
the real pip can work on it without a network.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from workbook import install
from workbook.failures import SetupError
from workbook.install import NOTE, Environment

Output = pytest.CaptureFixture[str]

pytestmark = pytest.mark.ci  # environments are made and installed into, two dozen times

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "glasstorch"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = []
optional-dependencies = { book = [], test = [], absent = ["no-such-package-of-glasstorch"] }

[tool.hatch]
"""
BACKEND = """
import zipfile
from pathlib import Path

INFO = "glasstorch-0.1.0.dist-info/"
EXTRAS = "".join(f"Provides-Extra: {name}\\n" for name in ("book", "test", "absent"))
NEEDED = "Requires-Dist: no-such-package-of-glasstorch; extra == 'absent'\\n"

def build_editable(folder, settings=None, metadata=None):
    files = {
        "glasstorch.pth": f"{Path.cwd()}\\n",
        INFO + "METADATA": f"Metadata-Version: 2.1\\nName: glasstorch\\nVersion: 0.1.0\\n{EXTRAS}{NEEDED}",
        INFO + "WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[INFO + "RECORD"] = "".join(f"{name},,\\n" for name in [*files, INFO + "RECORD"])
    name = "glasstorch-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the small project, with the extra `book` installed as on the first run."""
    root = tmp_path_factory.mktemp("clone")
    write_project(root)
    Environment(root).ensure(["book"])
    shutil.copytree(root / ".venv", root / "kept", symlinks=True)
    return root


@pytest.fixture
def environment(made: Path) -> Environment:
    """The environment of that clone, as it was after the first run."""
    shutil.rmtree(made / ".venv", ignore_errors=True)
    shutil.copytree(made / "kept", made / ".venv", symlinks=True)
    write_project(made)
    return Environment(made)


@pytest.fixture
def empty(tmp_path: Path) -> Environment:
    """The environment of a clone in which nothing was run yet."""
    write_project(tmp_path)
    return Environment(tmp_path)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package index that refuses the connection, at once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")


def write_project(root: Path) -> None:
    (root / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (root / "backend.py").write_text(BACKEND, encoding="utf-8")
    (root / "of_the_clone.py").write_text("ANSWER = 42\n", encoding="utf-8")


def note(environment: Environment) -> dict[str, object]:
    read: dict[str, object] = json.loads((environment.folder / NOTE).read_text(encoding="utf-8"))
    return read


def runs(environment: Environment) -> bool:
    """Whether the environment's Python finds what the clone installed, from any folder."""
    command = [environment.python, "-c", "import of_the_clone; assert of_the_clone.ANSWER == 42"]
    return subprocess.call(command, cwd=environment.root.parent) == 0


# --- what stays ---


def test_the_first_run_installs(environment: Environment) -> None:
    assert runs(environment)
    assert note(environment)["extras"] == ["book"]


def test_the_second_run_installs_nothing(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "run", lambda *_, **__: pytest.fail("a command was run"))
    environment.ensure(["book"])
    environment.ensure([])


def test_an_upgraded_package_is_no_damage(environment: Environment) -> None:
    (record,) = environment.packages().glob("pip-*.dist-info")
    record.rename(record.with_name("pip-999.0.dist-info"))
    assert environment.broken() == ""


def test_an_environment_made_by_hand_is_kept(environment: Environment) -> None:
    (environment.folder / NOTE).unlink()
    mark = environment.packages() / "by_hand.py"
    mark.touch()
    environment.ensure(["book"])
    assert mark.exists()
    assert note(environment)["finished"]


# --- what is installed again ---


def test_another_extra_is_added_to_those_that_are_there(environment: Environment) -> None:
    environment.ensure(["test"])
    assert note(environment)["extras"] == ["book", "test"]


def test_changed_dependencies_are_installed(environment: Environment) -> None:
    before = note(environment)["fingerprint"]
    changed = PYPROJECT.replace("test = []", 'test = ["pip"]')
    (environment.root / "pyproject.toml").write_text(changed, encoding="utf-8")
    environment.ensure(["book"])
    assert note(environment)["fingerprint"] != before


# --- what is made anew ---


def damage_python(environment: Environment) -> None:
    environment.python.unlink()
    environment.python.write_text("not a program")


def damage_note(environment: Environment) -> None:
    environment.write_note(finished=False)


def damage_pip(environment: Environment) -> None:
    shutil.rmtree(environment.packages() / "pip")


def damage_package(environment: Environment) -> None:
    (environment.packages() / "glasstorch.pth").unlink()


def damage_record(environment: Environment) -> None:
    (environment.packages() / "glasstorch-0.1.0.dist-info" / "RECORD").unlink()


def damage_place(environment: Environment) -> None:
    text = (environment.folder / NOTE).read_text(encoding="utf-8")
    (environment.folder / NOTE).write_text(text.replace(str(environment.folder), "/elsewhere/.venv"))


DAMAGE = {
    damage_python: "The Python in .venv does not start",
    damage_note: "The last installation did not finish",
    damage_pip: "There is no pip in .venv",
    damage_package: "Something is missing from .venv (glasstorch.pth)",
    damage_record: "A package in .venv is half installed (glasstorch-0.1.0.dist-info)",
    damage_place: "This .venv was made for /elsewhere/.venv",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_noticed(environment: Environment, damage: object) -> None:
    assert callable(damage)
    damage(environment)
    assert environment.broken().startswith(DAMAGE[damage])


@pytest.mark.slow  # an installation of its own, as in the one below
def test_a_damaged_environment_is_made_anew(environment: Environment, capsys: Output) -> None:
    damage_python(environment)
    leftover = environment.packages() / "leftover.py"
    leftover.touch()
    environment.ensure([])
    assert runs(environment)
    assert note(environment)["extras"] == ["book"]
    assert not leftover.exists()
    assert "does not start, or is too old; making a new .venv." in capsys.readouterr().out


@pytest.mark.slow
def test_an_installation_that_is_killed_is_repaired_by_running_it_again(empty: Environment) -> None:
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from workbook.install import Environment\n"
        "class Killed(Environment):\n"
        "    def keep_log(self, output): os._exit(9)\n"  # pip has just ended, the note is not yet written
        "Killed(Path(sys.argv[2])).ensure(['book'])\n"
    )
    repository = str(Path(install.__file__).parents[1])
    assert subprocess.call([sys.executable, "-c", script, repository, str(empty.root)]) == 9
    assert empty.broken() == "The last installation did not finish"
    empty.ensure(["book"])
    assert runs(empty)


# --- what is told ---


def test_what_is_not_an_environment_is_left_alone(empty: Environment) -> None:
    empty.folder.mkdir()
    (empty.folder / "thesis.txt").touch()
    with pytest.raises(SetupError, match="it is not a Python environment"):
        empty.ensure([])
    assert (empty.folder / "thesis.txt").exists()


@pytest.mark.usefixtures("offline")
def test_no_network_is_told_and_is_no_damage(environment: Environment) -> None:
    with pytest.raises(SetupError) as caught:
        environment.ensure(["absent"])
    text = str(caught.value)
    assert text.startswith("Installing glasstorch[absent, book]: the package index could not be reached.")
    assert "Connection refused" in text
    assert "Check the network" in text
    assert str(environment.log) in text
    assert environment.broken() == ""


def test_no_permission_to_write_is_told(empty: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(SetupError) as caught:
        empty.ensure([])
    assert "no permission to write" in str(caught.value)
    assert "clone into your home folder" in str(caught.value)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for Python is a shell script")
def test_a_python_without_ensurepip_is_told(empty: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    script = empty.root / "python-of-debian"
    words = "The virtual environment was not created successfully because ensurepip is not\\navailable."
    script.write_text(f"#!/bin/sh\nprintf '{words}'\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "_base_executable", str(script))
    with pytest.raises(SetupError, match="sudo apt install python3-venv"):
        empty.ensure([])
    assert empty.broken() == "The last installation did not finish"


def test_two_commands_do_not_install_at_the_same_time(environment: Environment, capsys: Output) -> None:
    with held(environment):
        environment.ensure(["book"])
    assert "Waiting: another command is installing into .venv" in capsys.readouterr().out


class held:
    """Holds the installation lock from another thread, for half a second."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.taken = threading.Event()
        self.thread = threading.Thread(target=self.hold)

    def hold(self) -> None:
        with self.environment.alone():
            self.taken.set()
            time.sleep(0.5)

    def __enter__(self) -> None:
        self.thread.start()
        assert self.taken.wait(300)

    def __exit__(self, *_: object) -> None:
        self.thread.join()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Collecting numpy<3,>=2.2", "Collecting numpy<3,>=2.2"),
        ("Downloading numpy-2.4.6-cp311.whl (16.9 MB)", "Downloading numpy-2.4.6-cp311.whl"),
        ("Installing collected packages: a, b, c", "Unpacking 3 packages"),
        ("WARNING: Retrying (Retry(total=1))", "No answer from the package index; trying again"),
        ("Requirement already satisfied: pip", ""),
        ("", ""),
    ],
)
def test_pip_is_put_into_words(line: str, words: str) -> None:
    assert install.pip_detail(line) == words


def test_settings_for_other_installations_do_not_reach_pip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_CERT", "kept")
    given = install.pip_environment()
    assert "PIP_USER" not in given
    assert given["PIP_CERT"] == "kept"
