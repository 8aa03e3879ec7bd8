"""Which files of other projects does the site need, and where do they come from?

KaTeX (mathematics), Mermaid (diagrams) and the Source typefaces come from npm when the book is first built:
the versions and the sha256 of each package are in `vendor.json`, the files are kept in an ignored folder, and
no page ever asks another host for them. Without node the book is built all the same: mathematics is shown as
text, diagrams as their source, and the reader's own fonts are used.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbook.book.errors import BookError

PINS = Path(__file__).with_name("vendor.json")
CACHE = Path(".cache") / "book"
DOWNLOAD_TIMEOUT = 300  # seconds
OLD_FONT_FORMATS = re.compile(r',url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)')


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
    """The folder of the files, and the node program that typesets mathematics; or the reason why there are none."""

    folder: Path | None
    node: str | None
    missing: str = ""

    def files(self) -> dict[str, Path]:
        """Each file by its path below `assets/vendor/`."""
        if self.folder is None:
            return {}
        return {
            path.relative_to(self.folder).as_posix(): path for path in sorted(self.folder.rglob("*")) if path.is_file()
        }


def pinned_packages() -> tuple[Package, ...]:
    """The packages of vendor.json."""
    return tuple(Package(**entry) for entry in json.loads(PINS.read_text(encoding="utf-8")))


def vendored(root: Path) -> Vendored:
    """The files, fetched unless they are in the cache; or what is missing for that."""
    folder = root / CACHE / f"vendor-{hashlib.sha256(PINS.read_bytes()).hexdigest()[:12]}"
    npm, node = shutil.which("npm"), shutil.which("node")
    missing = ""
    if node is None:
        missing = "node is not installed"
    elif not folder.is_dir():
        missing = "npm is not installed" if npm is None else fetch_all(npm, folder)
    if not missing:
        return Vendored(folder, node)
    return Vendored(None, None, missing)


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
                content = stream.read()
                if name.endswith(".css"):
                    content = OLD_FONT_FORMATS.sub("", content.decode()).encode()
                destination = target / (place + Path(name).name if place.endswith("/") else place)
                destination.parent.mkdir(parents=True, exist_ok=True)
                destination.write_bytes(content)
