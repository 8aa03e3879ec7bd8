"""Is CUDA C++ compiled once, told apart by all that matters, and refused with the compiler's words?"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from glasstorch.devices.simulator import compiler
from glasstorch.devices.simulator.errors import CompileError
from glasstorch.devices.simulator.module import SimModule

SOURCE = 'extern "C" __global__ void f(int* y) {\n  y[0] = 1;\n}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, with the runtime's library as its only file."""
    library = Path(compiler.runtime_library()._name)
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path))
    place = compiler.cache_folder()
    shutil.copy(library, place)
    return place


def compiled(folder: Path) -> list[str]:
    """The libraries of kernels in the cache; nothing else is left there."""
    runtime = Path(compiler.runtime_library()._name).name
    return sorted(file.name for file in folder.iterdir() if file.name != runtime)


def test_the_cache_lies_where_the_user_says(folder: Path, tmp_path: Path) -> None:
    SimModule(SOURCE, "f.cu")
    assert folder == tmp_path / "simulator"
    assert len(compiled(folder)) == 1


def test_the_cache_lies_below_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLASSTORCH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(compiler.sys, "platform", "linux")
    assert compiler.cache_folder() == tmp_path / "glasstorch" / "simulator"


def test_a_cache_that_cannot_be_made_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path / "file"))
    words = r"compiled kernels are kept in .*file.simulator, which cannot be written \(.+\); let GLASSTORCH_CACHE name"
    with pytest.raises(CompileError, match=words):
        SimModule(SOURCE, "f.cu")


def test_a_cache_that_cannot_be_written_is_said_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    monkeypatch.setattr(compiler, "cache_folder", lambda: gone)
    with pytest.raises(CompileError, match=r"compiled kernels are kept in .*gone, which cannot be written"):
        SimModule(SOURCE, "f.cu")
    with pytest.raises(CompileError, match=r"compiled kernels are kept in .*gone, which cannot be written"):
        SimModule(SOURCE, "f.cu", options=["-I."])


def test_what_was_compiled_is_not_compiled_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SimModule(SOURCE, "f.cu")

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(f"ran {arguments}")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert SimModule(SOURCE, "f.cu").path == first.path


def test_text_file_options_and_mode_make_different_libraries(folder: Path) -> None:
    SimModule(SOURCE, "f.cu")
    SimModule(SOURCE + " ", "f.cu")
    SimModule(SOURCE, "g.cu")
    SimModule(SOURCE, "f.cu", options=["-DN=1"])
    SimModule(SOURCE, "f.cu", check=True)
    assert len(compiled(folder)) == 5


@pytest.mark.parametrize("files", [compiler.RUNTIME, compiler.HEADERS])
def test_our_files_and_the_compiler_are_part_of_the_name(
    files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fingerprint() -> str:
        return compiler.fingerprint.__wrapped__(files)

    before = fingerprint()
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(compiler.FOLDER / name, tmp_path / name)
    monkeypatch.setattr(compiler, "FOLDER", tmp_path)
    assert fingerprint() == before
    for name in files:
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_text("// another\n", encoding="utf-8")
        assert fingerprint() != before
        (tmp_path / name).write_bytes(kept)
    monkeypatch.setattr(compiler, "compiler", lambda: shutil.which("true"))
    assert fingerprint() != before


def test_what_decides_how_code_looks_makes_another_library(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SimModule(SOURCE, "f.cu")
    monkeypatch.setattr(compiler, "fingerprint", lambda files: "another machine")
    SimModule(SOURCE, "f.cu")
    assert len(compiled(folder)) == 2


def test_all_files_of_the_simulator_are_part_of_a_name() -> None:
    files = {file.name for file in compiler.FOLDER.rglob("*") if file.suffix in (".h", ".cpp")}
    assert files == {Path(name).name for name in (*compiler.RUNTIME, *compiler.HEADERS)}


def test_a_header_of_the_users_that_changed_is_compiled_again(folder: Path, tmp_path: Path) -> None:
    source = '#include "users.h"\n' + SOURCE
    for text in ("int one;\n", "int two;\n", "int one;\n"):
        (tmp_path / "users.h").write_text(text, encoding="utf-8")
        SimModule(source, "f.cu", options=[f"-I{tmp_path}"])
    assert len(compiled(folder)) == 2


def test_an_error_names_the_line_of_the_kernels_file(folder: Path) -> None:
    with pytest.raises(CompileError) as error:
        SimModule('extern "C" __global__ void f(int* y) {\n  int a = 1;\n  y[0] = b;\n}\n', "mistaken.cu")
    assert "mistaken.cu:3:" in str(error.value)
    assert "'b' was not declared" in str(error.value) or "undeclared identifier 'b'" in str(error.value)
    assert compiled(folder) == []


def test_a_source_without_a_kernel_is_refused() -> None:
    with pytest.raises(CompileError, match=r"empty\.cu: no kernel: expected `extern \"C\" __global__ void name"):
        SimModule("__global__ void f() {}", "empty.cu")


def test_a_machine_without_a_compiler_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CompileError, match=r"none was found .*`apt install g\+\+`, `brew install gcc`.*conda install"):
        compiler.compiler.__wrapped__()


def test_cxx_names_another_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "other-compiler")
    monkeypatch.setattr(shutil, "which", lambda name: f"{os.sep}bin{os.sep}{name}")
    assert compiler.compiler.__wrapped__() == f"{os.sep}bin{os.sep}other-compiler"
