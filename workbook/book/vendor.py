"""Which typefaces do the pages have, and where do they come from?

Nothing of other projects is in the repository. With Node.js, the typefaces are the woff2 files of npm's packages: the
versions and the sha256 of each package are in `vendor.json`, and the files are kept in an ignored folder. Without it
they are the TTF files of the Python packages that the book is installed with, unchanged: the pages look the same and
are heavier. Either way the licences go with the files, and no page ever asks another host for one.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from workbook.book.errors import BookError
from workbook.exercises.say import installation

PINS = Path(__file__).with_name("vendor.json")
CACHE = Path(".cache") / "book"
DOWNLOAD_TIMEOUT = 300  # seconds
FROM_NPM = "woff2 files from npm"
FROM_PYTHON = "TTF files of the Python packages"
ADDED = "the pages are whole; with Node.js and npm, which bring woff2 files, a page weighs 3 MB less"
# The same typefaces as unchanged TTF files: Python package, file in it, place below the site's `assets/vendor/`.
PYTHON_FILES = (
    ("fontpkg_source_serif_4", "files/SourceSerif4[opsz,wght].ttf", "fonts/serif-normal.ttf"),
    ("fontpkg_source_serif_4", "files/SourceSerif4-Italic[opsz,wght].ttf", "fonts/serif-italic.ttf"),
    ("fontpkg_source_serif_4", "LICENSE", "fonts/LICENSE-source-serif"),
    ("fontpkg_source_sans_3", "files/SourceSans3[wght].ttf", "fonts/sans-normal.ttf"),
    ("fontpkg_source_sans_3", "files/SourceSans3-Italic[wght].ttf", "fonts/sans-italic.ttf"),
    ("fontpkg_source_sans_3", "LICENSE", "fonts/LICENSE-source-sans"),
    ("fontpkg_source_code_pro", "files/SourceCodePro[wght].ttf", "fonts/mono-normal.ttf"),
    ("fontpkg_source_code_pro", "files/SourceCodePro-Italic[wght].ttf", "fonts/mono-italic.ttf"),
    ("fontpkg_source_code_pro", "LICENSE", "fonts/LICENSE-source-code"),
)


@dataclass(frozen=True, slots=True)
class Package:
    """One package of vendor.json, and where its files go below the site's `assets/vendor/`."""

    package: str
    version: str
    sha256: str
    files: dict[str, str]

    @property
    def title(self) -> str:
        """The package as npm names it, with its version."""
        return f"{self.package}@{self.version}"


@dataclass(frozen=True, slots=True)
class Vendored:
    """The files by their paths below `assets/vendor/`; and why they are not those of npm, if they are not."""

    files: Mapping[str, Path]
    missing: str = ""

    def style(self, woff2: str) -> str:
        """The style sheet of the typefaces, which is written for woff2 files, for the files that there are."""
        if not self.missing:
            return woff2
        return woff2.replace('.woff2") format("woff2")', '.ttf") format("truetype")')


def pinned_packages() -> tuple[Package, ...]:
    """The packages of vendor.json."""
    return tuple(Package(**entry) for entry in json.loads(PINS.read_text(encoding="utf-8")))


def place_of_npms(root: Path) -> Path:
    """The folder in which the files of npm's packages are kept, once they were fetched."""
    return root / CACHE / f"vendor-{hashlib.sha256(PINS.read_bytes()).hexdigest()[:12]}"


def vendored(root: Path) -> Vendored:
    """The files of npm's packages, fetched unless they are in the cache; or those of the Python packages."""
    folder = place_of_npms(root)
    missing = ""
    if not folder.is_dir():
        npm = shutil.which("npm")
        missing = "npm is not installed" if npm is None else fetch_all(npm, folder)
    if missing:
        return Vendored(files_of_python_packages(), missing)
    return Vendored({path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()})


def files_of_python_packages() -> dict[str, Path]:
    """The TTF files and their licences, where the installed packages keep them."""
    files = {}
    for package, name, place in PYTHON_FILES:
        found = find_spec(package)  # without importing it
        path = Path(found.origin).parent / name if found and found.origin else None
        if path is None or not path.is_file():
            raise BookError(
                f"the book's typefaces need {name} of the Python package {package}, which is not installed\n"
                f"  run: {installation('book')}"
            )
        files[place] = path
    return files


def said_of(missing: str) -> str:
    """One line or two: which typefaces the pages have, and what Node.js would add."""
    return f"typefaces: {FROM_PYTHON}, as {missing}\n  {ADDED}" if missing else f"typefaces: {FROM_NPM}"


def fetch_all(npm: str, folder: Path) -> str:
    """Fill the cache folder atomically. Returns why that failed, or nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetch-") as scratch:
        staged = Path(scratch) / "vendor"
        for package in pinned_packages():
            if problem := fetch(npm, package, Path(scratch), staged):
                return problem
        if not folder.exists():
            staged.rename(folder)
    return ""


def fetch(npm: str, package: Package, scratch: Path, target: Path) -> str:
    """Fetch one package through npm and unpack its files. Returns why that failed, or nothing."""
    command = [npm, "pack", "--silent", "--json", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", package.title]
    try:
        done = subprocess.run(
            command, cwd=scratch, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"npm did not deliver {package.title} within {DOWNLOAD_TIMEOUT} seconds"
    archives = list(scratch.glob("*.tgz"))
    if done.returncode or len(archives) != 1:
        return f"npm could not fetch {package.title} (is there a network?)"
    archive = archives[0]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != package.sha256:
        raise BookError(
            f"npm delivered another {package.title} than the one recorded\n  sha256 {digest}\n"
            f"  recorded {package.sha256} in {PINS.name}\n"
            "  find out why before you go on; if a new version is wanted, record both its version and its "
            "sha256"
        )
    unpack(archive, package, target)
    archive.unlink()
    return ""


def unpack(archive: Path, package: Package, target: Path) -> None:
    """Copy the package's chosen files out of its archive."""
    with tarfile.open(archive) as tar:
        members = {member.name.removeprefix("package/"): member for member in tar.getmembers() if member.isfile()}
        for pattern, place in package.files.items():
            chosen = fnmatch.filter(members, pattern)
            if not chosen:
                raise BookError(f"{package.title} holds no {pattern}\n  fix its entry in {PINS.name}")
            for name in chosen:
                stream = tar.extractfile(members[name])
                assert stream is not None, f"{name} is a file"
                destination = target / (place + Path(name).name if place.endswith("/") else place)
                destination.parent.mkdir(parents=True, exist_ok=True)
                destination.write_bytes(stream.read())
