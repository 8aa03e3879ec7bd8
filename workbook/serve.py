"""How is the built book shown in a browser, and what else does its server answer?

The pages are files. Beside them stand the record of predictions (`workbook/predictions/pages.py`), the reader's answers
and the kernels that run a page's cells (`workbook/live/`). Jupyter's server is loaded while the first page is read, and
answers at the same address, so that a page needs no leave to talk to another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib
import json
import logging
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tornado import httputil, routing, web
from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError

from workbook.exercises.process import interrupt
from workbook.live import desk, gate
from workbook.live.checks import Checks
from workbook.live.opening import new_key
from workbook.live.quotation import quotation
from workbook.predictions import pages
from workbook.predictions.pages import Answer, refuse_strangers, refused

if TYPE_CHECKING:
    from workbook.live.kernels import Kernels

HOST = "127.0.0.1"
TRIES = 20  # ports after the wanted one, before the system is asked for any
TYPES = {".css": "text/css", ".ipynb": "application/json", ".js": "text/javascript", ".mjs": "text/javascript",
         ".svg": "image/svg+xml", ".ttf": "font/ttf", ".woff2": "font/woff2"}  # fmt: skip


class Pages(web.StaticFileHandler):
    """A file of the book, or the book's own page where there is none."""

    def get_content_type(self) -> str:
        """The type: the system's table decides otherwise, and on Windows it can call a script plain text."""
        return TYPES.get(Path(self.absolute_path or "").suffix) or super().get_content_type()

    def compute_etag(self) -> str:
        """What is known of a file without reading it: that of its last writing, as a rebuilt book changes it."""
        status = Path(self.absolute_path or "").stat()
        return f'"{status.st_mtime_ns:x}-{status.st_size:x}"'

    def set_extra_headers(self, path: str) -> None:
        """Make the browser ask each time, so that a rebuilt book is seen at once; another site frames no page."""
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Frame-Options", "SAMEORIGIN")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with the book's own page if a page is missing, and so where the path leads out of the book."""
        page = Path(self.root) / "404.html"
        if status_code == HTTPStatus.FORBIDDEN:
            status_code = HTTPStatus.NOT_FOUND
            self.set_status(status_code)
        if status_code == HTTPStatus.NOT_FOUND and page.is_file():
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.finish(page.read_bytes())
        else:
            super().write_error(status_code, **kwargs)


class Predictions(web.RequestHandler):
    """The record of predictions."""

    def initialize(self, book: Path) -> None:
        """Serve the record of this clone."""
        self.book = book

    def get(self) -> None:
        """All predictions on record."""
        tell(self, refuse_strangers(dict(self.request.headers), writes=False) or pages.read(self.book))

    def post(self) -> None:
        """Record predictions."""
        refusal = refuse_strangers(dict(self.request.headers), writes=True)
        if refusal is None and len(self.request.body) > pages.LARGEST:
            why = f"The request is larger than {pages.LARGEST >> 20} MiB."
            refusal = refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        tell(self, refusal or pages.write(self.book, self.request.body))


class Desk(web.RequestHandler):
    """The reader's answers to the exercises. Whoever comes here has passed the gate."""

    def initialize(self, book: Path, checks: Checks) -> None:
        """Serve the answers of this clone."""
        self.book, self.checks = book, checks
        self.running: asyncio.subprocess.Process | None = None
        self.closed = False

    def get(self, name: str = "", what: str = "") -> None:
        """An answer, or how all stand."""
        tell(self, desk.shown(self.book, name) if name else desk.overview(self.book))

    def put(self, name: str, what: str = "") -> None:
        """Write an answer."""
        tell(self, desk.save(self.book, name, self.request.body))

    async def post(self, name: str, what: str) -> None:
        """Start an exercise, record a hint, or check."""
        if what == "start":
            tell(self, desk.start(self.book, name))
        elif what == "hint":
            tell(self, desk.hint(self.book, name, self.request.body))
        else:
            await self.check(name)

    async def check(self, name: str) -> None:
        """Answer with what the command prints, as it prints it; its exit code is the last line."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.running = await self.checks.begin(*desk.check_command(self.book, name), self.book)
        if self.closed:
            interrupt(self.running)
        async for piece in self.checks.said_by(self.running):
            with contextlib.suppress(StreamClosedError):  # what is said to a closed page is read, so that none waits
                self.write(piece)
                await self.flush()

    def on_connection_close(self) -> None:
        """End a check whose page is gone, as Ctrl-C does; one that is being started, once it has been."""
        self.closed = True
        if self.running is not None and self.running.returncode is None:
            interrupt(self.running)


class Quotes(web.RequestHandler):
    """Quotations of the library, with what the reader has passed. Whoever comes here has passed the gate."""

    def initialize(self, book: Path) -> None:
        """Quote what the exercises of this clone have opened."""
        self.book = book

    async def get(self, place: str) -> None:
        """One quotation; the library is read in a thread, as its longest modules take a moment."""
        tell(self, await asyncio.to_thread(quotation, self.book, place))


class Told(web.RequestHandler):
    """One answer that is known before."""

    def initialize(self, answer: Answer) -> None:
        """Give this answer."""
        self.answer = answer

    def prepare(self) -> None:
        """Answer whatever the method."""
        tell(self, self.answer)


def tell(handler: web.RequestHandler, answer: Answer) -> None:
    """Answer with JSON."""
    status, table = answer
    handler.set_status(status)
    handler.set_header("Content-Type", "application/json")
    handler.set_header("Cache-Control", "no-store")
    handler.finish(json.dumps(table))


class Routes(routing.Router):
    """Sends a request to the files, the record, or through the gate to the kernels."""

    def __init__(self, folder: Path, book: Path | None, key: str) -> None:
        self.book, self.key, self.checks = book, key, Checks()
        rules: list[Any] = [(r"/(.*)", Pages, {"path": str(folder), "default_filename": "index.html"})]
        if book is not None:
            rules[:0] = [
                (pages.PATH, Predictions, {"book": book}),
                (gate.QUOTE, Quotes, {"book": book}),
                (rf"{gate.DESK}(?:/([\d.]+)(?:/(\w+))?)?", Desk, {"book": book, "checks": self.checks}),
            ]
        self.files = web.Application(rules, log_function=lambda handler: None)
        self.kernels: Kernels | None = None

    def find_handler(self, request: httputil.HTTPServerRequest, **kwargs: Any) -> Any:
        """Who answers a request."""
        jupyters = request.path.startswith(f"{gate.PREFIX}/")
        if self.book is None or not (jupyters or request.path.startswith((gate.DESK, gate.QUOTES))):
            return self.files.find_handler(request)
        answer = gate.refusal(self.key, request.method or "", request.path, request.headers)
        if answer is None and not jupyters:
            return self.files.find_handler(request)
        try:
            if answer is None:
                return self.started().application.find_handler(request)
        except (ImportError, OSError) as error:
            why = f"No kernel can be started on this machine: {error}. `.venv/bin/workbook doctor` says what it lacks."
            answer = refused(HTTPStatus.INTERNAL_SERVER_ERROR, why)
        return self.files.get_handler_delegate(request, Told, {"answer": answer})

    def started(self) -> Kernels:
        """Jupyter's server, begun when a page first asks for it."""
        if self.kernels is None:
            from workbook.live.kernels import Kernels

            assert self.book is not None, "without a clone nothing is run"
            self.kernels = Kernels(self.book)
        return self.kernels


def load_kernels() -> None:
    """Import what runs the cells of pages.

    jsonschema, which Jupyter's server imports, builds a parser for internationalised addresses if it finds a package
    for it, and that is two thirds of the time. Nothing here is checked by it, so it finds none.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: an import fails
    importlib.import_module("workbook.live.kernels")


class Server:
    """Serves a folder, and what belongs to a clone, until it is stopped."""

    def __init__(self, listening: socket.socket, folder: Path, book: Path | None) -> None:
        listening.setblocking(False)
        self.listening = listening
        self.port: int = listening.getsockname()[1]
        self.key = new_key()
        self.routes = Routes(folder, book, self.key)
        self.loop: asyncio.AbstractEventLoop | None = None
        self.begun = threading.Event()
        self.stopped: asyncio.Event | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.listening.close()

    @property
    def address(self) -> str:
        """Where a browser finds the book."""
        return f"http://{HOST}:{self.port}"

    def serve_forever(self) -> None:
        """Answer until `shutdown` is called, Ctrl-C is pressed or the terminal is closed; then end the kernels."""
        asyncio.run(self.serve())

    async def serve(self) -> None:
        """Answer until the end."""
        self.loop, self.stopped = asyncio.get_running_loop(), asyncio.Event()
        server = HTTPServer(self.routes)
        server.add_socket(self.listening)
        if self.routes.book is not None:  # loaded beside the first page, so that the first cell does not wait for it
            threading.Thread(target=load_kernels, daemon=True).start()
        for name in ("SIGTERM", "SIGHUP"):  # without them, the door and the kernels would be left behind
            # Windows has no such signals, and only the main thread is sent any.
            with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
                self.loop.add_signal_handler(getattr(signal, name), self.stopped.set)
        self.begun.set()
        try:
            await self.stopped.wait()
        finally:
            server.stop()
            await self.routes.checks.end()
            if self.routes.kernels is not None:
                await self.routes.kernels.end()
            await server.close_all_connections()

    def shutdown(self) -> None:
        """End `serve_forever`, which runs in another thread."""
        self.begun.wait()
        assert self.loop is not None, "it has begun"
        assert self.stopped is not None, "it has begun"
        self.loop.call_soon_threadsafe(self.stopped.set)


@contextlib.contextmanager
def in_background(server: Server) -> Iterator[str]:
    """The server in a thread, for tests and measurements; gives its address."""
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"{server.address}/"
        finally:
            server.shutdown()
            thread.join()


def bind(folder: Path, port: int, book: Path | None = None) -> Server:
    """A server for the folder on this port, or the next free one, or any; it only accepts this machine.

    With `book`, the clone, predictions that are committed on its pages are recorded there, and its cells can be run.
    """
    logging.getLogger("tornado").addHandler(logging.NullHandler())  # the terminal shows what to do next
    logging.getLogger("tornado").propagate = False
    for candidate in (*range(port, min(port + TRIES, 65536)), 0):
        try:
            return Server(socket.create_server((HOST, candidate)), folder, book)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):  # EACCES: a port that the system keeps for itself
                raise
    raise AssertionError("port 0 is always free")
