"""Is C++ compiled once, told apart by all that matters, and refused with the compiler's words?"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from glasstorch.devices import cpp_compiler
from glasstorch.devices.cpp_compiler import CompileError, library, machine

SOURCE = 'extern "C" int seven() { return SEVEN; }\n'
OPTIONS = ("-fPIC", "-DSEVEN=7")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path))
    return tmp_path / "part"


def test_a_library_has_what_the_text_defines() -> None:
    assert ctypes.CDLL(str(library(SOURCE, OPTIONS, "part"))).seven() == 7


def test_what_was_compiled_is_not_compiled_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = library(SOURCE, OPTIONS, "part")
    monkeypatch.setattr(subprocess, "run", None)
    assert library(SOURCE, OPTIONS, "part") == first
    assert list(folder.iterdir()) == [first]


def test_text_options_and_machine_make_different_libraries(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = {library(SOURCE, OPTIONS, "part"), library(SOURCE + " ", OPTIONS, "part")}
    paths.add(library(SOURCE, (*OPTIONS, "-O1"), "part"))
    monkeypatch.setattr(cpp_compiler, "machine", lambda command: b"another")
    paths.add(library(SOURCE, OPTIONS, "part"))
    assert set(folder.iterdir()) == paths
    assert len(paths) == 4


def test_a_refusal_has_the_compilers_words_and_leaves_nothing(folder: Path) -> None:
    with pytest.raises(CompileError, match="SEVEN"):
        library(SOURCE, ("-fPIC",), "part")
    assert list(folder.iterdir()) == []


def test_the_compiler_is_part_of_what_a_machine_is(tmp_path: Path) -> None:
    other = tmp_path / "compiler"
    other.write_text("another")
    assert machine(str(other)) != machine(cpp_compiler.compiler())


def test_a_damaged_library_can_be_made_anew() -> None:
    path = library(SOURCE, OPTIONS, "part")
    path.write_text("damaged")
    assert library(SOURCE, OPTIONS, "part") == path
    assert path.read_bytes() == b"damaged"
    assert ctypes.CDLL(str(library(SOURCE, OPTIONS, "part", anew=True))).seven() == 7


def test_a_user_without_a_home_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("GLASSTORCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(CompileError, match=r"this user has none; let GLASSTORCH_CACHE name a folder"):
        library(SOURCE, OPTIONS, "part")


@pytest.mark.parametrize(
    ("platform", "folder"), [("linux", ".cache/glasstorch/part"), ("darwin", "Library/Caches/glasstorch/part")]
)
def test_without_a_name_the_cache_lies_below_the_home(
    platform: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GLASSTORCH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(cpp_compiler.sys, "platform", platform)
    assert cpp_compiler.cache_folder("part") == tmp_path / folder
