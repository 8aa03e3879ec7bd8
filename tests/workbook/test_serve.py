"""Is the built book shown on this machine, also where the port is in use?"""

from __future__ import annotations

import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from workbook.serve import HOST, bind


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<h1>Home</h1>")
    (tmp_path / "404.html").write_text("<h1>No such page</h1>")
    (tmp_path / "script.js").write_text("1")
    (tmp_path / "chapter").mkdir()
    (tmp_path / "chapter" / "index.html").write_text("<h1>Chapter</h1>")
    return tmp_path


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with bind(folder, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://{HOST}:{server.server_port}"
        server.shutdown()
        thread.join()


def get(address: str) -> tuple[int, str, dict[str, str]]:
    try:
        with urllib.request.urlopen(address, timeout=300) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), dict(error.headers)


def test_pages_are_served_quietly(pages: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with served(pages) as address:
        assert get(f"{address}/")[:2] == (200, "<h1>Home</h1>")
        assert get(f"{address}/chapter/")[:2] == (200, "<h1>Chapter</h1>")
        assert get(f"{address}/script.js")[2]["Content-type"] == "text/javascript"
        assert get(f"{address}/")[2]["Cache-Control"] == "no-cache"
    assert capfd.readouterr() == ("", "")


def test_a_page_that_is_not_there_gets_the_books_answer(pages: Path) -> None:
    with served(pages) as address:
        assert get(f"{address}/missing/")[:2] == (404, "<h1>No such page</h1>")
        (pages / "404.html").unlink()
        assert get(f"{address}/missing/")[0] == 404


def test_nothing_outside_the_folder_is_served(pages: Path) -> None:
    with served(pages / "chapter") as address:
        assert get(f"{address}/../404.html")[0] == 404
        assert get(f"{address}/%2e%2e/404.html")[0] == 404


@contextmanager
def in_use(count: int) -> Iterator[int]:
    """The first of `count` neighbouring ports that are all in use."""
    while True:
        holders: list[socket.socket] = []
        try:
            for offset in range(count):
                holder = socket.socket()
                holders.append(holder)
                holder.bind((HOST, holders[0].getsockname()[1] + offset if offset else 0))
                holder.listen()
        except (OSError, OverflowError):
            continue
        else:
            yield holders[0].getsockname()[1]
            return
        finally:
            for holder in holders:
                holder.close()


@pytest.mark.parametrize("count", [1, 3])
def test_a_port_in_use_gives_the_next_free_one(pages: Path, count: int) -> None:
    with in_use(count) as port, bind(pages, port) as server:
        assert port + count <= server.server_port < port + count + 10


def test_the_last_port_in_use_gives_any_other(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Refusing(ThreadingHTTPServer):
        def server_bind(self) -> None:
            asked.append(self.server_address[1])
            if self.server_address[1] != 0:
                raise OSError(98, "Address already in use")
            super().server_bind()

    monkeypatch.setattr("workbook.serve.Server", Refusing)
    monkeypatch.setattr("errno.EADDRINUSE", 98)
    with bind(pages, 65535) as server:
        assert server.server_port > 0
    assert asked == [65535, 0]


def test_only_this_machine_is_answered(pages: Path) -> None:
    with bind(pages, 0) as server:
        assert server.server_address[0] == "127.0.0.1"
