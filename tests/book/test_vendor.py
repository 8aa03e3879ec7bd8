"""Do the typefaces come whole, as they were recorded, and without npm from the Python packages?"""

from __future__ import annotations

import hashlib
import io
import re
import sys
import tarfile
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from workbook.book import vendor
from workbook.book.errors import BookError
from workbook.book.vendor import Package, pinned_packages, said_of, vendored
from workbook.exercises.say import installation

STYLE = 'src: url("vendor/fonts/serif-normal.woff2") format("woff2")'
CONTENTS = {
    "dist/a.js": b"a",
    "fonts/one.woff2": b"1",
    "fonts/two.woff2": b"2",
}
FILES = {"dist/a.js": "a/a.js", "fonts/*.woff2": "a/fonts/"}


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
        self.programs({"npm": self.delivering(self.archive)})

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


def test_the_chosen_files_are_unpacked(machine: Machine) -> None:
    found = vendored(machine.folder)
    assert found.missing == ""
    assert list(found.files) == ["a/a.js", "a/fonts/one.woff2", "a/fonts/two.woff2"]
    assert found.files["a/fonts/two.woff2"].read_bytes() == b"2"
    assert found.style(STYLE) == STYLE


def test_a_second_build_fetches_nothing(machine: Machine) -> None:
    vendored(machine.folder)
    machine.programs({})
    assert vendored(machine.folder).missing == ""


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ({}, "npm is not installed"),
        ({"npm": "raise SystemExit(1)"}, "npm could not fetch a@1.0 (is there a network?)"),
    ],
)
def test_without_npm_the_typefaces_are_those_of_the_python_packages_and_nothing_stays_behind(
    machine: Machine, programs: dict[str, str], said: str
) -> None:
    machine.programs(programs)
    found = vendored(machine.folder)
    assert found.missing == said
    assert said_of(found.missing).startswith(f"typefaces: TTF files of the Python packages, as {said}\n")
    assert not (machine.folder / ".cache" / "book").exists() or machine.cached() == []
    style = found.style((ROOT / "chapters" / "assets" / "fonts.css").read_text(encoding="utf-8"))
    named = set(re.findall(r'url\("vendor/(.*?)"\) format\("truetype"\)', style))
    assert named == {name for name in found.files if name.endswith(".ttf")}
    assert "woff2" not in style
    for name, path in found.files.items():
        content = path.read_bytes()
        assert content.startswith(b"\0\1\0\0") if name.endswith(".ttf") else b"SIL OPEN FONT LICENSE" in content


def test_every_family_has_its_licence_from_npm_and_from_python() -> None:
    from_npm = {place for package in pinned_packages() for place in package.files.values()}
    from_python = {place for _, _, place in vendor.PYTHON_FILES}
    assert {place.replace(".woff2", ".ttf") for place in from_npm} == from_python
    assert len([place for place in from_python if "LICENSE" in place]) == 3


def test_a_python_package_that_is_missing_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vendor, "find_spec", lambda name: None)
    with pytest.raises(BookError) as caught:
        vendor.files_of_python_packages()
    assert "SourceSerif4[opsz,wght].ttf of the Python package fontpkg_source_serif_4" in str(caught.value)
    assert str(caught.value).endswith(f"run: {installation('book')}")


def test_another_package_than_the_recorded_one_is_refused(machine: Machine) -> None:
    machine.programs({"npm": machine.delivering(archive_of({"dist/a.js": b"evil"}))})
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


def test_the_readme_says_of_node_what_the_build_says() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert vendor.FROM_PYTHON.replace("the ", "") in readme
    assert vendor.ADDED in readme
