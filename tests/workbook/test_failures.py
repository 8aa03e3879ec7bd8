"""Is each usual failure of an installation told by its cause?"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbook.failures import CAUSES, UNKNOWN, cause_of, told

# What pip, venv and the system really print.
REFUSED = (
    "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError("
    "'<HTTPSConnection at 0x7f>: Failed to establish a new connection: [Errno 111] Connection refused')': /\n"
    "ERROR: Could not find a version that satisfies the requirement hatchling>=1.27 (from versions: none)\n"
    "ERROR: No matching distribution found for hatchling>=1.27\n"
)
SHOWN = {
    "the disk is full": "ERROR: Could not install: an OSError: [Errno 28] No space left on device\n",
    "no permission to write": "Error: [Errno 30] Read-only file system: '/x/.venv'\n",
    "this Python cannot make virtual environments": (
        "The virtual environment was not created successfully because ensurepip is not\navailable.\n"
    ),
    "the certificate of the package index was not accepted": (
        "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] self-signed'))\n"
    ),
    "the package index could not be reached": REFUSED,
    "a package has no version for this Python or this machine": (
        "ERROR: No matching distribution found for torch==2.13.*\n"
    ),
    "the installer was stopped from outside": "Killed\n",
    UNKNOWN.name: "ERROR: something new\n",
}


@pytest.mark.parametrize("name", [cause.name for cause in (*CAUSES, UNKNOWN)])
def test_a_failure_is_told_by_its_cause(name: str) -> None:
    assert cause_of(SHOWN[name]).name == name


def test_the_message_has_what_was_tried_the_cause_its_words_and_the_remedy(tmp_path: Path) -> None:
    assert str(told("Installing the library", REFUSED, tmp_path / "log")).splitlines() == [
        "Installing the library: the package index could not be reached.",
        "  [Errno 111] Connection refused",
        "Check the network (behind a proxy, set HTTPS_PROXY), then run the same command again.",
        f"The whole output is in {tmp_path / 'log'}.",
    ]


def test_an_unknown_failure_shows_its_errors() -> None:
    text = str(told("Installing", "Collecting a\nERROR: something new\nbye\n"))
    assert text.splitlines()[:2] == ["Installing: the installer failed.", "  ERROR: something new"]


def test_an_unknown_failure_without_errors_shows_its_end() -> None:
    text = str(told("Installing", "one\ntwo\nthree\nfour\n"))
    assert text.splitlines()[1:4] == ["  two", "  three", "  four"]
