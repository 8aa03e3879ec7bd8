"""Do the vendored files come whole or not at all, and only as they were recorded?"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from pathlib import Path

import pytest

from workbook.book import vendor
from workbook.book.errors import BookError
from workbook.book.vendor import Package, pinned_packages, vendored

CONTENTS = {
    "dist/a.js": b"a",
    "dist/a.css": b'src:url(f.woff2) format("woff2"),url(f.woff) format("woff"),url(f.ttf) format("truetype")',
    "fonts/one.woff2": b"1",
    "fonts/two.woff2": b"2",
}
FILES = {"dist/a.js": "a/a.js", "dist/a.css": "a/a.css", "fonts/*.woff2": "a/fonts/"}


def archive_of(contents: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


class Machine:
    """A machine whose npm delivers what a test wants."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        self.archive = archive_of(CONTENTS)
        self.pin(Package("a", "1.0", hashlib.sha256(self.archive).hexdigest(), FILES))
        self.programs({"node": "print()", "npm": self.delivering(self.archive)})

    def pin(self, *packages: Package) -> None:
        self.monkeypatch.setattr(vendor, "pinned_packages", lambda: packages)

    def delivering(self, archive: bytes) -> str:
        source = self.folder / "delivery"
        source.write_bytes(archive)
        return f"import shutil; shutil.copy({str(source)!r}, 'a-1.0.tgz'); print('[]')"

    def programs(self, scripts: dict[str, str]) -> None:
        paths = {}
        for name, script in scripts.items():
            paths[name] = self.folder / name
            paths[name].write_text(f"#!{sys.executable}\n{script}\n", encoding="utf-8")
            paths[name].chmod(0o755)
        self.monkeypatch.setattr(vendor.shutil, "which", lambda name: str(paths[name]) if name in paths else None)

    def cached(self) -> list[str]:
        return sorted(path.name.partition("-")[0] for path in (self.folder / ".cache" / "book").iterdir())


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    if sys.platform == "win32":
        pytest.skip("the made-up npm is a script with an interpreter line")
    return Machine(tmp_path, monkeypatch)


def test_the_chosen_files_are_unpacked_and_old_font_formats_dropped(machine: Machine) -> None:
    found = vendored(machine.folder)
    assert found.missing == ""
    assert list(found.files()) == ["a/a.css", "a/a.js", "a/fonts/one.woff2", "a/fonts/two.woff2"]
    assert found.files()["a/a.css"].read_text() == 'src:url(f.woff2) format("woff2")'


def test_a_second_build_fetches_nothing(machine: Machine) -> None:
    vendored(machine.folder)
    machine.programs({"node": "print()"})
    assert vendored(machine.folder).missing == ""


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ({}, "node is not installed"),
        ({"node": "print()"}, "npm is not installed"),
        ({"node": "print()", "npm": "raise SystemExit(1)"}, "npm could not fetch a@1.0 (is there a network?)"),
    ],
)
def test_what_is_missing_is_said_and_nothing_stays_behind(
    machine: Machine, programs: dict[str, str], said: str
) -> None:
    machine.programs(programs)
    found = vendored(machine.folder)
    assert (found.folder, found.missing, found.files()) == (None, said, {})
    assert not (machine.folder / ".cache" / "book").exists() or machine.cached() == []


def test_another_package_than_the_recorded_one_is_refused(machine: Machine) -> None:
    machine.programs({"node": "print()", "npm": machine.delivering(archive_of({"dist/a.js": b"evil"}))})
    with pytest.raises(BookError, match=r"npm delivered another a@1\.0 than the one recorded"):
        vendored(machine.folder)
    assert machine.cached() == []


def test_a_package_without_a_wanted_file_is_refused(machine: Machine) -> None:
    machine.pin(Package("a", "1.0", hashlib.sha256(machine.archive).hexdigest(), {"dist/b.js": "b.js"}))
    with pytest.raises(BookError, match=r"a@1\.0 holds no dist/b\.js"):
        vendored(machine.folder)


def test_every_pin_is_complete() -> None:
    for package in pinned_packages():
        assert len(package.sha256) == 64
        assert package.version[0].isdigit()
        assert "LICENSE" in package.files
