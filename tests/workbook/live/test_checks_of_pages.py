"""Does a check that a page has begun end with the page?"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from workbook.live import desk, gate
from workbook.serve import HOST, bind, in_background

ENDLESS = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background
print("begun", flush=True)
try:
    time.sleep(600)
except KeyboardInterrupt:
    open(sys.argv[1], "w").close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, only `workbook` itself takes Ctrl-Break as Ctrl-C")
def test_a_check_is_interrupted_when_its_page_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = tmp_path / "stopped"
    command = [sys.executable, "-c", ENDLESS, str(stopped)]
    monkeypatch.setattr(desk, "check_command", lambda root, name: (command, os.environ))
    server = bind(tmp_path, 0, tmp_path)
    with in_background(server):
        with socket.create_connection((HOST, server.port), timeout=300) as page:
            request = (
                f"POST {gate.DESK}/02.1/check HTTP/1.1", f"Host: {HOST}:{server.port}", "Content-Length: 0",
                f"Authorization: token {server.key}", "", "",
            )  # fmt: skip
            page.sendall("\r\n".join(request).encode())
            told = b""
            while b"begun" not in told:
                told += page.recv(1 << 16)
            assert told.startswith(b"HTTP/1.1 200 ")
        while not stopped.exists():
            time.sleep(0.02)
