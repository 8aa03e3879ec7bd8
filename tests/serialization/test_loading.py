"""Is what a program does with a checkpoint what it does in torch, and is what cannot be loaded refused by name?"""

from __future__ import annotations

import io
import linecache
import os
import pickle
import subprocess
import sys
import tarfile
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from tests.serialization.exchange import facts, saved


def test_a_model_is_resumed_from_a_state_dict(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    torch.save(model.state_dict(), path)
    other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    assert str(other.load_state_dict(torch.load(path))) == "<All keys matched successfully>"
    x = torch.ones(2, 3)
    assert other.eval()(x).tolist() == model.eval()(x).tolist()
    assigned = torch.nn.Sequential(torch.nn.Linear(3, 4, device="meta"), torch.nn.BatchNorm1d(4, device="meta"))
    assigned.load_state_dict(torch.load(path, mmap=True), assign=True)
    assert assigned.eval()(x).tolist() == model(x).tolist()


def test_two_tensors_of_one_module_stay_one(torch: Any) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    module[1].weight = module[0].weight
    loaded = torch.load(saved(torch, module), weights_only=False)
    assert loaded[1].weight is loaded[0].weight
    assert len(list(loaded.parameters())) == 3


def test_a_program_of_torchscript_is_refused_by_name(require: Callable[[str], Any], tmp_path: Path) -> None:
    torch = require("torch")
    path = tmp_path / "script.pt"
    with warnings.catch_warnings(action="ignore"):  # torch calls it deprecated
        torch.jit.script(torch.nn.Linear(1, 1)).save(str(path))
    with pytest.raises(RuntimeError, match="looks like a TorchScript archive, a program and not an object; "):
        glasstorch.load(path)
    with pytest.raises(ValueError, match="but got a torchscript checkpoint"):
        glasstorch.serialization.get_unsafe_globals_in_checkpoint(path)


def test_the_archives_of_2016_are_refused_by_name() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:") as archive:
        archive.addfile(tarfile.TarInfo("storages"), io.BytesIO())
    for weights_only in (True, False):
        file.seek(0)
        with pytest.raises(RuntimeError, match=r"in the legacy \.tar format of PyTorch before 0\.2"):
            glasstorch.load(file, weights_only=weights_only)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("data", [b"hello", b"\x00" * 300, b"{}", b"\x80\x02K\x01.", b"\x80\x02]."])
def test_what_is_no_checkpoint_is_refused(data: bytes, weights_only: bool) -> None:
    with pytest.raises(RuntimeError, match=r"Invalid magic number; corrupt file\?"):
        glasstorch.load(io.BytesIO(data), weights_only=weights_only)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("data", [b"garbage", b"\x00" * 20, b'{"json": 1}', b"<html>", b"\x89PNG\r\n"])
def test_a_file_of_another_kind_is_an_error_of_unpickling(torch: Any, data: bytes, weights_only: bool) -> None:
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(io.BytesIO(data), weights_only=weights_only)
    assert type(caught.value).__name__ == "UnpicklingError"


def test_an_empty_file_is_pythons_error(torch: Any) -> None:
    with pytest.raises(EOFError):
        torch.load(io.BytesIO())


def test_another_version_of_the_old_format_is_refused() -> None:
    data = saved(glasstorch, 1, _use_new_zipfile_serialization=False).getvalue()
    with pytest.raises(RuntimeError, match="Invalid protocol version: 1000; expected 1001"):
        glasstorch.load(io.BytesIO(data.replace(b"M\xe9\x03", b"M\xe8\x03")))


def test_safetensors_is_loaded_by_its_ending(require: Callable[[str], Any], tmp_path: Path) -> None:
    torch = require("torch")
    save_file = require("safetensors.torch").save_file
    made = lambda t: {"a": t.arange(6.0).view(2, 3), "b": t.ones(2).to(t.bfloat16), "e": t.zeros(0, 2)}  # noqa: E731
    path = tmp_path / "model.safetensors"
    save_file(made(torch), path)
    loaded = glasstorch.load(path)
    assert {name: facts(loaded[name]) for name in made(torch)} == {name: facts(x) for name, x in made(torch).items()}
    assert glasstorch.load(path, map_location="meta")["a"].is_meta
    with pytest.raises(RuntimeError, match="with dict map_location is not supported"):
        glasstorch.load(path, map_location={"cpu": "meta"})


def test_a_program_with_safetensors_and_plain_pickles_runs_unchanged(
    require: Callable[[str], Any], tmp_path: Path
) -> None:
    require("safetensors")
    torch = require("torch")
    plain = [torch.arange(3.0)[1:], torch.nn.Linear(1, 1), torch.nn.Parameter(torch.ones(2))]
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(plain))
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    expected = run(["program.py"], tmp_path)
    assert run(["-m", "glasstorch", "program.py"], tmp_path) == expected
    assert expected.splitlines()[-1] == "[1.0, 2.0] Linear(in_features=1, out_features=1, bias=True) Parameter True"


PROGRAM = """
import pickle
import torch
import torch.utils.serialization.config as config
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model

torch.manual_seed(0)
tensors = {"a": torch.arange(6.).view(2, 3), "b": torch.ones(2, dtype=torch.bfloat16), "c": torch.tensor([True])}
save_file(tensors, "x.safetensors", metadata={"by": "a test"})
print(sorted((name, x.dtype, x.tolist()) for name, x in load_file("x.safetensors").items() if name != "b"))
print(load(save(tensors))["b"], torch.load("x.safetensors")["c"])
with safe_open("x.safetensors", "pt") as file:
    print(sorted(file.keys()), file.get_slice("a")[:, 1:].tolist(), file.metadata())
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
model[1].weight = model[0].weight
save_model(model, "m.safetensors")
print(load_model(model, "m.safetensors"))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(1, 1)


torch.save(Net(), "net.pt")
print(torch.load("net.pt", weights_only=False))
try:
    torch.load("net.pt")
except pickle.UnpicklingError as error:
    print(str(error).split(" Please use")[0].rpartition("WeightsUnpickler")[2])
print(config.save.compute_crc32, torch.serialization.get_unsafe_globals_in_checkpoint("net.pt").count("__main__.Net"))
x, linear, parameter = pickle.load(open("plain.pkl", "rb"))
print(x.tolist(), linear, type(parameter).__name__, parameter.requires_grad)
"""


def run(arguments: list[str], folder: Path) -> str:
    """What a program prints."""
    environment = {**os.environ, "PYTHONPATH": str(Path(glasstorch.__file__).parents[1])}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


SOURCE = "import {library}\n\nclass Net({library}.nn.Module):\n    '''{text}'''\n"


def module_with(library: Any, folder: Path, text: str) -> Any:
    """A module of Python with a class whose source can be read again."""
    path = folder / f"{library.__name__}_net.py"
    path.write_text(SOURCE.format(library=library.__name__, text=text), encoding="utf-8")
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(path.read_text(), path, "exec"), vars(module))
    sys.modules[path.stem] = module
    return module


def test_a_changed_class_is_warned_of_in_the_old_format(torch: Any, tmp_path: Path) -> None:
    module = module_with(torch, tmp_path, "as saved")
    try:
        file = saved(torch, module.Net(), _use_new_zipfile_serialization=False)
        assert type(torch.load(file, weights_only=False)) is module.Net
        linecache.clearcache()
        (tmp_path / f"{torch.__name__}_net.py").write_text(SOURCE.format(library=torch.__name__, text="changed"))
        file.seek(0)
        with pytest.warns(torch.serialization.SourceChangeWarning, match=r"source code of class '\S+Net' has changed"):
            torch.load(file, weights_only=False)
    finally:
        del sys.modules[module.__name__]
