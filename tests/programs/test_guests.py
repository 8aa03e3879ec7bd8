"""Do packages that are written for PyTorch run on glasstorch, without a change?

Each program runs with glasstorch as torch, and again with torch; both print the same.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_main import run

PROGRAMS = {
    "einops": """
import torch
from einops import einsum, rearrange, reduce, repeat
from einops.layers.torch import Rearrange, Reduce
x = torch.arange(24.0, requires_grad=True).reshape(2, 3, 4)
print(rearrange(x, "b (h k) c -> h b c k", h=3).shape, repeat(x[0], "h c -> h r c", r=2).shape)
print(reduce(x, "b h c -> b c", "mean"), reduce(x, "b h c -> h", "max"))
print(einsum(x, x, "b h c, b h d -> b c d").sum())
net = torch.nn.Sequential(Rearrange("b h c -> b (h c)"), torch.nn.ReLU(), Reduce("b c -> b", "sum"))
print(net)
net(x).sum().backward()
""",
    "safetensors": """
import torch
from safetensors.torch import load, load_file, save, save_file, save_model, load_model
tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.bfloat16), "c": torch.tensor([True])}
save_file(tensors, "x.safetensors", metadata={"made": "here"})
for name, tensor in sorted(load_file("x.safetensors").items()):
    print(name, tensor, tensor.dtype)
print(sorted(load(save(tensors))))
torch.manual_seed(0)
net, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
save_model(net, "net.safetensors")
print(load_model(other, "net.safetensors"), torch.equal(net.weight, other.weight))
""",
    "torchinfo": """
import torch
from torchinfo import summary
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 10)
)
print(summary(net, input_size=(2, 1, 8, 8), verbose=0))
""",
}


@pytest.mark.parametrize("package", PROGRAMS)
def test_a_package_written_for_pytorch_prints_the_same(package: str, tmp_path: Path, require: Any) -> None:
    require(package)
    require("torch")
    (tmp_path / "program.py").write_text(PROGRAMS[package], encoding="utf-8")
    expected = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, check=False, cwd=tmp_path, encoding="utf-8"
    )
    assert expected.returncode == 0, expected.stderr
    done = run("program.py", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected.stdout, "")
