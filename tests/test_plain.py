"""Does everything pass on the plain kernels alone, in a copy from which what is fast was deleted?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbook.checks import NOTEBOOKS, plugins_by_name, without_leftovers

ROOT = Path(__file__).parents[1]
FAST = ("reference/glasstorch/kernels/cpu/fast", "tests/kernels/cpu/fast")
IN_CI = os.environ.get("CI", "").lower() == "true"
# What runs on a simulated CUDA device does not run the kernels of the CPU.
LEFT_OUT = ("tests/kernels/cuda", "tests/agreement/test_cuda.py", "tests/agreement/test_opinfo_cuda.py")
TWO_FRAMES = "tests/test_smoke.py::test_an_addition_is_two_frames_in_two_files"  # by the fast kernel
IGNORED = [f"--ignore={path}" for path in LEFT_OUT]
# What operators compute. The rest of agreement is about what calls them (formulas of derivatives, forms, modes,
# traces), or asks the same of other samples.
VALUES = [f"tests/agreement/test_{oracle}.py" for oracle in ("numpy", "torch", "dtypes")]
# It is about the fast ways of a convolution, quotes them and breaks them; without them there is nothing to choose from.
ABOUT_FAST = (
    "chapters/07-nn-and-training/how-a-convolution-is-computed.ipynb",
    "chapters/07-nn-and-training/choosing-a-convolution-algorithm.ipynb",
)

pytestmark = [
    pytest.mark.ci,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(not IN_CI, reason="it runs a tenth of all tests again; CI does it"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project without the fast kernels and their tests."""
    home = tmp_path_factory.mktemp("plain") / "project"
    unwanted = shutil.ignore_patterns(".git", ".venv*", ".cache", "site", "node_modules", "dist", ".*_cache")
    shutil.copytree(ROOT, home, ignore=unwanted)
    for folder in FAST:
        shutil.rmtree(home / folder)
    return home


@pytest.mark.parametrize(
    ("plain", "options"),
    [
        ("1", VALUES),
        pytest.param(
            "1",
            ["tests/agreement", *IGNORED, *(f"--ignore={path}" for path in VALUES)],
            marks=pytest.mark.slow,
        ),
        pytest.param("1", ["tests/kernels", *IGNORED], marks=pytest.mark.slow),
        pytest.param("1", ["tests/nn", "tests/optim", "tests/backends"], marks=pytest.mark.slow),
        pytest.param(
            "1", [*NOTEBOOKS, *(f"--ignore={path}" for path in ABOUT_FAST), "chapters"], marks=pytest.mark.slow
        ),
        ("0", ["tests/test_smoke.py", f"--deselect={TWO_FRAMES}"]),  # with autograd's shortcuts
    ],
    ids=["values", "agreement", "kernels", "networks", "notebooks", "smoke"],
)
def test_the_plain_kernels_carry_everything(copy: Path, plain: str, options: list[str]) -> None:
    environment = without_leftovers() | plugins_by_name("pytest_timeout", "_hypothesis_pytestplugin")
    environment |= {"GLASSTORCH_PLAIN": plain, "PYTHONPATH": str(copy / "reference")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        command, cwd=copy, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, "it does not pass on the plain kernels: see what it printed"
