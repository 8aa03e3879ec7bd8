"""Does a check that a page has begun end with the page?"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbook.live import desk, gate
from workbook.serve import HOST, bind, in_background

ROOT = Path(__file__).parents[3]
ENDLESS = """
import signal, sys, time
signal.signal(getattr(signal, "SIGBREAK", signal.SIGINT), signal.default_int_handler)  # as `workbook` does
try:
    print("begun", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    open(sys.argv[1], "w").close()
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A page that has begun a check without an end."""
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "stopped")]
    monkeypatch.setattr(desk, "check_command", lambda root, name: (command, os.environ))
    server = bind(tmp_path, 0, tmp_path)
    with in_background(server), socket.create_connection((HOST, server.port), timeout=300) as connection:
        request = (
            f"POST {gate.DESK}/02.1/check HTTP/1.1", f"Host: {HOST}:{server.port}", "Content-Length: 0",
            f"Authorization: token {server.key}", "", "",
        )  # fmt: skip
        connection.sendall("\r\n".join(request).encode())
        told = b""
        while b"begun" not in told:
            told += connection.recv(1 << 16)
        assert told.startswith(b"HTTP/1.1 200 ")
        yield connection
    assert (tmp_path / "stopped").exists(), "at the latest, a check ends with the server"


def test_a_check_is_interrupted_when_its_page_is_closed(page: socket.socket, tmp_path: Path) -> None:
    page.close()
    while not (tmp_path / "stopped").exists():
        time.sleep(0.02)


def test_a_check_is_interrupted_when_the_server_ends(page: socket.socket, tmp_path: Path) -> None:
    assert not (tmp_path / "stopped").exists()
    assert page.fileno() >= 0, "its page is open"


def test_a_command_takes_an_interrupt_where_a_shell_lets_it_ignore_them() -> None:
    program = (
        "import signal, workbook.cli as cli; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        "cli.prepare(); signal.raise_signal(signal.SIGINT)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "KeyboardInterrupt" in done.stderr
