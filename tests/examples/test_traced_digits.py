"""Does the traced network read digits as the untraced one does, also from its file, and with both libraries?"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "traced_digits.py"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # small matrices, tests in parallel


def run(folder: Path, *command: str) -> str:
    """What a program printed that ran in a folder."""
    pytest.importorskip("sklearn")
    done = subprocess.run(
        [sys.executable, *command],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shares(output: str) -> list[float]:
    return [float(share) for share in re.findall(r"([\d.]+)% (?:by the module|traced|loaded)", output)]


def test_the_traced_and_the_loaded_network_read_what_the_module_reads(tmp_path: Path) -> None:
    output = run(tmp_path, "-m", "glasstorch", str(PROGRAM))
    by_the_module, traced, loaded = shares(output)
    assert by_the_module == traced == loaded >= 95
    assert "prim::FusionGroup_0" in output
    assert "torch.linear(" in output
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert [file.name for file in tmp_path.iterdir() if f"/{file.name}" not in ignored] == []
    shown = run(tmp_path, "-c", "import glasstorch as torch; print(torch.jit.load('digits.pt').code)")
    assert shown.strip() in output


def test_torch_reads_as_many(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    ours = shares(run(tmp_path, "-m", "glasstorch", str(PROGRAM), "--epochs", "2"))
    theirs = shares(run(tmp_path, str(PROGRAM), "--epochs", "2"))
    assert len(ours) == 3
    assert ours == pytest.approx(theirs, abs=1)
