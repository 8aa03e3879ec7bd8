"""Do type checkers know functions and methods whose overloads differ?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from glasstorch.operators.gen import __main__ as gen
from glasstorch.operators.generated import public
from glasstorch.operators.generated.methods import TensorMethods

REFERENCE = Path(gen.__file__).parents[3]
GENERATED = Path(public.__file__).parent

# Each line is checked; one with a comment `# refused` is to be an error, and no other.
PROGRAM = """
import glasstorch as torch
from glasstorch import Tensor

x = torch.ones(2, 3)
x.sum()
x.sum(dim=0)
x.sum(0)
x.sum((0, 1), keepdim=True)
x.sum(axis=0, keepdims=True)
x.sum([0, 1], dtype=torch.float64)
x.sum(dim="a")  # refused
x.sum(dim=0, keepdim="yes")  # refused
x.sum(dim=0, keep=True)  # refused
x.sum(dim=1.5)  # refused
torch.sum(x, dim=0)
torch.sum(x, (0, 1), keepdim=True, out=torch.empty(0))
torch.sum(x, "a")  # refused
torch.sum()  # refused
x.max().item()
x.max(0).values.sum()
x.max(0).count_of_values  # refused
values, indices = torch.max(x, 1)
indices.sum(dim=0)
x.max(torch.ones(2, 3)).sum()
x.max("a")  # refused
x.view(3, 2)
x.view((3, 2))
x.view(-1)
x.view(torch.int32)
x.view("3", 2)  # refused
x.permute(1, 0).reshape(6).repeat(2, 3)
x.permute("ab")  # refused
x.clamp(0, 1)
x.clamp(min=x)
x.clamp(min=0.5, max=None)
x.clamp(min="a")  # refused
x.std(0, unbiased=False)
x.std(dim=(0, 1), correction=0)
x.std(correction=[])  # refused
x.sort(descending=True).indices.view(-1)
x.split(2)[0].sum()
x.fill_(3).pow(2).pow(x)
x.pow([2])  # refused
x.T.mT.real.sum()
x.transpose(0, 1)
x.transpose(0)  # refused
torch.zeros(2, 3, dtype=torch.float64, device="cpu", requires_grad=True)
torch.zeros((2, 3))
torch.zeros("2")  # refused
torch.arange(0, 5, 2)
torch.arange(5)
torch.arange("5")  # refused
torch.where(x > 0, x, 0)
torch.where(x > 0)
torch.where("x")  # refused
torch.randint(0, 5, (2, 3))
torch.randint(5, 2.5)  # refused
result: Tensor = x @ x.T + x.mean(dim=[1], keepdim=True) - x.norm()
wrong: int = x.sum(0)  # refused
"""


def errors(program: str, folder: Path) -> dict[int, str]:
    """For each line of a program that mypy refuses what it says; the library is found as an installed one is."""
    mypy = pytest.importorskip("mypy.api")
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    (folder / "mypy.ini").write_text(f"[mypy]\nmypy_path = {REFERENCE}\n[mypy-glasstorch.*]\nfollow_imports = silent\n")
    said, failed, _ = mypy.run([str(path), "--config-file", str(folder / "mypy.ini"), "--no-error-summary"])
    assert not failed, failed
    found = re.findall(r"program\.py:(\d+): error: (.*)", said)
    return {int(line): message for line, message in reversed(found)}


def test_a_call_that_no_overload_takes_is_an_error_for_mypy(tmp_path: Path) -> None:
    refused = {number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# refused")}
    found = errors(PROGRAM, tmp_path)
    assert {number: found[number] for number in found.keys() - refused} == {}
    assert sorted(found) == sorted(refused)


def test_what_mypy_accepts_runs() -> None:
    accepted = [line for line in PROGRAM.splitlines() if not line.endswith("# refused")]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(accepted)],
        cwd=REFERENCE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stub_has_the_names_of_its_module() -> None:
    offered = {name for name in vars(public) if not name.startswith("__") and name not in ("_functions", "_listed")}
    text = (GENERATED / "public.pyi").read_text(encoding="utf-8")
    assert offered == set(re.findall(r"^def (\w+)", text, re.MULTILINE)) | set(re.findall(r"(\w+) as \1,", text))
    text = (GENERATED / "methods.pyi").read_text(encoding="utf-8").partition("class TensorMethods")[2]
    names = {
        name for name in vars(TensorMethods) if name not in ("__module__", "__doc__", "__slots__", "__annotations__")
    }
    assert names == set(re.findall(r"^    (?:def )?(\w+)[(:]", text, re.MULTILINE))
