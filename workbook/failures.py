"""What does a failed installation mean, and what should be done about it?

Standard library only: `bootstrap.py` uses it before anything is installed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

SYSTEM_WORDS = re.compile(r"\[(Errno|WinError) -?\d+\] [\w ,.]+")


class SetupError(Exception):
    """The workbook cannot be set up. The message says what was tried, why it failed, and what to do."""


class Cause(NamedTuple):
    """One usual reason why an installation fails."""

    name: str
    signs: tuple[str, ...]  # any of these in the output gives it away
    advice: str


# The first cause whose sign is found is told: what the machine lacks comes before what follows from it.
CAUSES = (
    Cause(
        "the disk is full",
        ("No space left on device", "[Errno 28]", "not enough space on the disk", "Disk quota exceeded"),
        "Free about 1 GB (also in the folder for temporary files, TMPDIR), then run the same command again.",
    ),
    Cause(
        "no permission to write",
        ("[Errno 13]", "[Errno 30]", "Permission denied", "Read-only file system", "[WinError 5]"),
        "Give yourself write permission for this folder, or clone into your home folder,\n"
        "then run the same command again.",
    ),
    Cause(
        "this Python cannot make virtual environments",
        (
            "ensurepip is not available",
            "No module named ensurepip",
            "No module named venv",
            "No module named pip",
        ),
        "On Debian and Ubuntu: sudo apt install python3-venv. Elsewhere: install Python from python.org.\n"
        "Then run the same command again.",
    ),
    Cause(
        "the certificate of the package index was not accepted",
        ("CERTIFICATE_VERIFY_FAILED", "SSLCertVerificationError"),
        "Something between you and the index signs with its own certificate: point PIP_CERT to that file,\n"
        "then run the same command again.",
    ),
    Cause(
        "the package index could not be reached",
        (
            "NewConnectionError",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "ProxyError",
            "ConnectionResetError",
            "Network is unreachable",
            "Temporary failure in name resolution",
            "getaddrinfo failed",
            "NameResolutionError",
        ),
        "Check the network (behind a proxy, set HTTPS_PROXY), then run the same command again.",
    ),
    Cause(
        "a package has no version for this Python or this machine",
        ("No matching distribution found", "requires a different Python", "ResolutionImpossible"),
        "Another Python, 3.11 or newer, may work, for example: make study PYTHON=python3.12",
    ),
    Cause(
        "the installer was stopped from outside",
        ("Killed", "MemoryError", "Cannot allocate memory"),
        "It may have run out of memory: close other programs, then run the same command again.",
    ),
)
UNKNOWN = Cause("the installer failed", (), "Read its last lines above, then run the same command again.")


def cause_of(output: str) -> Cause:
    """The cause that the output of a failed command indicates."""
    text = " ".join(output.split())  # a sign may be broken across two lines
    return next((cause for cause in CAUSES if any(sign in text for sign in cause.signs)), UNKNOWN)


def told(what: str, output: str, log: Path | None = None) -> SetupError:
    """The error that a reader is shown: what was tried, the cause, the lines that show it, and what to do."""
    cause = cause_of(output)
    lines = [f"{what}: {cause.name}."]
    lines += [f"  {line}" for line in telling_lines(output, cause)]
    lines.append(cause.advice)
    if log is not None:
        lines.append(f"The whole output is in {log}.")
    return SetupError("\n".join(lines))


def telling_lines(output: str, cause: Cause) -> list[str]:
    """At most three lines of the output: those that show the cause, or the errors if it is unknown."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.upper().startswith(("ERROR", "FATAL", "E: "))]
    signs = [line for line in lines if any(sign in line for sign in cause.signs)]
    shown = [line for line in signs if line in errors] or signs[-1:]
    if cause is UNKNOWN:
        shown = errors or lines
    return [shortened(line) for line in shown[-3:]]


def shortened(line: str) -> str:
    """The part of a line that helps a reader: for a failed connection, the system's message.

    >>> shortened("WARNING: Retrying (total=0) after 'NewConnectionError: [Errno 111] Connection refused'")
    '[Errno 111] Connection refused'
    """
    system = SYSTEM_WORDS.search(line) if line.startswith("WARNING: Retrying") else None
    return system.group() if system else line[:160]
