"""How is the built book shown in a browser?"""

from __future__ import annotations

import errno
import json
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from workbook.predictions import pages

HOST = "127.0.0.1"
TRIES = 20  # ports after the wanted one, before the system is asked for any


class Pages(SimpleHTTPRequestHandler):
    """Serves one folder without logging, with the book's own page for missing ones, and the record of predictions.

    `book` is the clone whose record is read and written; without it there is none.
    """

    def __init__(self, *args: Any, book: Path | None = None, **kwargs: Any) -> None:
        self.book = book  # first: the base class answers the request while it is initialised
        super().__init__(*args, **kwargs)

    # The system's own table decides otherwise, and on Windows it can call a script plain text.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".css": "text/css",
        ".ipynb": "application/json",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".svg": "image/svg+xml",
        ".woff2": "font/woff2",
    }

    def do_GET(self) -> None:
        """Serve a file, or the predictions."""
        if self.book is None or self.path != pages.PATH:
            super().do_GET()
        else:
            self.tell(pages.refuse_strangers(dict(self.headers), writes=False) or pages.read(self.book))

    def do_POST(self) -> None:
        """Record predictions."""
        if self.book is None or self.path != pages.PATH:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        if (refusal := pages.refuse_strangers(dict(self.headers), writes=True)) is not None:
            self.tell(refusal)
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > pages.LARGEST:
            self.pass_over(int(length) if length.isdecimal() else 0)
            why = f"The request is larger than {pages.LARGEST >> 20} MiB, or does not say its length."
            self.tell(pages.refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why))
            return
        self.tell(pages.write(self.book, self.rfile.read(int(length))))

    def pass_over(self, size: int) -> None:
        """Read a body and keep nothing of it: who still sends cannot read the answer."""
        while size > 0 and (piece := self.rfile.read(min(size, pages.LARGEST))):
            size -= len(piece)

    def tell(self, answer: pages.Answer) -> None:
        """Answer with JSON."""
        status, table = answer
        content = json.dumps(table).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

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


def bind(folder: Path, port: int, book: Path | None = None) -> ThreadingHTTPServer:
    """A server for the folder on this port, or the next free one, or any; it only accepts this machine.

    With `book`, the clone, predictions that are committed on its pages are recorded there.
    """
    handler = partial(Pages, directory=str(folder), book=book)
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
