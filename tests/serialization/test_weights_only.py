"""Is a file that asks for more than tensors refused, without running any of it?"""

from __future__ import annotations

import io
import os
import pickle
import struct
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.serialization import weights_only
from glasstorch.serialization.zip_writer import ArchiveWriter
from tests.serialization.exchange import saved

HERE = __name__


def archive(program: bytes, **records: bytes) -> io.BytesIO:
    """A file whose pickle is a program written by hand; `records` are its storages."""
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    writer.write_record("data.pkl", b"\x80\x02" + program + b".")
    writer.write_record("byteorder", b"little")
    for name, data in records.items():
        writer.write_record(f"data/{name.strip('_')}", data)
    writer.finish()
    file.seek(0)
    return file


def name(module: str, attribute: str) -> bytes:
    """The instruction that pushes a class or a function."""
    return f"c{module}\n{attribute}\n".encode()


def text(value: str) -> bytes:
    """The instruction that pushes a str."""
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def number(value: int) -> bytes:
    """The instruction that pushes an int."""
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def call(function: bytes, *arguments: bytes) -> bytes:
    """The instructions that call a function."""
    return function + b"(" + b"".join(arguments) + b"tR"


def storage(kind: bytes = name("torch", "FloatStorage"), key: bytes = text("0"), count: int = 4) -> bytes:
    """The instructions that push a storage."""
    return b"(" + text("storage") + kind + key + text("cpu") + number(count) + b"tQ"


def numbers(*values: int) -> bytes:
    """The instructions that push a tuple of ints."""
    return b"(" + b"".join(map(number, values)) + b"t"


def tensor(
    held: bytes = storage(), offset: int = 0, size: bytes = numbers(2, 2), stride: bytes = numbers(2, 1)
) -> bytes:
    """The instructions that push a tensor."""
    rest = (b"\x89", call(name("collections", "OrderedDict")))
    return call(name("torch._utils", "_rebuild_tensor_v2"), held, number(offset), size, stride, *rest)


FLOATS = struct.pack("<4f", 1, 2, 3, 4)
OS_SYSTEM = call(name("os", "system"), text("touch attacked"))
REBUILD = name("torch._utils", "_rebuild_tensor_v2")
FROM_TYPE = name("torch._tensor", "_rebuild_from_type_v2")
TENSOR = name("torch", "Tensor")
DEEP = 200_000  # deeper than a stack: hashing such a tuple would end the process

ATTACKS: dict[str, tuple[bytes, str]] = {
    "os.system": (OS_SYSTEM, "unsupported GLOBAL os.system whose module os is blocked"),
    "posix.system": (call(name("posix", "system"), text("touch attacked")), "whose module posix is blocked"),
    "eval": (call(name("builtins", "eval"), text("1")), "GLOBAL eval was not an allowed global by default"),
    "Python 2's eval": (call(name("__builtin__", "eval"), text("1")), "GLOBAL eval was not an allowed global"),
    "exec in a container": (b"}" + text("a") + call(name("builtins", "exec"), text("1")) + b"s", "GLOBAL exec was not"),
    "getattr": (call(name("builtins", "getattr"), TENSOR, text("numpy")), "GLOBAL getattr was not an allowed"),
    "a name with dots": (name("torch", "serialization.os.system"), "GLOBAL torch.serialization.os.system was not"),
    "a name through a class": (name("torch", "Tensor.__reduce_ex__"), "GLOBAL torch.Tensor.__reduce_ex__ was not"),
    "a submodule of os": (name("os.path", "join"), "GLOBAL os.path.join whose module os.path is blocked"),
    "torch.load": (name("torch", "load"), "GLOBAL torch.load was not an allowed global"),
    "a function of ours": (name("glasstorch.core.errors", "_broken"), "_broken was not an allowed global"),
    "STACK_GLOBAL": (text("os") + text("system") + b"\x93", r"Unsupported operand 147 \(STACK_GLOBAL\)"),
    "INST": (b"(" + text("1") + b"ios\nsystem\n", r"Unsupported operand 105 \(INST\)"),
    "OBJ": (b"(" + name("collections", "OrderedDict") + b"o", r"Unsupported operand 111 \(OBJ\)"),
    "EXT1": (b"\x82\x01", r"Unsupported operand 130 \(EXT1\)"),
    "EXT4": (b"\x84\x01\x00\x00\x00", r"Unsupported operand 132 \(EXT4\)"),
    "NEWOBJ_EX": (b"\x92", r"Unsupported operand 146 \(NEWOBJ_EX\)"),
    "PERSID": (b"P0\n", r"Unsupported operand 80 \(PERSID\)"),
    "an instruction that does not exist": (b"\xff", "Unsupported operand 255"),
    "calling a list": (b"]" + b"(tR", r"Trying to call reduce for unrecognized function \[\]"),
    "calling a class of tensors": (call(TENSOR, number(1 << 40)), "Trying to call reduce for unrecognized function"),
    "calling with a list": (name("collections", "OrderedDict") + b"]R", "called with a tuple, not with list"),
    "a new object of a class": (TENSOR + b")\x81", "Can only create new object for nn.Parameter or classes"),
    "BUILD of a dict": (b"}}b", "Can only build Tensor, Parameter, OrderedDict or types allowlisted"),
    "BUILD that hides a method": (
        call(name("collections", "OrderedDict")) + b"}" + text("items") + b"Nsb",
        "the state of an OrderedDict must be new attributes",
    ),
    "BUILD with __setstate__": (
        call(name("torch", "device"), text("cpu")) + b"}" + text("__setstate__") + b"Nsb",
        "Can only build Tensor, Parameter, OrderedDict or types allowlisted",
    ),
    "appending to a tuple": (b")Na", "Can only append to lists, but got <class 'tuple'>"),
    "setting an item of a list": (b"]NNs", "Can only SETITEM for dict"),
    "setting an item of a storage": (storage() + b"K\x00K\x00s", "Can only SETITEM for dict"),
    "an id that is text": (text("storage") + b"Q", "persistent_load id must be tuple"),
    "an id of a module": (b"(" + text("module") + b"NNNtQ", "Only persistent_load of storage is allowed"),
    "a huge bytearray": (call(name("builtins", "bytearray"), number(1 << 50)), "a bytearray is made of bytes, not of"),
    "another codec": (
        call(name("_codecs", "encode"), text("a"), text("bz2")),
        "only text of latin1 is encoded, not str as",
    ),
    "an endless set": (call(name("builtins", "set"), call(name("collections", "Counter"))), "a set is made of a list"),
    "a key that exhausts the stack": (b"})" + b"\x85" * DEEP + b"Ns", "a tuple of more than 1000 parts"),
    "a key that takes for ever": (b"})" + b"q\x00h\x00\x86" * 200 + b"Ns", "a tuple of more than 1000 parts"),
    "an element that takes for ever": (
        call(name("builtins", "set"), b"])" + b"q\x00h\x00\x86" * 200 + b"a"),
        "a tuple of more than 1000 parts",
    ),
    "a message that takes for ever": (
        call(REBUILD, storage(), number(0), b")" + b"q\x00h\x00\x86" * 200, numbers(1), b"\x89", b"N"),
        "sizes and strides must be tuples",
    ),
    "a key that has no hash": (b"}]Ns", "a list cannot be a key of a dict"),
    "nothing on the stack": (b"R", "the pickle is damaged: IndexError"),
    "a mark that is missing": (b"Nt", "the pickle is damaged: IndexError"),
    "a memo that is missing": (b"h\x07", "Memo value not found at index 7"),
    "a str longer than the file": (b"X\xff\xff\xff\x7fabc", "Ran out of input"),
    "a str that is not UTF-8": (b"X\x01\x00\x00\x00\xff", "the pickle is damaged: UnicodeDecodeError"),
    "an unknown record": (tensor(storage(key=text("7"))), "failed locating file data/7: file not found"),
    "a record outside its folder": (tensor(storage(key=text("../0"))), "failed locating file data/../0"),
    "a storage larger than its record": (tensor(storage(count=1 << 40)), "the record 'data/0' has 16 bytes, and the"),
    "a storage smaller than its record": (tensor(storage(count=3)), "the record 'data/0' has 16 bytes, and the object"),
    "a storage of a wrong type": (tensor(storage(TENSOR)), "which is not a type of storages"),
    "a storage of a negative size": (tensor(storage(count=-4)), "a key, a location and a size that cannot be read"),
    "sizes beyond the storage": (tensor(size=numbers(2, 3)), "are out of bounds for storage of size 16"),
    "an offset beyond the storage": (tensor(offset=1), "are out of bounds for storage of size 16"),
    "a stride beyond the storage": (tensor(stride=numbers(1 << 40, 1)), "are out of bounds for storage of size 16"),
    "a negative stride": (tensor(stride=numbers(-2, 1)), "ints of 0 or more"),
    "a negative offset": (tensor(offset=-1), "a storage_offset must be an int of 0 or more, got -1"),
    "a negative size": (tensor(size=numbers(-2, 2)), "ints of 0 or more"),
    "more strides than sizes": (tensor(stride=numbers(2, 1, 1)), "mismatch in length of strides and shape"),
    "too many sizes": (tensor(size=numbers(*[1] * 65), stride=numbers(*[1] * 65)), "up to 64 ints of 0 or more"),
    "no storage": (tensor(held=b"N"), "expected a storage, got NoneType"),
    "a tensor of another function": (
        call(FROM_TYPE, name("builtins", "bytearray"), TENSOR, numbers(1), b"}"),
        "does not make a tensor of what was saved",
    ),
    "a tensor of another class": (
        call(FROM_TYPE, REBUILD, name("builtins", "set"), b")", b"}"),
        "expected a subclass of Tensor",
    ),
    "an attribute that is the geometry": (
        call(
            FROM_TYPE,
            REBUILD,
            TENSOR,
            b"(" + storage() + number(0) + numbers(4) + numbers(1) + b"\x89Nt",
            b"}" + text("_strides") + numbers(1 << 40) + b"s",
        ),
        "a saved attribute may not replace '_strides' of a tensor",
    ),
    "an attribute that is the class": (
        call(
            FROM_TYPE,
            REBUILD,
            TENSOR,
            b"(" + storage() + number(0) + numbers(4) + numbers(1) + b"\x89Nt",
            b"}" + text("__class__") + TENSOR + b"s",
        ),
        "a saved attribute may not replace '__class__' of a tensor",
    ),
    "a meta tensor that no integer counts": (
        call(
            name("torch._utils", "_rebuild_meta_tensor_no_storage"),
            name("torch", "float32"),
            numbers(1 << 62, 4),
            numbers(4, 1),
            b"\x89",
        ),
        "exceed",
    ),
    "a quantized tensor": (name("torch", "QInt8Storage"), "the file has a quantized tensor"),
    "a sparse tensor": (
        call(name("torch._utils", "_rebuild_sparse_tensor"), text("torch.sparse_csr"), b")"),
        "which glasstorch cannot load; save tensor.to_dense",
    ),
    "a dtype that is not here": (name("torch", "complex32"), "torch.complex32, which is not in glasstorch"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused_and_nothing_is_run(attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, message = ATTACKS[attack]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "system", refuse_to_run)
    start = time.process_time()
    with pytest.raises((pickle.UnpicklingError, RuntimeError, NotImplementedError, EOFError, TypeError), match=message):
        glasstorch.load(archive(program, _0=FLOATS))
    assert time.process_time() - start < 60  # some would take longer than the universe has been there
    assert list(tmp_path.iterdir()) == []


def refuse_to_run(*arguments: Any) -> None:
    """What os.system is while a file is loaded."""
    raise AssertionError(f"os.system was called with {arguments}")


def test_what_the_attacks_are_made_of_is_loaded_where_it_is_harmless() -> None:
    assert glasstorch.load(saved(glasstorch, [b"", bytearray()])) == [b"", bytearray()]
    loaded = glasstorch.load(archive(b"]" + tensor() + b"a" + tensor(offset=1, size=numbers(2)[:-1] + b"t",
                                                                     stride=numbers(1)) + b"a", _0=FLOATS))  # fmt: skip
    assert [value.tolist() for value in loaded] == [[[1, 2], [3, 4]], [2, 3]]


def test_a_refusal_says_what_can_be_done(torch: Any) -> None:
    file = saved(torch, torch.nn.Linear(1, 1))
    with pytest.raises(pickle.UnpicklingError) as error:
        torch.load(file)
    message = str(error.value)
    assert message.startswith("Weights only load failed. This file can still be loaded, to do so you have two options")
    assert "WeightsUnpickler error: Unsupported global: GLOBAL torch.nn.modules.linear.Linear was not" in message
    assert "`torch.serialization.add_safe_globals([torch.nn.modules.linear.Linear])`" in message


class Settings:
    """A class of a program."""

    def __init__(self, rate: float) -> None:
        self.rate = rate


class Restored:
    """A class that restores itself."""

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __getstate__(self) -> Any:
        return ["saved"]


class WithSlots:
    """A class without a `__dict__`."""

    __slots__ = ("width",)


def made(kind: type) -> Any:
    """An object of one of the classes above."""
    value = Settings(0.5) if kind is Settings else kind()
    if isinstance(value, WithSlots):
        value.width = 3
    return value


def test_what_is_allowed_can_be_loaded(torch: Any) -> None:
    file = saved(torch, [made(Settings), made(Restored)])
    with torch.serialization.safe_globals([Settings, Restored]):
        first, second = torch.load(file)
    assert (first.rate, second.state) == (0.5, ["saved"])
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=rf"GLOBAL {HERE}.Settings was not"):
        torch.load(file)


def test_slots_of_an_allowed_class_are_set() -> None:
    with glasstorch.serialization.safe_globals([WithSlots]):
        assert glasstorch.load(saved(glasstorch, made(WithSlots), pickle_protocol=2)).width == 3


def test_the_list_can_be_read_and_cleared() -> None:
    serialization = glasstorch.serialization
    before = serialization.get_safe_globals()  # torch.nested adds its class, once it is imported
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([Settings, (Restored, "another.place")])
    assert serialization.get_safe_globals() == [Settings, (Restored, "another.place")]
    with serialization.safe_globals([WithSlots]):
        assert len(serialization.get_safe_globals()) == 3
    assert WithSlots not in serialization.get_safe_globals()
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals(before)


def test_a_class_can_be_allowed_under_another_path() -> None:
    program = call(name("elsewhere.package", "Old"))
    with glasstorch.serialization.safe_globals([(Restored, "elsewhere.package.Old")]):
        assert isinstance(glasstorch.load(archive(program)), Restored)


@pytest.mark.parametrize(("given", "error"), [((Settings,), ValueError), ((Settings, 3), TypeError)])
def test_a_pair_is_a_class_and_a_path(torch: Any, given: Any, error: type[Exception]) -> None:
    with torch.serialization.safe_globals([given]), pytest.raises(error, match="Expected"):
        torch.load(saved(torch, made(Settings)))


def test_a_module_of_ours_is_allowed_by_its_class() -> None:
    kinds = [glasstorch.nn.Linear, glasstorch.nn.Sequential, OrderedDict, set]
    file = saved(glasstorch, glasstorch.nn.Sequential(glasstorch.nn.Linear(2, 1)))
    with glasstorch.serialization.safe_globals(kinds):
        loaded = glasstorch.load(file)
    assert loaded(glasstorch.ones(1, 2)).shape == (1, 1)


def test_blocked_modules_stay_blocked(torch: Any) -> None:
    with torch.serialization.safe_globals([(os.getpid, "os.getpid")]):
        with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL os.getpid whose module os is blocked"):
            torch.load(archive(call(name("os", "getpid"))))


def test_unsafe_names_in_a_file_are_listed_and_nothing_is_run(torch: Any) -> None:
    found = torch.serialization.get_unsafe_globals_in_checkpoint
    file = saved(torch, [made(Settings), torch.nn.Linear(1, 1), torch.ones(1)])
    assert sorted(found(file)) == [f"{HERE}.Settings", "torch.nn.modules.linear.Linear"]
    assert found(archive(OS_SYSTEM)) == ["os.system"]
    assert found(saved(torch, {"a": torch.ones(1)})) == []
    with torch.serialization.safe_globals([Settings]):
        file.seek(0)
        assert found(file) == ["torch.nn.modules.linear.Linear"]
    with pytest.raises(ValueError, match="Expected input to be a checkpoint returned by"):
        found(io.BytesIO(b"abc"))
    with pytest.raises(pickle.UnpicklingError, match="Unsupported operand 147"):
        found(archive(text("os") + text("system") + b"\x93"))


@pytest.mark.parametrize("value", ["1", "true", "YES"])
def test_the_environment_can_force_the_list(torch: Any, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", value)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(saved(torch, made(Settings)), weights_only=False)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", value)
    with pytest.raises(RuntimeError, match="should be set, but both were set"):
        torch.load(saved(torch, 1))


def test_the_environment_can_lift_the_list_where_a_program_does_not_ask_for_it(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "y")
    with pytest.warns(UserWarning, match="TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected"):
        assert torch.load(saved(torch, made(Settings))).rate == 0.5
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(saved(torch, made(Settings)), weights_only=True)


def test_another_protocol_is_warned_of(torch: Any) -> None:
    with pytest.warns(UserWarning, match="Detected pickle protocol 3 in the checkpoint"):
        assert torch.load(saved(torch, [1, (2,)], pickle_protocol=3)) == [1, (2,)]


def test_a_pickle_module_of_ones_own_is_not_safe(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        torch.load(saved(torch, 1), pickle_module=pickle, weights_only=True)
    assert torch.load(saved(torch, made(Settings)), pickle_module=pickle).rate == 0.5
    with pytest.warns(UserWarning, match="pickle_load_args only works if `weights_only=False`"):
        assert torch.load(saved(torch, 1), encoding="latin1") == 1


def test_the_machine_can_be_used_alone() -> None:
    assert weights_only.load(io.BytesIO(pickle.dumps({"a": [1, 2.5, (True, None)]}, protocol=2))) == {
        "a": [1, 2.5, (True, None)]
    }


@pytest.mark.parametrize("function", [pickle.dumps])
def test_strings_of_python_2_are_decoded(function: Callable[..., bytes]) -> None:
    program = b"(U\x02\xc3\xbcK\x01t"
    assert glasstorch.load(archive(program)) == ("ü", 1)
    assert weights_only.Unpickler(io.BytesIO(b"\x80\x02" + program + b".")).load() == (b"\xc3\xbc", 1)


def test_a_counter_and_an_ordered_dict_are_what_they_were(torch: Any) -> None:
    value = OrderedDict(a=Counter("aab"), b=[{1, (2, "x")}])
    value._metadata = {"version": 1}  # type: ignore[attr-defined]
    loaded = torch.load(saved(torch, value))
    assert (loaded, loaded._metadata) == (value, {"version": 1})
