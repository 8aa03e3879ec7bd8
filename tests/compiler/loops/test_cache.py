"""Machine code is kept: it is compiled once, bounded, rebuilt where damaged, and never taken from others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import glasstorch as torch
from glasstorch.compiler.loops import backend, cache, machine_code
from glasstorch.compiler.loops.backend import CompiledFxGraph
from glasstorch.devices import cpp_compiler
from glasstorch.devices.cpp_compiler import CompileError
from glasstorch.fx.experimental.proxy_tensor import make_fx

X = torch.arange(6, dtype=torch.float32)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path))
    backend.tell_once.cache_clear()
    return tmp_path / "compiled"


def run() -> None:
    compiled = CompiledFxGraph(make_fx(lambda x: x * 3 + 1, tracing_mode="fake")(X))
    assert torch.equal(compiled([X])[0], X * 3 + 1)


def count_builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    built: list[Path] = []
    build = cpp_compiler.build

    def counted(text: str, options: tuple[str, ...], path: Path, **others: object) -> None:
        built.append(path)
        build(text, options, path, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(cache, "build", counted)
    return built


def test_the_same_graph_is_compiled_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = count_builds(monkeypatch)
    run()
    run()
    assert len(built) == 1
    assert [path.name for path in place.iterdir()] == [built[0].name]


@pytest.mark.parametrize("damage", [b"", b"no library", None])
def test_a_damaged_file_is_compiled_again(damage: bytes | None, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    (path,) = place.iterdir()
    content = path.read_bytes()
    path.unlink()  # the library that is loaded keeps its own
    path.write_bytes(content[: len(content) // 2] if damage is None else damage)
    built = count_builds(monkeypatch)
    run()
    assert built == [path]
    assert cache.is_whole(path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="only POSIX has owners")
def test_a_folder_that_others_can_write_to_is_not_used(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)
    with pytest.warns(UserWarning, match="to which others can write; `chmod 700` it"):
        run()
    assert list(place.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="only POSIX has owners")
def test_a_file_that_others_can_write_to_is_compiled_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    (path,) = place.iterdir()
    path.chmod(0o666)
    built = count_builds(monkeypatch)
    run()
    assert built == [path]
    assert not path.stat().st_mode & 0o022


def test_what_was_not_used_for_longest_goes_first(place: Path) -> None:
    place.mkdir()
    paths = [place / f"{i}.so" for i in range(4)]
    for i, path in enumerate(paths):
        path.write_bytes(b"x" * 100)
        os.utime(path, (i, i))
    cache.prune(place, keep=paths[0], most=250)
    assert sorted(path.name for path in place.iterdir()) == ["0.so", "3.so"]


def test_a_compiler_that_fails_or_hangs_is_replaced_by_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cpp_compiler.compiler.cache_clear()
    try:
        for name, does, told in [
            ("fails", "echo no such option >&2; exit 1", "no such option"),
            ("hangs", "exec sleep 60", "took longer than"),
        ]:
            fake = tmp_path / name
            fake.write_text(f"#!/bin/sh\n{does}\n")
            fake.chmod(0o700)
            monkeypatch.setenv("CXX", str(fake))
            monkeypatch.setattr(cache, "TIMEOUT", 0.5)
            cpp_compiler.compiler.cache_clear()
            with pytest.warns(UserWarning, match=f"run in NumPy instead of C[+][+]: .*{told}"):
                run()
    finally:
        monkeypatch.undo()
        cpp_compiler.compiler.cache_clear()


def test_two_processes_that_need_the_same_code(place: Path) -> None:
    program = (
        "import glasstorch as torch\n"
        "from glasstorch._inductor.compile_fx import compile_fx\n"
        "x = torch.ones(3)\n"
        "print(compile_fx(lambda x: [x.exp() * 7], [x])(x)[0].sum().item())\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate(timeout=120)[0] for process in both]
    assert printed[0] == printed[1]
    assert float(printed[0]) == pytest.approx(57.0839)
    assert len(list(place.glob("*.so"))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_forked_process_computes_in_one_thread() -> None:
    large = torch.ones(300_000)
    compiled = CompiledFxGraph(make_fx(lambda x: x * 3 + 1, tracing_mode="fake")(large))
    compiled([large])
    child = os.fork()
    if child == 0:
        right = machine_code.threads() == 1 and torch.equal(compiled([large])[0], large * 4)
        os._exit(0 if right else 1)
    for _ in range(600):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        time.sleep(0.1)
    assert found, "the child hangs"
    assert status == 0


def test_a_file_that_is_no_library_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("text")
    with pytest.raises(CompileError, match="cannot be loaded"):
        machine_code.load(path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="only POSIX has owners")
def test_a_folder_below_one_that_others_can_change_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_to_all = tmp_path / "open"
    place = open_to_all / "mine"
    place.mkdir(parents=True)
    monkeypatch.setenv("GLASSTORCH_CACHE", str(place))
    open_to_all.chmod(0o777)
    for read in (cache.folder, lambda: cpp_compiler.library("int x;", (), "kernels")):
        with pytest.raises(CompileError, match="open, in which others can put another folder in the place of yours"):
            read()
    open_to_all.chmod(0o1777)  # as /tmp is: only the owner may rename
    assert cache.folder() == place / "compiled"


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="only POSIX has groups of processes")
def test_a_compiler_that_takes_too_long_leaves_no_process(tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    started = time.monotonic()
    with pytest.raises(CompileError, match="took longer than"):
        cpp_compiler.run(["/bin/sh", "-c", f"(sleep 1; touch {ends}) & wait"], timeout=0.2)
    assert time.monotonic() - started < 1
    time.sleep(1)
    assert not ends.exists()


def test_what_a_killed_process_has_left_goes(place: Path) -> None:
    place.mkdir()
    for name, age in (("old.lock", 4000), ("new.lock", 0)):
        (place / name).touch()
        os.utime(place / name, (time.time() - age,) * 2)
    (place / "tmpabc").mkdir()
    (place / "tmpabc" / "kernel.cpp").touch()
    os.utime(place / "tmpabc", (0, 0))
    cache.prune(place, keep=place / "none.so")
    assert [path.name for path in place.iterdir()] == ["new.lock"]


def test_one_reason_is_told_once() -> None:
    texts = [f"/home/tmp{number}/kernel.cpp:{number}:3: error: no such thing\nand more" for number in (1, 2)]
    with pytest.warns(UserWarning, match="the source: error: no such thing") as told:
        list(map(backend.tell, texts))
    assert len(told) == 1
