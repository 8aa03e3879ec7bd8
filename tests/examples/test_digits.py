"""Does the example learn, and learn the same thing with both libraries?"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "digits.py"
# The matrices are small: threads that wait for each other would take most of the time where tests run in parallel.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def train(folder: Path, *arguments: str, runner: tuple[str, ...] = ("-m", "glasstorch")) -> Any:
    """Run the example in a folder; what it printed is in `output`, the rest is what it wrote as JSON."""
    pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, *runner, str(PROGRAM), "--losses", "losses.json", *arguments],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    return {"output": done.stdout, **json.loads((folder / "losses.json").read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("digits")
    return {**train(folder), "plot": (folder / "digits.svg").read_text(encoding="utf-8")}


def test_it_reads_at_least_96_of_100_digits(trained: dict[str, Any]) -> None:
    assert trained["library"].startswith("glasstorch ")
    assert trained["accuracy"] >= 0.96
    assert len(trained["losses"]) == 30 * 23
    assert "of the test images are read correctly" in trained["output"]


def test_it_draws_its_loss(trained: dict[str, Any]) -> None:
    assert trained["plot"].startswith("<svg ")
    assert "Loss on handwritten digits (glasstorch" in trained["plot"]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_torch_sees_the_same_losses(optimizer: str, trained: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    ours = trained if optimizer == "sgd" else train(tmp_path, "--optimizer", "adam")
    theirs = train(tmp_path, "--optimizer", optimizer, runner=())
    assert theirs["library"].startswith("torch ")
    assert ours["losses"][:50] == pytest.approx(theirs["losses"][:50], abs=1e-5)
    assert ours["accuracy"] == pytest.approx(theirs["accuracy"], abs=0.01)


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    runs = [train(tmp_path, "--epochs", "1", "--seed", seed)["losses"] for seed in ("5", "5", "6")]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_a_simulated_device_sees_the_same_losses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--epochs", "5", "--seed", "3")
    on_cpu = train(tmp_path, *options)["losses"]
    monkeypatch.setenv("GLASSTORCH_CUDA", "simulator")
    on_device = train(tmp_path, *options, "--device", "cuda")
    assert "on cuda, simulated CUDA device" in on_device["output"]
    assert len(on_cpu) >= 100
    assert on_device["losses"][:100] == pytest.approx(on_cpu[:100], abs=1e-4)
    assert on_device["losses"] != on_cpu, "the sums of a device are added in another order"


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "glasstorch", str(PROGRAM), "--batch-size", "0"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
    )
    assert done.returncode == 2
    assert "--batch-size must be at least 1, got 0" in done.stderr
