"""What do the tests compare with, and how does it get onto a CI machine?

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
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DEBIAN_PACKAGES = ("chromium", "fonts-liberation")  # without a font a page has no glyphs


def in_ci() -> bool:
    """Whether this is CI, where no tool may be missing."""
    return os.environ.get("CI", "").lower() == "true"


def extras(target: str) -> tuple[str, ...]:
    """The extras that hold the oracles, where the target wants them."""
    return ("torch",) if in_ci() and target in TESTS else ()


def install_tools(target: str) -> None:
    """Install the browser that the site is looked at with, where CI runs on a Debian machine without one."""
    if not in_ci() or target not in TESTS or any(shutil.which(name) for name in BROWSERS):
        return
    if shutil.which("apt-get") is None or os.name == "nt" or os.geteuid() != 0:
        print(
            "CI=true, but there is no chromium and apt-get cannot install one here: its tests will fail.",
            file=sys.stderr,
        )
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    output = ""
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *DEBIAN_PACKAGES]):
        code, printed = run(f"apt-get {command[0]}", ["apt-get", *command], folder=Path("/"), environment=environment)
        output += printed
    if code != 0:
        raise told("Installing chromium", output)
