"""Is every public name of torch that we have the same kind of thing as in torch?

Importing `glasstorch.a.b` sets the attribute `b` of `glasstorch.a`. A module with the name of one of torch's
functions would take that function's place, on the day somebody imports it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.architecture.names import FOR_MESSAGES, Names, import_everything, names_of

ROOT = Path(__file__).parents[2]


def asked(question: str) -> Any:
    """What tests.architecture.names answers in a fresh process, where nothing has been imported yet."""
    command = [sys.executable, "-m", "tests.architecture.names", question]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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


def test_the_committed_names_are_those_of_torch(
    require: Callable[[str], ModuleType], torch_names: dict[str, Names]
) -> None:
    version = require("torch").__version__
    if not version.startswith("2.13."):
        pytest.skip(f"torch {version} is installed; torch_names.json is of 2.13")
    assert asked("torch") == torch_names
    assert asked("text") == FOR_MESSAGES.read_text(encoding="utf-8")
