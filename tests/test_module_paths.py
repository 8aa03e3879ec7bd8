"""Does `import torch` reach the same modules as in PyTorch, and no others?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from glasstorch._as_torch import torch_modules
from tests.running import run

# Modules that are not imported with the one they are in where PyTorch's are, or the other way round.
DIFFERENT = {
    "torch.optim.optimizer",  # PyTorch deletes the attribute, and `from torch.optim import optimizer` still works
}

REACHED = """
import sys
import torch
from types import ModuleType
for path in sys.argv[1:]:
    found = torch
    try:
        for name in path.split(".")[1:]:
            found = getattr(found, name)
        print(path, isinstance(found, ModuleType))
    except AttributeError as error:
        print(path, False)
        print(path, error, file=sys.stderr)
"""


def test_the_modules_that_import_torch_reaches_are_pytorchs(program: Any, tmp_path: Path, require: Any) -> None:
    require("torch")
    paths = sorted(set(torch_modules()) - DIFFERENT)
    path = program(REACHED)
    theirs = subprocess.run([sys.executable, path, *paths], check=True, capture_output=True, text=True)
    ours = run("program.py", *paths, folder=tmp_path)
    assert ours.stdout == theirs.stdout
    unreached = [line.split()[0] for line in theirs.stdout.splitlines() if line.endswith("False")]
    assert "torch.nn.utils.prune" in unreached
    told = ours.stderr.splitlines()
    assert len(told) == len(unreached)
    for module, line in zip(unreached, told, strict=True):
        assert line.endswith(f"; write `import {module}` first"), line
