"""Does the wheel hold everything, and work where there is no clone?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from email import message_from_string
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from workbook.failures import cause_of

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
PACKAGES = {"glasstorch": ROOT / "reference" / "glasstorch", "workbook": ROOT / "workbook"}
NOT_SHIPPED = ("__pycache__", ".ipynb_checkpoints")


def outside() -> dict[str, str]:
    """The environment without what would lead back into the clone."""
    unwanted = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def pip(python: Path | str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "pip", *arguments, "--quiet", "--no-input", "--disable-pip-version-check"]
    return subprocess.run(command, cwd=folder, env=outside(), capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this clone."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    built = pip(sys.executable, "wheel", str(ROOT), *options, folder=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """The paths of the files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def metadata(wheel: Path, names: set[str]) -> Message:
    (path,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as archive:
        return message_from_string(archive.read(path).decode())


def test_every_file_of_the_packages_is_in_it(names: set[str]) -> None:
    expected = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and not set(path.parts) & set(NOT_SHIPPED)
    }
    assert {"glasstorch/py.typed", "glasstorch/operators/native_functions.yaml"} <= expected
    assert {f"glasstorch/operators/generated/{name}.pyi" for name in ("methods", "public")} <= expected
    assert {f"glasstorch/kernels/cuda/{name}" for name in ("copies.cu", "geometry.cuh")} <= expected
    assert "glasstorch/devices/simulator/device.h" in expected
    assert expected <= names


def test_nothing_else_is_in_it(names: set[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_it_declares_the_command_and_the_extras(wheel: Path, names: set[str], metadata: Message) -> None:
    (path,) = [name for name in names if name.endswith(".dist-info/entry_points.txt")]
    with zipfile.ZipFile(wheel) as archive:
        assert "workbook = workbook.__main__:main" in archive.read(path).decode()
    assert set(metadata.get_all("Provides-Extra", [])) == {
        *("book", "test", "compile", "cuda12", "cuda13", "nvrtc", "opt-einsum", "torch", "onnx", "tensorboard"),
        "guests",
    }
    assert metadata["License-Expression"] == "MIT"


def test_its_version_is_that_of_the_library(metadata: Message) -> None:
    import glasstorch

    assert metadata["Version"] == glasstorch.version.glasstorch


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel, what it needs, and scikit-learn for its digits."""
    folder = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # By this environment's pip, and each module compiled when it is imported: most of SciPy never is.
    installed = pip(sys.executable, "--python", str(python), "install", str(wheel), "scikit-learn", "--no-compile",
                    folder=folder)  # fmt: skip
    output = installed.stdout + installed.stderr
    if installed.returncode != 0 and "could not be reached" in cause_of(output).name:
        pytest.skip("the package index could not be reached")
    assert installed.returncode == 0, output
    return python


def in_elsewhere(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), *arguments],
        cwd=python.parents[2],
        env=outside(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_library_comes_from_the_wheel(elsewhere: Path) -> None:
    done = in_elsewhere(elsewhere, "-c", "import glasstorch, workbook; print(glasstorch.__file__, workbook.__file__)")
    assert done.returncode == 0, done.stderr
    assert all(Path(file).is_relative_to(elsewhere.parents[1]) for file in done.stdout.split())


def test_the_wheel_trains_the_classifier(elsewhere: Path) -> None:
    folder = elsewhere.parents[2]
    shutil.copytree(ROOT / "examples", folder / "examples")
    program = ["-m", "glasstorch", "examples/digits.py", "--epochs", "5", "--losses", "facts.json"]
    done = in_elsewhere(elsewhere, *program)
    assert done.returncode == 0, done.stderr
    facts = json.loads((folder / "facts.json").read_text())
    assert facts["library"].startswith("glasstorch")
    assert facts["accuracy"] > 0.9


def test_the_wheel_runs_cuda_kernels_on_the_simulated_device(elsewhere: Path, require: Callable[[str], Any]) -> None:
    require("g++")
    program = "import glasstorch; print((glasstorch.arange(3, device='cuda') + 1).tolist())"
    done = in_elsewhere(elsewhere, "-c", f"import os; os.environ['GLASSTORCH_CUDA'] = 'simulator'; {program}")
    assert (done.returncode, done.stdout) == (0, "[1, 2, 3]\n"), done.stderr


def test_the_command_answers_outside_a_clone(elsewhere: Path) -> None:
    command = elsewhere.with_name("workbook.exe" if os.name == "nt" else "workbook")
    done = subprocess.run(
        [command, "read"], cwd=elsewhere.parents[2], env=outside(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "clone the repository and run the command inside it" in done.stderr
    assert "Traceback" not in done.stderr
