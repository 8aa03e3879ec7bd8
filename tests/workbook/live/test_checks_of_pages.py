"""Does a check that a page has begun end with the page?"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from workbook.live import desk, gate
from workbook.live.checks import Checks
from workbook.serve import HOST, Desk, Server, bind, in_background

ROOT = Path(__file__).parents[3]
ENDLESS = """
import signal, sys, time
signal.signal(getattr(signal, "SIGBREAK", signal.SIGINT), signal.default_int_handler)  # as `workbook` does
try:
    open(sys.argv[1] + ".begun", "w").close()
    print("begun", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    open(sys.argv[1], "w").close()
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose check has no end."""
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "stopped")]
    monkeypatch.setattr(desk, "check_command", lambda root, name: (command, os.environ))
    made = bind(tmp_path, 0, tmp_path)
    with in_background(made):
        yield made
    assert (tmp_path / "stopped").exists(), "at the latest, a check ends with the server"


@contextmanager
def asking(server: Server) -> Iterator[socket.socket]:
    """A page that has asked for a check."""
    with socket.create_connection((HOST, server.port), timeout=300) as page:
        request = (
            f"POST {gate.DESK}/02.1/check HTTP/1.1", f"Host: {HOST}:{server.port}", "Content-Length: 0",
            f"Authorization: token {server.key}", "", "",
        )  # fmt: skip
        page.sendall("\r\n".join(request).encode())
        yield page


@pytest.fixture
def page(server: Server) -> Iterator[socket.socket]:
    """A page whose check has begun."""
    with asking(server) as page:
        told = b""
        while b"begun" not in told:
            told += page.recv(1 << 16)
        assert told.startswith(b"HTTP/1.1 200 ")
        yield page


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    while not path.exists():
        time.sleep(0.02)


def test_a_check_is_interrupted_when_its_page_is_closed(page: socket.socket, tmp_path: Path) -> None:
    page.close()
    wait_for(tmp_path / "stopped")


def test_a_check_that_begins_while_its_page_is_closed_is_interrupted(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, close, closed = Checks.begin, Desk.on_connection_close, threading.Event()

    async def slowly(checks: Checks, *arguments: Any) -> Any:
        process = await begin(checks, *arguments)
        while not (closed.is_set() and (tmp_path / "stopped.begun").exists()):
            await asyncio.sleep(0.02)
        return process

    def closing(handler: Desk) -> None:
        close(handler)
        closed.set()

    monkeypatch.setattr(Checks, "begin", slowly)
    monkeypatch.setattr(Desk, "on_connection_close", closing)
    with asking(server):
        wait_for(tmp_path / "stopped.begun")
    wait_for(tmp_path / "stopped")


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
