"""Which oracles do the tests compare with, and how are they installed in CI?

A reader's `make test` installs no oracle and skips what needs one. With `CI=true` nothing may be missing.
Standard library only: `bootstrap.py` uses it before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from workbook.failures import told
from workbook.progress import run

TESTS = ("test", "test-all")
# Programs that the tests ask for, and the Debian packages that bring them. Without a font a page has no glyphs.
PROGRAMS = {
    "g++": ("g++",),
    "chromium": ("chromium", "fonts-liberation"),
    "node": ("nodejs",),
    "npm": ("npm",),
}


def in_ci() -> bool:
    """Whether this is CI, where no tool may be missing."""
    return os.environ.get("CI", "").lower() == "true"


def extras(target: str) -> tuple[str, ...]:
    """The extras with the oracles, if the target needs them."""
    return ("torch", "nvrtc", "tensorboard", "guests") if in_ci() and target in TESTS else ()


def install_tools(target: str) -> None:
    """Install the programs that the tests need, if CI runs on a Debian machine without them."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if not in_ci() or target not in TESTS or not missing:
        return
    if os.name == "nt" or shutil.which("apt-get") is None or os.geteuid() != 0:
        names = ", ".join(missing)
        print(f"CI=true, but apt-get cannot install the missing programs ({names}): tests will fail.", file=sys.stderr)
        return
    packages = [package for name in missing for package in PROGRAMS[name]]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        what = " ".join(["apt-get", arguments[0], *(packages if arguments[0] == "install" else ())])
        code, output = run(what, ["apt-get", *arguments], folder=Path("/"), environment=environment)
        if code != 0:
            raise told(what, output)
