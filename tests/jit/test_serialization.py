"""Is a program the same when it is loaded, and is a file that holds none refused whole?"""

from __future__ import annotations

import io
import json
import os
import random
import stat
import struct
import subprocess
import sys
import threading
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch import jit, nn
from glasstorch.core.errors import ArgumentError, DeviceError
from glasstorch.jit import printer
from glasstorch.jit.serialization import VERSION, ArchiveError

DTYPES = [
    getattr(glasstorch, name)
    for name in (
        *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"),
        *("complex64", "complex128"),
    )
]


def model() -> Any:
    glasstorch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def traced_model() -> Any:
    return jit.trace(model(), glasstorch.zeros(1, 4))


def again(program: Any, **options: Any) -> Any:
    """The program, saved and loaded."""
    return jit.load(io.BytesIO(program.save_to_buffer()), **options)


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: dict[str, bytes]) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    buffer.seek(0)
    return buffer


def changed(data: bytes, change: Callable[[Any], None]) -> io.BytesIO:
    """The archive with another program.json."""
    files = members(data)
    described = json.loads(files["archive/program.json"])
    change(described)
    return packed({**files, "archive/program.json": json.dumps(described).encode()})


# What comes back ----------------------------------------------------------------------------------------------------


def test_a_function_comes_back_with_its_name_and_its_graph(tmp_path: Path) -> None:
    def scaled(x: Any, y: Any) -> Any:
        return (x * 2 + y).relu(), x.sum()

    traced = jit.trace(scaled, (glasstorch.zeros(2, 3), glasstorch.zeros(3)))
    jit.save(traced, tmp_path / "scaled.pt")
    loaded = jit.load(tmp_path / "scaled.pt")
    assert isinstance(loaded, jit.ScriptFunction)
    assert loaded.name == traced.name
    assert str(loaded.graph) == str(traced.graph)
    x, y = glasstorch.rand(4, 3), glasstorch.rand(3)
    for ours, theirs in zip(loaded(x, y), scaled(x, y), strict=True):
        assert glasstorch.equal(ours, theirs)


def test_a_module_comes_back_with_its_tree_and_trains_as_the_first() -> None:
    traced = traced_model()
    loaded = again(traced)
    assert isinstance(loaded, jit.RecursiveScriptModule)
    assert isinstance(loaded, jit.ScriptModule)
    assert str(loaded.graph) == str(traced.graph)
    assert loaded.state_dict().keys() == traced.state_dict().keys()
    x = glasstorch.rand(5, 4)
    assert glasstorch.equal(loaded(x), traced(x))
    for module in (loaded, traced):
        module(x).pow(2).sum().backward()
        with glasstorch.no_grad():
            for parameter in module.parameters():
                parameter -= 0.1 * parameter.grad
    assert glasstorch.equal(loaded(x), traced(x))
    assert "(0): RecursiveScriptModule(original_name=Linear)" in repr(loaded)


def test_a_loaded_program_can_be_saved_again_to_the_same_bytes() -> None:
    data = traced_model().save_to_buffer()
    assert jit.load(io.BytesIO(data)).save_to_buffer() == data


def test_what_a_child_computed_is_not_in_the_archive() -> None:
    loaded = again(traced_model())
    assert [type(parameter) for parameter in loaded.get_submodule("0").parameters()] == [nn.Parameter] * 2
    with pytest.raises(ArgumentError, match=r"Module \[Linear\] was loaded as a part of another"):
        loaded.get_submodule("0")(glasstorch.zeros(1, 4))


class Tied(nn.Module):
    """Two names for one parameter, a buffer on its memory, and others."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3, bias=False)
        self.second = nn.Linear(3, 3, bias=False)
        self.second.weight = self.first.weight
        self.frozen = nn.Parameter(glasstorch.ones(3), requires_grad=False)
        self.register_parameter("nothing", None)
        self.register_buffer("row", self.first.weight.detach()[1])
        self.register_buffer("scratch", glasstorch.arange(3), persistent=False)
        self.eval()

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x)) * self.frozen + self.row + self.scratch


def test_what_shares_memory_shares_it_when_it_is_loaded() -> None:
    loaded = again(jit.trace(Tied(), glasstorch.zeros(1, 3)))
    assert loaded.first.weight is loaded.second.weight
    loaded.first.weight.data.fill_(2)
    assert loaded.row.tolist() == [2.0] * 3
    assert loaded.row.stride() == (1,)
    assert loaded.row.storage_offset() == 3
    assert [name for name, _ in loaded.named_parameters()] == ["frozen", "first.weight"]
    assert not loaded.frozen.requires_grad
    assert loaded.nothing is None
    assert list(loaded.state_dict()) == ["frozen", "row", "first.weight", "second.weight"]
    assert not loaded.training
    assert not loaded.second.training
    assert loaded(glasstorch.ones(1, 3)).tolist() == [[38.0, 39.0, 40.0]]


def test_a_buffer_that_requires_a_gradient_does_so_when_it_is_loaded() -> None:
    layer = nn.Linear(2, 2)
    layer.register_buffer("scale", glasstorch.ones(2, requires_grad=True))
    loaded = again(jit.trace(layer, glasstorch.zeros(1, 2)))
    assert loaded.scale.requires_grad
    assert not isinstance(loaded.scale, nn.Parameter)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_constants_of_every_dtype_and_layout_come_back(dtype: Any) -> None:
    held = [
        glasstorch.arange(6).reshape(2, 3).to(dtype).t(),
        glasstorch.tensor(1).to(dtype),
        glasstorch.zeros(0, 2, dtype=dtype),
        glasstorch.arange(2).to(dtype).reshape(2, 1).expand(2, 3),
    ]
    traced = jit.trace(lambda x: tuple(constant.to(dtype) + x for constant in held), glasstorch.zeros((), dtype=dtype))
    loaded = again(traced)
    zero = glasstorch.zeros((), dtype=dtype)
    for ours, theirs in zip(loaded(zero), traced(zero), strict=True):
        assert ours.dtype is dtype
        assert ours.stride() == theirs.stride()
        assert glasstorch.equal(ours, theirs)
    kept = printer.tensor_constants(loaded.graph)
    assert [(tensor.shape, tensor.stride()) for tensor in kept] == [(t.shape, t.stride()) for t in held]


def test_bits_that_no_text_holds_come_back() -> None:
    values = glasstorch.tensor([float("nan"), float("inf"), -0.0, 1e-45, 0.1])
    loaded = again(jit.trace(lambda x: x * values, glasstorch.ones(5)))
    (kept,) = printer.tensor_constants(loaded.graph)
    assert kept.numpy().tobytes() == values.numpy().tobytes()


def test_further_texts_are_kept_beside_the_program(tmp_path: Path) -> None:
    file = tmp_path / "model.pt"
    traced_model().save(file, _extra_files={"notes.txt": "trained on digits", "raw": b"\x00\xff"})
    wanted = {"notes.txt": "", "raw": ""}
    jit.load(file, _extra_files=wanted)
    assert wanted == {"notes.txt": b"trained on digits", "raw": b"\x00\xff"}
    with pytest.raises(ArchiveError, match=r"there is no extra/other in it; it has archive/byteorder, archive/data/0"):
        jit.load(file, _extra_files={"other": ""})


def test_equal_programs_give_equal_files() -> None:
    assert traced_model().save_to_buffer() == traced_model().save_to_buffer()


def test_an_unpacked_archive_can_be_read() -> None:
    with zipfile.ZipFile(io.BytesIO(traced_model().save_to_buffer())) as archive:
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o644}
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert json.loads(archive.read("archive/program.json"))["kind"] == "module"
        assert archive.read("archive/graph.ir").startswith(b"graph(%input : Float(1, 4")


SAVES = """
import sys
import glasstorch
from glasstorch import jit, nn

class OnlyHere(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.register_buffer("shift", glasstorch.arange(3.0))
    def forward(self, x):
        return (self.inner(x) + self.shift).sigmoid() * only_here

only_here = glasstorch.tensor([1.0, 2.0, 3.0])
glasstorch.manual_seed(3)
jit.save(jit.trace(OnlyHere(), glasstorch.zeros(1, 4)), sys.argv[1])
print(jit.load(sys.argv[1])(glasstorch.ones(2, 4)).tolist())
"""
LOADS = """
import sys
import glasstorch
print(glasstorch.jit.load(sys.argv[1])(glasstorch.ones(2, 4)).tolist())
assert "pickle" not in sys.modules or not any(name.endswith("OnlyHere") for name in sys.modules)
"""


def test_a_process_without_the_source_computes_the_same(tmp_path: Path) -> None:
    script, file = tmp_path / "saves.py", tmp_path / "model.pt"
    script.write_text(SAVES)
    saved = _run(str(script), str(file))
    script.unlink()
    assert _run("-c", LOADS, str(file)) == saved != ""


def _run(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Where it is put ----------------------------------------------------------------------------------------------------


def test_a_map_location_moves_every_tensor() -> None:
    loaded = again(traced_model(), map_location="meta")
    assert {str(parameter.device) for parameter in loaded.parameters()} == {"meta"}
    assert loaded(glasstorch.zeros(2, 4, device="meta")).shape == (2, 3)
    constant = glasstorch.ones(2)
    moved = again(jit.trace(lambda x: x + constant, glasstorch.ones(2)), map_location=glasstorch.device("meta"))
    assert moved(glasstorch.ones(2, device="meta")).device.type == "meta"


def test_what_was_on_meta_is_there_again() -> None:
    traced = jit.trace(nn.Linear(2, 3).to("meta"), glasstorch.zeros(1, 2, device="meta"))
    loaded = again(traced)
    assert loaded.weight.is_meta
    assert loaded.weight.shape == (3, 2)


def test_a_map_location_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"map_location should be either None, string or torch.device, but got type"):
        again(traced_model(), map_location=3)


# How it is written --------------------------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.pt"
    traced_model().save(file)
    before = file.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        jit.trace(lambda x: x + 1, glasstorch.zeros(1)).save(file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.pt"]


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "model.pt"
    traced_model().save(file)
    file.chmod(0o600)
    traced_model().save(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil", "a//b", "", ".", "a\\b", 3])
def test_a_name_that_leads_elsewhere_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match=r"_extra_files: expected names such as 'notes/first\.txt', got"):
        traced_model().save_to_buffer({name: b""})
    with pytest.raises(ValueError, match=r"_extra_files: expected names such as 'notes/first\.txt', got"):
        jit.load(io.BytesIO(traced_model().save_to_buffer()), _extra_files={name: ""})


def test_a_saved_file_has_the_permissions_of_a_new_one(tmp_path: Path) -> None:
    plain, file = tmp_path / "plain", tmp_path / "model.pt"
    plain.write_bytes(b"")
    traced_model().save(file)
    assert file.stat().st_mode == plain.stat().st_mode


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_link_is_followed_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    file, link, pipe = (tmp_path / name for name in ("model.pt", "link.pt", "pipe"))
    file.write_bytes(b"before")
    link.symlink_to(file)
    traced = traced_model()
    traced.save(link)
    assert link.is_symlink()
    assert file.read_bytes() == traced.save_to_buffer()
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    traced.save(pipe)
    reader.join()
    assert read == [traced.save_to_buffer()]
    assert pipe.is_fifo()
    writer = threading.Thread(target=lambda: pipe.write_bytes(read[0]))
    writer.start()
    assert str(jit.load(pipe).graph) == str(traced.graph)
    writer.join()


def test_a_place_that_cannot_be_written_to_says_so(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        traced_model().save(tmp_path)
    missing = tmp_path / "nowhere" / "model.pt"
    with pytest.raises(FileNotFoundError, match="nowhere") as found:
        traced_model().save(missing)
    assert found.value.filename == str(missing)
    assert list(tmp_path.iterdir()) == []


def test_only_what_trace_gave_can_be_saved() -> None:
    with pytest.raises(
        TypeError, match=r"expected what jit\.trace gave, a ScriptFunction or a ScriptModule, got Linear"
    ):
        jit.save(nn.Linear(2, 2), io.BytesIO())


# What is refused ----------------------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"The provided filename .*nothing\.pt does not exist"):
        jit.load(tmp_path / "nothing.pt")
    with pytest.raises(ValueError, match="is a directory"):
        jit.load(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"hello world" * 100, "it is not a zip file"),
        (b"PK\x03\x04 and no more", "it begins like a zip file, and is truncated or damaged"),
    ],
)
def test_what_is_no_archive_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(ArchiveError, match=f"failed reading the archive of a traced program: {said}"):
        jit.load(io.BytesIO(content))


def test_another_zip_file_is_refused() -> None:
    with pytest.raises(ArchiveError, match=r"there is no version in it; it has notes\.txt"):
        jit.load(packed({"notes.txt": b"hello"}))
    with pytest.raises(ArchiveError, match="there is no version in it; it has nothing"):
        jit.load(packed({}))


@pytest.mark.parametrize("version", [str(VERSION + 1), "0", "9" * 5000], ids=["next", "zero", "endless"])
def test_another_version_is_refused_by_its_number(version: str) -> None:
    files = members(traced_model().save_to_buffer())
    with pytest.raises(
        ArchiveError, match=f"Attempted to read an archive with version {version:.20}, but the only version"
    ):
        jit.load(packed({**files, "archive/version": version.encode()}))


def test_an_archive_of_pytorch_is_refused(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(lambda x: x + 1, torch.ones(2)), buffer)
    buffer.seek(0)
    with pytest.raises(ArchiveError, match="version 3, but the only version that can be read is"):
        jit.load(buffer)


@pytest.mark.parametrize(("member", "content"), [("version", b"one"), ("byteorder", b"middle")])
def test_a_version_that_is_no_number_or_an_order_of_bytes_not_ours_is_refused(member: str, content: bytes) -> None:
    files = members(traced_model().save_to_buffer())
    with pytest.raises(ArchiveError, match=content.decode()):
        jit.load(packed({**files, f"archive/{member}": content}))


@pytest.mark.parametrize("member", ["byteorder", "program.json", "graph.ir", "data/0"])
def test_a_missing_member_is_named(member: str) -> None:
    files = members(traced_model().save_to_buffer())
    del files[f"archive/{member}"]
    with pytest.raises(ArchiveError, match=f"there is no {member} in it"):
        jit.load(packed(files))


def whole(program: Any) -> Any:
    return program


def first(program: Any) -> Any:
    return program["tensors"][0]


def child(program: Any) -> Any:
    return program["module"]["children"]["0"]


COUNT = r"must be a number from 0 to 2\*\*63 - 1, got"
# Each one what it changes, to which facts, and what is said of it.
BAD_PROGRAMS: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "no kind": (whole, {"kind": None}, r"program\.kind must be function or module, got None"),
    "another kind": (whole, {"kind": "forward"}, r"program\.kind must be function or module, got 'forward'"),
    "a kind of kinds": (whole, {"kind": ["module"]}, r"program\.kind must be function or module, got \['module'\]"),
    "a module without its parts": (whole, {"kind": "function"}, r"program must have .*, name, got .*, module"),
    "a tensor too far": (first, {"shape": [400, 4]}, "out of bounds for storage"),
    "a negative offset": (first, {"offset": -1}, rf"tensors\[0\]\.offset {COUNT} -1"),
    "a negative stride": (first, {"strides": [-4, 1]}, rf"tensors\[0\]\.strides\[0\] {COUNT} -4"),
    "a size beyond all": (first, {"shape": [2**63, 1], "strides": [0, 0]}, rf"shape\[0\] {COUNT} 9223372036854775808"),
    "too many elements": (first, {"shape": [2**40, 2**40], "strides": [0, 0]}, f"more than {2**63 - 1} elements"),
    "half an offset": (first, {"offset": 0.5}, rf"offset {COUNT} 0\.5"),
    "a flag for a number": (first, {"offset": True}, rf"offset {COUNT} True"),
    "strides of another rank": (first, {"strides": [1]}, r"the sizes \[8, 4\] and the strides"),
    "an unknown dtype": (
        first,
        {"dtype": "float9"},
        r"tensors\[0\]\.dtype must be the name of a dtype, got 'float9'",
    ),
    "a dtype in a list": (first, {"dtype": ["float32"]}, "must be the name of a dtype"),
    "integers that want a gradient": (first, {"dtype": "int32"}, "Only Tensors of floating point and complex dtype"),
    "a flag that is a text": (first, {"parameter": "no"}, r"parameter must be true or false, got 'no'"),
    "a storage that is not there": (first, {"storage": 9}, "IndexError"),
    "a storage counted from the end": (first, {"storage": -1}, COUNT),
    "a fact too many": (first, {"colour": "red"}, r"program\.tensors\[0\] must have storage, .*, got .*, colour"),
    "a storage of another size": (
        lambda program: program["storages"][0],
        {"nbytes": 9},
        "must have 9 bytes, but data/0 has 128",
    ),
    "a storage on no device": (
        lambda program: program["storages"][0],
        {"device": "x"},
        "Expected one of cpu, cuda, meta device type at start of device string: x",
    ),
    "tensors that are a text": (whole, {"tensors": "abc"}, r"program\.tensors must be a list, got 'abc'"),
    "a tensor that is a number": (
        whole,
        {"tensors": [1]},
        r"program\.tensors\[0\] must be a JSON object, got 1",
    ),
    "a constant too many": (whole, {"constants": [0]}, "its graph is not one that can be run"),
    "a parameter nobody has": (whole, {"used_parameters": ["0.other"]}, "takes the parameter '0.other'"),
    "too many parameters": (whole, {"used_parameters": ["0.weight"] * 9}, "takes 5 inputs, of which"),
    "a buffer as a parameter": (first, {"parameter": False}, "cannot assign 'torch.FloatTensor' object"),
    "a list of modules": (whole, {"module": []}, r"program\.module must be a JSON object, got \[\]"),
    "parameters without names": (child, {"parameters": [0]}, r"children\.0\.parameters must be a JSON object"),
    "a child that is a number": (child, {"children": {"a": 1}}, r"children\.0\.children\.a must be a JSON object"),
    "a name with a dot": (child, {"buffers": {"a.b": 0}}, r"buffer name can.*t contain"),
    "a name that is taken": (child, {"buffers": {"forward": 0}}, "attribute 'forward' already exists"),
    "a buffer nobody has": (
        child,
        {"not_persistent": ["a"]},
        "not_persistent names 'a', which is not one of its buffers",
    ),
    "a name that is none": (child, {"original_name": 7}, "original_name must be a string, got 7"),
}


@pytest.mark.parametrize("case", BAD_PROGRAMS)
def test_a_program_that_does_not_fit_is_refused(case: str) -> None:
    part, facts, said = BAD_PROGRAMS[case]
    with pytest.raises(ArchiveError, match=said):
        jit.load(changed(traced_model().save_to_buffer(), lambda program: part(program).update(facts)))


def test_whatever_stands_in_a_program_it_is_loaded_or_refused() -> None:
    data = traced_model().save_to_buffer()
    values = [None, True, -1, 10**30, "x", [None], {"training": 0}]
    refused = 0
    for path in _paths(json.loads(members(data)["archive/program.json"])):
        for value in values:
            try:
                jit.load(changed(data, lambda program, path=path, value=value: _set(program, path, value)))
            except ArchiveError:
                refused += 1
    assert refused > 400


def _paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """How to reach each value that another holds."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, held in places:
        yield (*before, place)
        yield from _paths(held, (*before, place))


def _set(value: Any, path: tuple[Any, ...], to: Any) -> None:
    for place in path[:-1]:
        value = value[place]
    value[path[-1]] = to


def test_tensors_of_a_device_that_is_not_here_are_refused_with_a_way_out() -> None:
    data = changed(traced_model().save_to_buffer(), lambda program: program["storages"][0].update(device="cuda:99"))
    with pytest.raises(ArchiveError, match=r"has tensors on cuda:99, which is not here: .* map_location='cpu'"):
        jit.load(data)
    data.seek(0)
    assert jit.load(data, map_location="cpu")(glasstorch.zeros(1, 4)).device.type == "cpu"


def test_a_map_location_that_is_not_here_is_no_fault_of_the_archive() -> None:
    for location in ("cuda:99", "disc"):
        with pytest.raises(DeviceError):
            jit.load(io.BytesIO(b""), map_location=location)


@pytest.mark.parametrize(
    ("given", "said"),
    [(None, "got NoneType"), (3, "got int"), (io.StringIO("text"), "got StringIO, which gives str")],
    ids=["nothing", "number", "text"],
)
def test_what_gives_no_bytes_is_refused(given: Any, said: str) -> None:
    with pytest.raises(TypeError, match=rf"jit\.load: expected a path, or something to read bytes from, {said}"):
        jit.load(given)


def test_bytes_that_are_no_bools_are_refused() -> None:
    mask = glasstorch.tensor([True, False])
    files = members(jit.trace(lambda x: x * mask, glasstorch.ones(2)).save_to_buffer())
    assert files["archive/data/0"] == b"\1\0"
    files["archive/data/0"] = b"\1\2"
    with pytest.raises(ArchiveError, match="the bytes of a bool tensor must be 0 or 1, and there are others"):
        jit.load(packed(files))


def test_a_file_is_not_in_memory_beside_what_is_loaded_from_it(tmp_path: Path) -> None:
    nbytes = 8_000_000
    held = glasstorch.zeros(nbytes // 4)
    jit.trace(lambda x: x + held, glasstorch.zeros(1)).save(tmp_path / "model.pt")
    tracemalloc.start()
    try:
        loaded = jit.load(tmp_path / "model.pt")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert loaded(glasstorch.ones(1)).shape == held.shape
    assert most < 1.5 * nbytes


def test_a_compressed_member_is_refused_before_it_is_unpacked() -> None:
    files = members(traced_model().save_to_buffer())
    for compressed in ("version", "data/0"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in files.items():
                how = zipfile.ZIP_DEFLATED if name.endswith(compressed) else zipfile.ZIP_STORED
                archive.writestr(name, content, how)
        buffer.seek(0)
        with pytest.raises(ArchiveError, match=f"archive/{compressed} is compressed; the members of an archive are"):
            jit.load(buffer)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (b"graph(%x : Tensor):\n  return (%y)\n", "no value %y is in scope here"),
        (b"graph(%x : Tensor):\n  %y : Tensor = aten::nothing_like_it(%x)\n  return (%y)\n", "aten::nothing_like_it"),
        (b"\xff\xfe", "utf-8"),
    ],
)
def test_a_graph_that_cannot_be_run_is_refused(graph: bytes, said: str) -> None:
    files = members(jit.trace(lambda x: x.exp(), glasstorch.zeros(1)).save_to_buffer())
    with pytest.raises(ArchiveError, match=f"its graph is not one that can be run.*{said}"):
        jit.load(packed({**files, "archive/graph.ir": graph}))


def test_json_that_is_none_or_too_deep_is_refused() -> None:
    files = members(traced_model().save_to_buffer())
    for content in (b"{", b"[" * 100_000):
        with pytest.raises(ArchiveError, match=r"program\.json does not fit the rest of it"):
            jit.load(packed({**files, "archive/program.json": content}))


def test_an_archive_cut_off_anywhere_is_refused() -> None:
    data = traced_model().save_to_buffer()
    for length in [*range(0, len(data), 7), len(data) - 1]:
        with pytest.raises(ArchiveError):
            jit.load(io.BytesIO(data[:length]))


def test_a_changed_bit_anywhere_is_refused_or_changes_nothing() -> None:
    traced = jit.trace(nn.Linear(2, 2), glasstorch.zeros(1, 2))
    data = traced.save_to_buffer()
    drawn = random.Random(0)
    x = glasstorch.rand(3, 2)
    wanted = traced(x).tolist()
    refused = 0
    for at in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[at] ^= 1 << drawn.randrange(8)
        try:
            loaded = jit.load(io.BytesIO(bytes(damaged)))
        except ArchiveError:
            refused += 1
            continue
        assert loaded(x).tolist() == wanted, f"byte {at}"
    assert refused > len(data) / 3 * 0.8


def test_what_was_asked_for_beside_it_is_left_alone_when_the_program_cannot_be_read() -> None:
    files = members(traced_model().save_to_buffer({"notes": "kept"}))
    files["archive/graph.ir"] = b"nonsense"
    wanted = {"notes": "before"}
    with pytest.raises(ArchiveError):
        jit.load(packed(files), _extra_files=wanted)
    assert wanted == {"notes": "before"}


def test_a_member_with_a_wrong_checksum_is_named() -> None:
    data = bytearray(traced_model().save_to_buffer())
    weight = struct.pack("<4f", *traced_model().get_submodule("0").weight[0].tolist())
    data[bytes(data).index(weight)] ^= 1
    with pytest.raises(ArchiveError, match="archive/data/0 is damaged: its bytes do not have the checksum"):
        jit.load(io.BytesIO(bytes(data)))
