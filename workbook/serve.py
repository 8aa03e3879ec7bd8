"""How is the built book shown in a browser?"""

from __future__ import annotations

import errno
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
TRIES = 20  # ports after the wanted one, before the system is asked for any


class Pages(SimpleHTTPRequestHandler):
    """Serves one folder without logging, with the book's own page for missing ones."""

    # The system's own table decides otherwise, and on Windows it can call a script plain text.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".css": "text/css",
        ".ipynb": "application/json",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".svg": "image/svg+xml",
        ".woff2": "font/woff2",
    }

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because the terminal shows what to do next."""

    def end_headers(self) -> None:
        """Make the browser revalidate each page, so that a rebuilt book is seen at once."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the book's own page if a page is missing."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        content = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


class Server(ThreadingHTTPServer):
    """A server that refuses a port in use on every system; on Windows it would be shared."""

    allow_reuse_port = False
    daemon_threads = True


def bind(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server for the folder on this port, or the next free one, or any; it only accepts this machine."""
    handler = partial(Pages, directory=str(folder))
    for candidate in (*range(port, min(port + TRIES, 65536)), 0):
        try:
            return Server((HOST, candidate), handler)
        except OSError as error:
            if error.errno not in (
                errno.EADDRINUSE,
                errno.EACCES,
            ):  # EACCES: a port that the system keeps for itself
                raise
    raise AssertionError("port 0 is always free")
