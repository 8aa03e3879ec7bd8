"""Is a damaged file refused, with the name of the record that is damaged?"""

from __future__ import annotations

import io
import pickle
import random
import warnings
from typing import Any

import pytest

import glasstorch
from tests.serialization.exchange import facts, saved

REFUSALS = (RuntimeError, ValueError, EOFError, pickle.UnpicklingError, NotImplementedError, TypeError, KeyError)
ROUNDS = 1000


def checkpoint() -> Any:
    """A small checkpoint of several storages."""
    return {
        "model": {"weight": glasstorch.arange(24.0).view(4, 6), "bias": glasstorch.ones(4, dtype=glasstorch.float64)},
        "shared": [glasstorch.arange(9)] * 2,
        "epoch": 3,
        "name": "a run",
    }


def damaged(data: bytes, seed: int) -> bytes:
    """The file with a byte, a few, or a piece of it changed, cut off, left out or repeated."""
    chance = random.Random(seed)
    changed = bytearray(data)
    place = chance.randrange(len(data))
    match seed % 6:
        case 0 | 1:
            changed[place] ^= 1 << chance.randrange(8)
        case 2:
            for _ in range(chance.randrange(2, 20)):
                changed[chance.randrange(len(data))] = chance.randrange(256)
        case 3:
            del changed[place:]
        case 4:
            del changed[place : place + chance.randrange(1, 100)]
        case _:
            changed[place:place] = changed[place : place + chance.randrange(1, 100)]
    return bytes(changed)


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_thousand_damaged_checkpoints_are_refused_or_loaded_right(weights_only: bool) -> None:
    data = saved(glasstorch, checkpoint()).getvalue()
    expected = facts(checkpoint())
    loaded = 0
    for seed in range(ROUNDS):
        try:
            found = glasstorch.load(io.BytesIO(damaged(data, seed)), weights_only=weights_only)
        except REFUSALS:
            continue
        loaded += 1
        assert facts(found) == expected, f"seed {seed} is loaded wrongly"
    assert 0 < loaded < ROUNDS / 2, "what lies between the records may change without harm, and little else"


@pytest.mark.parametrize("old", [False, True])
def test_without_checksums_nothing_crashes(old: bool) -> None:
    glasstorch.serialization.set_crc32_options(False)
    try:
        data = saved(glasstorch, checkpoint(), _use_new_zipfile_serialization=not old).getvalue()
    finally:
        glasstorch.serialization.set_crc32_options(True)
    for seed in range(ROUNDS):
        try:
            with warnings.catch_warnings(action="ignore"):  # of the protocol
                glasstorch.load(io.BytesIO(damaged(data, seed)))
        except (*REFUSALS, LookupError, AttributeError):
            continue


@pytest.mark.parametrize("name", ["data.pkl", "byteorder", "data/0", "data/1", "data/2", "version"])
def test_the_error_names_the_damaged_record(name: str) -> None:
    data = bytearray(saved(glasstorch, checkpoint()).getvalue())
    start = data.index(f"archive/{name}FB".encode())
    start = -(-(start + len(f"archive/{name}") + 4) // 64) * 64
    data[start] ^= 1
    with pytest.raises(
        RuntimeError, match=rf"failed reading file {name}: the record 'archive/{name}' is damaged: its c"
    ):
        glasstorch.load(io.BytesIO(data))


def test_a_file_that_was_cut_off_names_the_last_record() -> None:
    data = saved(glasstorch, checkpoint()).getvalue()
    for name in ("data/1", "data/2"):
        start = data.index(f"archive/{name}FB".encode())
        with pytest.raises(
            RuntimeError, match=rf"failed finding central directory; the file ends in .* 'archive/{name}'"
        ):
            glasstorch.load(io.BytesIO(data[: start + 70]))


def test_torch_loads_a_changed_byte_and_ours_does_not(torch: Any) -> None:
    data = bytearray(saved(torch, torch.zeros(64, dtype=torch.uint8)).getvalue())
    data[data.index(bytes(64))] = 7
    if torch is not glasstorch:
        assert torch.load(io.BytesIO(data)).sum() == 7
    with pytest.raises(RuntimeError, match=r"'archive/data/0' is damaged: its checksum is [\da-f]{8} and should be"):
        glasstorch.load(io.BytesIO(data))


def test_a_damaged_storage_of_the_old_format_is_named() -> None:
    data = saved(glasstorch, glasstorch.ones(8), _use_new_zipfile_serialization=False).getvalue()
    with pytest.raises(RuntimeError, match="unexpected EOF, the file ends in the storage '0'"):
        glasstorch.load(io.BytesIO(data[:-3]))
    with pytest.raises(
        RuntimeError, match=r"the storage '0' has 9 elements of torch.float32 in the file, and 32 bytes"
    ):
        glasstorch.load(io.BytesIO(data.replace(b"\x08\0\0\0\0\0\0\0", b"\x09\0\0\0\0\0\0\0")))
    with pytest.raises(RuntimeError, match=r"the storage '0' should have .* bytes, more than the file holds"):
        glasstorch.load(
            io.BytesIO(data.replace(b"K\x08K\x00", b"J\x00\x00\x00\x70K\x00").replace(b"K\x08N", b"J\0\0\0pN"))
        )
