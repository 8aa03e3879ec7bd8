"""Is every public name of torch that we have the same kind of thing as in torch?

Importing `glasstorch.a.b` sets the attribute `b` of `glasstorch.a`. A module with the name of one of torch's
functions would take that function's place, on the day somebody imports it.
"""

from __future__ import annotations

import importlib.metadata
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.names import FOR_MESSAGES, Names, import_everything, names_of, public_modules

ROOT = Path(__file__).parents[2]


def asked(question: str) -> Any:
    """What tests.architecture.names answers in a fresh process, where nothing has been imported yet."""
    command = [sys.executable, "-m", "tests.architecture.names", question]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"`{' '.join(command)}` ended with {ending(done.returncode)}\n{done.stderr}"
    return json.loads(done.stdout)


def ending(returncode: int) -> str:
    """How a process ended, in words; Python gives the number of a signal as a negative code."""
    if returncode >= 0:
        return f"exit code {returncode}"
    name = signal.Signals(-returncode).name
    return f"{name}, as when the system runs out of memory" if name == "SIGKILL" else name


def taken(ours: dict[str, list[str]], torch_names: dict[str, Names]) -> list[str]:
    """Our modules that have the name of something else in torch."""
    return [
        f"{space}.{name}" for space, names in ours.items() for name in names if name in torch_names[space]["others"]
    ]


def test_no_module_has_the_name_of_something_else_in_torch(torch_names: dict[str, Names]) -> None:
    ours = asked("ours")
    assert "torch" in ours
    assert taken(ours, torch_names) == []


@pytest.mark.parametrize("name", ["torch.compile", "torch.tensor", "torch.func.vmap", "torch.nn.functional.relu"])
def test_a_module_with_such_a_name_is_found(torch_names: dict[str, Names], name: str) -> None:
    space, _, last = name.rpartition(".")
    assert taken({space: [last, "nothing_of_torch"]}, torch_names) == [name]


def test_importing_a_submodule_is_what_makes_it_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_up" / "folder").mkdir(parents=True)
    for file in ("__init__.py", "folder/__init__.py", "folder/file.py", "__main__.py"):
        (tmp_path / "made_up" / file).write_text("import json\n" if file != "__main__.py" else "1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import made_up

    assert names_of(made_up) == {"modules": [], "others": []}
    import_everything(made_up)
    assert names_of(made_up)["modules"] == ["folder"]
    assert names_of(sys.modules["made_up.folder"])["modules"] == ["file"]


def test_public_modules_are_found_without_importing_a_package(tmp_path: Path) -> None:
    for file in ("file.py", "folder/__init__.py", "folder/below.py", "folder/_private.py", "_hidden/__init__.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("1 / 0\n")
    (tmp_path / "_hidden" / "inside.py").write_text("1 / 0\n")
    found = list(public_modules([str(tmp_path)], "made_up."))
    assert found == ["made_up.file", "made_up.folder", "made_up.folder.below"]


def test_a_process_that_fails_tells_its_exit_code_and_what_it_wrote() -> None:
    with pytest.raises(AssertionError, match=r"no_such_question` ended with exit code 1\n\s*Which public names"):
        asked("no_such_question")
    assert ending(-signal.SIGKILL) == "SIGKILL, as when the system runs out of memory"
    assert ending(-signal.SIGSEGV) == "SIGSEGV"


def test_the_committed_names_are_those_of_torch(torch_names: dict[str, Names]) -> None:
    try:
        version = importlib.metadata.version("torch")  # not imported here, too: that would take as much memory again
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("torch is not installed")
    if not version.startswith("2.13."):
        pytest.skip(f"torch {version} is installed; torch_names.json is of 2.13")
    installed = asked("torch")
    assert installed["names"] == torch_names
    assert installed["text"] == FOR_MESSAGES.read_text(encoding="utf-8")
