"""Is a program the same when it is loaded, and is a file that holds none refused whole?"""

from __future__ import annotations

import io
import os
import random
import stat
import struct
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch import jit, nn
from glasstorch.core.errors import ArgumentError, DeviceError, FileError
from glasstorch.jit import printer
from glasstorch.serialization.zip_format import ArchiveError

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


def with_text(data: bytes, record: str, change: Callable[[str], str]) -> io.BytesIO:
    """The archive with another text in one record."""
    files = members(data)
    text = files[f"archive/{record}"].decode()
    assert change(text) != text, f"{record} says: {text}"
    return packed({**files, f"archive/{record}": change(text).encode()})


# What comes back ----------------------------------------------------------------------------------------------------


def test_a_function_comes_back_with_its_name_and_its_graph(tmp_path: Path) -> None:
    def scaled(x: Any, y: Any) -> Any:
        return (x * 2 + y).relu(), x.sum()

    traced = jit.trace(scaled, (glasstorch.zeros(2, 3), glasstorch.zeros(3)))
    jit.save(traced, tmp_path / "scaled.pt")
    loaded = jit.load(tmp_path / "scaled.pt")
    assert isinstance(loaded, jit.ScriptFunction)
    assert loaded.name == traced.name
    assert loaded.code == traced.code
    x, y = glasstorch.rand(4, 3), glasstorch.rand(3)
    for ours, theirs in zip(loaded(x, y), scaled(x, y), strict=True):
        assert glasstorch.equal(ours, theirs)


def test_a_module_comes_back_with_its_tree_and_trains_as_the_first() -> None:
    traced = traced_model()
    loaded = again(traced)
    assert isinstance(loaded, jit.RecursiveScriptModule)
    assert isinstance(loaded, jit.ScriptModule)
    assert loaded.code == traced.code
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
    assert list(loaded.state_dict()) == ["frozen", "row", "scratch", "first.weight", "second.weight"]
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
    with pytest.raises(ArchiveError, match=r"failed locating file extra/other: file not found; the archive has "):
        jit.load(file, _extra_files={"other": ""})


def test_equal_programs_give_equal_files() -> None:
    assert traced_model().save_to_buffer() == traced_model().save_to_buffer()


def test_an_unpacked_archive_can_be_read() -> None:
    with zipfile.ZipFile(io.BytesIO(traced_model().save_to_buffer())) as archive:
        assert {info.filename.partition("/")[0] for info in archive.infolist()} == {"archive"}
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.read("archive/version") == b"3\n"
        text = archive.read("archive/code/__torch__.py").decode()
    assert text.startswith('class Linear(Module):\n  __parameters__ = ["weight", "bias", ]\n  __buffers__ = []\n')
    assert "  def forward(self: __torch__.Sequential,\n      input: Tensor) -> Tensor:\n" in text


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

    def full(source: str, target: str) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
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
    assert jit.load(pipe).code == traced.code
    writer.join()


def test_a_place_that_cannot_be_written_to_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="directory"):
        traced_model().save(tmp_path)
    missing = tmp_path / "nowhere" / "model.pt"
    with pytest.raises(FileError, match=r"Parent directory .*nowhere does not exist"):
        traced_model().save(missing)
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
        (b"PK\x03\x04 and no more", "PytorchStreamReader failed reading zip archive: failed finding central directory"),
    ],
)
def test_what_is_no_archive_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(ArchiveError, match=f"failed reading the archive of a traced program: {said}"):
        jit.load(io.BytesIO(content))


def test_another_zip_file_is_refused() -> None:
    with pytest.raises(ArchiveError, match=r"file in archive is not in a subdirectory: b'notes\.txt'"):
        jit.load(packed({"notes.txt": b"hello"}))
    with pytest.raises(ArchiveError, match="failed reading the archive of a traced program"):
        jit.load(packed({}))


def test_a_file_of_torch_save_is_refused_with_what_reads_it_and_the_other_way_round() -> None:
    file = io.BytesIO()
    glasstorch.save({"a": glasstorch.ones(2)}, file)
    file.seek(0)
    with pytest.raises(ArchiveError, match=r"an object that torch\.save wrote, not a program; torch\.load reads it"):
        jit.load(file)
    with pytest.raises(RuntimeError, match=r"looks like a TorchScript archive.*\n?.*torch\.jit\.load is for those"):
        glasstorch.load(io.BytesIO(traced_model().save_to_buffer()))


def test_a_file_of_the_former_format_is_refused_with_what_to_do() -> None:
    former = {"version": b"1\n", "byteorder": b"little", "program.json": b"{}", "graph.ir": b"graph():", "data/0": b""}
    with pytest.raises(ArchiveError, match=r"written by glasstorch before its archives became PyTorch's.* trace"):
        jit.load(packed({f"archive/{name}": content for name, content in former.items()}))


@pytest.mark.parametrize("version", ["11", "0", "9" * 5000], ids=["next", "zero", "endless"])
def test_another_version_is_refused_by_its_number(version: str) -> None:
    files = members(traced_model().save_to_buffer())
    with pytest.raises(ArchiveError, match=r"with version \d+, but the versions that can|more bytes than a number"):
        jit.load(packed({**files, "archive/version": version.encode()}))


@pytest.mark.parametrize(("member", "content"), [("version", b"one"), ("byteorder", b"middle")])
def test_a_version_that_is_no_number_or_an_unknown_order_of_bytes_is_refused(member: str, content: bytes) -> None:
    files = members(traced_model().save_to_buffer())
    with pytest.raises(ArchiveError, match=content.decode()):
        jit.load(packed({**files, f"archive/{member}": content}))


@pytest.mark.parametrize("member", ["version", "data.pkl", "data/0", "code/__torch__.py"])
def test_a_missing_member_is_named(member: str) -> None:
    files = members(traced_model().save_to_buffer())
    del files[f"archive/{member}"]
    what = "__torch__.Sequential" if member.startswith("code") else f"failed locating file {member}"
    with pytest.raises(ArchiveError, match=what):
        jit.load(packed(files))


# Each one a text of the source, what replaces it, and what is said of it.
BAD_TEXTS: dict[str, tuple[str, str, str]] = {
    "an import": (
        "class Linear",
        "import os\nclass Linear",
        "line 1: expected the class of a module or a function: import os",
    ),
    "another base": ("Linear(Module)", "Linear(dict)", "only classes of modules are known"),
    "a call beside methods": ("  training : bool", "  print(1)", "expected an attribute or a method"),
    "a name that is none": ('["weight", ', "[weight, ", "expected the name of an attribute: weight"),
    "no forward": ("def forward", "def backward", "the class __torch__.Sequential has no method forward"),
    "a default": ("input: Tensor", "input: Tensor=1", "whose arguments have neither defaults nor stars"),
    "a type of nothing": ("input: Tensor", "input: Dict[str, int]", "this type is not known: Dict"),
    "a keyword's value": ("torch.relu(", "torch.relu(**", "cannot be read as source text|arguments are written out"),
    "an operator of nobody": (
        "torch.relu(",
        "torch.relish(",
        r"has no operator aten::relish for \(Tensor\)",
    ),
    "wrong arguments": ("torch.relu(", "torch.relu(3, ", r"no operator aten::relu for \(int, Tensor\)"),
    "a function of Python": ("torch.relu(", "eval(", "this function is not known: eval"),
    "a method of a class": ("torch.relu(", "().__class__(", "there is no attribute|this function is not known"),
    "an unknown name": ("return ", "return nobody, ", "this name has no value: nobody"),
    "a constant beyond": ("return ", "return CONSTANTS.c7, ", "the archive has 0 constants: CONSTANTS.c7"),
    "a lambda": ("return ", "return lambda: 1, ", "this expression is not one of a traced program: lambda: 1"),
    "a module for a value": ("return ", "return self, ", "expected a value of the graph, not"),
    "an attribute nobody has": (".weight", ".height", "there is no attribute height of a module here"),
    "an endless list": ("return ", "return [], ", "an empty list needs `annotate`"),
    "a list of two kinds": ("return ", "return [1, None], ", "the elements of a list have one type"),
    "a statement of Python": (
        "    return ",
        "    del self\n    return ",
        "this statement is not one of a traced program",
    ),
    "nothing returned": ("    return ", "    _9 = ", "expected `return` as the last statement"),
    "a module that calls itself": ("return ", "return self.forward(input), ", "100 in each other"),
    "half a text": ("return ", "return (", "cannot be read as source text"),
    "too deep a text": ("return ", f"return {'(' * 9000}", "cannot be read as source text"),
}


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_a_text_that_is_not_one_of_a_traced_program_is_refused_with_its_line(case: str) -> None:
    old, new, said = BAD_TEXTS[case]
    data = with_text(traced_model().save_to_buffer(), "code/__torch__.py", lambda text: text.replace(old, new, 1))
    with pytest.raises(ArchiveError, match=said):
        jit.load(data)


def test_a_text_that_would_stand_for_any_number_of_nodes_is_refused() -> None:
    twice = "class Sequential(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
    for i in range(40):
        twice += f"  def f{i}(self, x: Tensor) -> Tensor:\n    _0 = self.f{i + 1}(x)\n    return self.f{i + 1}(_0)\n"
    twice += "  def f40(self, x: Tensor) -> Tensor:\n    return x\n"
    twice += "  def forward(self, x: Tensor) -> Tensor:\n    return self.f0(x)\n"
    plain = jit.trace(nn.Sequential(), glasstorch.zeros(1)).save_to_buffer()
    with pytest.raises(ArchiveError, match="more than 100000 calls"):
        jit.load(with_text(plain, "code/__torch__.py", lambda text: twice))
    pairs = "".join(f"    a{i + 1} = (a{i}, a{i})\n" for i in range(60))
    wide = f"class Sequential(Module):\n  def forward(self, a0: Tensor) -> Tensor:\n{pairs}    return a60\n"
    with pytest.raises(ArchiveError, match="a tuple of more than 1000 parts"):
        jit.load(with_text(plain, "code/__torch__.py", lambda text: wide))


def test_whatever_line_of_the_text_is_missing_it_is_loaded_or_refused() -> None:
    data = traced_model().save_to_buffer()
    lines = members(data)["archive/code/__torch__.py"].decode().splitlines(keepends=True)
    refused = 0
    for i in range(len(lines)):
        text = "".join(lines[:i] + lines[i + 1 :])
        try:
            jit.load(with_text(data, "code/__torch__.py", lambda _, text=text: text))
        except ArchiveError:
            refused += 1
    assert refused > len(lines) / 3


def test_whatever_stands_in_a_pickle_it_is_loaded_or_refused() -> None:
    mask = glasstorch.tensor([True, False])
    files = members(jit.trace(lambda x: x * mask, glasstorch.ones(2)).save_to_buffer())
    files |= {f"module/{name}": content for name, content in members(traced_model().save_to_buffer()).items()}
    drawn = random.Random(0)
    refused = tried = 0
    for folder, record in (("archive", "archive/constants.pkl"), ("module/archive", "module/archive/data.pkl")):
        kept = {f"a{name[len(folder) :]}": text for name, text in files.items() if name.startswith(f"{folder}/")}
        content = files[record]
        for at in range(0, len(content), 2):
            damaged = bytearray(content)
            damaged[at] = drawn.randrange(256)
            tried += 1
            try:
                jit.load(packed({**kept, f"a{record[len(folder) :]}": bytes(damaged)}))
            except ArchiveError:
                refused += 1
    assert refused > tried / 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"c__torch__\nLinear\n", b"cposix\nsystem\n", "whose module posix is blocked"),
        (b"c__torch__\nLinear\n", b"ctorch.nn\nLinear\n", "Unsupported global: GLOBAL torch.nn.Linear"),
        (b"K\x08K\x04\x86", b"M\x90\x01K\x04\x86", "out of bounds for storage"),
        (b"FloatStorage", b"QInt8Storage", "quantized|QInt8"),
        (b"X\x06\x00\x00\x00weight", b"X\x06\x00\x00\x00height", "there is no attribute weight of a module here"),
        (b"X\x08\x00\x00\x00training", b"X\x08\x00\x00\x00breaking", "."),
    ],
    ids=["system", "another class", "a tensor too far", "quantized", "another name", "no training"],
)
def test_an_object_that_is_not_one_of_a_program_is_refused(old: bytes, new: bytes, said: str) -> None:
    files = members(traced_model().save_to_buffer())
    content = files["archive/data.pkl"]
    assert old in content
    data = packed({**files, "archive/data.pkl": content.replace(old, new, 1)})
    if said == ".":
        assert jit.load(data)(glasstorch.zeros(1, 4)).shape == (1, 3)
        return
    with pytest.raises(ArchiveError, match=said):
        jit.load(data)


def test_a_module_that_is_in_itself_is_refused() -> None:
    files = members(jit.trace(nn.Sequential(nn.ReLU()), glasstorch.zeros(1)).save_to_buffer())
    looped = b"\x80\x02c__torch__\nSequential\n)\x81q\x00}(X\x08\x00\x00\x00training\x88X\x01\x00\x00\x000h\x00ub."
    with pytest.raises(ArchiveError, match=r"a module of the class __torch__\.Sequential is in itself"):
        jit.load(packed({**files, "archive/data.pkl": looped}))


def test_tensors_of_a_device_that_is_not_here_are_refused_with_a_way_out() -> None:
    files = members(traced_model().save_to_buffer())
    content = files["archive/data.pkl"].replace(b"X\x03\x00\x00\x00cpu", b"X\x07\x00\x00\x00cuda:99")
    data = packed({**files, "archive/data.pkl": content})
    with pytest.raises(ArchiveError, match=r"cuda.* map_location=.*cpu"):
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
    assert files["archive/constants/0"] == b"\1\0"
    files["archive/constants/0"] = b"\1\2"
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


def test_compressed_members_are_read() -> None:
    traced = traced_model()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members(traced.save_to_buffer()).items():
            archive.writestr(name, content)
    buffer.seek(0)
    assert jit.load(buffer).code == traced.code


def test_an_archive_cut_off_anywhere_is_refused() -> None:
    data = traced_model().save_to_buffer()
    for length in [*range(0, len(data), 41), len(data) - 1]:
        with pytest.raises(ArchiveError):
            jit.load(io.BytesIO(data[:length]))


def test_a_changed_bit_anywhere_is_refused_or_changes_nothing() -> None:
    traced = jit.trace(nn.Linear(2, 2), glasstorch.zeros(1, 2))
    data = traced.save_to_buffer()
    drawn = random.Random(0)
    x = glasstorch.rand(3, 2)
    wanted = traced(x).tolist()
    refused = 0
    for at in range(0, len(data), 5):
        damaged = bytearray(data)
        damaged[at] ^= 1 << drawn.randrange(8)
        try:
            loaded = jit.load(io.BytesIO(bytes(damaged)))
        except ArchiveError:
            refused += 1
            continue
        assert loaded(x).tolist() == wanted, f"byte {at}"
    assert refused > len(data) / 5 * 0.5


def test_what_was_asked_for_beside_it_is_left_alone_when_the_program_cannot_be_read() -> None:
    files = members(traced_model().save_to_buffer({"notes": "kept"}))
    files["archive/code/__torch__.py"] = b"nonsense"
    wanted = {"notes": "before"}
    with pytest.raises(ArchiveError):
        jit.load(packed(files), _extra_files=wanted)
    assert wanted == {"notes": "before"}


def test_a_member_with_a_wrong_checksum_is_named() -> None:
    data = bytearray(traced_model().save_to_buffer())
    weight = struct.pack("<4f", *traced_model().get_submodule("0").weight[0].tolist())
    data[bytes(data).index(weight)] ^= 1
    with pytest.raises(ArchiveError, match="failed reading file data/0"):
        jit.load(io.BytesIO(bytes(data)))
