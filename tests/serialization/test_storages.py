"""Is each storage what its id says, read or mapped, in either byte order?"""

from __future__ import annotations

import io
import mmap
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.serialization.settings import LoadEndianness
from glasstorch.serialization.zip_writer import ArchiveWriter
from tests.serialization.exchange import facts, saved


def rewritten(file: io.BytesIO, **changed: bytes | None) -> io.BytesIO:
    """The archive with records left out (None) or replaced; a name's underscores stand for slashes."""
    with zipfile.ZipFile(file) as archive:
        records = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    records |= {name.replace("_", "/"): data for name, data in changed.items()}  # type: ignore[misc]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in records.items():
            if data is not None:
                archive.writestr(f"archive/{name}", data)
    made.seek(0)
    return made


def swapped(data: bytes, width: int) -> bytes:
    """Each element's bytes in reverse."""
    return b"".join(data[start : start + width][::-1] for start in range(0, len(data), width))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A file with a tensor and a view of it, and another tensor."""
    path = tmp_path / "checkpoint.pt"
    x = glasstorch.arange(1000.0)
    glasstorch.save({"x": x, "view": x[10:20], "y": glasstorch.ones(3, dtype=glasstorch.int16)}, path)
    return path


# Mapped files ---------------------------------------------------------------------------------------------------------


def test_a_mapped_file_has_the_same_tensors(torch: Any, checkpoint: Path) -> None:
    loaded = torch.load(checkpoint, mmap=True)
    assert facts(loaded) == facts(torch.load(str(checkpoint)))
    assert loaded["x"][10:].data_ptr() == loaded["view"].data_ptr()
    assert loaded["x"].data_ptr() % 64 == loaded["y"].data_ptr() % 64 == 0


def test_a_write_to_a_mapped_tensor_stays_in_memory(torch: Any, checkpoint: Path) -> None:
    before = checkpoint.read_bytes()
    loaded = torch.load(checkpoint, mmap=True)
    loaded["x"].fill_(7.0)
    assert loaded["view"].tolist() == [7.0] * 10
    assert checkpoint.read_bytes() == before
    assert torch.load(checkpoint, mmap=True)["x"][3] == 3


def test_a_write_to_a_shared_map_reaches_the_file(torch: Any, checkpoint: Path) -> None:
    serialization = torch.serialization
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        assert serialization.get_default_mmap_options() == mmap.MAP_SHARED
        torch.load(checkpoint, mmap=True)["x"].fill_(7.0)
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    assert torch.load(checkpoint, mmap=True)["x"].sum() == 7000
    with pytest.raises(ValueError, match=r"expected mmap\.MAP_PRIVATE or mmap\.MAP_SHARED, but got 77"):
        serialization.set_default_mmap_options(77)


def test_mapping_copies_nothing(tmp_path: Path) -> None:
    """The memory that belongs to the process alone, before and after: a copy would add the file's 64 MB."""
    path = tmp_path / "large.pt"
    glasstorch.save(glasstorch.ones(1 << 24), path)
    program = (
        "import sys, glasstorch\n"
        "def own():\n"
        "    lines = open('/proc/self/smaps_rollup').read().splitlines()\n"
        "    return sum(int(line.split()[1]) for line in lines if line.startswith('Anonymous:'))\n"
        "before = own()\n"
        "x = glasstorch.load(sys.argv[1], mmap=sys.argv[2] == 'map')\n"
        "assert x[::1024].sum() == 1 << 14\n"  # reads every page
        "print(own() - before)\n"
    )
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("the system does not say which memory belongs to a process alone")
    added = {}
    for way in ("map", "copy"):
        command = [sys.executable, "-c", program, str(path), way]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        added[way] = int(done.stdout) / 1024
    assert added["map"] < 16, "MB"
    assert added["copy"] > 60, "MB"


def test_a_map_outlives_the_name_of_its_file(checkpoint: Path) -> None:
    loaded = glasstorch.load(checkpoint, mmap=True)
    glasstorch.save({"x": glasstorch.zeros(1000)}, checkpoint)  # another file under the same name
    assert loaded["x"].sum() == 499500
    checkpoint.unlink()
    assert loaded["x"].sum() == 499500


def test_mapping_can_be_the_default(torch: Any, checkpoint: Path) -> None:
    config = torch.utils.serialization.config if torch is glasstorch else pytest.importorskip(CONFIG)
    config.load.mmap = True
    try:
        torch.load(checkpoint)["x"].fill_(1.0)
        with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
            torch.load(io.BytesIO(checkpoint.read_bytes()))
    finally:
        config.load.mmap = False
    torch.save(1, checkpoint, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        torch.load(checkpoint, mmap=True)


CONFIG = "torch.utils.serialization.config"


def test_what_does_not_begin_at_an_even_place_is_copied(tmp_path: Path) -> None:
    path = tmp_path / "packed.pt"
    content = zipfile.ZipFile(saved(glasstorch, glasstorch.arange(9.0))).read("archive/data.pkl")
    with open(path, "wb") as file:
        writer = ArchiveWriter(file, alignment=1)
        writer.write_record("data.pkl", content)
        writer.write_record("an odd name", b"x")
        writer.write_record("data/0", glasstorch.arange(9.0).numpy().tobytes())
        writer.finish()
    assert glasstorch.load(path, mmap=True).tolist() == list(range(9))


# The order of bytes ---------------------------------------------------------------------------------------------------


DTYPES = {"float32": 4, "float64": 8, "int16": 2, "uint8": 1, "complex64": 4, "bfloat16": 2, "bool": 1}


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_file_of_a_big_endian_machine_is_read(torch: Any, dtype: str) -> None:
    x = torch.tensor([0, 1, 1, 1]).to(getattr(torch, dtype))
    file = saved(torch, x)
    with zipfile.ZipFile(file) as archive:
        data = archive.read("archive/data/0")
    big = rewritten(file, byteorder=b"big", data_0=swapped(data, DTYPES[dtype]))
    assert glasstorch.load(big).tolist() == x.tolist()


@pytest.fixture
def default_order() -> Iterator[Callable[[Any], None]]:
    """Sets the order that is assumed of files, and takes it back."""
    yield glasstorch.serialization.set_default_load_endianness
    glasstorch.serialization.set_default_load_endianness(None)


def test_the_order_of_a_file_that_does_not_say_can_be_set(default_order: Callable[[Any], None]) -> None:
    file = rewritten(saved(glasstorch, glasstorch.tensor([1, 256], dtype=glasstorch.int16)), byteorder=None)
    expected = {None: [1, 256], LoadEndianness.LITTLE: [1, 256], LoadEndianness.BIG: [256, 1]}
    expected[LoadEndianness.NATIVE] = expected[
        LoadEndianness.LITTLE if sys.byteorder == "little" else LoadEndianness.BIG
    ]
    for order, numbers in expected.items():
        default_order(order)
        file.seek(0)
        assert glasstorch.serialization.get_default_load_endianness() is order
        assert glasstorch.load(file).tolist() == numbers, order


def test_another_order_is_refused(torch: Any) -> None:
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        torch.serialization.set_default_load_endianness("little")
    file = rewritten(saved(glasstorch, 1), byteorder=b"middle")
    with pytest.raises(ValueError, match=r"Unknown endianness type: b'middle'"):
        glasstorch.load(file)


# Checksums ------------------------------------------------------------------------------------------------------------


def test_checksums_can_be_left_out(torch: Any) -> None:
    serialization = torch.serialization
    assert serialization.get_crc32_options() is True
    serialization.set_crc32_options(False)
    try:
        data = bytearray(saved(torch, torch.zeros(64, dtype=torch.uint8)).getvalue())
    finally:
        serialization.set_crc32_options(True)
    data[data.index(bytes(64))] = 7
    assert torch.load(io.BytesIO(data)).sum() == 7, "nothing says that this byte was another"


def test_a_damaged_file_can_be_mapped(checkpoint: Path) -> None:
    data = bytearray(checkpoint.read_bytes())
    data[data.index(glasstorch.arange(20.0).numpy().tobytes()) + 2] = 0xFF
    checkpoint.write_bytes(data)
    assert glasstorch.load(checkpoint, mmap=True)["y"].tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="the record 'checkpoint/data/0' is damaged"):
        glasstorch.load(checkpoint)
