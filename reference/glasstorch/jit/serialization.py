"""How is a traced program saved to a file, and loaded without its source?

Mirrors: torch/jit/_serialization.py (save, load), torch/csrc/jit/serialization/export_module.cpp
    (ScriptModuleSerializer), import.cpp (ScriptModuleDeserializer), caffe2/serialize/inline_container.cc, versions.h
Differs: the members of the archive are JSON, the text of the graph and raw bytes, so that loading an archive executes
    none of its content; PyTorch's have pickles and Python source. A file is written under a temporary name and then
    renamed, so that a reader sees either the old or the new archive. A saved function is loaded as a function.

An archive is a zip file with these members, uncompressed, in a folder of any name:

    version        the number of the format
    byteorder      little or big: of the bytes in data/
    program.json   its kind, its tensors (storage, dtype, shape, strides, offset) and the modules that hold them
    graph.ir       the graph as printer.py writes it; its tensor constants are indices of tensors in program.json
    data/0 ...     the bytes of each storage that has any
    extra/...      the caller's extra files

Tensors that share memory share it after loading too, and a tensor that is used in two places is loaded once.
"""

from __future__ import annotations

import io
import json
import math
import os
import reprlib
import secrets
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

from glasstorch._tensor import Tensor, empty, make
from glasstorch.core.device import CPU
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import BY_NAME
from glasstorch.core.errors import DeviceError, Rule
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import check_fits
from glasstorch.jit._script import (
    Extra,
    LoadedChild,
    RecursiveScriptModule,
    ScriptFunction,
    ScriptModule,
    set_archives,
)
from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import IRParseError, parse_ir
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from glasstorch.jit.printer import tensor_constants
from glasstorch.jit.verify import LintError
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter

VERSION: Final = 1
FOLDER: Final = "archive"
INT64_MAX: Final = 2**63 - 1  # the maximum of sizes, strides, offsets and numbers of bytes or elements
# What zipfile raises for bytes that are not a valid zip file, besides RuntimeError.
DAMAGE: Final = (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, OSError, struct.error, zlib.error)


class ArchiveError(Rule, RuntimeError):
    """A file is not an archive of a program, or a damaged one; the message says why."""


def save(m: Any, f: str | os.PathLike[str] | IO[bytes], _extra_files: Extra | None = None) -> None:
    """Save a traced function or module to a path or a writable binary file object.

    Parameters, buffers and constants are saved with their values, and modules with their names. Hooks and other Python
    attributes of the modules are not. `_extra_files` are additional texts to store in the archive, by name.
    A file that is replaced keeps its permissions.
    """
    data = archive_of(m, _extra_files)
    if not isinstance(f, str | os.PathLike):
        f.write(data)
        return
    target = Path(os.path.realpath(f))
    if target.exists() and not target.is_file():
        target.write_bytes(data)  # a pipe or a device is written to, not replaced; a directory raises an error
        return
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            if target.exists():
                os.chmod(temporary, target.stat().st_mode & 0o7777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is not None:
            error.filename, error.filename2 = os.fspath(f), None  # the temporary file's name would be confusing
        raise


def archive_of(m: Any, extra_files: Extra | None = None) -> bytes:
    """The bytes that `save` writes."""
    if not isinstance(m, ScriptFunction | ScriptModule):
        raise TypeError(
            f"jit.save: expected what jit.trace gave, a ScriptFunction or a ScriptModule, got {type(m).__name__}"
        )
    for name in extra_files or ():
        _check_extra(name)
    writer = _Writer()
    program: dict[str, Any] = {"constants": [writer.tensor(tensor) for tensor in tensor_constants(m.graph)]}
    if isinstance(m, ScriptFunction):
        program |= {"kind": "function", "name": m.name}
    else:
        program |= {"kind": "module", "module": writer.module(m), "used_parameters": list(m.used_parameters)}
    program["tensors"] = writer.tensors
    program["storages"] = [{"device": str(held.device), "nbytes": held.nbytes()} for held in writer.storages]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:

        def write(name: str, content: str | bytes) -> None:
            member = zipfile.ZipInfo(f"{FOLDER}/{name}")  # without a date, so that equal programs give equal files
            member.external_attr = 0o644 << 16  # readable by everyone when unpacked
            archive.writestr(member, content)

        write("version", f"{VERSION}\n")
        write("byteorder", sys.byteorder)
        write("program.json", json.dumps(program, indent=1))
        write("graph.ir", str(m.graph))
        for i, storage in enumerate(writer.storages):
            if storage.device.type != "meta":
                held = storage.cpu().buffer
                assert held is not None, "a storage on the CPU has its bytes there"
                write(f"data/{i}", held.tobytes())
        for name, content in (extra_files or {}).items():
            write(f"extra/{name}", content)
    return buffer.getvalue()


class _Writer:
    """Assigns an index to each tensor and storage of a program."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []
        self.storages: list[Storage] = []
        self._numbers: dict[int, int] = {}  # the index of each tensor and storage, by id
        self._kept: list[Tensor] = []  # so that no id is reused

    def tensor(self, tensor: Tensor) -> int:
        if id(tensor) not in self._numbers:
            self._kept.append(tensor)
            self._numbers[id(tensor)] = len(self.tensors)
            self.tensors.append(
                {
                    "storage": self._storage(tensor.untyped_storage()),
                    "dtype": tensor.dtype.name,
                    "shape": list(tensor.shape),
                    "strides": list(tensor.stride()),
                    "offset": tensor.storage_offset(),
                    "requires_grad": tensor.requires_grad,
                    "parameter": isinstance(tensor, Parameter),
                }
            )
        return self._numbers[id(tensor)]

    def _storage(self, storage: Storage) -> int:
        if id(storage) not in self._numbers:
            self._numbers[id(storage)] = len(self.storages)
            self.storages.append(storage)
        return self._numbers[id(storage)]

    def module(self, module: Module) -> dict[str, Any]:
        name = getattr(module, "original_name", type(module).__name__)
        return {
            "original_name": name,
            "training": module.training,
            "parameters": {key: self._optional(tensor) for key, tensor in module._parameters.items()},
            "buffers": {key: self._optional(tensor) for key, tensor in module._buffers.items()},
            "not_persistent": sorted(module._non_persistent_buffers_set),
            "children": {key: None if child is None else self.module(child) for key, child in module._modules.items()},
        }

    def _optional(self, tensor: Tensor | None) -> int | None:
        return None if tensor is None else self.tensor(tensor)


# Reading ------------------------------------------------------------------------------------------------------------


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: str | Device | None = None,
    _extra_files: dict[str, Any] | None = None,
) -> Any:
    """Load the function or module that `save` wrote, from a path or a readable binary file object.

    Its tensors are on the devices that they were saved from, or all on `map_location`; devices named in the graph, by
    factory functions, are not changed. The keys of `_extra_files` are names of extra files, whose bytes become the
    values. ArchiveError says why a file cannot be read; nothing is loaded then.
    """
    if isinstance(map_location, str):
        map_location = Device(map_location)
    elif not (map_location is None or isinstance(map_location, Device)):
        raise ValueError(
            f"map_location should be either None, string or torch.device, but got type: {type(map_location)}"
        )
    if map_location is not None:
        empty((0,), BY_NAME["uint8"]).to(map_location)  # raises if there is no such device
    if isinstance(f, str | os.PathLike):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
        with open(f, "rb") as file:
            return _read(file if file.seekable() else io.BytesIO(file.read()), map_location, _extra_files)
    content = f.read() if hasattr(f, "read") else f
    if not isinstance(content, bytes):
        raise TypeError(f"jit.load: expected a path, or something to read bytes from, got {_what(f, content)}")
    return _read(io.BytesIO(content), map_location, _extra_files)


def _what(f: Any, content: Any) -> str:
    return type(f).__name__ if f is content else f"{type(f).__name__}, which gives {type(content).__name__}"


def _read(file: IO[bytes], on: Device | None, extra_files: dict[str, Any] | None) -> Any:
    for name in extra_files or ():
        _check_extra(name)
    reader = _Reader(file, on)
    found = {name: reader.member(f"extra/{name}") for name in extra_files or {}}
    program = reader.program()
    if extra_files is not None:
        extra_files.update(found)
    return program


class _Reader:
    """Reads the members of an archive, and validates each before it is used."""

    def __init__(self, file: IO[bytes], on: Device | None) -> None:
        self.on = on
        self._tensors: list[Tensor] = []
        try:
            self.archive = zipfile.ZipFile(file)
            self.folder = next(iter(self.archive.namelist()), "").partition("/")[0]
            self._check_version()
            for member in self.archive.infolist():
                _refuse_compressed(member)
            damaged = self.archive.testzip()
        except ArchiveError:
            raise
        except (*DAMAGE, RuntimeError) as error:
            raise _unreadable(_what_is_wrong(file, error)) from error
        if damaged is not None:
            raise _unreadable(f"{damaged} is damaged: its bytes do not have the checksum that was written with them")

    def member(self, name: str) -> bytes:
        """The bytes of a member of the archive."""
        return self.archive.read(self._info(name))

    def _info(self, name: str) -> zipfile.ZipInfo:
        try:
            member = self.archive.getinfo(f"{self.folder}/{name}")
        except KeyError:
            held = ", ".join(sorted(self.archive.namelist())) or "nothing"
            raise _unreadable(f"there is no {name} in it; it has {held}") from None
        _refuse_compressed(member)
        return member

    def _text(self, name: str) -> str:
        return self.member(name).decode("ascii", "backslashreplace").strip()

    def _check_version(self) -> None:
        written = self._text("version")
        if not written.isdecimal():
            raise _unreadable(f"its version is {written!r}; expected a number")
        if written != str(VERSION):
            raise ArchiveError(
                f"Attempted to read an archive with version {written:.20}, but the only version that can be read is "
                f"{VERSION}. It was written by another glasstorch; with a higher version, by a newer one"
            )
        order = self._text("byteorder")
        if order != sys.byteorder:
            raise _unreadable(f"its bytes are in the order {order!r}; this machine's order is {sys.byteorder!r}")

    def program(self) -> ScriptFunction | RecursiveScriptModule:
        """The program in the archive."""
        try:
            described = json.loads(self.member("program.json"))
            _check_program(described, "program")
            storages = [self._storage(i, **facts) for i, facts in enumerate(described["storages"])]
            self._tensors = [_tensor(storages[facts.pop("storage")], **facts) for facts in described["tensors"]]
            graph = self._graph([self._tensor(number) for number in described["constants"]])
            if described["kind"] == "function":
                return ScriptFunction(described["name"], graph)
            return self._module(described["module"], graph, described["used_parameters"])
        except ArchiveError:
            raise
        except (IRParseError, LintError, UnicodeDecodeError) as error:
            raise _unreadable(f"its graph is not one that can be run: {error}") from error
        except (LookupError, TypeError, ValueError, RuntimeError) as error:
            raise _unreadable(f"program.json does not fit the rest of it: {type(error).__name__}: {error}") from error

    def _graph(self, constants: list[Tensor]) -> Graph:
        graph = parse_ir(self.member("graph.ir").decode(), constants)
        if self.on is not None:
            erase_shape_information(graph)  # the types name the device of each tensor when it was saved
        graph.lint()
        return graph

    def _storage(self, i: int, device: str, nbytes: int) -> Storage:
        on = Device(device) if self.on is None else self.on
        if Device(device).type == "meta":
            return Storage.allocate(nbytes, Device(device))
        member = self._info(f"data/{i}")
        if member.file_size != nbytes:
            raise ValueError(f"storage {i} must have {nbytes} bytes, but data/{i} has {member.file_size}")
        storage = Storage.allocate(nbytes)
        assert storage.buffer is not None, "there is no storage without bytes on the CPU"
        with self.archive.open(member) as content:
            assert isinstance(content, zipfile.ZipExtFile), "which reads into a buffer"
            content.readinto(storage.buffer.data)
        try:
            return storage if on == CPU else _moved(storage, on)
        except DeviceError as error:
            raise ArchiveError(
                f"the archive of a traced program has tensors on {on}, which is not here: {error}. Load it with "
                "map_location='cpu' to have them on the CPU"
            ) from error

    def _tensor(self, number: int) -> Tensor:
        return self._tensors[number]

    def _module(self, described: dict[str, Any], graph: Graph, used_parameters: list[str]) -> RecursiveScriptModule:
        held = self._held(described)
        named = (*held.named_parameters(remove_duplicate=False), *held.named_buffers(remove_duplicate=False))
        tensors = {name for name, _ in named}
        for name in used_parameters:
            if name not in tensors:
                raise ValueError(f"the graph takes the parameter {name!r}, which no module has")
        if len(used_parameters) > len(graph.inputs):
            raise ValueError(f"the graph takes {len(graph.inputs)} inputs, of which {used_parameters} are parameters")
        return RecursiveScriptModule(held, held.original_name, graph, used_parameters)

    def _held(self, described: dict[str, Any]) -> LoadedChild:
        """A child module with its tensors and its own children."""
        module = LoadedChild(described["original_name"])
        module.train(described["training"])
        for name, number in described["parameters"].items():
            module.register_parameter(name, None if number is None else self._tensor(number))  # type: ignore[arg-type]
        for name, number in described["buffers"].items():
            persistent = name not in described["not_persistent"]
            module.register_buffer(name, None if number is None else self._tensor(number), persistent)
        for name, child in described["children"].items():
            module.add_module(name, None if child is None else self._held(child))
        return module


def _tensor(
    storage: Storage,
    dtype: str,
    shape: list[int],
    strides: list[int],
    offset: int,
    requires_grad: bool,
    parameter: bool,
) -> Tensor:
    sizes, steps = tuple(shape), tuple(strides)
    if len(sizes) != len(steps):
        raise ValueError(f"a tensor has the sizes {shape} and the strides {strides}; their number must be the same")
    if math.prod(sizes) > INT64_MAX:
        raise ValueError(f"a tensor has the sizes {shape}: more than {INT64_MAX} elements")
    check_fits(storage, BY_NAME[dtype], sizes, steps, offset)
    if (
        dtype == "bool"
        and storage.device.type != "meta"
        and make(storage, BY_NAME["uint8"], sizes, steps, offset).gt(1).any()
    ):
        raise ValueError("the bytes of a bool tensor must be 0 or 1, and there are others")
    tensor = make(storage, BY_NAME[dtype], sizes, steps, offset)
    if parameter:
        return Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def _moved(storage: Storage, on: Device) -> Storage:
    """A storage copied to another device."""
    whole = make(storage, BY_NAME["uint8"], (storage.nbytes(),), (1,), 0)
    return whole.to(on).untyped_storage()


def _refuse_compressed(member: zipfile.ZipInfo) -> None:
    """Refuse a compressed member: a small file could unpack to any size, and an uncompressed member cannot."""
    if member.compress_type != zipfile.ZIP_STORED:
        raise _unreadable(f"{member.filename} is compressed; the members of an archive are stored as they are")


def _check_extra(name: Any) -> None:
    """Refuse a name with which a file would be unpacked outside its folder."""
    if not isinstance(name, str) or "\\" in name or not all(part.strip(".") for part in name.split("/")):
        raise ValueError(f"_extra_files: expected names such as 'notes/first.txt', got {name!r}")


def _what_is_wrong(file: IO[bytes], error: Exception) -> str:
    file.seek(0)
    begins = file.read(2)
    if not begins:
        return "it is empty"
    if begins == b"PK":
        return f"it begins like a zip file, and is truncated or damaged ({error})"
    return f"it is not a zip file ({error})"


def _unreadable(why: str) -> ArchiveError:
    return ArchiveError(f"failed reading the archive of a traced program: {why}")


# The format of program.json -----------------------------------------------------------------------------------------

Check = Callable[[Any, str], None]  # takes a value and its location; ValueError if it is not valid there


def _one(is_one: Callable[[Any], bool], called: str) -> Check:
    def check(value: Any, where: str) -> None:
        if not is_one(value):
            raise ValueError(f"{where} must be {called}, got {reprlib.repr(value)}")

    return check


def _list_of(check_one: Check) -> Check:
    def check(value: Any, where: str) -> None:
        _check_list(value, where)
        for i, one in enumerate(value):
            check_one(one, f"{where}[{i}]")

    return check


def _by_name(check_one: Check) -> Check:
    def check(value: Any, where: str) -> None:
        _check_object(value, where)
        for name, one in value.items():
            check_one(one, f"{where}.{reprlib.repr(name)[1:-1]}")

    return check


def _record(**checks: Check) -> Check:
    def check(value: Any, where: str) -> None:
        _check_object(value, where)
        if value.keys() != checks.keys():
            raise ValueError(f"{where} must have {', '.join(checks)}, got {', '.join(value) or 'nothing'}")
        for name, check_one in checks.items():
            check_one(value[name], f"{where}.{name}")

    return check


def _or_none(check_one: Check) -> Check:
    def check(value: Any, where: str) -> None:
        if value is not None:
            check_one(value, where)

    return check


def _check_module(value: Any, where: str) -> None:
    _check_fields_of_module(value, where)
    for name in value["not_persistent"]:
        if name not in value["buffers"]:
            raise ValueError(f"{where}.not_persistent names {name!r}, which is not one of its buffers")


def _check_program(value: Any, where: str) -> None:
    kind = value.get("kind") if isinstance(value, dict) else None
    _check_kind(kind, f"{where}.kind")
    PROGRAMS[value["kind"]](value, where)


_check_list: Final = _one(lambda value: isinstance(value, list), "a list")
_check_object: Final = _one(lambda value: isinstance(value, dict), "a JSON object")
_check_text: Final = _one(lambda value: isinstance(value, str), "a string")
_check_flag: Final = _one(lambda value: isinstance(value, bool), "true or false")
_check_count: Final = _one(lambda value: type(value) is int and 0 <= value <= INT64_MAX, "a number from 0 to 2**63 - 1")
_check_dtype: Final = _one(lambda value: isinstance(value, str) and value in BY_NAME, "the name of a dtype")
_check_fields_of_module: Final = _record(
    original_name=_check_text,
    training=_check_flag,
    parameters=_by_name(_or_none(_check_count)),
    buffers=_by_name(_or_none(_check_count)),
    not_persistent=_list_of(_check_text),
    children=_by_name(_or_none(_check_module)),
)
_of_all: Final[dict[str, Check]] = {
    "kind": _check_text,
    "constants": _list_of(_check_count),
    "tensors": _list_of(
        _record(
            storage=_check_count,
            dtype=_check_dtype,
            shape=_list_of(_check_count),
            strides=_list_of(_check_count),
            offset=_check_count,
            requires_grad=_check_flag,
            parameter=_check_flag,
        )
    ),
    "storages": _list_of(_record(device=_check_text, nbytes=_check_count)),
}
PROGRAMS: Final = {
    "function": _record(**_of_all, name=_check_text),
    "module": _record(**_of_all, module=_check_module, used_parameters=_list_of(_check_text)),
}
_check_kind: Final = _one(lambda value: isinstance(value, str) and value in PROGRAMS, " or ".join(PROGRAMS))


class _Archives:
    """Fills _script.Archives."""

    def save(self, m: Any, f: str | os.PathLike[str], extra_files: Extra | None) -> None:
        save(m, f, extra_files)

    def archive_of(self, m: Any, extra_files: Extra | None) -> bytes:
        return archive_of(m, extra_files)


set_archives(_Archives())
